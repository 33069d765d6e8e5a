import type { Language } from './functionWords.js';

/**
 * Languages that write compounds as one word, or are agglutinative. Related words often share a prefix, but not a stem.
 */
const LONG_WORDS: ReadonlySet<Language> = new Set(['da', 'de', 'fi', 'hu', 'nl', 'no', 'sv', 'tr']);
/**
 * Length of the prefixes that are terms, and of the shortest word that has one. Prefixes of 5 to 7 letters, of words of
 * at least 7 to 10 letters, give similar gains (bench/retrieval.md).
 */
const PREFIX = { letters: 5, from: 7 };
const LATIN_WORD = /^[a-z]+$/;

/** Weight of an extra term of a query. A word itself has 1. */
export const EXTRA_WEIGHT = { prefix: 0.3, pair: 0.5 };

/**
 * Returns the prefix of a folded word as a term, `feuer*`, in a language that has such terms; null for other languages
 * and for short words. No word contains a `*`, so such a term never equals a word.
 */
export function prefixTermOf(word: string, language: Language | null): string | null {
  if (language === null || !LONG_WORDS.has(language)) return null;
  return word.length >= PREFIX.from && LATIN_WORD.test(word) ? `${word.slice(0, PREFIX.letters)}*` : null;
}

/** The language whose syllables are separated by spaces. Its words are pairs of syllables, as in Chinese. */
export const SYLLABIC: Language = 'vi';

/**
 * Returns the terms of neighbouring words, for a text in the syllabic language. Each contains a space, so it never
 * equals a word. @param tokens the folded words of each token (a part of the text without spaces); a token of
 * several words has no neighbours
 */
export function pairsOf(tokens: readonly { readonly terms: readonly string[] }[]): string[] {
  const pairs: string[] = [];
  let previousSyllable: string | null = null;
  for (const { terms } of tokens) {
    const [word = ''] = terms;
    const syllable: string | null = terms.length === 1 && LATIN_WORD.test(word) ? word : null;
    if (previousSyllable !== null && syllable !== null) pairs.push(`${previousSyllable} ${syllable}`);
    previousSyllable = syllable;
  }
  return pairs;
}
