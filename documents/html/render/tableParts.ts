import type { ChildNode } from 'domhandler';
import { inReadingOrder, isCell, isDeclaration, isLineTable } from './layoutTable.js';
import { HOLDS, isElement, isText, type PageElement } from '../tree/pageElement.js';

/** Maximum number of columns, more than any real table has; limits a hostile colspan. */
const MAX_COLUMNS = 50;

export interface TableParts {
  readonly captions: readonly PageElement[];
  /** The cells of each row; null for a layout table. */
  readonly rows: readonly (readonly PageElement[])[] | null;
  /** Whether the layout table is one line of text: a row of short cells, or a function declaration split into cells. */
  readonly isLine: boolean;
  /** Cells in reading order, with the nodes between them; cells in an array are one line. */
  readonly content: ReadonlyArray<ChildNode | readonly PageElement[]>;
}

/** Splits a table into its parts, and distinguishes data tables from layout tables. */
export function readTable(table: PageElement, leftOut: ReadonlySet<PageElement>): TableParts {
  const captions: PageElement[] = [];
  const rows: PageElement[][] = [];
  const content: ChildNode[] = [];
  let hasHeaders = false;
  const visitRow = (row: PageElement): void => {
    const cells: PageElement[] = [];
    for (const child of row.children) {
      if (isElement(child) && leftOut.has(child)) continue;
      content.push(child);
      if (!isCell(child)) continue;
      if (child.name === 'th') hasHeaders = true;
      cells.push(child);
    }
    if (cells.length > 0) rows.push(cells);
  };
  const visit = (parent: PageElement): void => {
    for (const child of parent.children) {
      if (!isElement(child)) content.push(child);
      else if (leftOut.has(child)) continue;
      else if (child.name === 'caption') captions.push(child);
      else if (child.name === 'tr') visitRow(child);
      else if (GROUPS.has(child.name)) {
        if (child.name === 'thead') hasHeaders = true;
        visit(child);
      } else content.push(child);
    }
  };
  visit(table);
  const isData = looksLikeData(table, rows, hasHeaders || captions.length > 0);
  if (isData) return { captions, rows, isLine: false, content };
  const isLine = isLineTable(table, rows);
  return { captions, rows: null, isLine, content: isLine ? content : inReadingOrder(table, rows, content) };
}

/** A cell that also belongs to the following rows. */
interface SpanningCell {
  readonly text: string;
  rows: number;
}

/**
 * Renders rows as `| a | b |` lines, the first as the header. The text of a cell of several rows is repeated in each, so
 * that a row keeps its meaning in a chunk of its own; the label of a picture is not.
 */
export function tableLines(rows: readonly (readonly PageElement[])[], textOf: (cell: PageElement) => string): string[] {
  const lines: string[][] = [];
  const spanning = new Map<number, SpanningCell>();
  for (const row of rows) {
    const cells: string[] = [];
    const isOwn: boolean[] = [];
    const fill = (): void => {
      for (let above = spanning.get(cells.length); above !== undefined; above = spanning.get(cells.length)) {
        above.rows -= 1;
        if (above.rows <= 0) spanning.delete(cells.length);
        cells.push(above.text);
      }
    };
    for (const cell of row) {
      fill();
      const text = textOf(cell).replaceAll('|', '\\|');
      const rowSpan = spanOf(cell, 'rowspan', rows.length);
      const width = Math.min(spanOf(cell, 'colspan', MAX_COLUMNS), Math.max(1, MAX_COLUMNS - cells.length));
      isOwn.push(text !== '');
      for (let i = 0; i < width; i++) {
        if (rowSpan > 1 && cells.length < MAX_COLUMNS)
          spanning.set(cells.length, { text: i === 0 && !isPicture(cell) ? text : '', rows: rowSpan - 1 });
        cells.push(i === 0 ? text : '');
      }
    }
    fill();
    // A row that only repeats cells from above adds nothing.
    if (!isOwn.includes(true)) continue;
    while (cells.at(-1) === '') cells.pop();
    lines.push(cells);
  }
  const [header] = lines;
  if (header === undefined) return [];
  // Markdown drops cells of columns that the header does not have.
  const columns = lines.reduce((most, cells) => Math.max(most, cells.length), 0);
  while (header.length < columns) header.push('');
  const [first = '', ...others] = lines.map((cells) => `| ${cells.join(' | ')} |`);
  return [first, `|${' --- |'.repeat(columns)}`, ...others];
}

/** Whether a cell has no text besides pictures. */
function isPicture(cell: PageElement): boolean {
  return (
    cell.images > 0 &&
    cell.children.every((child) =>
      isText(child)
        ? child.visibleLength <= 0
        : !isElement(child) || child.textLength === 0 || child.name === 'img' || isPicture(child),
    )
  );
}

function spanOf(cell: PageElement, name: 'colspan' | 'rowspan', maxSpan: number): number {
  return Math.min(Math.max(Number.parseInt(cell.attribs[name] ?? '1', 10) || 1, 1), maxSpan);
}

/** Elements that wrap rows: row groups, and in old pages also other elements. */
const GROUPS = new Set(['thead', 'tbody', 'tfoot', 'form', 'font', 'center']);

function looksLikeData(table: PageElement, rows: readonly (readonly PageElement[])[], isLabelled: boolean): boolean {
  const role = table.attribs['role'];
  if (role === 'presentation' || role === 'none') return false;
  // Tables and code inside cells would lose their lines.
  if ((table.holds & (HOLDS.table | HOLDS.preformatted)) !== 0) return false;
  if (rows.every((row) => row.length < 2) || isDeclaration(rows)) return false;
  if (isLabelled) return true;
  if (rows.length < 2 || (table.holds & (HOLDS.heading | HOLDS.list)) !== 0) return false;
  return rows.every((row) => row.every((cell) => cell.textLength <= 1000));
}
