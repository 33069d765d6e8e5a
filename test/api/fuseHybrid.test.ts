import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { fuseHybrid } from '../../api/chunks/fuseHybrid.js';

const hit = (id: number, score: number) => ({ id: String(id), score });
const HALVES = { semantic: 0.5, keyword: 0.5 };
const idsOf = (hits: readonly { id: string }[]): number[] => hits.map(({ id }) => Number(id));

test('ranks hits of both lists before hits of one list', () => {
  const dense = [hit(1, 0.9), hit(2, 0.8), hit(3, 0.1)];
  const sparse = [hit(4, 12), hit(2, 11)];
  const fused = fuseHybrid({ dense, sparse }, HALVES, 100);
  expect(idsOf(fused)).toEqual([2, 1, 4, 3]);
});

test('scales the scores of vectors from the last score of a truncated list, or from 0 in a complete list', () => {
  const dense = [hit(1, 0.9), hit(2, 0.8), hit(3, 0.7)];
  const scores = (limit: number): string[] =>
    fuseHybrid({ dense, sparse: [] }, { semantic: 1, keyword: 0 }, limit).map(({ score }) => score.toFixed(2));
  expect(scores(3)).toEqual(['1.00', '0.50', '0.00']);
  expect(scores(4)).toEqual(['1.00', '0.89', '0.78']);
});

test('keeps the order of vectors whose scores are negative', () => {
  const scores = (dense: ReturnType<typeof hit>[]) =>
    fuseHybrid({ dense, sparse: [] }, { semantic: 1, keyword: 0 }, 100).map(({ id, score }) => [id, score.toFixed(2)]);
  expect(scores([hit(9, -0.1), hit(5, -0.2), hit(1, -0.3)])).toEqual([
    ['9', '1.00'],
    ['5', '0.50'],
    ['1', '0.00'],
  ]);
  expect(scores([hit(9, 0.1), hit(5, -0.1)])).toEqual([
    ['9', '1.00'],
    ['5', '0.00'],
  ]);
});

test('scales the scores of keywords from 0, also in a truncated list', () => {
  const sparse = [hit(1, 12), hit(2, 9), hit(3, 6)];
  const fused = fuseHybrid({ dense: [], sparse }, { semantic: 0, keyword: 1 }, 3);
  expect(fused.map(({ score }) => score)).toEqual([1, 0.75, 0.5]);
});

describe('a list whose best scores differ little from the others', () => {
  const alike = (firstId: number) => Array.from({ length: 40 }, (_, rank) => hit(firstId + rank, 0.9 - rank * 0.001));
  const clear = [hit(900, 30), hit(901, 6), hit(902, 5)];

  test('has less weight than a list with one much better hit', () => {
    const [best] = fuseHybrid({ dense: alike(1), sparse: clear }, HALVES, 40);
    expect(best?.id).toBe('900');
    expect(best?.score).toBeGreaterThan(0.55);
  });

  test('determines the order alone if the caller gives the other list no weight', () => {
    const [best] = fuseHybrid({ dense: alike(1), sparse: clear }, { semantic: 1, keyword: 0 }, 40);
    expect(best).toMatchObject({ id: '1', score: 1 });
  });
});

test('orders ties by id, regardless of the order of the lists', () => {
  const dense = [hit(9, 1), hit(4, 1)];
  const sparse = [hit(7, 3), hit(2, 3)];
  expect(idsOf(fuseHybrid({ dense, sparse }, HALVES, 100))).toEqual([2, 4, 7, 9]);
  expect(idsOf(fuseHybrid({ dense: dense.toReversed(), sparse: sparse.toReversed() }, HALVES, 100))).toEqual([
    2, 4, 7, 9,
  ]);
});

test('scores are between 0 and 1 and descend, and each hit occurs once', () => {
  const list = (score: fc.Arbitrary<number>) =>
    fc
      .uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 20 })
      .chain((ids) => fc.tuple(...ids.map((id) => score.map((hitScore) => hit(id, hitScore)))))
      .map((hits) => hits.toSorted((a, b) => b.score - a.score));
  fc.assert(
    fc.property(
      list(fc.double({ min: -1, max: 1, noNaN: true })),
      list(fc.double({ min: 0, max: 100, noNaN: true })),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: 1, max: 25 }),
      (dense, sparse, semantic, limit) => {
        const fused = fuseHybrid({ dense, sparse }, { semantic, keyword: 1 - semantic }, limit);
        expect(new Set(idsOf(fused))).toEqual(new Set(idsOf([...dense, ...sparse])));
        expect(new Set(idsOf(fused)).size).toBe(fused.length);
        fused.forEach(({ score }, index) => {
          expect(score).toBeGreaterThanOrEqual(0);
          expect(score).toBeLessThanOrEqual(1 + 1e-9);
          expect(score).toBeLessThanOrEqual(fused[index - 1]?.score ?? 2);
        });
      },
    ),
  );
});
