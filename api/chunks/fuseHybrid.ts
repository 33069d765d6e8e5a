import { byScore, type VectorHit, type VectorHits } from '../../store/vectors/search.js';

/** Shares of meaning and of words in a hybrid score; together 1. */
export interface HybridWeights {
  readonly semantic: number;
  readonly keyword: number;
}

const keyOf = ({ fileId, generation, chunkIndex }: VectorHit): string => `${fileId}:${generation}:${chunkIndex}`;

/** Scores as shares of the best, from what a hit outside of the list can have at most: the last score of a list that is full. */
function normalised(hits: readonly VectorHit[], limit: number): Map<string, number> {
  const best = hits[0]?.score ?? 0;
  const floor = hits.length < limit ? 0 : (hits.at(-1)?.score ?? 0);
  const span = best - floor;
  return new Map(hits.map((hit) => [keyOf(hit), span > 0 ? Math.max(0, (hit.score - floor) / span) : 1]));
}

/**
 * One list of both: the weighted sum of normalised scores (a convex combination), from 0 to 1. What only one of the lists
 * has counts 0 in the other. Best first, ties by file and chunk. Pure. On headings and sentences of real documentation
 * it is above both of its parts and above fusion by rank (docs/choices.md).
 * @param limit hits that each list could have at most
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
