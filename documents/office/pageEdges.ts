/** Instructions of the fields of Word whose value is the number of a page or section, or a count of pages. */
export const PAGE_FIELD = /^\s*(?:PAGE|NUMPAGES|SECTIONPAGES|SECTION)\b/i;

/** Minimum number of letters next to a page number that count as text; the word "Page" has fewer. */
const MIN_LETTERS = 12;

/** Words of page numbers in Chinese, Japanese and Korean: `第3页，共10页`. */
const PAGE_WORDS = /ページ|페이지|[第页頁共总總쪽총]/g;
/** A letter that stands for a syllable or a word: it counts like three letters. */
const SYLLABLE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu;

/** Whether a line of a header or footer has more text than a page number. `isNumbered`: it contains one. */
export function isEdgeText(line: string, isNumbered: boolean): boolean {
  const words = line.replaceAll(PAGE_WORDS, '');
  const letters = (words.match(/\p{L}/gu)?.length ?? 0) + 2 * (words.match(SYLLABLE)?.length ?? 0);
  return letters > 0 && (!isNumbered || letters >= MIN_LETTERS);
}
