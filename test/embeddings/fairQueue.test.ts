import { expect, test } from '@jest/globals';
import { createFairQueue } from '../../embeddings/fairQueue.js';

function takeAll(queue: { take(): string | undefined }): string[] {
  const taken: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
  return taken;
}

test('callers take turns, one item each, and each keeps its own order', () => {
  const queue = createFairQueue<string, string>();
  queue.add('a', ['a1', 'a2', 'a3']);
  queue.add('b', ['b1']);
  queue.add('c', ['c1', 'c2']);
  expect(takeAll(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  expect(queue.isEmpty()).toBe(true);
});

test('a caller that comes later is served before the rest of a long list', () => {
  const queue = createFairQueue<string, string>();
  queue.add('a', ['a1', 'a2', 'a3']);
  expect(queue.take()).toBe('a1');
  queue.add('b', ['b1']);
  expect(takeAll(queue)).toEqual(['a2', 'b1', 'a3']);
});

test('what a dropped caller had waiting is forgotten', () => {
  const queue = createFairQueue<string, string>();
  queue.add('a', ['a1', 'a2']);
  queue.add('b', ['b1']);
  queue.drop('a');
  expect(takeAll(queue)).toEqual(['b1']);
});

test('a caller without items leaves the queue empty', () => {
  const queue = createFairQueue<string, string>();
  queue.add('a', []);
  expect(queue.isEmpty()).toBe(true);
});
