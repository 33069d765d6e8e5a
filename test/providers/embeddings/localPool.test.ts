/** The pool of the embedded model with fake processes; test/system/engines/localPool.test.ts uses the real model. */
import type { ChildProcess } from 'node:child_process';
import { EventEmitter, getEventListeners } from 'node:events';
import { expect, test } from '@jest/globals';

import {
  createLocalPool,
  LONG_QUERY_CHARACTERS,
  type LocalPool,
  type LocalPoolOptions,
} from '../../../providers/embeddings/providers/localPool.js';
import type { LocalReply, LocalRequest } from '../../../providers/embeddings/providers/localProcess.js';
import { faultOf } from '../../support/faultOf.js';
import { waitFor } from '../../support/waitFor.js';

/** A process whose replies the test sends. */
class FakeProcess extends EventEmitter {
  readonly requests: LocalRequest[] = [];
  killed = false;
  send(request: LocalRequest): void {
    this.requests.push(request);
  }
  kill(): boolean {
    if (this.killed) return false;
    this.killed = true;
    setImmediate(() => this.emit('exit', null, 'SIGKILL'));
    return true;
  }
  reply(reply: LocalReply): void {
    this.emit('message', reply);
  }
  /** Answers the request of a workload: one window contains all its word pieces, so none are left for a next one. */
  answer(workload: LocalRequest['workload'], value = 1): void {
    this.reply({ kind: 'window', workload, vector: Float32Array.of(0, value), tokens: 1, carry: [] });
  }
  get slices(): string[] {
    return this.requests.map(({ slice }) => slice);
  }
}

function poolOf(size: number, options: Partial<LocalPoolOptions> = {}) {
  const main: FakeProcess[] = [];
  const long: FakeProcess[] = [];
  const starting = (list: FakeProcess[]) => (): ChildProcess => {
    list.push(new FakeProcess());
    return list.at(-1) as unknown as ChildProcess;
  };
  const pool: LocalPool = createLocalPool({
    size,
    startProcess: starting(main),
    startLongQueryProcess: starting(long),
    ...options,
  });
  return { pool, main, long };
}

const LONG_QUERY = 'x'.repeat(LONG_QUERY_CHARACTERS + 1);

test('sends a process one query and one document at a time, and returns vectors in text order', async () => {
  const { pool, main, long } = poolOf(1);
  const documents = pool.embed(['d1', 'd2'], 'document');
  const queries = pool.embed(['q1', 'q2'], 'query');
  const [child] = main;
  expect(child!.slices).toEqual(['d1', 'q1']);
  child!.reply({ kind: 'window', workload: 'query', vector: Float32Array.of(3, 4), tokens: 1, carry: [] });
  expect(child!.slices).toEqual(['d1', 'q1', 'q2']);
  child!.answer('query');
  child!.answer('document');
  child!.reply({ kind: 'window', workload: 'document', vector: Float32Array.of(1, 0), tokens: 1, carry: [] });
  expect((await queries).map((vector) => [...vector])).toEqual([
    [Math.fround(0.6), Math.fround(0.8)],
    [0, 1],
  ]);
  expect((await documents).map((vector) => [...vector])).toEqual([
    [0, 1],
    [1, 0],
  ]);
  expect([main.length, long.length]).toEqual([1, 0]);
  expect(await pool.embed([], 'query')).toEqual([]);
  await pool.close();
});

test('starts as many processes as its size, and prepares at most one', async () => {
  const { pool, main } = poolOf(2);
  pool.prepare();
  pool.prepare();
  expect(main).toHaveLength(1);
  const work = pool.embed(['a', 'b', 'c'], 'document').catch(String);
  expect(main.map(({ slices }) => slices)).toEqual([['a'], ['b']]);
  await pool.close();
  await work;
  pool.prepare();
  expect(main).toHaveLength(2);
});

test('embeds queries above the length limit in one separate process, but not documents of that length', async () => {
  const { pool, main, long } = poolOf(2);
  const work = [
    pool.embed([LONG_QUERY.slice(1)], 'query'),
    pool.embed([LONG_QUERY], 'document'),
    pool.embed([LONG_QUERY], 'query'),
    pool.embed([LONG_QUERY], 'query'),
  ].map((answer) => answer.catch(String));
  expect(main.map(({ requests }) => requests.map(({ workload }) => workload)).flat()).toEqual(['query', 'document']);
  expect(long.map(({ requests }) => requests.map(({ workload }) => workload))).toEqual([['long query']]);
  await pool.close();
  await Promise.all(work);
});

test('ends the process for long queries after its idle time, and starts another for the next query', async () => {
  const { pool, long } = poolOf(1, { longQueryIdleMs: 30 });
  // The second query takes longer than the idle time. The idle timer that began after the first query must not end the
  // process meanwhile.
  const first = pool.embed([LONG_QUERY], 'query');
  const finish = (child: FakeProcess): void => {
    while (child.requests.at(-1)!.isLast === false) child.answer('long query');
    child.answer('long query');
  };
  finish(long[0]!);
  await first;
  const second = pool.embed([LONG_QUERY], 'query');
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect([long.length, long[0]!.killed]).toEqual([1, false]);
  finish(long[0]!);
  await second;
  await waitFor(
    () => long[0]!.killed,
    (killed) => killed,
  );
  const third = pool.embed([LONG_QUERY], 'query');
  expect(long).toHaveLength(2);
  finish(long[1]!);
  await third;
  await pool.close();
});

test('drops the waiting texts of an aborted call, rejects with its reason, and removes its listener', async () => {
  const { pool, main } = poolOf(1);
  const stop = new AbortController();
  const aborted = pool.embed(['a1', 'a2'], 'document', stop.signal);
  const other = pool.embed(['b'], 'document');
  stop.abort(new RangeError('no longer needed'));
  await expect(aborted).rejects.toThrow('no longer needed');
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  await expect(pool.embed(['a3'], 'document', stop.signal)).rejects.toThrow('no longer needed');
  // The process completes the window in progress; its vector belongs to no other call.
  main[0]!.reply({ kind: 'window', workload: 'document', vector: Float32Array.of(1, 0), tokens: 1, carry: [] });
  expect(main[0]!.slices).toEqual(['a1', 'b']);
  main[0]!.answer('document');
  expect((await other).map((vector) => [...vector])).toEqual([[0, 1]]);
  const { signal } = new AbortController();
  const done = pool.embed(['c'], 'document', signal);
  main[0]!.answer('document');
  await done;
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  await pool.close();
});

test('a failed text fails its call only, and frees the process', async () => {
  const { pool, main } = poolOf(1);
  const failed = pool.embed(['a1', 'a2'], 'document');
  const other = pool.embed(['b'], 'document');
  main[0]!.reply({ kind: 'failed', workload: 'document', reason: 'why' });
  expect(await faultOf(failed)).toMatchObject({ kind: 'embedding_failed', message: expect.stringContaining('why') });
  expect(main[0]!.slices).toEqual(['a1', 'b']);
  main[0]!.answer('document');
  await other;
  await pool.close();
});

test('fails the calls of a process that dies, and continues the others with a new process', async () => {
  const { pool, main } = poolOf(1);
  const dying = pool.embed(['a'], 'document');
  const waiting = pool.embed(['b'], 'document');
  main[0]!.emit('exit', 1, null);
  expect((await faultOf(dying)).message).toContain('exit code 1');
  expect(main.map(({ slices }) => slices)).toEqual([['a'], ['b']]);
  main[1]!.answer('document');
  await waiting;
  const unstartable = pool.embed(['c'], 'document');
  main[1]!.emit('error', new Error('no memory'));
  expect((await faultOf(unstartable)).message).toContain('no memory');
  await pool.close();
});

test('fails all calls that need a model which cannot be loaded, and no others', async () => {
  const { pool, main, long } = poolOf(1);
  const short = pool.embed(['a'], 'query');
  const longCalls = [pool.embed([LONG_QUERY], 'query'), pool.embed([LONG_QUERY], 'query')].map((call) => faultOf(call));
  long[0]!.reply({ kind: 'unloadable', reason: 'no such file' });
  long[0]!.emit('exit', 1, null);
  for (const fault of await Promise.all(longCalls)) expect(fault.message).toMatch(/no such file.*EMBEDDING_MODEL_PATH/);
  expect(long).toHaveLength(1);
  main[0]!.answer('query');
  await short;
  await pool.close();
});

test('fails waiting and later calls when it is closed, and waits for the end of its processes', async () => {
  const { pool, main, long } = poolOf(1);
  const calls = [pool.embed(['a', 'b'], 'document'), pool.embed([LONG_QUERY], 'query')].map((call) => faultOf(call));
  let exits = 0;
  for (const child of [...main, ...long]) child.on('exit', () => (exits += 1));
  await pool.close();
  expect([exits, main.length, long.length]).toEqual([2, 1, 1]);
  expect((await Promise.all(calls)).map(({ kind }) => kind)).toEqual(['embedding_failed', 'embedding_failed']);
  expect((await faultOf(pool.embed(['c'], 'query'))).message).toContain('closed');
});
