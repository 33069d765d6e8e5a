import { getEventListeners } from 'node:events';
import { expect, test } from '@jest/globals';

import { Fault } from '../../contract/failures.js';
import type { PoolAnswer, PoolDocument } from '../../documents/answerTask.js';
import { createReaderQueue } from '../../documents/readerQueue.js';
import { LimitExceeded } from '../../documents/readers.js';
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
