/** The prerequisites of an engine's start: Python, locks, ports, and no processes of an earlier owner. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { findBinary } from '../../../engines/binaries.js';
import { tryLock, withLock } from '../../../engines/lock.js';
import { stopOrphan, writePidFile } from '../../../engines/pidFile.js';
import { findPort } from '../../../engines/ports.js';
import { findPython } from '../../../engines/python.js';
import type { Venv } from '../../../engines/venv.js';

let dir: string;
const path = process.env['PATH'];
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'allotrope-processes-'));
});
afterEach(() => {
  process.env['PATH'] = path;
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Sets PATH to a folder that contains only this program, which prints one line. Returns the path of the program. */
async function onlyOnPath(program: string, prints: string): Promise<string> {
  const folder = await mkdtemp(join(dir, 'bin-'));
  await writeFile(join(folder, program), `#!/bin/sh\necho '${prints}'\n`);
  await chmod(join(folder, program), 0o755);
  process.env['PATH'] = folder;
  return join(folder, program);
}

describe('the lookup of programs', () => {
  test('reports the programs that were tried, and what to do, if no Python is suitable', async () => {
    await onlyOnPath('python3', '3.9');
    await expect(findPython()).rejects.toThrow(
      /Python 3.10 to 3.13.*python3: is 3.9; python3.13: not found.*\n.*apt-get install.*MONGODB_URI/,
    );
  });

  test('accepts a suitable Python under another name', async () => {
    await onlyOnPath('python3.12', '3.12');
    expect(await findPython()).toBe('python3.12');
  });

  test('uses an engine on PATH if its version fits, otherwise the pinned one', async () => {
    const venv: Venv = { enginesDir: '/e', python: '/e/python', binDir: '/e/bin', sitePackages: '/e/site' };
    const ownEngine = await onlyOnPath('temporal', 'temporal version 1.10.2 (Server 1.33.0, UI 2.60.0)');
    expect(await findBinary('temporal', venv)).toBe(ownEngine);
    await onlyOnPath('mongod', 'db version v8.0.1');
    expect(await findBinary('mongod', venv)).toBe('/e/site/fiftyone/db/bin/mongod');
  });
});

describe('locks', () => {
  test('exclude other holders in this process until they are released', async () => {
    const order: string[] = [];
    const work = (name: string) =>
      withLock(
        join(dir, 'a'),
        () => order.push(`${name} waits`),
        async () => {
          order.push(`${name} works`);
          await new Promise((done) => setTimeout(done, 50));
        },
      );
    await Promise.all([work('first'), work('second')]);
    expect(order).toEqual(['first works', 'second waits', 'second works']);
  });

  test('are free again after their holder was killed', async () => {
    const lock = new URL('../../../engines/lock.ts', import.meta.url).href;
    const script = `const { tryLock } = await import('${lock}'); await tryLock('${join(dir, 'b')}'); console.log('held'); setInterval(() => {}, 1000);`;
    const holder = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script]);
    await once(holder.stdout, 'data');
    expect(await tryLock(join(dir, 'b'))).toBeUndefined();
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const lockAfterKill = await tryLock(join(dir, 'b'));
    expect(lockAfterKill).toBeDefined();
    await lockAfterKill?.release();
  });
});

test('skips an occupied port', async () => {
  const port = await findPort('free');
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  expect(await findPort(port, [port + 1])).toBe(port + 2);
  server.close();
});

describe('a process left by an earlier owner', () => {
  test('is stopped', async () => {
    const orphan = spawn('sleep', ['100']);
    await writePidFile(dir, 'qdrant', orphan.pid ?? 0);
    expect(await stopOrphan(dir, 'qdrant')).toBe(true);
    expect(orphan.signalCode).toBe('SIGTERM');
    expect(await stopOrphan(dir, 'qdrant')).toBe(false);
  });

  test('is not confused with another process that reused its id', async () => {
    await writePidFile(dir, 'qdrant', process.pid);
    await writeFile(join(dir, 'pids', 'qdrant'), `${process.pid} 1`);
    expect(await stopOrphan(dir, 'qdrant')).toBe(false);
  });
});
