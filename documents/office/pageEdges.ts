/** Instructions of the fields of Word whose value is the number of a page or section, or a count of pages. */
export const PAGE_FIELD = /^\s*(?:PAGE|NUMPAGES|SECTIONPAGES|SECTION)\b/i;

/** Minimum number of letters next to a page number that count as text; the word "Page" has fewer. */
const MIN_LETTERS = 12;

/** Whether a line of a header or footer has more text than a page number. `isNumbered`: it contains one. */
export function isEdgeText(line: string, isNumbered: boolean): boolean {
  const letters = line.match(/\p{L}/gu)?.length ?? 0;
  return letters > 0 && (!isNumbered || letters >= MIN_LETTERS);
}
