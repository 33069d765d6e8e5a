/**
 * Queries of several sentences. The model was trained on single sentences, and its vector of a longer text depends
 * mostly on a few words. The weighted mean of that vector and the vectors of the sentences finds more relevant chunks:
 * bench/retrieval.md has the figures.
 */

/** Shorter sentences ("Thanks in advance.") get no vector; they only count in the vector of the whole query. */
const MIN_CHARACTERS = 20;

/** Maximum number of sentences with a vector of their own, which limits the time of a query. */
const MAX_SENTENCES = 8;

/**
 * Weight of the sentences' vectors; that of the whole query's vector is 1 minus this. Weights from 0.5 to 0.75
 * find more relevant chunks than 0 (only the whole query) and 1 (only its sentences), see bench/retrieval.md.
 */
const SENTENCES_WEIGHT = 0.75;

/** The white space after a sentence, or the place after a mark that needs none. Lower case continues a sentence. */
const BETWEEN_SENTENCES = /(?<=[.!?…؟।][)\]"'”’»]{0,2})\s+(?=[^\s\p{Ll}])|(?<=[。！？｡])(?=[^。！？｡])/u;

/**
 * Returns the sentences of a query that get a vector in addition to that of the whole query: none, or at least two.
 * Abbreviations with a dot before a capital letter divide a sentence; the weight of the whole query limits the harm.
 */
export function sentencesOfQuery(query: string): string[] {
  const sentences = query
    .split(BETWEEN_SENTENCES)
    .map((sentence) => sentence.trim())
    .filter(({ length }) => length >= MIN_CHARACTERS)
    .slice(0, MAX_SENTENCES);
  return sentences.length < 2 ? [] : sentences;
}

/**
 * Returns the weighted mean of the vector of a query and the vectors of its sentences, with length 1. All are
 * normalised.
 */
export function joinSentences(queryVector: Float32Array, sentences: readonly Float32Array[]): Float32Array {
  const joined = queryVector.map(
    (value, at) =>
      (1 - SENTENCES_WEIGHT) * value +
      (SENTENCES_WEIGHT / sentences.length) * sentences.reduce((sum, sentence) => sum + (sentence[at] ?? 0), 0),
  );
  const length = Math.hypot(...joined);
  return length > 0 ? joined.map((value) => value / length) : queryVector;
}
