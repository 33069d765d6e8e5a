import { byScoreAndId, type Hits, type PointHit } from '../../store/vectors/search.js';

/** Weights of vectors and keywords in a hybrid score; their sum is 1. */
export interface HybridWeights {
  readonly semantic: number;
  readonly keyword: number;
}

/** Number of best hits whose scores are compared with the score of a typical hit. */
const BEST_HITS = 10;
/** Added to the separation of a list, so that a list of equal scores still has a small weight. */
const MIN_SEPARATION = 0.1;

/** Scales a score from 0 at the floor to 1 at the best. */
function scaleOf(best: number, floor: number): (score: number) => number {
  const span = best - floor;
  return (score) => (span > 0 ? Math.max(0, (score - floor) / span) : 1);
}

/**
 * Returns how clearly a list separates its best hits from a typical one: near 1 if one hit stands out, near 0 if ten
 * hits are alike. @param ordinary the score of a typical hit
 */
function separationOf(hits: readonly PointHit[], ordinary: number): number {
  const scale = scaleOf(hits[0]?.score ?? 0, ordinary);
  return 1 + MIN_SEPARATION - hits.slice(0, BEST_HITS).reduce((sum, { score }) => sum + scale(score), 0) / BEST_HITS;
}

function scaledScores(hits: readonly PointHit[], floor: number): ReadonlyMap<string, number> {
  const scale = scaleOf(hits[0]?.score ?? 0, floor);
  return new Map(hits.map((hit) => [hit.id, scale(hit.score)]));
}

/**
 * Returns the share of the vectors in a hybrid score, from 0 to 1: the caller's weights, multiplied by how clearly each
 * list separates its best hits.
 */
export function semanticShareOf({ dense, sparse }: Hits<PointHit>, weights: HybridWeights): number {
  // The typical score of the list of vectors is its median, because most of its hits are typical chunks. That of the
  // list of words is 0, because all of its hits share a word with the query, which a typical chunk does not.
  // If only one list has hits, its weight is not changed, so that users without sparse vectors get scores by their own
  // weights.
  const hasOneList = dense.length === 0 || sparse.length === 0;
  const semantic = weights.semantic * (hasOneList ? 1 : separationOf(dense, dense[dense.length >> 1]?.score ?? 0));
  const keyword = weights.keyword * (hasOneList ? 1 : separationOf(sparse, 0));
  return semantic / (semantic + keyword || 1);
}

/**
 * Fuses both lists by the weighted sum of scaled scores (a convex combination), from 0 to 1. A hit that is missing
 * in one list counts 0 there. Best first, ties by id.
 *
 * The weights are multiplied by how clearly each list separates its best hits: a model that was not trained on the
 * language of the query gives all chunks similar scores, and words that every chunk contains do not distinguish chunks.
 * Which list is better depends on the query. Measured in bench/retrieval.md and docs/decisions/008-hybrid-by-sum.md.
 * @param limit maximum length of each list
 */
export function fuseHybrid(hits: Hits<PointHit>, weights: HybridWeights, limit: number): PointHit[] {
  const { dense, sparse } = hits;
  // A chunk outside a truncated list of vectors is at most as similar as its last hit. A chunk outside the list of
  // words shares no word with the query, or only frequent ones. It scores 0, as does a chunk outside a complete list of
  // vectors. Cosines may be negative: hits below 0 keep their order too.
  const last = dense.at(-1)?.score ?? 0;
  const denseScores = scaledScores(dense, dense.length < limit ? Math.min(0, last) : last);
  const sparseScores = scaledScores(sparse, 0);
  const share = semanticShareOf(hits, weights);
  return [...new Set([...denseScores.keys(), ...sparseScores.keys()])]
    .map((id) => ({ id, score: share * (denseScores.get(id) ?? 0) + (1 - share) * (sparseScores.get(id) ?? 0) }))
    .sort(byScoreAndId);
}
