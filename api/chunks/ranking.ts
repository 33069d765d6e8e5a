import { byScore, type ChunkKey, type PointHit, type VectorHit } from '../../store/vectors/search.js';

/** Ranked chunks, which are read part by part. */
export interface Ranking {
  /**
   * Returns the next `count` hits, fewer only at the end of the ranking. `deleted`: some points of this part are
   * missing, because they were deleted after the search.
   */
  next(count: number): Promise<{ readonly hits: readonly VectorHit[]; readonly deleted: boolean }>;
}

/** Returns the ranking of hits that are already in order. */
export function rankingOf(hits: readonly VectorHit[]): Ranking {
  let from = 0;
  return {
    next(count) {
      const part = hits.slice(from, (from += count));
      return Promise.resolve({ hits: part, deleted: false });
    },
  };
}

/**
 * Returns the ranking of points whose chunks have not been read yet. It reads only the chunks of requested hits and of
 * hits with the same score, since ties are ordered by file and chunk.
 * @param points the points, best first
 * @param chunksOf reads the chunks of points by id; deleted points are missing
 */
export function rankingOfPoints(
  points: readonly PointHit[],
  chunksOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, ChunkKey>>,
): Ranking {
  let from = 0;
  let read: readonly VectorHit[] = [];
  return {
    async next(count) {
      let deleted = false;
      while (read.length < count && from < points.length) {
        let to = Math.min(points.length, from + count - read.length);
        while (points[to]?.score === points[to - 1]?.score && to < points.length) to += 1;
        const part = points.slice(from, to);
        const chunks = await chunksOf(part.map(({ id }) => id));
        const hits = part.flatMap(({ id, score }): VectorHit[] => {
          const chunk = chunks.get(id);
          return chunk ? [{ ...chunk, score }] : [];
        });
        deleted ||= hits.length < part.length;
        read = [...read, ...hits.sort(byScore)];
        from = to;
      }
      const hits = read.slice(0, count);
      read = read.slice(count);
      return { hits, deleted };
    },
  };
}
