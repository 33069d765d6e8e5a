import { Fault } from '../../contract/failures.js';
import { oneLine, type TextBuilder } from '../textBuilder.js';
import { findHeader, isClearHeader } from './hasHeader.js';

/** Formats a row as `header: value, header: value` without empty cells; without a header, the value only. */
export function rowText(row: readonly string[], headers: readonly string[]): string {
  const cells: string[] = [];
  for (const [column, cell] of row.entries()) {
    const value = oneLine(cell);
    if (value === '') continue;
    const header = headers[column] ?? '';
    cells.push(header === '' ? value : `${header}: ${value}`);
  }
  return cells.join(', ');
}

/** Number of rows that are examined to find the header. */
const SAMPLE_ROWS = 30;

/** Limits the number of cells over all tables of a file. */
export class CellBudget {
  #left: number;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
    this.#left = limit;
  }

  /**
   * Counts cells.
   * @throws Fault too_large beyond the limit
   */
  take(cells: number): void {
    this.#left -= cells;
    if (this.#left < 0) {
      throw new Fault(
        'too_large',
        `The file has more than ${this.#limit.toLocaleString('en-US')} cells (setting MAX_TABLE_CELLS). Split it, or raise the setting.`,
      );
    }
  }
}

/** A row of a table. */
interface TableRow {
  readonly cells: readonly string[];
  /** Whether cells of the row cover several columns: then it may be the upper row of a header of two rows. */
  readonly isMerged: boolean;
}

/**
 * Writes a table's rows as lines of `header: value` without empty cells, and records the position of each row. Without
 * a header, it writes only the values. Titles above the header are lines of their own. After an empty row a second
 * table may begin, with its own header.
 */
export class TableWriter {
  readonly #writer: TextBuilder;
  readonly #items: number[];
  readonly #cells: CellBudget;
  #title: string | null;
  /** Rows of a table whose header is not decided yet; null once it is. */
  #sample: TableRow[] | null = [];
  #headers: readonly string[] = [];
  /** Columns with a name that had a value so far. */
  readonly #used = new Set<number>();
  #rows = 0;
  #isFirst = true;
  /** Whether the text ends with a heading or title and an empty line. */
  #afterTitle = false;

  /**
   * Creates a writer.
   * @param items receives the positions of the rows
   * @param title heading before the first row; null for none
   */
  constructor(writer: TextBuilder, items: number[], cells: CellBudget, title: string | null) {
    this.#writer = writer;
    this.#items = items;
    this.#cells = cells;
    this.#title = title;
  }

  add(cells: readonly string[], isMerged = false): void {
    this.#cells.take(Math.max(1, cells.length));
    if (cells.every((cell) => cell.trim() === '')) return;
    if (this.#sample === null) this.#write(cells);
    else if (this.#sample.push({ cells, isMerged }) === SAMPLE_ROWS) this.#decide();
  }

  /** Records that rows without a value follow. */
  addGap(): void {
    // An empty row may separate a title or a header from its table.
    const wide = (this.#sample ?? []).filter(({ cells }) => cells.filter((cell) => cell.trim() !== '').length > 1);
    if (this.#sample !== null && wide.length < 2) return;
    this.#decide();
    this.#sample = [];
  }

  /** Writes text that belongs to the table, such as a comment, after finish(). */
  addNote(text: string): void {
    if (text.trim() !== '') this.#writeItem(text, true);
  }

  /** Finishes the table after the last row. Returns the number of written rows. */
  finish(): number {
    this.#decide();
    this.#endTable();
    return this.#rows;
  }

  /** The column names; '' for one without a name. Empty without a header. */
  get headers(): readonly string[] {
    return this.#headers;
  }

  #decide(): void {
    const sample = this.#sample ?? [];
    this.#sample = null;
    if (sample.length === 0) return;
    const rows = sample.map(({ cells }) => cells);
    const header = findHeader(rows);
    // Rows after an empty one continue the table, unless they clearly begin another.
    const isOther = header !== null && (this.#isFirst || isClearHeader(rows.slice(header)));
    this.#isFirst = false;
    if (!isOther) {
      for (const row of rows) this.#write(row);
      return;
    }
    this.#endTable();
    for (const title of rows.slice(0, header)) this.#writeTitle(title);
    const first = rows[header] ?? [];
    const second = rows[header + 1] ?? [];
    const isDouble = sample[header]?.isMerged === true && isClearHeader(rows.slice(header + 1));
    this.#headers = isDouble ? joinHeaderRows(first, second) : first.map(oneLine);
    for (const row of rows.slice(header + (isDouble ? 2 : 1))) this.#write(row);
  }

  #writeTitle(row: readonly string[]): void {
    this.#writeHeading();
    if (!this.#afterTitle) this.#writer.break(true);
    this.#writer.add(rowText(row, []));
    this.#writer.break(true);
    this.#afterTitle = true;
  }

  /** Writes the names of columns without any value, because no row contains them. */
  #endTable(): void {
    const unused = this.#headers.filter((name, column) => name !== '' && !this.#used.has(column));
    this.#used.clear();
    if (unused.length > 0) this.#writeItem(`Columns without values: ${unused.join(', ')}`, false);
  }

  #write(row: readonly string[]): void {
    if (this.#used.size < this.#headers.length)
      for (const [column, cell] of row.entries())
        if (cell.trim() !== '' && (this.#headers[column] ?? '') !== '') this.#used.add(column);
    const text = rowText(row, this.#headers);
    if (text === '') return;
    this.#writeItem(text, false);
    this.#rows += 1;
  }

  #writeItem(text: string, isBlock: boolean): void {
    this.#writeHeading();
    if (!this.#afterTitle) this.#writer.break(isBlock);
    this.#afterTitle = false;
    const start = this.#writer.length;
    this.#writer.add(text);
    this.#items.push(start, this.#writer.length);
  }

  #writeHeading(): void {
    if (this.#title === null) return;
    this.#writer.block(`# ${this.#title}`);
    this.#writer.break(true);
    this.#afterTitle = true;
    this.#title = null;
  }
}

/** Joins the names of a header of two rows: the upper one spans columns, the lower one names each of them. */
function joinHeaderRows(upper: readonly string[], lower: readonly string[]): string[] {
  return Array.from({ length: Math.max(upper.length, lower.length) }, (_, column) => {
    const [top, name] = [oneLine(upper[column] ?? ''), oneLine(lower[column] ?? '')];
    return top === name ? top : `${top} ${name}`.trim();
  });
}
