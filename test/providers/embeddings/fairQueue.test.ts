import { expect, test } from '@jest/globals';
import { createFairQueue } from '../../../providers/embeddings/fairQueue.js';

const [a, b, c] = [{}, {}, {}];

function takeAll(queue: { take(): string | undefined }): string[] {
  const taken: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
  return taken;
}

test('callers take turns, one item each, and each keeps its own order', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, ['a1', 'a2', 'a3']);
  queue.add(b, ['b1']);
  queue.add(c, ['c1', 'c2']);
  expect(takeAll(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  expect(queue.isEmpty()).toBe(true);
});

test('a caller that comes later is served before the rest of a long list', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, ['a1', 'a2', 'a3']);
  expect(queue.take()).toBe('a1');
  queue.add(b, ['b1']);
  expect(takeAll(queue)).toEqual(['a2', 'b1', 'a3']);
});

test('what a dropped caller had waiting is forgotten', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, ['a1', 'a2']);
  queue.add(b, ['b1']);
  queue.drop(a);
  expect(takeAll(queue)).toEqual(['b1']);
});

test('a caller without items leaves the queue empty', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, []);
  expect(queue.isEmpty()).toBe(true);
});

test('owners of one party are served one after the other, and parties take turns', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, ['a1', 'a2'], { organizationId: 1 });
  queue.add(b, ['b1', 'b2'], { organizationId: 1 });
  queue.add(c, ['c1', 'c2'], { organizationId: 2 });
  expect(takeAll(queue)).toEqual(['a1', 'c1', 'a2', 'c2', 'b1', 'b2']);
});

test('what one owner of a party drops leaves the others waiting', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, ['a1'], { organizationId: 1 });
  queue.add(b, ['b1'], { organizationId: 1 });
  queue.drop(a);
  expect(takeAll(queue)).toEqual(['b1']);
});

test('the users of an organization take turns among themselves, and together have the turns of one', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, ['a1', 'a2', 'a3'], { organizationId: 1, userId: 1 });
  queue.add(b, ['b1'], { organizationId: 1, userId: 2 });
  queue.add(c, ['c1', 'c2', 'c3'], { organizationId: 2, userId: 3 });
  expect(takeAll(queue)).toEqual(['a1', 'c1', 'b1', 'c2', 'a2', 'c3', 'a3']);
});

test('what an owner resumes comes first in its party, and the party waits for its turn', () => {
  const queue = createFairQueue<object, string>();
  const [ours, theirs] = [{ organizationId: 1 }, { organizationId: 2 }];
  queue.add(a, ['a1', 'a2'], ours);
  queue.add(b, ['b1'], ours);
  queue.add(c, ['c1', 'c2'], theirs);
  expect(queue.take()).toBe('a1');
  queue.resume(a, 'a1 continued', ours);
  expect(takeAll(queue)).toEqual(['c1', 'a1 continued', 'c2', 'a2', 'b1']);
  queue.resume(a, 'a2 continued', ours);
  queue.drop(a);
  expect(queue.isEmpty()).toBe(true);
});
