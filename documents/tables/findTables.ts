import { hasHeader } from './hasHeader.js';
import { rowText } from './tableWriter.js';
import type { PageLine } from '../types.js';

/** A table on a page: its rows as text with their boxes, and the words it consists of. */
export interface FoundTable<Word extends PageLine> {
  /** Rows as `header: value, header: value`, without the header row. */
  readonly rows: readonly PageLine[];
  readonly words: readonly Word[];
}

/** Words on one line that are separated from the next ones by a column gap. */
interface Cell<Word> extends PageLine {
  readonly words: readonly Word[];
}

interface Row<Word> {
  readonly cells: readonly Cell<Word>[];
  readonly y1: number;
  readonly y2: number;
}

/** Column gap as a share of the line's height: wider than any gap between words of a sentence. */
const COLUMN_GAP = 0.9;
/** Row gap as a share of the line's height: rows further apart belong to two tables. */
const ROW_GAP = 2.2;
/** Maximum mean number of characters per cell: columns of prose have more. */
const MEAN_CELL = 40;
/** Minimum share of filled cells in a table. */
const FILLED = 0.5;
/** OCR reads the rules of a table as these characters. */
const RULE = /^[|[\]{}_—–\-=¦]+$/;
/** List markers, which are not a column. */
const MARK = /^(?:[-*+•·–o»]|\(?\w{1,2}[.)])$/;

/**
 * Finds tables by the positions of words: consecutive lines whose gaps between the same columns are aligned
 * vertically. Columns of prose, lists and names with their values are not tables.
 * @param words of one page with their boxes, in any order; each may be several words of one cell
 */
export function findTables<Word extends PageLine>(words: readonly Word[]): FoundTable<Word>[] {
  const rows = rowsOf(words.filter(({ text }) => text.trim() !== '' && !RULE.test(text.trim())));
  const tables: FoundTable<Word>[] = [];
  for (let from = 0; from < rows.length; from += 1) {
    let to = from;
    while (to < rows.length && isNext(rows, from, to)) to += 1;
    const table = to - from >= 2 ? tableOf(rows.slice(from, to)) : null;
    if (table === null) continue;
    tables.push(table);
    from = to - 1;
  }
  return tables;
}

const heightOf = ({ y1, y2 }: { readonly y1: number; readonly y2: number }): number => Math.max(1, y2 - y1);

/** Joins words into lines from the top, and cuts each line into cells. */
function rowsOf<Word extends PageLine>(words: readonly Word[]): Row<Word>[] {
  const lines: { words: Word[]; middle: number; height: number }[] = [];
  for (const word of words.toSorted((a, b) => a.y1 + a.y2 - b.y1 - b.y2)) {
    const middle = (word.y1 + word.y2) / 2;
    const line = lines.at(-1);
    if (line !== undefined && Math.abs(middle - line.middle) < 0.45 * Math.max(line.height, heightOf(word))) {
      line.words.push(word);
      line.middle = (line.middle * (line.words.length - 1) + middle) / line.words.length;
      line.height = Math.max(line.height, heightOf(word));
    } else lines.push({ words: [word], middle, height: heightOf(word) });
  }
  return lines.map((line) => {
    const cells = cellsOf(line.words, line.height);
    return { cells, y1: Math.min(...cells.map(({ y1 }) => y1)), y2: Math.max(...cells.map(({ y2 }) => y2)) };
  });
}

function cellsOf<Word extends PageLine>(words: readonly Word[], height: number): Cell<Word>[] {
  const cells: Word[][] = [];
  let end = -Infinity;
  for (const word of words.toSorted((a, b) => a.x1 - b.x1)) {
    if (word.x1 - end > COLUMN_GAP * height) cells.push([word]);
    else cells.at(-1)?.push(word);
    end = Math.max(end, word.x2);
  }
  return cells.map((some) => ({ ...boxOf(some), text: some.map(({ text }) => text.trim()).join(' '), words: some }));
}

const boxOf = (some: readonly Omit<PageLine, 'text'>[]): Omit<PageLine, 'text'> => ({
  x1: Math.min(...some.map(({ x1 }) => x1)),
  y1: Math.min(...some.map(({ y1 }) => y1)),
  x2: Math.max(...some.map(({ x2 }) => x2)),
  y2: Math.max(...some.map(({ y2 }) => y2)),
});

/** Whether a row may belong to the table that begins at `from`: close to the row before it, with more than one cell. */
function isNext<Word>(rows: readonly Row<Word>[], from: number, at: number): boolean {
  const [row, before] = [rows[at], rows[at - 1]];
  if (row === undefined) return false;
  if (at > from && before !== undefined && row.y1 - before.y2 > ROW_GAP * heightOf(before)) return false;
  if (row.cells.length > 1) return true;
  // A single cell may continue in a second line inside a table.
  return at > from && before !== undefined && isContinuation(row, before) && (rows[at + 1]?.cells.length ?? 0) > 1;
}

const overlaps = (a: Omit<PageLine, 'text'>, b: Omit<PageLine, 'text'>): boolean => a.x1 < b.x2 && b.x1 < a.x2;

/** Whether a row continues the previous one: directly below it, without a first cell, and not below its gaps. */
const isContinuation = <Word>(row: Row<Word>, before: Row<Word>): boolean =>
  row.y1 - before.y2 < 0.5 * heightOf(before) &&
  row.cells.every((cell) => before.cells.slice(1).filter((above) => overlaps(cell, above)).length === 1);

/** Returns the table that the rows form; null if they form none. */
function tableOf<Word extends PageLine>(rows: readonly Row<Word>[]): FoundTable<Word> | null {
  const columns = columnsOf(rows);
  if (columns.length < 2 || rows.length + columns.length < 5) return null;
  const lines: { texts: string[]; cells: Cell<Word>[] }[] = [];
  for (const [nth, row] of rows.entries()) {
    const before = rows[nth - 1];
    const last = lines.at(-1);
    const goesOn = row.cells.length === 1 && before !== undefined && isContinuation(row, before);
    const line = goesOn && last !== undefined ? last : { texts: columns.map(() => ''), cells: [] };
    for (const cell of row.cells) {
      const column = columns.findIndex((one) => overlaps(one, cell));
      line.texts[column] = `${line.texts[column] ?? ''} ${cell.text}`.trim();
      line.cells.push(cell);
    }
    if (line !== last) lines.push(line);
  }
  const table = lines.map(({ texts }) => texts);
  if (!looksLikeTable(table)) return null;
  const header = hasHeader(table) ? (table[0] ?? []) : [];
  return {
    rows: lines
      .slice(header.length > 0 ? 1 : 0)
      .map(({ texts, cells }) => ({ ...boxOf(cells), text: rowText(texts, header) })),
    words: lines.flatMap(({ cells }) => cells.flatMap((cell) => cell.words)),
  };
}

/** Returns the horizontal extents of the columns, separated by gaps in all rows. */
function columnsOf<Word>(rows: readonly Row<Word>[]): Omit<PageLine, 'text'>[] {
  const columns: Omit<PageLine, 'text'>[] = [];
  for (const cell of rows.flatMap(({ cells }) => cells).toSorted((a, b) => a.x1 - b.x1)) {
    const last = columns.at(-1);
    if (last !== undefined && cell.x1 < last.x2) columns[columns.length - 1] = boxOf([last, cell]);
    else columns.push(boxOf([cell]));
  }
  return columns;
}

function looksLikeTable(table: readonly (readonly string[])[]): boolean {
  const filled = table.flat().filter((text) => text !== '');
  const mean = filled.reduce((sum, text) => sum + text.length, 0) / filled.length;
  if (table.length < 2 || mean > MEAN_CELL || filled.length < FILLED * table.flat().length) return false;
  const first = table.map((row) => row[0] ?? '').filter((text) => text !== '');
  const isTwo = table[0]?.length === 2;
  if (isTwo && first.every((text) => MARK.test(text))) return false;
  return !(isTwo && first.filter((text) => text.endsWith(':')).length > first.length / 2);
}
