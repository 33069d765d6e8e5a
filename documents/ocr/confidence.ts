import type { OcrWord, PictureText } from './engines/engine.js';

const LETTERS = /[\p{L}\p{N}]/u;

/** Returns the words of a page that have a letter or digit, in reading order. */
export const wordsOf = (page: PictureText): OcrWord[] =>
  page
    .flat()
    .flatMap(({ words }) => words)
    .filter(({ text }) => LETTERS.test(text));

/**
 * Returns the mean confidence of words, 0 to 1, weighted by their length: short ones are often specks. Null without
 * words.
 */
export function meanConfidence(words: readonly Pick<OcrWord, 'text' | 'confidence'>[]): number | null {
  let [sum, characters] = [0, 0];
  for (const { text, confidence } of words) {
    sum += confidence * text.length;
    characters += text.length;
  }
  return characters === 0 ? null : Math.round(sum / characters) / 100;
}
