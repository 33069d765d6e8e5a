import type { ChildNode } from 'domhandler';
import { HOLDS, isElement, isText, type PageElement } from '../tree/pageElement.js';

/** Maximum number of characters of a cell in a table that is one line. */
const SHORT_CELL = 160;
/** Maximum number of characters of a cell in a row of declarations: some have many parameters. */
const DECLARATION_CELL = 500;

const NOT_IN_LINE = HOLDS.table | HOLDS.preformatted | HOLDS.heading | HOLDS.list | HOLDS.lineBreak | HOLDS.term;

type Row = readonly PageElement[];

/** Whether a table is one line of text: one row of short cells, or the parts of a declaration, each in a cell. */
export function isLineTable(table: PageElement, rows: readonly Row[]): boolean {
  const [row] = rows;
  if (row === undefined || row.length < 2 || (table.holds & NOT_IN_LINE) !== 0) return false;
  if (rows.length > 1) return isDeclaration(rows);
  return row.every((cell) => cell.textLength <= SHORT_CELL && cell.blocks <= 1);
}

/**
 * Whether the rows are the parts of one declaration: parameters below each other, with the parentheses in cells of their
 * own in the first and the last row.
 */
export function isDeclaration(rows: readonly Row[]): boolean {
  const [first, ...others] = rows;
  const last = others.at(-1);
  if (first === undefined || last === undefined) return false;
  return first.some((cell) => isSign(cell, '(')) && last.some((cell) => isSign(cell, ')'));
}

function isSign(cell: PageElement, sign: string): boolean {
  return cell.textLength === 1 && cell.children.some((child) => isText(child) && child.data.trim() === sign);
}

/**
 * Returns the contents of a layout table in reading order; cells in an array are one line. A label in the first row comes
 * before the cell below it. In a table with headings, a row of short cells is one line, such as a type and a name.
 * @param content the cells in document order, with the nodes between them
 */
export function inReadingOrder(
  table: PageElement,
  rows: readonly Row[],
  content: readonly ChildNode[],
): ReadonlyArray<ChildNode | Row> {
  const [labels = [], cells = []] = rows;
  if (rows.length === 2 && areLabels(labels, cells) && content.every((node) => isBlank(node) || isCell(node)))
    return labels.flatMap((label, i) => [label, cells[i] ?? label]);
  if ((table.holds & HOLDS.heading) === 0) return content;
  const lines = new Map<ChildNode, Row>();
  for (const row of rows) if (isLineRow(row)) for (const cell of row) lines.set(cell, row);
  return content.flatMap((node): Array<ChildNode | Row> => {
    const line = lines.get(node);
    if (line === undefined) return [node];
    return node === line[0] ? [line] : [];
  });
}

/** Whether a row has a header cell above each of the cells. */
function areLabels(labels: Row, cells: Row): boolean {
  if (labels.length < 2 || labels.length !== cells.length) return false;
  return labels.every((cell) => cell.name === 'th') && cells.every((cell) => cell.name === 'td' && cell.textLength > 0);
}

/** Whether a row has at least two cells with text, and each is part of a line. */
function isLineRow(row: Row): boolean {
  const filled = row.filter((cell) => cell.textLength > 0);
  if (filled.length < 2) return false;
  return filled.every(
    (cell) => cell.textLength <= DECLARATION_CELL && cell.blocks === 0 && (cell.holds & NOT_IN_LINE) === 0,
  );
}

export function isCell(node: ChildNode): node is PageElement {
  return isElement(node) && (node.name === 'td' || node.name === 'th');
}

const isBlank = (node: ChildNode): boolean => (isText(node) ? node.visibleLength <= 0 : !isElement(node));
