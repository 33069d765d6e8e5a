import { describe, expect, test } from '@jest/globals';

import { type PointReader, rankHybrid } from '../../api/chunks/rankHybrid.js';
import { NEIGHBOURS, SMOOTHED_HITS, smoothScores } from '../../api/chunks/smoothScores.js';
import type { PointHit } from '../../store/vectors/search.js';

const HALVES = { semantic: 0.5, keyword: 0.5 };
const idOf = (nth: number): string => `p${100 + nth}`;

/** Returns hits with descending scores: .9, .89, … */
const listOf = (count: number): PointHit[] =>
  Array.from({ length: count }, (_, nth) => ({ id: idOf(nth), score: 0.9 - nth / 100 }));

/** Returns the neighbours of each smoothed hit: all others of its subject, with a similarity of .8. */
function neighboursIn(subjectOf: (nth: number) => number): Map<string, PointHit[]> {
  const indexes = Array.from({ length: SMOOTHED_HITS }, (_, nth) => nth);
  return new Map(
    indexes.map((nth) => {
      const neighbours = indexes.filter((other) => other !== nth && subjectOf(other) === subjectOf(nth));
      return [idOf(nth), neighbours.map((other) => ({ id: idOf(other), score: 0.8 }))];
    }),
  );
}
const rankOf = (hits: readonly PointHit[], nth: number): number => hits.findIndex(({ id }) => id === idOf(nth));
const scoreOf = (hits: readonly PointHit[], nth: number): number => hits[rankOf(hits, nth)]?.score ?? Number.NaN;

describe('smoothed scores', () => {
  // The hits of the second half of the list, and hit 1 of the first half, have another subject than the others.
  const neighbours = neighboursIn((nth) => (nth === 1 || nth >= 15 ? 1 : 0));

  test('rank a hit lower if its neighbours have lower scores, and keep the order of hits of one subject', () => {
    const hits = listOf(SMOOTHED_HITS);
    const smoothed = smoothScores(hits, neighbours, 0.4);
    expect(rankOf(smoothed, 1)).toBeGreaterThan(1);
    const otherHits = smoothed.filter(({ id }) => id !== idOf(1));
    expect(otherHits.map(({ id }) => id)).toEqual(hits.map(({ id }) => id).filter((id) => id !== idOf(1)));
  });

  test('rank a hit higher if its neighbours have higher scores', () => {
    const smoothed = smoothScores(
      listOf(SMOOTHED_HITS),
      neighboursIn((nth) => (nth !== 25 && nth >= 10 ? 1 : 0)),
      0.4,
    );
    expect(rankOf(smoothed, 25)).toBeLessThan(25);
  });

  test('move by the given fraction towards the mean score of the neighbours, weighted by similarity', () => {
    const hits = listOf(SMOOTHED_HITS);
    const weighted = new Map([
      [
        idOf(0),
        [
          { id: idOf(10), score: 0.75 },
          { id: idOf(20), score: 0.25 },
        ],
      ],
    ]);
    const scoreAt = (strength: number): number => scoreOf(smoothScores(hits, weighted, strength), 0);
    // The scores of the neighbours are .8 and .7.
    expect(scoreAt(1)).toBeCloseTo(0.775, 10);
    expect(scoreAt(0.4)).toBeCloseTo(0.9 - 0.4 * 0.125, 10);
    expect(scoreAt(0)).toBeCloseTo(0.9, 10);
  });

  test('ignore dissimilar neighbours, and are the original scores of hits without neighbours', () => {
    const hits = listOf(SMOOTHED_HITS);
    const opposite = new Map([[idOf(0), [{ id: idOf(20), score: -0.5 }]]]);
    expect(smoothScores(hits, opposite, 0.4)).toEqual(hits);
    expect(smoothScores(hits, new Map(), 0.4)).toEqual(hits);
  });

  test('stay above the scores of the hits after the smoothed ones; those hits keep their scores', () => {
    const hits = listOf(SMOOTHED_HITS + 20);
    const smoothed = smoothScores(hits, neighbours, 1);
    expect(smoothed.slice(SMOOTHED_HITS)).toEqual(hits.slice(SMOOTHED_HITS));
    const scores = smoothed.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  });

  test('are not computed for a list shorter than the number of smoothed hits', () => {
    const short = listOf(SMOOTHED_HITS - 1);
    expect(smoothScores(short, neighbours, 0.4)).toEqual(short);
  });
});

describe('the ranking of a hybrid search', () => {
  /** Runs a hybrid search that finds forty points by vectors and by keywords, and records the reads of chunks. */
  function search(deleted: readonly number[] = []) {
    const hits = listOf(40);
    const reads: unknown[] = [];
    const reader: PointReader = {
      chunksOf(ids) {
        reads.push(['chunks', ids.length]);
        const files = ids.map((id) => Number(id.slice(1))).filter((file) => !deleted.includes(file));
        return Promise.resolve(
          new Map(files.map((fileId) => [`p${fileId}`, { fileId, generation: 1, chunkIndex: 0 }])),
        );
      },
      neighboursOf(ids, count) {
        reads.push(['neighbours', ids.length, count]);
        return Promise.resolve(neighboursIn((nth) => (nth === 1 || nth >= 15 ? 1 : 0)));
      },
    };
    return { hits, reads, reader };
  }
  const filesOf = (page: { readonly hits: readonly { readonly fileId: number }[] }): number[] =>
    page.hits.map(({ fileId }) => fileId);

  test('is smoothed, and reads the chunks of the smoothed hits once', async () => {
    const { hits, reads, reader } = search();
    const ranking = await rankHybrid({ dense: hits, sparse: hits }, HALVES, 100, reader);
    const firstPage = filesOf(await ranking.next(10));
    expect(firstPage[0]).toBe(100);
    expect(firstPage[1]).not.toBe(101);
    expect(reads).toEqual([
      ['neighbours', SMOOTHED_HITS, NEIGHBOURS],
      ['chunks', SMOOTHED_HITS],
    ]);
    const otherPages = filesOf(await ranking.next(30));
    expect([...firstPage, ...otherPages].toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 40 }, (_, nth) => 100 + nth),
    );
    expect(reads.slice(2)).toEqual([['chunks', 10]]);
  });

  test.each([
    ['one list is empty', { sparse: [] }, HALVES],
    ['the caller gives vectors no weight', {}, { semantic: 0, keyword: 1 }],
  ])('is not smoothed if %s', async (_what, lists, weights) => {
    const { hits, reads, reader } = search();
    const ranking = await rankHybrid({ dense: hits, sparse: hits, ...lists }, weights, 100, reader);
    expect(filesOf(await ranking.next(5))).toEqual([100, 101, 102, 103, 104]);
    expect(reads).toEqual([['chunks', 5]]);
  });

  test('reports points that were deleted since the search', async () => {
    const { hits, reader } = search([100, 139]);
    const ranking = await rankHybrid({ dense: hits, sparse: hits }, HALVES, 100, reader);
    const first = await ranking.next(5);
    expect(first.deleted).toBe(true);
    expect(filesOf(first)).not.toContain(100);
    expect(filesOf(first)).toHaveLength(5);
    expect(filesOf(await ranking.next(40))).toHaveLength(33);
  });
});
