/** Tests the threads that read pages with a simulated Piscina; test/system/contents/pool.test.ts uses real threads. */
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';

import type { PoolDocument } from '../../documents/answerTask.js';
import type { ThreadTask } from '../../documents/poolThread.js';
import { input, LIMITS } from './page.js';

interface Started {
  readonly task: ThreadTask;
  readonly signal: AbortSignal;
  readonly transferList: readonly ArrayBuffer[];
  readonly resolve: (answers: unknown) => void;
  readonly reject: (error: unknown) => void;
}
const started: Started[] = [];
const options: { maxThreads: number; resourceLimits: { maxOldGenerationSizeMb: number } }[] = [];
let destroyed = 0;
jest.unstable_mockModule('piscina', () => ({
  Piscina: class {
    constructor(given: (typeof options)[number]) {
      options.push(given);
    }
    on = (): void => undefined;
    run = (task: ThreadTask, { signal, transferList }: Pick<Started, 'signal' | 'transferList'>) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')));
        started.push({ task, signal, transferList, resolve, reject });
      });
    destroy = async (): Promise<void> => void (destroyed += 1);
  },
}));
const { createThreads } = await import('../../documents/threads.js');
const { LimitExceeded, ReaderCrashed } = await import('../../documents/readers.js');

beforeEach(() => {
  jest.useFakeTimers();
  [started, options].forEach((list) => list.splice(0));
  destroyed = 0;
});
afterEach(() => void jest.useRealTimers());

const open = () => createThreads({ threads: 2, timeoutMs: 5_000, memoryMb: 100, limits: LIMITS });
const links = { withText: true } as never;
const DOCUMENT: PoolDocument = { input: input('<p>x'), links };
const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

test('starts the threads at the first document, reuses them for later ones, and ends them in close()', async () => {
  const threads = open();
  await threads.close();
  expect([options.length, destroyed]).toEqual([0, 0]);
  const stop = new AbortController();
  for (let nth = 0; nth < 2; nth += 1) {
    const answers = threads.run([DOCUMENT], stop.signal);
    started[nth]!.resolve(['answer']);
    expect(await answers).toEqual(['answer']);
  }
  expect(options).toMatchObject([{ maxThreads: 2, resourceLimits: { maxOldGenerationSizeMb: 100 } }]);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  expect(jest.getTimerCount()).toBe(0);
  await threads.close();
  expect(destroyed).toBe(1);
});

test('ends a document at its time limit, which starts when the thread begins', async () => {
  const stop = new AbortController();
  const ended = failure(open().run([DOCUMENT], stop.signal));
  jest.advanceTimersByTime(30_000);
  started[0]!.task.begun[0] = 1;
  jest.advanceTimersByTime(5_100);
  expect(started[0]!.signal.aborted).toBe(false);
  jest.advanceTimersByTime(100);
  const error = await ended;
  expect(error).toBeInstanceOf(LimitExceeded);
  expect(error).toMatchObject({ message: expect.stringMatching(/5 s.*PARSE_TIMEOUT_MS/) });
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  expect(jest.getTimerCount()).toBe(0);
  const unstarted = failure(open().run([DOCUMENT], stop.signal));
  jest.advanceTimersByTime(60_100);
  expect(await unstarted).toMatchObject({ message: expect.stringContaining('did not start') });
});

test("rejects with the caller's reason after an abort", async () => {
  const stop = new AbortController();
  const ended = failure(open().run([DOCUMENT], stop.signal));
  stop.abort('the caller has left');
  expect(await ended).toBe('the caller has left');
  expect(jest.getTimerCount()).toBe(0);
});

test('reports a full heap as a limit, the end of a thread as a crash, and other errors unchanged', async () => {
  const other = new Error('no thread');
  const errors = [
    Object.assign(new Error('full'), { code: 'ERR_WORKER_OUT_OF_MEMORY' }),
    new Error('worker exited with code: 13'),
    other,
  ];
  const results: unknown[] = [];
  for (const [nth, error] of errors.entries()) {
    const ended = failure(open().run([DOCUMENT, DOCUMENT], new AbortController().signal));
    started[nth]!.reject(error);
    results.push(await ended);
  }
  expect(results[0]).toMatchObject({ message: expect.stringMatching(/100 MB.*PARSE_MEMORY_MB/) });
  expect(results[0]).not.toBeInstanceOf(ReaderCrashed);
  expect(results[1]).toBeInstanceOf(ReaderCrashed);
  expect(results[1]).toMatchObject({ crash: { reader: 'thread', exitCode: 13, limitMb: 100, documents: 2 } });
  expect(results[2]).toBe(other);
});

test('transfers bytes only if they are the whole buffer of a single document whose caller permits it', () => {
  const own = (more: object, bytes = new Uint8Array(9)): PoolDocument => ({ input: input(bytes, more), links });
  const rows: readonly (readonly [documents: PoolDocument[], transferred: number])[] = [
    [[own({ transferBytes: true })], 1],
    [[own({})], 0],
    [[own({ transferBytes: true }, new Uint8Array(new ArrayBuffer(9), 0, 8))], 0],
    [[own({ transferBytes: true }, new Uint8Array())], 0],
    [[own({ transferBytes: true }), own({ transferBytes: true })], 0],
  ];
  for (const [documents] of rows) void failure(open().run(documents, new AbortController().signal));
  // Piscina receives the calls in the order of the rows.
  expect(started.map(({ transferList }) => transferList.length)).toEqual(rows.map(([, count]) => count));
});
