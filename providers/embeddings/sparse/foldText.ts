const NOT_ASCII = /[^\0-\x7f]/;
/** What may stand inside a word and is not seen: soft hyphens, joiners, marks of the order of bytes. */
const UNSEEN = /[\u00ad\u200b-\u200d\u2060\ufeff\u0640]/g;
/**
 * Accents of Latin and Greek letters, marks of stress and ё in Cyrillic, vowel signs in Arabic and Hebrew. What else is
 * written with a mark (й, が, the vowels of India) is a letter of its own.
 */
const ACCENTS =
  /(?<!\p{Script=Cyrillic})[\u0300-\u036f]|\u0301|(?<=е)\u0308|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/gu;
/** Letters that are no letter with an accent, as they are written where they are not to be had. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};
const OTHER_LETTERS = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g');

/** A word in the form in which words are compared: lower case, compatibility forms (NFKC), without accents and what is not seen. */
export function foldText(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(UNSEEN, '')
    .replaceAll(ACCENTS, '')
    .replaceAll(OTHER_LETTERS, (letter) => LETTERS[letter] ?? letter)
    .replaceAll('ى', 'ي')
    .normalize('NFC');
}
