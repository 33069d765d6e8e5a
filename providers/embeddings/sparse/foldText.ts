const NOT_ASCII = /[^\0-\x7f]/;
/** Soft hyphens, joiners, byte order marks and the Arabic letter stretcher (tatweel), which do not change a word. */
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff\u0640]/g;
/**
 * Accents of Latin and Greek letters, stress marks and the dots of ё in Cyrillic, vowel signs in Arabic and Hebrew,
 * hamza and madda above or below Arabic letters, Hebrew cantillation marks and the dots of shin and sin. Other
 * characters with marks (й, が, the vowels of India) are letters of their own.
 */
const ACCENTS =
  /(?<!\p{Script=Cyrillic})[\u0300-\u036f]|\u0301|(?<=е)\u0308|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/gu;
/** Letters that Unicode does not decompose into a letter and an accent, with their usual ASCII spelling. */
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

/**
 * Returns a word in the form in which words are compared: lower case, NFKC, without accents and invisible characters,
 * with the letters of LETTERS in their ASCII spelling, and with ي for ى.
 */
export function foldText(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(INVISIBLE, '')
    .replaceAll(ACCENTS, '')
    .replaceAll(OTHER_LETTERS, (letter) => LETTERS[letter] ?? letter)
    .replaceAll('ى', 'ي')
    .normalize('NFC');
}
