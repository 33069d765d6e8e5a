import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { runningEngines, processState, stopOrphan, writePidFile } from '../../engines/pidFile.js';
import { startChild } from '../../engines/process.js';
import { everyRow } from '../support/everyRow.js';
import { waitFor } from '../support/waitFor.js';

let dataDir: string;
const children: ChildProcess[] = [];

beforeEach(() => void (dataDir = mkdtempSync(path.join(tmpdir(), 'allotrope-pids-'))));
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(dataDir, { recursive: true });
});

const fileOf = (engine: string): string => path.join(dataDir, 'pids', engine);
async function start(command = 'sleep', args: readonly string[] = ['600']): Promise<number> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  await once(child, 'spawn');
  return child.pid!;
}
const isAlive = async (pid: number): Promise<boolean> => (await processState(pid)) !== null;
const write = (engine: string, text: string): void => {
  mkdirSync(path.join(dataDir, 'pids'), { recursive: true });
  writeFileSync(fileOf(engine), text);
};

test('lists an orphaned engine, stops it and deletes its file', async () => {
  const pid = await start();
  await writePidFile(dataDir, 'qdrant', pid);
  expect(await runningEngines(dataDir)).toEqual(['qdrant']);
  expect(await stopOrphan(dataDir, 'qdrant')).toBe(true);
  expect([await isAlive(pid), existsSync(fileOf('qdrant')), await runningEngines(dataDir)]).toEqual([false, false, []]);
  expect(await stopOrphan(dataDir, 'qdrant')).toBe(false);
});

test('neither lists nor stops another process that has reused the pid', async () => {
  const pid = await start();
  await writePidFile(dataDir, 'mongodb', pid);
  const [, ticks] = readFileSync(fileOf('mongodb'), 'utf8').split(' ');
  const earlier = String(Number(ticks) - 1);
  await everyRow([`${pid} ${earlier}`, `${pid} 0`, `${pid} `, `${pid}`, ''], String, async (text) => {
    write('mongodb', text);
    expect(await runningEngines(dataDir)).toEqual([]);
    expect(await stopOrphan(dataDir, 'mongodb')).toBe(false);
    expect(await isAlive(pid)).toBe(true);
  });
});

test('kills an engine that ignores SIGTERM', async () => {
  const pid = await start('bash', ['-c', 'trap "" TERM; echo ready; while :; do read -t 600 <> <(:); done']);
  await once(children.at(-1)!.stdout!, 'data');
  await writePidFile(dataDir, 'temporal', pid);
  expect(await stopOrphan(dataDir, 'temporal')).toBe(true);
  expect(await isAlive(pid)).toBe(false);
});

test('a new engine starts only after the orphan has ended, because both write the same files', async () => {
  const orphan = await start('bash', ['-c', 'trap "sleep 0.5; exit" TERM; echo ready; while :; do sleep 0.05; done']);
  await once(children.at(-1)!.stdout!, 'data');
  await writePidFile(dataDir, 'qdrant', orphan);
  // The launcher of the new engine writes whether the orphan is still running.
  const [launcher, seen] = [path.join(dataDir, 'launcher'), path.join(dataDir, 'seen')];
  const checkOrphan = `grep -q "^State:.[^ZX]" /proc/${orphan}/status 2>/dev/null && echo runs || echo ended`;
  writeFileSync(launcher, `#!/bin/bash\n(${checkOrphan}) > ${seen}.new\nmv ${seen}.new ${seen}\nexec sleep 600\n`);
  chmodSync(launcher, 0o700);
  const stop = new AbortController();
  const starting = startChild({
    ...{ name: 'qdrant', dataDir, signal: stop.signal, python: launcher, program: 'x', args: [], port: 1 },
    isReady: () => Promise.resolve(false),
  });
  await waitFor(
    () => existsSync(seen),
    (exists) => exists,
  );
  stop.abort();
  await expect(starting).rejects.toThrow('it was stopped');
  expect([readFileSync(seen, 'utf8').trim(), await isAlive(orphan)]).toEqual(['ended', false]);
});

test('a new engine is recorded before it is ready, so that the next start finds it if its parent dies', async () => {
  const launcher = path.join(dataDir, 'launcher');
  writeFileSync(launcher, '#!/bin/bash\nexec sleep 600\n');
  chmodSync(launcher, 0o700);
  const stop = new AbortController();
  const starting = startChild({
    ...{ name: 'mongodb', dataDir, signal: stop.signal, python: launcher, program: 'x', args: [], port: 1 },
    isReady: () => Promise.resolve(false),
  }).catch((error: unknown) => error);
  expect(
    await waitFor(
      () => runningEngines(dataDir),
      ({ length }) => length > 0,
      10_000,
    ),
  ).toEqual(['mongodb']);
  stop.abort();
  const [pid] = readFileSync(fileOf('mongodb'), 'utf8').split(' ');
  expect(String(await starting)).toContain(`(process ${pid},`);
  expect(await runningEngines(dataDir)).toEqual([]);
});

test('treats a zombie process as ended', async () => {
  const parent = await start('bash', ['-c', 'sleep 600 & echo $!; exec sleep 600']);
  const [output] = (await once(children.at(-1)!.stdout!, 'data')) as [Buffer];
  const zombie = Number(String(output));
  // Wait until sleep has replaced bash, which would reap its child.
  await waitFor(
    () => Promise.resolve(readFileSync(`/proc/${parent}/comm`, 'utf8')),
    (name) => name === 'sleep\n',
  );
  process.kill(zombie, 'SIGKILL');
  await waitFor(
    () => Promise.resolve(readFileSync(`/proc/${zombie}/stat`, 'utf8')),
    (stat) => / Z /.test(stat),
  );
  expect([await isAlive(zombie), await isAlive(parent), await processState(2 ** 30)]).toEqual([false, true, null]);
  expect(await runningEngines(dataDir)).toEqual([]);
});
