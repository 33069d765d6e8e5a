import type { ChunkKey, Hits, PointHit } from '../../store/vectors/search.js';
import { fuseHybrid, type HybridWeights, semanticShareOf } from './fuseHybrid.js';
import { type Ranking, rankingOfPoints } from './ranking.js';
import { NEIGHBOURS, SMOOTHED_HITS, smoothScores } from './smoothScores.js';

/**
 * Strength of smoothing where vectors have the whole weight. Vectors that do not separate the best hits do not tell
 * related chunks apart either, so the strength falls with their share of the weight.
 */
const MAX_STRENGTH = 0.4;

/** Reads points by id. Deleted points are missing. */
export interface PointReader {
  /** Returns the chunks of points. */
  chunksOf(ids: readonly string[]): Promise<ReadonlyMap<string, ChunkKey>>;
  /** Returns for each point the nearest of the others, at most `count`, with their similarity as score. */
  neighboursOf(ids: readonly string[], count: number): Promise<ReadonlyMap<string, readonly PointHit[]>>;
}

/**
 * Fuses both lists, and smooths the scores of the best hits if both lists have hits and the fusion has at least
 * SMOOTHED_HITS. The chunks of the smoothed hits are read at the same time as their neighbours.
 * @param limit maximum length of each list
 */
export async function rankHybrid(
  hits: Hits<PointHit>,
  weights: HybridWeights,
  limit: number,
  { chunksOf, neighboursOf }: PointReader,
): Promise<Ranking> {
  const fused = fuseHybrid(hits, weights, limit);
  const hasBoth = hits.dense.length > 0 && hits.sparse.length > 0;
  const strength = hasBoth ? MAX_STRENGTH * semanticShareOf(hits, weights) : 0;
  if (strength === 0 || fused.length < SMOOTHED_HITS) return rankingOfPoints(fused, chunksOf);
  const smoothedIds = fused.slice(0, SMOOTHED_HITS).map(({ id }) => id);
  const [neighbours, smoothedChunks] = await Promise.all([
    neighboursOf(smoothedIds, NEIGHBOURS),
    chunksOf(smoothedIds),
  ]);
  const isRead = new Set(smoothedIds);
  return rankingOfPoints(smoothScores(fused, neighbours, strength), async (ids) => {
    const unread = ids.filter((id) => !isRead.has(id));
    return unread.length === 0 ? smoothedChunks : new Map([...smoothedChunks, ...(await chunksOf(unread))]);
  });
}
