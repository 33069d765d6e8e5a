import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { fuseHybrid } from '../../api/chunks/fuseHybrid.js';
import { rankingOf, type Ranking, rankingOfPoints } from '../../api/chunks/ranking.js';
import { byScore, type ChunkKey, type VectorHit } from '../../store/vectors/search.js';

const hit = (fileId: number, score: number): VectorHit => ({ fileId, generation: 1, chunkIndex: 0, score });
const pointsOf = (hits: readonly VectorHit[]) => hits.map(({ fileId, score }) => ({ id: `p${fileId}`, score }));

/**
 * Creates a reader of the chunks of points `p<file>`, without those of deleted files. Records the number of points of
 * each request.
 */
function reader(deleted: readonly number[] = []) {
  const requests: number[] = [];
  const chunksOf = (ids: readonly string[]): Promise<Map<string, ChunkKey>> => {
    requests.push(ids.length);
    const files = ids.map((id) => Number(id.slice(1))).filter((id) => !deleted.includes(id));
    return Promise.resolve(new Map(files.map((fileId) => [`p${fileId}`, { fileId, generation: 1, chunkIndex: 0 }])));
  };
  return { chunksOf, requests };
}

async function readAll(ranking: Ranking, counts: readonly number[]): Promise<VectorHit[]> {
  const collected: VectorHit[] = [];
  for (const count of counts) collected.push(...(await ranking.next(count)).hits);
  return collected;
}

describe('the ranking of points', () => {
  test('reads the chunks of the requested hits only', async () => {
    const { chunksOf, requests } = reader();
    const hits = Array.from({ length: 400 }, (_, rank) => hit(rank + 1, 1 - rank / 400));
    const ranking = rankingOfPoints(pointsOf(hits), chunksOf);
    expect((await ranking.next(10)).hits).toEqual(hits.slice(0, 10));
    expect((await ranking.next(20)).hits).toEqual(hits.slice(10, 30));
    expect(requests).toEqual([10, 20]);
  });

  test('orders ties by file, even if they continue after the requested number of hits', async () => {
    const { chunksOf, requests } = reader();
    const ranking = rankingOfPoints(
      pointsOf([hit(9, 1), hit(7, 0.5), hit(5, 0.5), hit(3, 0.5), hit(1, 0.2)]),
      chunksOf,
    );
    expect((await ranking.next(2)).hits).toEqual([hit(9, 1), hit(3, 0.5)]);
    expect((await ranking.next(2)).hits).toEqual([hit(5, 0.5), hit(7, 0.5)]);
    expect(requests).toEqual([4]);
    expect((await ranking.next(2)).hits).toEqual([hit(1, 0.2)]);
    expect(await ranking.next(2)).toEqual({ hits: [], deleted: false });
  });

  test('replaces deleted points with later hits, and reports that points were deleted', async () => {
    const hits = [hit(1, 0.9), hit(2, 0.8), hit(3, 0.7), hit(4, 0.6)];
    const ranking = rankingOfPoints(pointsOf(hits), reader([1, 3]).chunksOf);
    expect(await ranking.next(2)).toEqual({ hits: [hits[1], hits[3]], deleted: true });
  });

  test('equals the ranking of hits with known chunks, however many hits each call requests', async () => {
    const scored = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.constantFrom(0, 0.2, 0.4, 1)), {
      selector: ([fileId]) => fileId,
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(scored, scored, fc.array(fc.integer({ min: 1, max: 9 })), async (dense, sparse, counts) => {
        const list = (rows: readonly (readonly [number, number])[]) =>
          pointsOf(rows.map(([fileId, score]) => hit(fileId, score)).sort(byScore));
        const fused = fuseHybrid({ dense: list(dense), sparse: list(sparse) }, { semantic: 0.5, keyword: 0.5 }, 40);
        const hitsWithChunks = fused.map(({ id, score }) => hit(Number(id.slice(1)), score)).sort(byScore);
        const parts = [...counts, 40, 40];
        expect(await readAll(rankingOfPoints(fused, reader().chunksOf), parts)).toEqual(
          await readAll(rankingOf(hitsWithChunks), parts),
        );
      }),
    );
  });
});
