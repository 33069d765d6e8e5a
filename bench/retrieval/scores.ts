/** How well lists of answers answer questions that have one right answer each. */
export interface Scores {
  /** Share of the questions whose answer comes first, and among the first five. */
  readonly recall1: number;
  readonly recall5: number;
  /** Mean of 1 / place of the first right chunk, and of 1 / log2(place + 1); 0 where none of ten is right. */
  readonly mrr: number;
  readonly ndcg10: number;
}

const DEPTH = 10;

/**
 * @param found for each question, of which passage each chunk is that was found, best first; of more than ten the first ten count
 * @param right for each question, the passage that answers it
 */
export function scoresOf(found: readonly (readonly number[])[], right: readonly number[]): Scores {
  const places = right.map((answer, question) => (found[question] ?? []).slice(0, DEPTH).indexOf(answer) + 1);
  const mean = (worth: (place: number) => number): number =>
    places.reduce((sum, place) => sum + (place > 0 ? worth(place) : 0), 0) / places.length;
  return {
    recall1: mean((place) => (place === 1 ? 1 : 0)),
    recall5: mean((place) => (place <= 5 ? 1 : 0)),
    mrr: mean((place) => 1 / place),
    ndcg10: mean((place) => 1 / Math.log2(place + 1)),
  };
}

/** Two lists of numbered chunks as one by reciprocal rank, the constant 60: what most who have two lists do. */
export function fuseByRank(lists: readonly (readonly number[])[]): number[] {
  const worth = new Map<number, number>();
  for (const list of lists)
    for (const [place, chunk] of list.entries()) worth.set(chunk, (worth.get(chunk) ?? 0) + 1 / (61 + place));
  return [...worth].toSorted((a, b) => b[1] - a[1]).map(([chunk]) => chunk);
}
