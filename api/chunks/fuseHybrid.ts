import { byScore, type VectorHit, type VectorHits } from '../../store/vectors/search.js';

/** Weights of vectors and keywords in a hybrid score; their sum is 1. */
export interface HybridWeights {
  readonly semantic: number;
  readonly keyword: number;
}

const keyOf = ({ fileId, generation, chunkIndex }: VectorHit): string => `${fileId}:${generation}:${chunkIndex}`;

/**
 * Normalises scores between the best score and an upper bound for hits outside the list: the last score of a full list.
 */
function normalised(hits: readonly VectorHit[], limit: number): Map<string, number> {
  const best = hits[0]?.score ?? 0;
  const floor = hits.length < limit ? 0 : (hits.at(-1)?.score ?? 0);
  const span = best - floor;
  return new Map(hits.map((hit) => [keyOf(hit), span > 0 ? Math.max(0, (hit.score - floor) / span) : 1]));
}

/**
 * Fuses both lists by the weighted sum of normalised scores (a convex combination), from 0 to 1. A hit that is missing
 * in one list counts 0 there. Best first, ties by file and chunk. On headings and sentences of real documentation, the
 * result is better than either list and than fusion by rank (docs/decisions/008-hybrid-by-sum.md).
 * @param limit maximum length of each list
 */
export function fuseHybrid({ dense, sparse }: VectorHits, weights: HybridWeights, limit: number): VectorHit[] {
  const [meaning, words] = [normalised(dense, limit), normalised(sparse, limit)];
  const all = new Map([...sparse, ...dense].map((hit) => [keyOf(hit), hit]));
  return [...all]
    .map(([key, hit]) => ({
      ...hit,
      score: weights.semantic * (meaning.get(key) ?? 0) + weights.keyword * (words.get(key) ?? 0),
    }))
    .sort(byScore);
}
