import { expect, test } from '@jest/globals';
import { joinWindows } from '../../embeddings/joinWindows.js';
import { splitWindows, WINDOW_PIECES } from '../../embeddings/providers/localWindows.js';

const count = (pieces: number): number[] => splitWindows(new Array<number>(pieces).fill(7)).map((w) => w.length);

test('a window is full before the next begins', () => {
  expect(count(1)).toEqual([1]);
  expect(count(WINDOW_PIECES)).toEqual([254]);
  expect(count(WINDOW_PIECES + 1)).toEqual([254, 1]);
  expect(count(WINDOW_PIECES * 3)).toEqual([254, 254, 254]);
});

test('a text without word pieces has one empty window', () => {
  expect(splitWindows([])).toEqual([[]]);
});

test('windows count by their word pieces and the result has length 1', () => {
  const vector = joinWindows([
    { vector: Float32Array.of(1, 0), tokens: 3 },
    { vector: Float32Array.of(0, 1), tokens: 4 },
  ]);
  expect([...vector]).toEqual([expect.closeTo(0.6), expect.closeTo(0.8)]);
});

test('an empty window alone keeps its vector', () => {
  expect([...joinWindows([{ vector: Float32Array.of(0, 1), tokens: 0 }])]).toEqual([0, 1]);
});
