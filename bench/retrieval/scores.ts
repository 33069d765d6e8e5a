/** Quality of ranked lists for questions with one right answer each. */
export interface Scores {
  /** Share of questions whose answer is first, and among the first five. */
  readonly recall1: number;
  readonly recall5: number;
  /** Mean of 1 / place of the first right chunk, and of 1 / log2(place + 1); 0 if none of ten is right. */
  readonly mrr: number;
  readonly ndcg10: number;
}

const DEPTH = 10;

/**
 * @param found the passages of the found chunks for each question, best first; only the first ten count
 * @param right the passage that answers each question
 */
export function scoresOf(found: readonly (readonly number[])[], right: readonly number[]): Scores {
  const places = right.map((answer, question) => (found[question] ?? []).slice(0, DEPTH).indexOf(answer) + 1);
  const mean = (weight: (place: number) => number): number =>
    places.reduce((sum, place) => sum + (place > 0 ? weight(place) : 0), 0) / places.length;
  return {
    recall1: mean((place) => (place === 1 ? 1 : 0)),
    recall5: mean((place) => (place <= 5 ? 1 : 0)),
    mrr: mean((place) => 1 / place),
    ndcg10: mean((place) => 1 / Math.log2(place + 1)),
  };
}

/** Fuses lists of chunks by reciprocal rank, with the usual constant 60. */
export function fuseByRank(lists: readonly (readonly number[])[]): number[] {
  const weight = new Map<number, number>();
  for (const list of lists)
    for (const [place, chunk] of list.entries()) weight.set(chunk, (weight.get(chunk) ?? 0) + 1 / (61 + place));
  return [...weight].toSorted((a, b) => b[1] - a[1]).map(([chunk]) => chunk);
}
