import { getEventListeners } from 'node:events';
import { expect, jest, test } from '@jest/globals';

import { Fault } from '../../contract/failures.js';
import type { PoolAnswer, PoolDocument } from '../../documents/answerTask.js';
import { createReaderQueue } from '../../documents/readerQueue.js';
import { LimitExceeded, ReaderCrashed, watchReader, type ReaderCrash } from '../../documents/readers.js';
import { input } from './page.js';

// A batch passes one signal for all its documents: a listener that stays keeps its document in memory.
test('removes its listeners from the signal after each result, each fault and an abort', async () => {
  const answers: readonly PoolAnswer[] = [
    { document: { urls: [], text: '' } },
    { fault: { kind: 'no_text', message: 'It has no text.', cause: null } },
  ];
  let hangs = false;
  const run = async (documents: readonly PoolDocument[], signal: AbortSignal): Promise<readonly PoolAnswer[]> => {
    if (!hangs) return answers.slice(0, documents.length);
    await new Promise((_resolve, reject) => signal.addEventListener('abort', reject));
    return [];
  };
  const queue = createReaderQueue({ run, close: async () => undefined }, 1, () => undefined);
  const document: PoolDocument = { input: input('<p>x'), links: { withText: true } as never };
  const stop = new AbortController();
  const results = await Promise.allSettled([queue.answer(document, stop.signal), queue.answer(document, stop.signal)]);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  hangs = true;
  const aborted = queue.answer(document, stop.signal);
  stop.abort(new Error('no longer needed'));
  await expect(aborted).rejects.toThrow('no longer needed');
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  await queue.close();
});

test('a document that its caller gives up while it waits for its retry is not read again', async () => {
  const [givenUp, ended] = [new AbortController(), new AbortController()];
  const groups: number[] = [];
  const limit = new LimitExceeded(new Fault('broken_content', 'Reading it takes too long.'));
  const run = async (documents: readonly PoolDocument[]): Promise<readonly PoolAnswer[]> => {
    groups.push(documents.length);
    if (groups.length === 1) throw limit;
    // The second document of the group waits while the first is read alone.
    givenUp.abort(new Error('no longer needed'));
    return [{ document: { urls: [], text: '' } }];
  };
  const queue = createReaderQueue({ run, close: async () => undefined }, 1, () => undefined);
  const document: PoolDocument = { input: input('<p>x'), links: { withText: true } as never };
  const answers = [queue.answer(document, ended.signal), queue.answer(document, givenUp.signal)];
  const last = Promise.allSettled(answers);
  expect((await last).map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  await queue.answer(document);
  expect(groups).toEqual([2, 1, 1]);
  await queue.close();
});

type Run = (documents: readonly PoolDocument[], signal: AbortSignal) => Promise<readonly PoolAnswer[]>;
const LINKS = { withText: true } as never;
const SMALL_BYTES = 128 * 1024;
const named = (name: string, bytes = 1, more: Partial<PoolDocument['input']> = {}): PoolDocument => ({
  input: input(new Uint8Array(bytes), { name, ...more }),
  links: LINKS,
});
const answersOf = (documents: readonly PoolDocument[]): PoolAnswer[] =>
  documents.map(({ input: { name } }) => ({ document: { urls: [name], text: '' } }));

/** Returns a queue with one slot, and the names in each group that it gave to its reader. */
function queueWith(run: Run) {
  const groups: string[][] = [];
  const crashes: ReaderCrash[] = [];
  const readers = {
    run: (documents: readonly PoolDocument[], signal: AbortSignal) => {
      groups.push(documents.map(({ input: { name } }) => name));
      return run(documents, signal);
    },
    close: async () => undefined,
  };
  return { queue: createReaderQueue(readers, 1, (crash) => crashes.push(crash)), groups, crashes };
}
const crashed = (): ReaderCrashed =>
  new ReaderCrashed({
    ...({ reader: 'thread', pid: null, exitCode: 1, signal: null } as const),
    ...{ memoryMb: null, limitMb: 9, detail: '', documents: 1 },
  });

test('reads up to eight small documents together, and a large one alone', async () => {
  const { queue, groups } = queueWith(async (documents) => answersOf(documents));
  const small = Array.from({ length: 9 }, (_, nth) => named(`s${nth}`, SMALL_BYTES));
  const documents = [...small, named('large', SMALL_BYTES + 1), named('last')];
  const answers = await Promise.all(documents.map((document) => queue.answer(document)));
  expect(groups).toEqual([['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7'], ['s8'], ['large'], ['last']]);
  expect(answers).toEqual(answersOf(documents).map((answer) => 'document' in answer && answer.document));
  await queue.close();
});

test('takes the documents of owners in turn', async () => {
  const { queue, groups } = queueWith(async (documents) => answersOf(documents));
  const owners = [1, 1, 1, 2, 3, 2];
  await Promise.all(owners.map((owner) => queue.answer(named(String(owner), SMALL_BYTES + 1, { owner }))));
  expect(groups.flat()).toEqual(['1', '2', '3', '1', '2', '1']);
  await queue.close();
});

/** Failures of the reader of one document, and how often the document is read. */
const FAILURES: readonly (readonly [what: string, failure: () => Error, document: PoolDocument, reads: number])[] = [
  ['a crash', crashed, named('a'), 2],
  ['a crash of the reader to which the bytes were transferred', crashed, named('a', 0, { transferBytes: true }), 1],
  ['a limit', () => new LimitExceeded(new Fault('parse_limit', 'Too slow.')), named('a'), 1],
  ['another error', () => new Error('no thread'), named('a'), 1],
];
test('reads a document again after a crash, once, and after no other failure', async () => {
  for (const [, failure, document, reads] of FAILURES) {
    const { queue, groups, crashes } = queueWith(() => Promise.reject(failure()));
    const error: unknown = await queue.answer(document).catch((reason: unknown) => reason);
    expect(groups).toHaveLength(reads);
    const isCrash = failure() instanceof ReaderCrashed;
    expect(crashes).toHaveLength(isCrash ? reads : 0);
    if (failure() instanceof LimitExceeded) expect(error).toMatchObject({ kind: 'parse_limit' });
    else expect(error).toMatchObject({ message: 'no thread' });
    // The slot is free again.
    await queue.answer(document).catch(() => undefined);
    expect(groups.length).toBeGreaterThan(reads);
    await queue.close();
  }
});

test('reads the documents of a failed group alone, so that only the cause fails', async () => {
  const { queue, groups } = queueWith(async (documents) => {
    if (documents.some(({ input: { name } }) => name === 'bad'))
      throw new LimitExceeded(new Fault('parse_limit', 'Too slow.'));
    return answersOf(documents);
  });
  const results = await Promise.allSettled(['a', 'bad', 'b'].map((name) => queue.answer(named(name))));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(groups).toEqual([['a', 'bad', 'b'], ['a'], ['bad'], ['b']]);
  await queue.close();
});

test('ends a reader when all callers of its documents have given up, and not before', async () => {
  let reading: AbortSignal | null = null;
  const { queue, groups } = queueWith(
    (documents, signal) =>
      new Promise((resolve, reject) => {
        reading = signal;
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        if (documents.length === 1) resolve(answersOf(documents));
      }),
  );
  const callers = [new AbortController(), new AbortController()];
  const answers = callers.map(({ signal }, nth) => queue.answer(named(String(nth)), signal).catch(String));
  while (groups.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  const isEnded = (): boolean => reading!.aborted;
  callers[0]!.abort('left');
  expect(isEnded()).toBe(false);
  callers[1]!.abort('left');
  expect(isEnded()).toBe(true);
  expect(await Promise.all(answers)).toEqual(['left', 'left']);
  expect(await queue.answer(named('next'))).toMatchObject({ urls: ['next'] });
  await queue.close();
});

test('returns the fault of a document with its kind, message and cause', async () => {
  const fault = { kind: 'no_text', message: 'It has no text.', cause: 'stack' } as const;
  const { queue } = queueWith(async () => [{ fault }]);
  const error: unknown = await queue.answer(named('a')).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Fault);
  expect(error).toMatchObject(fault);
  await queue.close();
});

test('rejects waiting and later documents when it is closed', async () => {
  const { queue, groups } = queueWith(() => new Promise(() => undefined));
  void queue.answer(named('reading', SMALL_BYTES + 1)).catch(() => undefined);
  const waiting = queue.answer(named('waiting')).catch(String);
  await queue.close();
  expect(await waiting).toContain('closed');
  await expect(queue.answer(named('late'))).rejects.toThrow('closed');
  expect(groups).toEqual([['reading']]);
});

test('measures the time of a reader from its start, and counts a pause of this process as at most a second', () => {
  jest.useFakeTimers();
  let hasBegun = false;
  const checks: [number, boolean][] = [];
  const check = (elapsedMs: number, begun: boolean): void => void checks.push([Math.round(elapsedMs), begun]);
  const stop = watchReader({ hasBegun: () => hasBegun, check }, 100);
  try {
    jest.advanceTimersByTime(200);
    hasBegun = true;
    jest.advanceTimersByTime(200);
    expect(checks).toEqual([
      [100, false],
      [200, false],
      [0, true],
      [100, true],
    ]);
    const later = performance.now() + 60_000;
    const clock = jest.spyOn(performance, 'now').mockReturnValue(later);
    jest.advanceTimersByTime(100);
    clock.mockRestore();
    expect(checks.at(-1)).toEqual([1_100, true]);
    stop();
    jest.advanceTimersByTime(1_000);
    expect(checks).toHaveLength(5);
  } finally {
    jest.useRealTimers();
  }
});
