import type { ChildNode } from 'domhandler';
import { HOLDS, isElement, type PageElement } from './pageElement.js';
import { renderChildren, renderLine, renderNode, type Rendering } from './renderText.js';

/** More columns than any table has that people read; bounds what a forged colspan can make. */
const MOST_COLUMNS = 50;

interface TableParts {
  readonly captions: PageElement[];
  readonly rows: PageElement[][];
  /** Rows as they are in the page, with what lies between them. */
  readonly rest: ChildNode[];
  hasHeaders: boolean;
}

/** A table of data as `| a | b |` rows, the first as the header; a table for layout as its cells' text, one after the other. */
export function renderTable(table: PageElement, rendering: Rendering): void {
  const parts = readParts(table, rendering);
  for (const caption of parts.captions) {
    renderChildren(caption, rendering);
    rendering.writer.newline(2);
  }
  if (isData(table, parts)) renderRows(parts, rendering);
  else {
    for (const node of parts.rest) {
      if (isElement(node) && CELLS.has(node.name)) {
        rendering.writer.newline(2);
        renderChildren(node, rendering);
        rendering.writer.newline(2);
      } else renderNode(node, rendering);
    }
  }
}

function readParts(table: PageElement, rendering: Rendering): TableParts {
  const parts: TableParts = { captions: [], rows: [], rest: [], hasHeaders: false };
  const visit = (parent: PageElement): void => {
    for (const child of parent.children) {
      if (!isElement(child)) {
        parts.rest.push(child);
      } else if (!rendering.leftOut.has(child)) {
        if (child.name === 'caption') parts.captions.push(child);
        else if (child.name === 'tr') visitRow(child);
        else if (GROUPS.has(child.name)) {
          if (child.name === 'thead') parts.hasHeaders = true;
          visit(child);
        } else parts.rest.push(child);
      }
    }
  };
  const visitRow = (row: PageElement): void => {
    const cells: PageElement[] = [];
    for (const child of row.children) {
      if (isElement(child) && rendering.leftOut.has(child)) continue;
      parts.rest.push(child);
      if (!isElement(child) || !CELLS.has(child.name)) continue;
      if (child.name === 'th') parts.hasHeaders = true;
      cells.push(child);
    }
    if (cells.length > 0) parts.rows.push(cells);
  };
  visit(table);
  return parts;
}

const CELLS = new Set(['td', 'th']);

/** What wraps rows, or content that stands where rows should: forms and fonts of old pages. */
const GROUPS = new Set(['thead', 'tbody', 'tfoot', 'form', 'font', 'center', 'div', 'span', 'b']);

function isData(table: PageElement, { captions, rows, hasHeaders }: TableParts): boolean {
  const role = table.attribs['role'];
  if (role === 'presentation' || role === 'none') return false;
  // Tables and code inside cells would lose their lines.
  if ((table.holds & (HOLDS.table | HOLDS.preformatted)) !== 0) return false;
  if (rows.every((row) => row.length < 2)) return false;
  if (hasHeaders || captions.length > 0) return true;
  if (rows.length < 2 || (table.holds & (HOLDS.heading | HOLDS.list)) !== 0) return false;
  return rows.every((row) => row.every((cell) => cell.textLength <= 1000));
}

function renderRows({ rows }: TableParts, rendering: Rendering): void {
  const lines: string[] = [];
  for (const row of rows) {
    const cells: string[] = [];
    for (const cell of row) {
      cells.push(renderLine(cell.children, rendering).replaceAll('|', '\\|'));
      const span = Math.min(Number.parseInt(cell.attribs['colspan'] ?? '1', 10) || 1, MOST_COLUMNS - cells.length);
      for (let i = 1; i < span; i++) cells.push('');
    }
    while (cells.length > 1 && cells.at(-1) === '') cells.pop();
    if (cells.every((cell) => cell === '')) continue;
    lines.push(`| ${cells.join(' | ')} |`);
    if (lines.length === 1) lines.push(`|${' --- |'.repeat(cells.length)}`);
  }
  rendering.writer.lines(lines);
}
