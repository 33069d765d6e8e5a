import { expect, test } from '@jest/globals';

import { Fault } from '../../../contract/failures.js';
import { createBatchQueue, type Batch, type Item } from '../../../providers/embeddings/remote/batchQueue.js';
import { openCall } from '../../../providers/embeddings/remote/call.js';
import type { InputLimits, RemoteModel, RequestLimits } from '../../../providers/embeddings/remote/types.js';
import { faultOf } from '../../support/faultOf.js';

/** A model of which the queue reads only the limits. */
const modelOf = (request: Partial<RequestLimits>, input: InputLimits, imageBytes?: number): RemoteModel =>
  ({
    request: { inputs: 100, tokens: 1_000_000, bytes: 1_000_000, ...request },
    input,
    ...(imageBytes === undefined ? {} : { imageBytes }),
  }) as RemoteModel;
const MODEL = modelOf({}, { tokens: 10, bytes: 100 });

const call = (texts = 1) => {
  const opened = openCall(Array<number>(texts).fill(1), undefined, undefined, () => undefined);
  opened.answer.catch(() => undefined);
  return opened;
};
/** Returns items of a call: texts of one byte per token. */
const items = (of: ReturnType<typeof call>, count: number, tokens = 1): Item[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ call: of, index, tokens },
    input: { kind: 'text', text: 'x'.repeat(tokens) },
  }));
const picture = (of: ReturnType<typeof call>, bytes: number): Item => ({
  ...{ call: of, index: 0, tokens: 0 },
  input: { kind: 'image', bytes: new Uint8Array(bytes) },
});

/** Returns the number of items of each batch. */
function sizes(model: RemoteModel, waiting: (of: ReturnType<typeof call>) => Item[]): number[] {
  const queue = createBatchQueue();
  const of = call();
  queue.add(model, 'document', of, waiting(of), undefined);
  const taken: number[] = [];
  for (let batch = queue.next(0); batch; batch = queue.next(0)) taken.push(batch.items.length);
  return taken;
}

test('fills a request up to exactly the limits of inputs, tokens and bytes', () => {
  const input = { tokens: 10, bytes: 10 };
  expect(sizes(modelOf({ inputs: 3 }, input), (of) => items(of, 7))).toEqual([3, 3, 1]);
  // A further item is taken only if the request has room for the largest possible item.
  expect(sizes(modelOf({ tokens: 30 }, input), (of) => items(of, 7, 10))).toEqual([3, 3, 1]);
  expect(sizes(modelOf({ tokens: 29 }, input), (of) => items(of, 7, 10))).toEqual([2, 2, 2, 1]);
  expect(sizes(modelOf({ bytes: 30 }, input), (of) => items(of, 7, 10))).toEqual([3, 3, 1]);
  expect(sizes(modelOf({ bytes: 29 }, input), (of) => items(of, 7, 10))).toEqual([2, 2, 2, 1]);
  // One item is always sent, even if it exceeds a limit.
  expect(sizes(modelOf({ tokens: 1, bytes: 1 }, input), (of) => items(of, 2, 10))).toEqual([1, 1]);
  // Base64 makes four bytes of three.
  const pictures = (of: ReturnType<typeof call>) => Array.from({ length: 5 }, () => picture(of, 30));
  expect(sizes(modelOf({ bytes: 80 }, input, 30), pictures)).toEqual([2, 2, 1]);
  expect(sizes(modelOf({ bytes: 79 }, input, 30), pictures)).toEqual([1, 1, 1, 1, 1]);
});

test('takes due retries first, then queries, then documents, and the models of each in turn', () => {
  const queue = createBatchQueue();
  const one = modelOf({ inputs: 1 }, { tokens: 10, bytes: 100 });
  const two = modelOf({ inputs: 1 }, { tokens: 10, bytes: 100 });
  for (const model of [one, two])
    for (const purpose of ['document', 'query'] as const) {
      const of = call(2);
      queue.add(model, purpose, of, items(of, 2), undefined);
    }
  const retried = queue.next(0)!;
  queue.retry({ ...retried, failures: 1, notBefore: 50 });
  const taken = (now: number): unknown => {
    const { model, purpose, failures } = queue.next(now) as Batch;
    return [model === one ? 'one' : 'two', purpose, failures];
  };
  expect(retried).toMatchObject({ purpose: 'query', failures: 0, refusedSince: null, notBefore: 0 });
  expect([taken(49), taken(50), taken(50), taken(50)]).toEqual([
    ['two', 'query', 0],
    ['one', 'query', 1],
    ['one', 'query', 0],
    ['two', 'query', 0],
  ]);
  expect([taken(50), taken(50), taken(50), taken(50), queue.next(50)]).toEqual([
    ['one', 'document', 0],
    ['two', 'document', 0],
    ['one', 'document', 0],
    ['two', 'document', 0],
    null,
  ]);
});

test('never sends items of a settled call, neither waiting ones nor those of a retry', () => {
  const queue = createBatchQueue();
  const [settled, open] = [call(), call()];
  queue.add(MODEL, 'document', settled, items(settled, 1), undefined);
  queue.add(MODEL, 'document', open, items(open, 1), undefined);
  const both = queue.next(0)!;
  queue.retry(both, { ...both, items: items(settled, 1) });
  queue.add(MODEL, 'document', settled, items(settled, 1), undefined);
  settled.fail(new Error('aborted'));
  queue.drop(settled);
  expect(queue.next(0)?.items.map((item) => item.call)).toEqual([open]);
  expect(queue.next(0)).toBeNull();
});

test('returns the earliest time of a retry, or the given time while items wait', () => {
  const queue = createBatchQueue();
  expect(queue.nextSendTime(7)).toBe(Infinity);
  const of = call();
  queue.add(MODEL, 'document', of, items(of, 1), undefined);
  expect(queue.nextSendTime(7)).toBe(7);
  const batch = queue.next(0)!;
  expect(queue.nextSendTime(7)).toBe(Infinity);
  queue.retry({ ...batch, notBefore: 30 }, { ...batch, notBefore: 20 });
  expect(queue.nextSendTime(7)).toBe(20);
});

test('rejects all waiting queries and their retries, and no documents', async () => {
  const queue = createBatchQueue();
  const [query, document, retried] = [call(2), call(), call()];
  queue.add(MODEL, 'query', retried, items(retried, 1), undefined);
  queue.retry({ ...queue.next(0)!, notBefore: 5 });
  queue.add(MODEL, 'query', query, items(query, 2), undefined);
  queue.add(MODEL, 'document', document, items(document, 1), undefined);
  queue.reject('query', new Fault('rate_limited', 'Later.'));
  expect((await faultOf(query.answer)).kind).toBe('rate_limited');
  expect((await faultOf(retried.answer)).kind).toBe('rate_limited');
  expect(queue.nextSendTime(1)).toBe(1);
  expect(document.isSettled).toBe(false);
  expect([queue.next(9)?.purpose, queue.next(9)]).toEqual(['document', null]);
});
