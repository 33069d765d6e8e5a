import type { Language } from './functionWords.js';

/**
 * Languages that write compounds as one word, or have endings of any length. Words with a common beginning are related
 * more often than their stems show.
 */
const LONG_WORDS: ReadonlySet<Language> = new Set(['da', 'de', 'fi', 'hu', 'nl', 'no', 'sv', 'tr']);
/**
 * Length of a beginning, and of the shortest word that has one. Lengths from 5 to 7 give equal gains
 * (bench/retrieval.md).
 */
const BEGINNING = { letters: 5, from: 7 };
const LATIN_WORD = /^[a-z]+$/;

/** Weight of an extra term of a query. A word itself has 1. */
export const EXTRA_WEIGHT = { beginning: 0.3, pair: 0.5 };

/**
 * Returns the term of the beginning of a folded word in a language that has such terms; null for other languages and
 * for short words. No word contains its `*`.
 */
export function beginningOf(word: string, language: Language | null): string | null {
  if (language === null || !LONG_WORDS.has(language)) return null;
  return word.length >= BEGINNING.from && LATIN_WORD.test(word) ? `${word.slice(0, BEGINNING.letters)}*` : null;
}

/** The language whose syllables are separated by spaces. Its words are pairs of syllables, as in Chinese. */
export const SYLLABIC: Language = 'vi';

/**
 * Returns the terms of neighbouring words, for a text in the syllabic language. No word contains their space.
 * @param stretches the folded words of each stretch of the text; a stretch of several words has no neighbours
 */
export function pairsOf(stretches: readonly { readonly terms: readonly string[] }[]): string[] {
  const pairs: string[] = [];
  let before: string | null = null;
  for (const { terms } of stretches) {
    const [word = ''] = terms;
    const syllable: string | null = terms.length === 1 && LATIN_WORD.test(word) ? word : null;
    if (before !== null && syllable !== null) pairs.push(`${before} ${syllable}`);
    before = syllable;
  }
  return pairs;
}
