import { splitWords, tokensOf } from '../../providers/embeddings/sparse/splitWords.js';
import { stemWord } from '../../providers/embeddings/sparse/stemWord.js';

/** Parameters of Anserini's and Pyserini's BM25. */
const K1 = 0.9;
const B = 0.4;
const LIMIT = 1_000;

const termsOf = (text: string): string[] =>
  [...tokensOf(text)].flatMap((token) => splitWords(token).terms.map((term) => stemWord(term, null)));

/**
 * Ranks documents by plain BM25 for each query, best first, at most 1,000. Words are split as in the service and have
 * English stems. The average length in the formula is that of `documents`. No stop words are removed.
 */
export function rankByBm25(documents: readonly string[], queries: readonly string[]): number[][] {
  const split = documents.map(termsOf);
  const average = split.reduce((sum, { length }) => sum + length, 0) / Math.max(1, split.length);
  const postings = new Map<string, Map<number, number>>();
  for (const [document, terms] of split.entries())
    for (const term of terms) {
      const posting = postings.get(term) ?? new Map<number, number>();
      postings.set(term, posting.set(document, (posting.get(document) ?? 0) + 1));
    }
  return queries.map((query) => {
    const scores = new Map<number, number>();
    for (const term of termsOf(query)) {
      const posting = postings.get(term);
      if (!posting) continue;
      const rarity = Math.log(1 + (documents.length - posting.size + 0.5) / (posting.size + 0.5));
      for (const [document, frequency] of posting) {
        const length = (split[document]?.length ?? 0) / average;
        const weight = (frequency * (K1 + 1)) / (frequency + K1 * (1 - B + B * length));
        scores.set(document, (scores.get(document) ?? 0) + rarity * weight);
      }
    }
    return [...scores]
      .toSorted((a, b) => b[1] - a[1] || a[0] - b[0])
      .slice(0, LIMIT)
      .map(([document]) => document);
  });
}
