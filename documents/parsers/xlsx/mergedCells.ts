import { CellBudget } from '../../tables/tableWriter.js';
import { columnOf } from './columnOf.js';

/** A merged cell: rows from 1, columns from 0, both inclusive. */
export interface Merge {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** Maximum number of columns that a merged cell is repeated in, and maximum length in characters of a repeated text. */
const MAX_COLUMNS = 100;
const MAX_REPEATED_LENGTH = 100;

const LIST = Buffer.from('mergeCells');

/**
 * Returns the merged cells of a sheet, sorted by their first row. The file lists them after all rows, but the first row
 * already needs them, so this function finds their list before the sheet's XML is parsed.
 */
export function mergesIn(part: Uint8Array): Merge[] {
  const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
  const start = bytes.indexOf(LIST);
  if (start < 0) return [];
  const list = bytes.toString('latin1', start, Math.max(start, bytes.lastIndexOf(LIST)));
  const merges: Merge[] = [];
  for (const [, from = '', to = ''] of list.matchAll(/\bref="\$?([A-Z$]{1,4}\d{1,7}):([A-Z$]{1,4}\d{1,7})"/g)) {
    const [left, right] = [columnOf(from) ?? 0, columnOf(to) ?? 0];
    const [top, bottom] = [rowOf(from), rowOf(to)];
    if (right >= left && bottom >= top) merges.push({ top, bottom, left, right });
  }
  return merges.sort((a, b) => a.top - b.top);
}

const rowOf = (reference: string): number => Number(/\d+$/.exec(reference)?.[0] ?? 0);

/** Fills the cells that merged cells cover. */
export class MergedCells {
  readonly #merges: readonly Merge[];
  readonly #budget: CellBudget;
  #next = 0;
  /** Merged cells that reach the current row, with their text. */
  #open: { readonly merge: Merge; text: string }[] = [];

  /** @param maxCells maximum number of filled cells, so that hostile ranges cannot inflate a small file */
  constructor(merges: readonly Merge[], maxCells: number) {
    this.#merges = merges;
    this.#budget = new CellBudget(maxCells);
  }

  /**
   * Fills a row. A merged cell that is the only cell with text in its first row is a title, and is not repeated in that
   * row.
   * @returns whether a merged cell with a short text begins in the row and covers several columns
   */
  fill(row: string[], number: number): boolean {
    if (this.#open.length > 0) this.#open = this.#open.filter(({ merge }) => merge.bottom >= number);
    while ((this.#merges[this.#next]?.top ?? Infinity) <= number) {
      const merge = this.#merges[this.#next++];
      if (merge && merge.bottom >= number)
        this.#open.push({ merge, text: merge.top === number ? (row[merge.left] ?? '') : '' });
    }
    if (this.#open.length === 0) return false;
    const values = row.reduce((count, cell) => count + (cell === '' ? 0 : 1), 0);
    let isMerged = false;
    for (const { merge, text } of this.#open) {
      const { left, right, top } = merge;
      if (text === '' || text.length > MAX_REPEATED_LENGTH) continue;
      isMerged ||= right > left && top === number;
      if (top === number && values === 1) continue;
      const last = Math.min(right, left + MAX_COLUMNS - 1);
      this.#budget.take(last - left + 1);
      while (row.length <= last) row.push('');
      for (let column = left; column <= last; column++) row[column] ||= text;
    }
    return isMerged;
  }
}
