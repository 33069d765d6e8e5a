/** The columns and rows that a cell covers; 1 each for an ordinary cell. */
export interface Span {
  readonly columns: number;
  readonly rows: number;
}

/** Maximum number of columns that a cell may cover: a hostile number must not create a row of a billion cells. */
const MAX_COLUMNS = 100;
const MAX_ROWS = 10_000;

/**
 * Longest text, in characters, that is repeated in the cells that a merged cell covers. Longer cells belong to a layout
 * rather than to a data table, and are not repeated.
 */
const MAX_REPEATED_LENGTH = 100;

/** Reads a span; a missing or invalid one is 1. */
export const spanOf = (value: string | undefined): number => {
  const span = Number(value ?? 1);
  return Number.isInteger(span) && span > 1 ? span : 1;
};

/**
 * The cells of a table in which some cells cover several columns or rows. The text of a merged cell is repeated in the
 * cells that it covers, so each row and column is complete. A cell that covers a whole row is not repeated in it.
 */
export class TableGrid {
  readonly #rows: string[][] = [];
  #row: string[] = [];
  /** Number of cells of the row, without those that a cell to their left covers. */
  #owned = 0;
  /** Cells to the right that the last cell covers, and its text. */
  #right = { columns: 0, text: '' };
  /** Cells of earlier rows that cover cells below, by column. */
  readonly #above = new Map<number, { text: string; rows: number }>();

  beginRow(): void {
    this.#row = [];
    this.#owned = 0;
    this.#right = { columns: 0, text: '' };
    this.#rows.push(this.#row);
  }

  /**
   * Adds a cell.
   * @param isFollowed whether the file has elements for the covered cells, which are added by addCovered()
   */
  add(text: string, { columns, rows }: Span, isFollowed: boolean): void {
    const shown = text.length > MAX_REPEATED_LENGTH ? '' : text;
    const start = this.#row.length;
    const width = Math.min(columns, MAX_COLUMNS);
    for (let column = start; column < start + width; column++) {
      if (rows > 1) this.#above.set(column, { text: shown, rows: Math.min(rows, MAX_ROWS) - 1 });
      else this.#above.delete(column);
    }
    this.#row.push(text);
    this.#owned += 1;
    if (isFollowed) this.#right = { columns: width - 1, text: shown };
    else for (let more = 1; more < width; more++) this.#row.push(shown);
  }

  /** Adds a cell that a cell to its left or above it covers. */
  addCovered(): void {
    const column = this.#row.length;
    if (this.#right.columns > 0) {
      this.#right.columns -= 1;
      this.#row.push(this.#right.text);
      return;
    }
    this.#owned += 1;
    const above = this.#above.get(column);
    this.#row.push(above?.text ?? '');
    if (above && --above.rows === 0) this.#above.delete(column);
  }

  /** Adds a cell that continues the cell above it, whose number of rows is unknown. */
  addContinued(columns: number): void {
    const above = this.#rows.at(-2)?.[this.#row.length] ?? '';
    const shown = above.length > MAX_REPEATED_LENGTH ? '' : above;
    this.#owned += 1;
    for (let more = 0; more < Math.min(columns, MAX_COLUMNS); more++) this.#row.push(shown);
  }

  /** Adds empty cells for columns that the row of the file skips. */
  addEmpty(columns: number): void {
    for (let more = 0; more < Math.min(columns, MAX_COLUMNS); more++) this.#row.push('');
  }

  endRow(): void {
    if (this.#owned === 1 && this.#row.length > 1) this.#row.fill('', this.#row.findIndex((cell) => cell !== '') + 1);
  }

  /** The rows, covered cells included. Shorter rows are not padded to the width of the table. */
  get rows(): readonly (readonly string[])[] {
    return this.#rows;
  }
}
