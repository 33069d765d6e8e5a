import { type Span, spanOf, TableGrid } from '../../tables/tableGrid.js';
import { CellBudget } from '../../tables/tableWriter.js';

interface OpenTable<Part> {
  readonly grid: TableGrid;
  cells: number;
  /** Paragraphs and tables of the first cell: a table of one cell is a frame around them. */
  readonly content: Part[];
  span: Span;
  repeated: number;
}

/** A table that has ended. */
interface EndedTable<Part> {
  readonly rows: readonly (readonly string[])[];
  /** The paragraphs and tables in a table of one cell, which is a frame around them; null for other tables. */
  readonly framed: readonly Part[] | null;
}

/** Maximum number of equal cells side by side in a table. */
const MAX_REPEATED = 100;

const ONE: Span = { columns: 1, rows: 1 };

/** The open tables of a text document or presentation; cells may contain further ones. */
export class OpenTables<Part> {
  readonly #open: OpenTable<Part>[] = [];
  readonly #cells: CellBudget;

  /** @param maxCells maximum number of cells of all tables */
  constructor(maxCells: number) {
    this.#cells = new CellBudget(maxCells);
  }

  get depth(): number {
    return this.#open.length;
  }

  begin(): void {
    this.#open.push({ grid: new TableGrid(), cells: 0, content: [], span: ONE, repeated: 1 });
  }

  beginRow(): void {
    this.#open.at(-1)?.grid.beginRow();
  }

  endRow(): void {
    this.#open.at(-1)?.grid.endRow();
  }

  /** Begins a cell of the innermost table. @param attributes of its element */
  beginCell(attributes: Readonly<Record<string, string>>): void {
    const table = this.#open.at(-1);
    if (!table) return;
    const [columns = 1, rows = 1] = [attributes['number-columns-spanned'], attributes['number-rows-spanned']].map(
      spanOf,
    );
    table.span = { columns, rows };
    table.repeated = Math.min(MAX_REPEATED, spanOf(attributes['number-columns-repeated']));
  }

  /** Keeps a paragraph or table of the open cell, in case the table has no other cell. */
  keep(part: Part): void {
    const table = this.#open.at(-1);
    if (table?.cells === 0) table.content.push(part);
  }

  /**
   * Adds the open cell, as often as it is repeated.
   * @param text null: the cell is covered by another one
   * @throws Fault too_large beyond the maximum number of cells
   */
  endCell(text: string | null): void {
    const table = this.#open.at(-1);
    if (!table) return;
    const { grid, span, repeated } = table;
    this.#cells.take(repeated);
    for (let more = 0; more < repeated; more++) {
      if (text === null) grid.addCovered();
      else grid.add(text, span, true);
    }
    table.cells += repeated;
  }

  /** Ends the innermost table; null if none is open. */
  end(): EndedTable<Part> | null {
    const table = this.#open.pop();
    return table ? { rows: table.grid.rows, framed: table.cells === 1 ? table.content : null } : null;
  }
}
