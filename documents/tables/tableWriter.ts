import { Fault } from '../../contract/failures.js';
import { oneLine, type TextBuilder } from '../textBuilder.js';
import { hasHeader } from './hasHeader.js';

/** A row as `header: value, header: value`, empty cells left out; a value whose column has no name stands alone. */
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

/** Rows seen before it is decided whether the first of them is the header. */
const SAMPLE_ROWS = 30;

/** Counts cells over all tables of a file. */
export class CellBudget {
  #left: number;
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
    this.#left = limit;
  }

  /** Throws a Fault too_large once there are more than the limit. */
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
 * Writes a table's rows as lines of `header: value`, empty cells left out, and notes where each row lies. Without a
 * header the values stand alone.
 */
export class TableWriter {
  readonly #writer: TextBuilder;
  readonly #items: number[];
  readonly #cells: CellBudget;
  #title: string | null;
  #sample: (readonly string[])[] | null = [];
  #headers: readonly string[] = [];
  #rows = 0;

  /** @param title stands as a heading before the first row; null for none. `items` takes the places of the rows. */
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

  /** To be called after the last row. Answers how many rows were written. */
  finish(): number {
    this.#decide();
    return this.#rows;
  }

  /** What the columns are called; '' for one without a name. Empty without a header. */
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
