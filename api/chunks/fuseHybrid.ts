import { byScore, type VectorHit, type VectorHits } from '../../store/vectors/search.js';

/** Weights of vectors and keywords in a hybrid score; their sum is 1. */
export interface HybridWeights {
  readonly semantic: number;
  readonly keyword: number;
}

const keyOf = ({ fileId, generation, chunkIndex }: VectorHit): string => `${fileId}:${generation}:${chunkIndex}`;

/** Number of best hits that show how clearly a list separates them. */
const HEAD = 10;
/** Added to the clarity of a list, so that a list of equal scores still has a small weight. */
const LEAST_CLARITY = 0.1;

interface Scaled {
  /** Scores from 0 to 1 by chunk. */
  readonly scores: ReadonlyMap<string, number>;
  /** The part of the weight that the list keeps: large if few hits stand out, small if the best are alike. */
  readonly clarity: number;
}

/**
 * Scales scores between the best one and the score of a hit outside the list.
 * @param floor the score of a hit outside the list
 */
function scaled(hits: readonly VectorHit[], floor: number): Scaled {
  const span = (hits[0]?.score ?? 0) - floor;
  const scale = ({ score }: VectorHit): number => (span > 0 ? Math.max(0, (score - floor) / span) : 1);
  const head = hits.slice(0, HEAD).reduce((sum, hit) => sum + scale(hit), 0) / HEAD;
  return {
    scores: new Map(hits.map((hit) => [keyOf(hit), scale(hit)])),
    clarity: hits.length === 0 ? 0 : 1 - head + LEAST_CLARITY,
  };
}

/**
 * Fuses both lists by the weighted sum of scaled scores (a convex combination), from 0 to 1. A hit that is missing
 * in one list counts 0 there. Best first, ties by file and chunk.
 *
 * The weights are multiplied by how clearly each list separates its best hits: the vectors of a model that does not
 * know the language of the query are alike for all chunks, and words that every chunk contains do not tell them apart.
 * The better list varies with the query. Measured in bench/retrieval.md and docs/decisions/008-hybrid-by-sum.md.
 * @param limit maximum length of each list
 */
export function fuseHybrid({ dense, sparse }: VectorHits, weights: HybridWeights, limit: number): VectorHit[] {
  // A chunk outside a truncated list of vectors is at most as similar as the last one. A chunk outside the list of
  // words shares none with the query in most cases, and its score is 0.
  const meaning = scaled(dense, dense.length < limit ? 0 : (dense.at(-1)?.score ?? 0));
  const words = scaled(sparse, 0);
  const [semantic, keyword] = [weights.semantic * meaning.clarity, weights.keyword * words.clarity];
  const sum = semantic + keyword;
  const all = new Map([...sparse, ...dense].map((hit) => [keyOf(hit), hit]));
  return [...all]
    .map(([key, hit]) => ({
      ...hit,
      score:
        sum > 0
          ? (semantic * (meaning.scores.get(key) ?? 0) + keyword * (words.scores.get(key) ?? 0)) / sum
          : 0,
    }))
    .sort(byScore);
}
