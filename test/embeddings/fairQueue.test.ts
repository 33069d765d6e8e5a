import { expect, test } from '@jest/globals';
import { createFairQueue } from '../../embeddings/fairQueue.js';

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
  queue.add(a, ['a1', 'a2'], 'ours');
  queue.add(b, ['b1', 'b2'], 'ours');
  queue.add(c, ['c1', 'c2'], 'theirs');
  expect(takeAll(queue)).toEqual(['a1', 'c1', 'a2', 'c2', 'b1', 'b2']);
});

test('what one owner of a party drops leaves the others waiting', () => {
  const queue = createFairQueue<object, string>();
  queue.add(a, ['a1'], 'ours');
  queue.add(b, ['b1'], 'ours');
  queue.drop(a);
  expect(takeAll(queue)).toEqual(['b1']);
});
