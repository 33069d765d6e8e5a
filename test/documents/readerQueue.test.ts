import { getEventListeners } from 'node:events';
import { expect, test } from '@jest/globals';

import type { PoolAnswer, PoolDocument } from '../../documents/answerTask.js';
import { createReaderQueue } from '../../documents/readerQueue.js';
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
