import { stemmer as stemArabic } from '@orama/stemmers/arabic';
import { stemmer as stemDanish } from '@orama/stemmers/danish';
import { stemmer as stemDutch } from '@orama/stemmers/dutch';
import { stemmer as stemEnglish } from '@orama/stemmers/english';
import { stemmer as stemFinnish } from '@orama/stemmers/finnish';
import { stemmer as stemFrench } from '@orama/stemmers/french';
import { stemmer as stemGerman } from '@orama/stemmers/german';
import { stemmer as stemGreek } from '@orama/stemmers/greek';
import { stemmer as stemHindi } from '@orama/stemmers/indian';
import { stemmer as stemHungarian } from '@orama/stemmers/hungarian';
import { stemmer as stemIndonesian } from '@orama/stemmers/indonesian';
import { stemmer as stemItalian } from '@orama/stemmers/italian';
import { stemmer as stemNorwegian } from '@orama/stemmers/norwegian';
import { stemmer as stemPortuguese } from '@orama/stemmers/portuguese';
import { stemmer as stemRomanian } from '@orama/stemmers/romanian';
import { stemmer as stemRussian } from '@orama/stemmers/russian';
import { stemmer as stemSpanish } from '@orama/stemmers/spanish';
import { stemmer as stemSwedish } from '@orama/stemmers/swedish';
import { stemmer as stemTurkish } from '@orama/stemmers/turkish';

import { foldText } from './foldText.js';
import type { Language } from './functionWords.js';

type Stemmer = (word: string) => string;

/** Stemmers of languages in Latin script. Other languages, and texts of unknown language, use the English stemmer. */
const STEMMERS: Partial<Record<Language, Stemmer>> = {
  da: stemDanish,
  de: stemGerman,
  es: stemSpanish,
  fi: stemFinnish,
  fr: stemFrench,
  hu: stemHungarian,
  id: stemIndonesian,
  it: stemItalian,
  nl: stemDutch,
  no: stemNorwegian,
  pt: stemPortuguese,
  ro: stemRomanian,
  sv: stemSwedish,
  tr: stemTurkish,
};

/** Languages with a stemmer of their own. */
export const STEMMED_LANGUAGES = Object.keys(STEMMERS) as readonly Language[];

const LATIN_WORD = /^[a-z]+$/;
const DEVANAGARI_WORD = /^[\p{Script=Devanagari}]+$/u;
/** Scripts with one stemmer for all languages. */
const BY_SCRIPT: readonly (readonly [letters: RegExp, stem: Stemmer])[] = [
  [/^\p{Script=Cyrillic}+$/u, stemRussian],
  [/^\p{Script=Arabic}+$/u, stemArabic],
  [/^\p{Script=Greek}+$/u, stemGreek],
  [DEVANAGARI_WORD, stemHindi],
];

/** Lengths of words that are stemmed: shorter words rarely have an ending, and longer ones are not words. */
const STEMMED_LENGTHS = { from: 4, to: 40 };

/** Size of the cache of stems per language: stemming takes most of the time, and words repeat. */
const MAX_CACHED_STEMS = 32_768;
const stemCaches = new Map<Stemmer | null, Map<string, string>>();

const stemmerOf = (word: string, language: Language | null): Stemmer | undefined =>
  LATIN_WORD.test(word)
    ? ((language && STEMMERS[language]) ?? stemEnglish)
    : BY_SCRIPT.find(([letters]) => letters.test(word))?.[1];

/**
 * Returns a folded word (`foldText`) without its ending. Numbers, identifiers and words of other scripts are unchanged.
 * Words are folded before they are stemmed, so that a query without accents finds words with accents.
 * @param language language of the text; null if unknown
 */
export function stemWord(word: string, language: Language | null): string {
  if (word.length < STEMMED_LENGTHS.from || word.length > STEMMED_LENGTHS.to) return word;
  // Only the stems of words in Latin script depend on the language; all others share one cache.
  const cacheKey = language && LATIN_WORD.test(word) ? (STEMMERS[language] ?? null) : null;
  let stems = stemCaches.get(cacheKey);
  if (!stems) stemCaches.set(cacheKey, (stems = new Map()));
  const cached = stems.get(word);
  if (cached !== undefined) return cached;
  // Some stemmers mark letters with capitals, or return accents.
  const stem = foldText(stemmerOf(word, language)?.(word) ?? word) || word;
  if (stems.size === MAX_CACHED_STEMS) stems.clear();
  stems.set(word, stem);
  return stem;
}

/**
 * Returns all forms under which chunks may contain a word of a query: its stem in each of the languages, and its stem
 * in a chunk of unknown language, which is also the form in all chunks of version 0.2.0. Only words in Devanagari were
 * not stemmed in that version, so such a word is also returned as it is.
 */
export function formsOf(word: string, languages: readonly Language[]): ReadonlySet<string> {
  const forms = new Set([stemWord(word, null)]);
  if (LATIN_WORD.test(word)) for (const language of languages) forms.add(stemWord(word, language));
  else if (DEVANAGARI_WORD.test(word)) forms.add(word);
  return forms;
}
