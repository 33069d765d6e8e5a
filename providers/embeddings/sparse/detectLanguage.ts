import { SYLLABIC } from './extraTerms.js';
import { type Language, languagesOfWord } from './functionWords.js';
import { STEMMED_LANGUAGES } from './stemWord.js';

/**
 * Evidence for the language of a text: its function words, and words with letters of Vietnamese. A word of several
 * languages counts in part for each of them.
 */
export type Evidence = Map<Language, number>;

const VIETNAMESE_LETTER = /[\u1ea0-\u1ef9ơưđ]/iu;

/**
 * Whether a token (a part of a text without spaces) contains a letter that only Vietnamese has, among the languages of
 * functionWords.ts.
 * Without accents, Vietnamese syllables look like function words of other languages ("dai", "la", "do").
 */
export const hasVietnameseLetter = (token: string): boolean => VIETNAMESE_LETTER.test(token.normalize('NFC'));

/** Adds the folded words of a token to the evidence. */
export function addEvidence(evidence: Evidence, words: readonly string[], isVietnamese: boolean): void {
  if (isVietnamese) evidence.set(SYLLABIC, (evidence.get(SYLLABIC) ?? 0) + 1);
  for (const word of words) {
    const languages = languagesOfWord(word);
    for (const language of languages) evidence.set(language, (evidence.get(language) ?? 0) + 1 / languages.length);
  }
}

/**
 * Minimum evidence for the language of a chunk, as a number of words and as a share of its words. Tables and code have
 * less.
 */
const MIN_EVIDENCE = { words: 1.5, share: 0.04 };
/** Maximum evidence for the second language of a chunk, as a share of that for the first. */
const MAX_SECOND_SHARE = 0.8;
/** A language of a query is possible if it has at least this share of the evidence for the best one. */
const MIN_POSSIBLE_SHARE = 0.7;
/** Minimum evidence for the language of a query to be clear, if only one is possible. */
const MIN_CLEAR_EVIDENCE = 1;
/**
 * Maximum number of words of a query that is stemmed in all languages because it has no function words. A longer text
 * in a language of functionWords.ts has some.
 */
const MAX_WORDS = 64;

/** Languages whose terms differ from those of a text of unknown language. */
const DISTINCT_LANGUAGES = [...STEMMED_LANGUAGES, SYLLABIC];

const ranked = (evidence: Evidence): (readonly [Language, number])[] => [...evidence].sort(([, a], [, b]) => b - a);

/** Returns the language of a chunk; null if it is not clear, such as for a text without Latin letters. */
export function languageOfChunk(evidence: Evidence, words: number): Language | null {
  const [best, second] = ranked(evidence);
  if (!best || best[1] < Math.max(MIN_EVIDENCE.words, MIN_EVIDENCE.share * words)) return null;
  return second && second[1] > MAX_SECOND_SHARE * best[1] ? null : best[0];
}

/** The languages of a query. */
export interface QueryLanguages {
  /** Languages in whose forms the query is searched, in addition to the forms for an unknown language. */
  readonly possible: readonly Language[];
  /**
   * The language whose function words are removed from the query; null if the language is unclear, and then those of
   * English are removed.
   */
  readonly clear: Language | null;
}

/**
 * Returns the languages of a query. Without a function word, every language is possible. A word is then searched in all
 * its stemmed forms, because a wrong guess from two words would hide chunks.
 */
export function languagesOfQuery(evidence: Evidence, words: number): QueryLanguages {
  const best = Math.max(0, ...evidence.values());
  if (best === 0) return { possible: words > MAX_WORDS ? [] : DISTINCT_LANGUAGES, clear: null };
  const possible = ranked(evidence).flatMap(([language, amount]) =>
    amount >= MIN_POSSIBLE_SHARE * best ? [language] : [],
  );
  return { possible, clear: possible.length === 1 && best >= MIN_CLEAR_EVIDENCE ? (possible[0] ?? null) : null };
}
