import { byScoreAndId, type PointHit } from '../../store/vectors/search.js';

/** Number of best hits that are smoothed. */
export const SMOOTHED_HITS = 30;
/** Number of nearest neighbours whose scores count. */
export const NEIGHBOURS = 6;

/** Returns the mean of scores, weighted by similarity; null without a similar hit. */
function weightedMean(neighbours: readonly PointHit[], scores: ReadonlyMap<string, number>): number | null {
  const weighted = neighbours.flatMap(({ id, score: similarity }) => {
    const score = scores.get(id);
    return score === undefined ? [] : [{ score, weight: Math.max(0, similarity) }];
  });
  const sum = weighted.reduce((total, { weight }) => total + weight, 0);
  return sum > 0 ? weighted.reduce((total, { weight, score }) => total + weight * score, 0) / sum : null;
}

/**
 * Moves the score of each of the first SMOOTHED_HITS hits towards the mean score of its nearest neighbours among them.
 * Chunks about one subject tend to be relevant together, so a hit among high scores is more likely to be relevant than
 * one among low scores (the cluster hypothesis; "Regularizing query-based retrieval scores",
 * https://doi.org/10.1007/s10791-007-9034-8). The numbers were measured in bench/retrieval.md. A smoothed hit stays
 * before all other hits. Hits without neighbours keep their score. Shorter lists are returned unchanged.
 * @param hits best first
 * @param neighbours for the first SMOOTHED_HITS hits, by id: the nearest of these hits, with their similarity as score
 * @param strength how far a score moves; 0: not at all, 1: to the mean
 */
export function smoothScores(
  hits: readonly PointHit[],
  neighbours: ReadonlyMap<string, readonly PointHit[]>,
  strength: number,
): PointHit[] {
  if (hits.length < SMOOTHED_HITS) return [...hits];
  const head = hits.slice(0, SMOOTHED_HITS);
  const bestUnsmoothed = hits[SMOOTHED_HITS]?.score ?? 0;
  const scores = new Map(head.map(({ id, score }) => [id, score]));
  const smoothed = head.map(({ id, score }): PointHit => {
    const mean = weightedMean(neighbours.get(id) ?? [], scores);
    return { id, score: Math.max(bestUnsmoothed, mean === null ? score : score + strength * (mean - score)) };
  });
  return [...smoothed.sort(byScoreAndId), ...hits.slice(SMOOTHED_HITS)];
}
