import { Fault } from '../../contract/failures.js';
import { oneLine, type TextBuilder } from '../textBuilder.js';
import { hasHeader } from './hasHeader.js';

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

/** Number of rows that are examined to decide whether the first one is the header. */
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

/**
 * Writes a table's rows as lines of `header: value` without empty cells, and records the position of each row. Without
 * a header, it writes only the values.
 */
export class TableWriter {
  readonly #writer: TextBuilder;
  readonly #items: number[];
  readonly #cells: CellBudget;
  #title: string | null;
  #sample: (readonly string[])[] | null = [];
  #headers: readonly string[] = [];
  #rows = 0;

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

  add(row: readonly string[]): void {
    this.#cells.take(Math.max(1, row.length));
    if (row.every((cell) => cell.trim() === '')) return;
    if (this.#sample === null) this.#write(row);
    else if (this.#sample.push(row) === SAMPLE_ROWS) this.#decide();
  }

  /** Finishes the table after the last row. Returns the number of written rows. */
  finish(): number {
    this.#decide();
    return this.#rows;
  }

  /** The column names; '' for one without a name. Empty without a header. */
  get headers(): readonly string[] {
    return this.#headers;
  }

  #decide(): void {
    const sample = this.#sample ?? [];
    this.#sample = null;
    const [first, ...rest] = sample;
    if (first !== undefined && hasHeader(sample)) {
      this.#headers = first.map(oneLine);
      for (const row of rest) this.#write(row);
    } else for (const row of sample) this.#write(row);
  }

  #write(row: readonly string[]): void {
    const text = rowText(row, this.#headers);
    if (text === '') return;
    if (this.#title !== null && this.#rows === 0) this.#writer.block(`# ${this.#title}\n`);
    this.#writer.break(false);
    const start = this.#writer.length;
    this.#writer.add(text);
    this.#items.push(start, this.#writer.length);
    this.#rows += 1;
  }
}
