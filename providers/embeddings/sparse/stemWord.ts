import { stemmer as stemArabic } from '@orama/stemmers/arabic';
import { stemmer as stemEnglish } from '@orama/stemmers/english';
import { stemmer as stemGreek } from '@orama/stemmers/greek';
import { stemmer as stemRussian } from '@orama/stemmers/russian';

/**
 * One stemmer per script, whatever the language: the language of a two-word query is unknown, and its words must match
 * those of documents. The English stemmer also removes plurals in other languages of the script.
 */
const STEMMERS: readonly (readonly [letters: RegExp, stem: (word: string) => string])[] = [
  [/^[a-z]+$/, stemEnglish],
  [/^\p{Script=Cyrillic}+$/u, stemRussian],
  [/^\p{Script=Arabic}+$/u, stemArabic],
  [/^\p{Script=Greek}+$/u, stemGreek],
];

/** Lengths of words that are stemmed: shorter words rarely have an ending, and longer ones are not words. */
const STEMMED = { from: 4, to: 40 };

/** Size of the cache of stems: stemming takes most of the time, and words repeat. */
const REMEMBERED = 32_768;
const known = new Map<string, string>();

/**
 * Returns a folded word (`foldText`) without its ending. Numbers, identifiers and words of other scripts are unchanged.
 */
export function stemWord(word: string): string {
  if (word.length < STEMMED.from || word.length > STEMMED.to) return word;
  const before = known.get(word);
  if (before !== undefined) return before;
  const stemmer = STEMMERS.find(([letters]) => letters.test(word))?.[1];
  // The English stemmer marks a consonant y with a capital.
  const stem = stemmer ? stemmer(word).toLowerCase() : word;
  if (known.size === REMEMBERED) known.clear();
  known.set(word, stem);
  return stem;
}
