import { CellBudget } from '../../tables/tableWriter.js';
import { oneLine } from '../../textBuilder.js';

export interface Cell {
  /** The text that the cell shows. */
  text: string;
  /** The stored value, and whether it replaces the shown text. */
  readonly value: { readonly text: string; readonly replaces: boolean };
  /** Whether a merged cell covers it. */
  readonly isCovered: boolean;
  /** Number of equal cells that the element represents. */
  readonly repeated: number;
  /** Number of columns and rows that the cell spans. */
  readonly columns: number;
  readonly rows: number;
}

interface RowHandler {
  row(cells: readonly string[], isMerged: boolean): void;
  gap(): void;
}

/** Maximum number of columns: programs allow 16,384, and a hostile number must not create a row of a billion cells. */
const MAX_COLUMNS = 16_384;
/** Maximum number of columns of a merged cell in which its text is repeated, as in the other table formats. */
const MAX_SPANNED = 100;
/** Maximum length of a text that is repeated in a merged cell. */
const MAX_REPEATED_LENGTH = 100;

/** Collects the cells of a sheet's rows, with repeated cells and rows, and with the texts of merged cells. */
export class SheetRows {
  readonly #handler: RowHandler;
  readonly #budget: CellBudget;
  #row: string[] = [];
  /** Number of columns so far. Trailing empty cells are counted here, but not added to the row. */
  #column = 0;
  /** Number of the row, from 1. */
  #number = 0;
  #repeated = 1;
  #isMerged = false;
  /** Number of cells of the row with their own text. */
  #owned = 0;
  /** Merged cells that reach this row, by column: their text, and their last row. */
  readonly #merged = new Map<number, { readonly text: string; readonly last: number; readonly first: number }>();

  constructor(handler: RowHandler, maxCells: number) {
    this.#handler = handler;
    this.#budget = new CellBudget(maxCells);
  }

  /** The place of the open cell, such as B2. */
  get place(): string {
    let name = '';
    for (let remainder = this.#column + 1; remainder > 0; remainder = Math.floor((remainder - 1) / 26))
      name = String.fromCodePoint(65 + ((remainder - 1) % 26)) + name;
    return `${name}${this.#number}`;
  }

  beginRow(repeated: number): void {
    this.#row = [];
    [this.#column, this.#owned, this.#isMerged] = [0, 0, false];
    this.#number += 1;
    this.#repeated = repeated;
  }

  add({ text, value, isCovered, repeated, columns, rows }: Cell): void {
    const words = oneLine(text);
    const shown = isCovered ? '' : value.replaces || words === '' ? value.text : words;
    const end = Math.min(MAX_COLUMNS, this.#column + repeated);
    if (shown !== '') {
      this.#budget.take(end - this.#column);
      while (this.#row.length < this.#column) this.#row.push('');
      for (let column = this.#column; column < end; column++) this.#row[column] = shown;
      this.#owned += end - this.#column;
      if (columns > 1 || rows > 1) this.#merge(shown, columns, rows);
    }
    this.#column = end;
  }

  #merge(text: string, columns: number, rows: number): void {
    this.#isMerged ||= columns > 1;
    if (text.length > MAX_REPEATED_LENGTH) return;
    const merged = { text, first: this.#number, last: this.#number + rows - 1 };
    const width = Math.min(MAX_SPANNED, columns);
    this.#budget.take(width);
    for (let column = this.#column; column < this.#column + width; column++) this.#merged.set(column, merged);
  }

  /** Passes each repetition of the row to the handler; reports an empty row as one gap. */
  endRow(): void {
    // A merged cell that is alone in its row is a title, and not repeated in it.
    const isTitle = this.#owned === 1;
    for (const [column, { text, first, last }] of this.#merged) {
      if (last < this.#number) this.#merged.delete(column);
      else if (!(isTitle && first === this.#number)) {
        this.#budget.take(1);
        while (this.#row.length <= column) this.#row.push('');
        this.#row[column] ||= text;
      }
    }
    if (this.#row.length === 0) this.#handler.gap();
    // The handler counts the cells of each row, which limits the number of rows.
    else for (let more = 0; more < this.#repeated; more++) this.#handler.row(this.#row, this.#isMerged);
    this.#number += this.#repeated - 1;
  }
}
