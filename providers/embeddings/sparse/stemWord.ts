import { stemmer as stemArabic } from '@orama/stemmers/arabic';
import { stemmer as stemEnglish } from '@orama/stemmers/english';
import { stemmer as stemGreek } from '@orama/stemmers/greek';
import { stemmer as stemRussian } from '@orama/stemmers/russian';

/**
 * One stemmer a script, whatever the language: of a query of two words nobody can tell the language, and its words must
 * come out as those of documents do. The English one takes plurals off in other languages of the script as well.
 */
const STEMMERS: readonly (readonly [letters: RegExp, stem: (word: string) => string])[] = [
  [/^[a-z]+$/, stemEnglish],
  [/^\p{Script=Cyrillic}+$/u, stemRussian],
  [/^\p{Script=Arabic}+$/u, stemArabic],
  [/^\p{Script=Greek}+$/u, stemGreek],
];

/** Shorter words have hardly an ending; longer ones are no words. */
const STEMMED = { from: 4, to: 40 };

/** Stems that are remembered: stemming takes longer than all else, and words come again and again. */
const REMEMBERED = 32_768;
const known = new Map<string, string>();

/** A word, folded as `foldText` does, without its ending; a number, an identifier and a word of another script as they are. */
export function stemWord(word: string): string {
  if (word.length < STEMMED.from || word.length > STEMMED.to) return word;
  const before = known.get(word);
  if (before !== undefined) return before;
  const stemmer = STEMMERS.find(([letters]) => letters.test(word))?.[1];
  // The English one marks a y that is no vowel by a capital.
  const stem = stemmer ? stemmer(word).toLowerCase() : word;
  if (known.size === REMEMBERED) known.clear();
  known.set(word, stem);
  return stem;
}
