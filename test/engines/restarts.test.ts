import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { causeOf } from '../../engines/cause.js';
import { type Engine, type Launched, startEngine } from '../../engines/engine.js';
import { createRestarter } from '../../engines/keepRunning.js';
import { listensOn } from '../../engines/listening.js';
import { tryLock, withLock } from '../../engines/lock.js';
import { logSize, openLog, readLogTail } from '../../engines/logFile.js';
import { findPort, isFree } from '../../engines/ports.js';
import { engineEnvironment } from '../../engines/process.js';
import { refuseIncompleteRestore } from '../../engines/restoring.js';
import { everyRow } from '../support/everyRow.js';
import { waitFor } from '../support/waitFor.js';

// Tests of the supervision of an engine without a real engine: restarts, log, cause of a crash, ports and lock.
let dataDir: string;
const logFile = (): string => path.join(dataDir, 'logs', 'qdrant.log');
const sizeOfLog = (): number => (existsSync(logFile()) ? statSync(logFile()).size : 0);
const log = (text: string): void => appendFileSync(logFile(), text);

const settled = () => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'allotrope-restarts-'));
  for (const folder of ['logs', 'qdrant']) mkdirSync(path.join(dataDir, folder));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

describe('an engine that crashed', () => {
  /** Returns a restarter whose pauses end immediately. @param starts for each start, whether it succeeds */
  function restarterOf(starts: (boolean | number)[]) {
    let clock = 1_000_000;
    const pauses: number[] = [];
    const lines: string[] = [];
    const changes: unknown[] = [];
    const restarter = createRestarter({
      dataDir,
      printLine: (line) => void lines.push(line),
      onChange: () => void changes.push(restarter.down.get('qdrant')?.attempts),
      now: () => clock,
      pause: (ms, signal) => {
        signal.throwIfAborted();
        pauses.push(ms);
        clock += ms;
        return Promise.resolve();
      },
    });
    const engine = {
      logOffset: sizeOfLog(),
      restart: () => {
        engine.logOffset = sizeOfLog();
        const nextStart = starts.shift() ?? true;
        return nextStart === false
          ? Promise.reject(new Error('qdrant did not start: code 1.\nmore'))
          : Promise.resolve();
      },
    };
    const crash = async (how = 'ended with code 1'): Promise<void> => {
      const recoveries = (): number => lines.filter((line) => line === 'qdrant runs again').length;
      const recoveriesBefore = recoveries();
      restarter.onCrash('qdrant', how, engine as unknown as Engine);
      await waitFor(
        () => Promise.resolve(recoveries()),
        (count) => count > recoveriesBefore,
      );
    };
    return { restarter, pauses, lines, changes, crash, advance: (ms: number) => void (clock += ms) };
  }

  test('is restarted without a limit of attempts, after pauses that double up to 30 s', async () => {
    const { restarter, pauses, changes, lines, crash } = restarterOf([...Array<boolean>(7).fill(false), true]);
    await crash();
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(changes).toEqual([0, 1, 2, 3, 4, 5, 6, 7, undefined]);
    expect(restarter.down.size).toBe(0);
    expect(lines[0]).toBe('qdrant ended with code 1. Next start in 1 s');
    expect(lines[1]).toBe('qdrant did not start: code 1. Next start in 2 s');
  });

  test('is restarted after 1 s if it ran for at least a minute before; otherwise the pause doubles', async () => {
    const { pauses, crash, advance } = restarterOf([]);
    await crash();
    advance(59_999);
    await crash('again');
    advance(60_000);
    await crash('and again');
    expect(pauses).toEqual([1_000, 2_000, 1_000]);
  });

  test('is reported with the cause from the log of its last run, and the time of its end', async () => {
    log('old: panic in an earlier run\n');
    const { restarter, lines, crash } = restarterOf([]);
    await crash();
    expect(lines[0]).toBe('qdrant ended with code 1. Next start in 1 s');
    const ofRun = { restart: () => Promise.resolve(), logOffset: sizeOfLog() };
    log('new: bad news\n');
    let seen: unknown;
    const second = createRestarter({
      dataDir,
      printLine: () => void (seen ??= second.down.get('qdrant')),
      now: () => 0,
      pause: () => Promise.resolve(),
    });
    second.onCrash('qdrant', 'ended by SIGKILL', ofRun as unknown as Engine);
    await waitFor(
      () => Promise.resolve(seen),
      (down) => down !== undefined,
    );
    expect(seen).toEqual({
      ...{ since: '1970-01-01T00:00:00.000Z', cause: 'new: bad news', how: 'ended by SIGKILL' },
      ...{ isDiskFull: false, attempts: 0 },
    });
    expect(restarter.down.size).toBe(0);
    await crash();
    expect(lines.findLast((line) => line.startsWith('qdrant ended'))).toBe(
      'qdrant ended with code 1: new: bad news. Next start in 2 s',
    );
    await crash();
    expect(lines.findLast((line) => line.startsWith('qdrant ended'))).toBe(
      'qdrant ended with code 1. Next start in 4 s',
    );
  });

  test('stays reported as down if it ends again before its restart is complete', async () => {
    const { lines, restarter } = restarterOf([]);
    let starts = 0;
    let hasEnded = false;
    const engine = {
      logOffset: 0,
      restart: () => {
        starts += 1;
        if (starts > 1) return new Promise<void>(() => undefined);
        restarter.onCrash('qdrant', 'ended again', engine as unknown as Engine);
        return waitFor(
          () => Promise.resolve(restarter.down.get('qdrant')?.how),
          (how) => how === 'ended again',
        ).then(() => void (hasEnded = true));
      },
    };
    restarter.onCrash('qdrant', 'ended', engine as unknown as Engine);
    await waitFor(
      () => Promise.resolve(hasEnded),
      (ended) => ended,
    );
    await settled();
    expect(restarter.down.get('qdrant')?.how).toBe('ended again');
    expect(lines).not.toContain('qdrant runs again');
  });

  test('is not restarted after stop', async () => {
    const { restarter, pauses, lines } = restarterOf([]);
    restarter.stop();
    restarter.onCrash('qdrant', 'ended', { restart: () => Promise.reject(new Error('none')) } as unknown as Engine);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([pauses, lines]).toEqual([[], []]);
  });
});

describe('the control of an engine', () => {
  function launcher() {
    const runs: { end: (how: string) => void; stopped: boolean; ports: readonly number[] }[] = [];
    const launch = (ports: readonly number[], signal: AbortSignal): Promise<Launched> => {
      signal.throwIfAborted();
      let end: (how: string) => void = () => undefined;
      const ended = new Promise<string>((resolve) => (end = resolve));
      const current = { end, stopped: false, ports };
      runs.push(current);
      const stop = () => {
        current.stopped = true;
        end('asked');
        return Promise.resolve();
      };
      return Promise.resolve({ pid: 2 ** 30 + runs.length, logOffset: runs.length, ended, stop });
    };
    return { runs, launch };
  }
  test('reports an unexpected end, but not a requested one', async () => {
    const { runs, launch } = launcher();
    const crashes: string[] = [];
    const restarts: number[] = [];
    const engine = await startEngine({
      ...{ name: 'qdrant', ports: ['free'], launch },
      onCrash: (name, how) => void crashes.push(`${name} ${how}`),
      onRestart: () => Promise.resolve(void restarts.push(engine.pid)),
    });
    await engine.restart();
    await settled();
    expect([crashes, runs.map(({ stopped }) => stopped)]).toEqual([[], [true, false]]);
    expect(restarts).toEqual([2 ** 30 + 2]);
    expect(runs[1]?.ports).toEqual(runs[0]?.ports);
    expect(engine.logOffset).toBe(2);
    runs[1]?.end('ended by SIGSEGV');
    await settled();
    expect(crashes).toEqual(['qdrant ended by SIGSEGV']);
    await Promise.all([engine.restart(), engine.restart()]);
    expect(runs).toHaveLength(3);
    await engine.stop();
    await settled();
    expect([crashes.length, runs[2]?.stopped]).toEqual([1, true]);
  });

  test("retries a failed start with other ports only if another process took the engine's ports", async () => {
    const used: number[] = [];
    const servers: ReturnType<typeof createServer>[] = [];
    const { launch } = launcher();
    const engine = await startEngine({
      ...{ name: 'qdrant', ports: ['free'] },
      launch: async (ports, signal) => {
        used.push(...ports);
        if (used.length > 1) return launch(ports, signal);
        const server = createServer();
        servers.push(server);
        await new Promise<void>((resolve) => server.listen(ports[0], '127.0.0.1', resolve));
        throw new Error('the port is taken');
      },
    });
    expect(used).toHaveLength(2);
    expect(new Set(used).size).toBe(2);
    expect(engine.ports).toEqual([used[1]]);
    const first = await findPort('free');
    const two = await startEngine({ name: 'temporal', ports: [first, first], launch });
    expect(new Set(two.ports).size).toBe(2);
    const broken = startEngine({ name: 'qdrant', ports: ['free'], launch: () => Promise.reject(new Error('broken')) });
    await expect(broken).rejects.toThrow('broken');
    for (const server of servers) server.close();
  });
});

test('findPort returns the first port from the given one upwards that is neither in use nor reserved', async () => {
  const server = createServer();
  const first = await findPort('free');
  await new Promise<void>((resolve) => server.listen(first, '127.0.0.1', resolve));
  expect([
    await isFree(first),
    await listensOn(process.pid, first),
    await listensOn(1, first).catch(() => false),
  ]).toEqual([false, true, false]);
  const next = await findPort(first);
  expect(next).toBeGreaterThan(first);
  expect(await findPort(next, [next])).toBeGreaterThan(next);
  await new Promise((resolve) => server.close(resolve));
  expect(await listensOn(process.pid, first)).toBe(false);
});

test('grants a lock to one holder at a time for any spelling of its path, and releases it after an error', async () => {
  const file = path.join(dataDir, 'engines.json');
  const lock = await tryLock(file);
  expect(await tryLock(`${dataDir}/x/../engines.json`)).toBeUndefined();
  const order: string[] = [];
  const waiting = withLock(
    file,
    () => void order.push('waits'),
    () => Promise.reject(new Error(order.push('works') > 0 ? 'failed' : '')),
  );
  await waitFor(
    () => Promise.resolve(order),
    ({ length }) => length > 0,
  );
  expect(order).toEqual(['waits']);
  await lock!.release();
  await expect(waiting).rejects.toThrow('failed');
  expect(order).toEqual(['waits', 'works']);
  const secondLock = await tryLock(file);
  expect(secondLock).toBeDefined();
  await secondLock!.release();
});

/** Log texts, and the line in each that is the cause of the end. */
const LOGS: [what: string, text: string, cause: string | RegExp, isDiskFull: boolean][] = [
  ['nothing', '', '', false],
  ['the last line', 'starting\npanicked at x\n\n', 'panicked at x', false],
  ['errors of mongod rather than its frames', '{"s":"F","msg":"abort"}\n{"s":"I","msg":"frame"}\n', 'abort', false],
  ['an error of mongod', '{"s":"I"}\n{"s":"E","msg":"x"}\n{"s":"W","msg":"y"}\n', 'x', false],
  ['an error of mongod with its reason', '{"s":"E","msg":"x","attr":{"error":"y"}}\n', 'x: y', false],
  [
    'the reason before the lines in which mongod reports that it aborts',
    [
      {
        s: 'E',
        id: 22_435,
        msg: 'WiredTiger error message',
        attr: { error: 5, message: { msg: 'a.wt: read', error_str: 'I/O error' } },
      },
      {
        s: 'E',
        id: 22_435,
        msg: 'WiredTiger error message',
        attr: { error: -31_804, message: '[1] the process must exit and restart' },
      },
      { s: 'F', id: 23_089, msg: 'Fatal assertion', attr: { msgid: 50_853 } },
      { s: 'F', id: 23_090, msg: '\n\n***aborting after fassert() failure\n\n' },
      { s: 'F', id: 6_384_300, msg: 'Writing fatal message', attr: { message: 'Got signal: 6 (Aborted).\n' } },
    ]
      .map((entry) => `${JSON.stringify(entry)}\n`)
      .join(''),
    'WiredTiger error message: a.wt: read: I/O error',
    false,
  ],
  [
    'an exception of mongod',
    '{"s":"F","msg":"Writing fatal message","attr":{"message":"DBException: x\\ny\\n"}}\n' +
      '{"s":"F","msg":"Writing fatal message","attr":{"message":"Got signal: 6 (Aborted).\\n"}}\n',
    'Writing fatal message: DBException: x y',
    false,
  ],
  [
    'the abort of mongod in one line, if the log has no reason',
    '{"s":"F","msg":"\\n\\n***aborting after fassert() failure\\n\\n"}\n',
    '***aborting after fassert() failure',
    false,
  ],
  ['nothing in routine lines', `{"s":"I","msg":"${'x'.repeat(64_000)}"}\n{"s":"I"}\n`, '', false],
  ['nothing in what engines print at each start', 'Temporal UI: http://x\nlistening on x\n', '', false],
  [
    'a full disk, reported by Linux',
    'No space left on device\nlater\n',
    /^No space left on device \(now \d+ MB free in /,
    true,
  ],
  ['a full disk, reported by Rust', 'IO error (os error 28)\n', /^No space left/, true],
  ['a full disk, reported by SQLite', 'database or disk is full\n', /^No space left/, true],
  ['a full disk, reported by Node', 'ENOSPC: write\n', /^No space left/, true],
  ['a long line', `${'x'.repeat(400)}\n`, 'x'.repeat(300), false],
];

test('reads the cause of an end from the log of the last run', async () => {
  await everyRow(
    LOGS,
    ([what]) => what,
    async ([_what, text, line, isDiskFull]) => {
      writeFileSync(logFile(), `ENOSPC long ago\n${text}`);
      const crash = await causeOf(dataDir, 'qdrant', 'ENOSPC long ago\n'.length);
      expect(crash.isDiskFull).toBe(isDiskFull);
      if (typeof line === 'string') expect(crash.line).toBe(line);
      else expect(crash.line).toMatch(line);
    },
  );
});

test('appends to a log until it is large, then rotates it and keeps the old one', async () => {
  log('first\n');
  await (await openLog(dataDir, 'qdrant')).close();
  expect(readFileSync(logFile(), 'utf8')).toBe('first\n');
  writeFileSync(logFile(), Buffer.alloc(10_000_000, 'x'));
  await (await openLog(dataDir, 'qdrant')).close();
  expect(existsSync(`${logFile()}.1`)).toBe(false);
  log('!');
  await (await openLog(dataDir, 'qdrant')).close();
  expect([await logSize(dataDir, 'qdrant'), existsSync(`${logFile()}.1`)]).toEqual([0, true]);
  log('one\ntwo\nthree\n');
  expect(await readLogTail(dataDir, 'qdrant', 6)).toBe('three');
  expect(await readLogTail(dataDir, 'qdrant', 8)).toBe('three');
  expect(await readLogTail(dataDir, 'qdrant', 100, 4)).toBe('two\nthree');
  // The log is shorter than the offset, so it was rotated.
  expect(await readLogTail(dataDir, 'qdrant', 100, 1_000)).toBe('one\ntwo\nthree');
  expect(await logSize(dataDir, 'temporal')).toBe(0);
});

test('passes no secret of the service to an engine', () => {
  process.env['SECRET_KEY'] = 'k1:x';
  process.env['API_KEY'] = 'key';
  try {
    const seen = Object.entries(engineEnvironment()).flatMap(([name, value]) => (value === undefined ? [] : [name]));
    expect(seen).toContain('PATH');
    expect(['HOME', 'LANG', 'LD_LIBRARY_PATH', 'PATH', 'TMPDIR', 'TZ']).toEqual(expect.arrayContaining(seen));
  } finally {
    delete process.env['SECRET_KEY'];
    delete process.env['API_KEY'];
  }
});

test('refuses to start on the data of an interrupted restore', () => {
  expect(() => refuseIncompleteRestore(dataDir)).not.toThrow();
  writeFileSync(path.join(dataDir, 'restoring'), '/backup');
  expect(() => refuseIncompleteRestore(dataDir)).toThrow(/was interrupted\. Run it again/);
});
