import { expect, test } from '@jest/globals';
import { createFairQueue } from '../../../providers/embeddings/fairQueue.js';

const [a, b, c] = [{}, {}, {}];

function takeAll(queue: { take(): string | undefined }): string[] {
  const taken: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
  return taken;
}

test('serves callers round-robin, one item each, and the items of a caller in order', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, ['a1', 'a2', 'a3']);
  queue.add(b, ['b1']);
  queue.add(c, ['c1', 'c2']);
  expect(takeAll(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  expect(queue.isEmpty()).toBe(true);
});

test('serves a later caller before the remaining items of an earlier caller with many items', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, ['a1', 'a2', 'a3']);
  expect(queue.take()).toBe('a1');
  queue.add(b, ['b1']);
  expect(takeAll(queue)).toEqual(['a2', 'b1', 'a3']);
});

test('removes the waiting items of a caller that drops its call', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, ['a1', 'a2']);
  queue.add(b, ['b1']);
  queue.drop(a);
  expect(takeAll(queue)).toEqual(['b1']);
});

test('stays empty for a caller without items', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, []);
  expect(queue.isEmpty()).toBe(true);
});

test('serves fairness keys in turn, and the calls of one key one after the other', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, ['a1', 'a2'], { organizationId: 1 });
  queue.add(b, ['b1', 'b2'], { organizationId: 1 });
  queue.add(c, ['c1', 'c2'], { organizationId: 2 });
  expect(takeAll(queue)).toEqual(['a1', 'c1', 'a2', 'c2', 'b1', 'b2']);
});

test('keeps the items of other calls of a fairnessKey if one call is dropped', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, ['a1'], { organizationId: 1 });
  queue.add(b, ['b1'], { organizationId: 1 });
  queue.drop(a);
  expect(takeAll(queue)).toEqual(['b1']);
});

test('keeps the items of other users of an organization if the only call of one user is dropped', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, ['a1'], { organizationId: 1, userId: 1 });
  queue.add(b, ['b1'], { organizationId: 1, userId: 2 });
  queue.drop(a);
  expect(takeAll(queue)).toEqual(['b1']);
  expect(queue.isEmpty()).toBe(true);
});

test('serves organizations in turn, and the users of an organization in turn within its turns', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, ['a1', 'a2', 'a3'], { organizationId: 1, userId: 1 });
  queue.add(b, ['b1'], { organizationId: 1, userId: 2 });
  queue.add(c, ['c1', 'c2', 'c3'], { organizationId: 2, userId: 3 });
  expect(takeAll(queue)).toEqual(['a1', 'c1', 'b1', 'c2', 'a2', 'c3', 'a3']);
});

test('serves a resumed item first within its fairnessKey, at the next turn of the fairnessKey', () => {
  const queue = createFairQueue<object, string>();
  const [fairnessKey, otherKey] = [{ organizationId: 1 }, { organizationId: 2 }];
  queue.add(a, ['a1', 'a2'], fairnessKey);
  queue.add(b, ['b1'], fairnessKey);
  queue.add(c, ['c1', 'c2'], otherKey);
  expect(queue.take()).toBe('a1');
  queue.resume(a, 'a1 continued', fairnessKey);
  expect(takeAll(queue)).toEqual(['c1', 'a1 continued', 'c2', 'a2', 'b1']);
  queue.resume(a, 'a2 continued', fairnessKey);
  queue.drop(a);
  expect(queue.isEmpty()).toBe(true);
});
