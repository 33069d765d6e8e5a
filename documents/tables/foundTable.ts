import type { PageLine } from '../placedText.js';
import { hasHeader } from './hasHeader.js';
import { type Box, boxOf, isRightToLeft } from './pageRows.js';
import { rowText } from './tableWriter.js';

/** A row of a table on a page, with one text per column. */
export interface TableRow extends Box {
  readonly cells: readonly string[];
}

/** A table on a page, and the words it consists of. */
export interface FoundTable<Word> {
  /** All rows, with the header row if there is one. */
  readonly rows: readonly TableRow[];
  readonly words: readonly Word[];
}

/** Returns the table with its columns in reading order, without empty rows and columns. */
export function tidyTable<Word>({ rows, words }: FoundTable<Word>): FoundTable<Word> {
  const filled = rows.filter(({ cells }) => cells.some(Boolean));
  const columns = (filled[0]?.cells ?? []).map((_, nth) => nth).filter((nth) => filled.some(({ cells }) => cells[nth]));
  if (isRightToLeft(filled.flatMap(({ cells }) => cells).join(' '))) columns.reverse();
  return { rows: filled.map((row) => ({ ...row, cells: columns.map((nth) => row.cells[nth] ?? '') })), words };
}

/** Returns the rows as lines in the form `header: value, header: value`, without the header row. */
export function namedLines({ rows }: FoundTable<unknown>): PageLine[] {
  const table = rows.map(({ cells }) => cells);
  const header = hasHeader(table) ? (table[0] ?? []) : [];
  return rows.slice(header.length > 0 ? 1 : 0).map(({ cells, ...box }) => ({ ...box, text: rowText(cells, header) }));
}

/** Returns the rows as lines of a Markdown table, the first as its header. */
export function markdownLines({ rows }: FoundTable<unknown>): PageLine[] {
  return rows.flatMap(({ cells, ...box }, nth) => {
    const text = `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
    return nth > 0
      ? [{ ...box, text }]
      : [
          { ...box, text },
          { ...box, text: `|${' --- |'.repeat(cells.length)}` },
        ];
  });
}

/** Returns the box around the words of a row; `fallback` if there are none. */
export const rowBox = (words: readonly Box[], fallback: Box): Box => {
  const { x1, y1, x2, y2 } = words.length > 0 ? boxOf(words) : fallback;
  return { x1, y1, x2, y2 };
};
