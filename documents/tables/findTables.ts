import type { PageLine } from '../placedText.js';
import { type FoundTable, tidyTable } from './foundTable.js';
import { type Box, boxOf, heightOf, type Row, rowsOf, textOf } from './pageRows.js';

/** Maximum gap between rows of one table, as a share of the line's height. */
const ROW_GAP = 2.2;
/** Maximum mean number of characters per cell: columns of prose have more. */
const MEAN_CELL = 40;
/** Maximum mean number of characters per cell of a table between rules. It is higher, as prose is not between rules. */
const MEAN_CELL_BETWEEN_RULES = 120;
/** Mean number of characters from which cells that fill their columns are lines of prose. */
const LINE_OF_PROSE = 22;
/** Minimum share of filled cells in a table. */
const MIN_FILLED_SHARE = 0.5;
/** Minimum share of a column's cells that begin, end or are centred at the same place. */
const MIN_ALIGNED_SHARE = 0.6;
/** Maximum step to the next line within a cell, as a share of the step to the next row. */
const STEP_IN_CELL = 0.9;
/** Characters as which OCR reads the drawn lines of a table. */
const RULE_CHARACTERS = /^[|[\]{}_—–\-=¦]+$/;
/** List markers, which are not a column. */
const LIST_MARK = /^(?:[-*+•·–o»▪◦‣]|\(?\w{1,3}[.)])$/;
/** Dot leaders before a page number, as in a table of contents. */
const DOT_LEADERS = /(?:\. ?){4,}/;

interface Options {
  /** Whether the words are between lines drawn above and below them: long cells then do not indicate prose. */
  readonly betweenRules?: boolean;
  /** Whether the words are in the order in which they are drawn: columns that are drawn one by one are prose. */
  readonly inOrder?: boolean;
}

/**
 * Finds tables by the positions of words: consecutive lines whose gaps between the same columns are aligned
 * vertically. Columns of prose, lists and names with their values are not tables.
 * @param words of one page with their boxes; each may be several words of one cell
 */
export function findTables<Word extends PageLine>(words: readonly Word[], options: Options = {}): FoundTable<Word>[] {
  const rows = rowsOf(words.filter(({ text }) => text.trim() !== '' && !RULE_CHARACTERS.test(text.trim())));
  const order = options.inOrder === true ? new Map(words.map((word, nth) => [word, nth])) : null;
  const tables: FoundTable<Word>[] = [];
  for (let from = 0; from < rows.length; from += 1) {
    let to = from;
    while (to < rows.length && isNext(rows, from, to)) to += 1;
    const table = to - from >= 2 ? tableOf(rows.slice(from, to), order, options.betweenRules === true) : null;
    if (table === null) continue;
    tables.push(table);
    from = to - 1;
  }
  return tables;
}

/** Whether a row may belong to the table that begins at `from`: close to the row before it, with more than one cell. */
function isNext<Word>(rows: readonly Row<Word>[], from: number, at: number): boolean {
  const [row, before] = [rows[at], rows[at - 1]];
  if (row === undefined) return false;
  if (at > from && before !== undefined && row.y1 - before.y2 > ROW_GAP * heightOf(before)) return false;
  if (row.cells.length > 1) return true;
  // A single cell may continue in a second line inside a table.
  return at > from && before !== undefined && isBelow(row, before) && (rows[at + 1]?.cells.length ?? 0) > 1;
}

const overlaps = (a: Box, b: Box): boolean => a.x1 < b.x2 && b.x1 < a.x2;

/** Whether a row closely follows the previous one, and each of its cells is below exactly one cell of that row. */
const isBelow = <Word>(row: Row<Word>, before: Row<Word>): boolean =>
  row.y1 - before.y2 < 0.5 * heightOf(before) &&
  row.cells.every((cell) => before.cells.filter((above) => overlaps(cell, above)).length === 1);

/** Returns the table that the rows form; null if they form none. */
function tableOf<Word extends PageLine>(
  rows: readonly Row<Word>[],
  order: ReadonlyMap<Word, number> | null,
  betweenRules: boolean,
): FoundTable<Word> | null {
  const columns = columnsOf(rows);
  if (columns.length < 2 || rows.length + columns.length < 5) return null;
  const placed = rows.map((row) => ({ row, at: row.cells.map((cell) => columnAt(columns, cell)) }));
  const step = rowStep(placed);
  const lines: { words: Word[][]; all: Word[] }[] = [];
  for (const [nth, { row, at }] of placed.entries()) {
    const before = rows[nth - 1];
    const last = lines.at(-1);
    const isContinued = last !== undefined && before !== undefined && continues(row, before, at, step);
    const line = isContinued ? last : { words: columns.map((): Word[] => []), all: [] };
    for (const [index, cell] of row.cells.entries()) {
      line.words[at[index] ?? 0]?.push(...cell.words);
      line.all.push(...cell.words);
    }
    if (!isContinued) lines.push(line);
  }
  const table: FoundTable<Word> = {
    rows: lines.map(({ words, all }) => ({ ...boxOf(all), cells: words.map(textOf) })),
    words: lines.flatMap(({ all }) => all),
  };
  const isTable =
    looksLikeTable(
      table.rows.map(({ cells }) => cells),
      betweenRules,
    ) &&
    (betweenRules || (areAligned(rows, columns) && !isProse(rows, columns))) &&
    (order === null || betweenRules || isDrawnByRows(lines, order));
  return isTable ? tidyTable(table) : null;
}

/** Returns the usual distance between rows that have a first cell; 0 if there are none. */
function rowStep<Word>(placed: ReadonlyArray<{ readonly row: Row<Word>; readonly at: readonly number[] }>): number {
  const tops = placed.filter(({ at }) => at.includes(0) && at.length > 1).map(({ row }) => row.y1);
  const steps = tops.slice(1).map((top, nth) => top - (tops[nth] ?? 0));
  return steps.toSorted((a, b) => a - b)[(steps.length - 1) >> 1] ?? 0;
}

/** Whether a row is a further line of the previous row's cells. */
function continues<Word>(row: Row<Word>, before: Row<Word>, at: readonly number[], step: number): boolean {
  if (!isBelow(row, before)) return false;
  const isCloser = row.y1 - before.y1 < STEP_IN_CELL * step;
  return at.includes(0) ? isCloser : isCloser || row.cells.length === 1;
}

/**
 * Returns the horizontal extents of the columns. The rows with the most cells define them; the cells of other rows
 * widen them, or span several.
 */
function columnsOf<Word>(rows: readonly Row<Word>[]): Box[] {
  const counts = rows.map(({ cells }) => cells.length).toSorted((a, b) => b - a);
  const minCells = counts[Math.min(counts.length - 1, Math.max(1, Math.floor(0.2 * counts.length)))] ?? 0;
  let columns: Box[] = [];
  for (const cell of rows
    .filter(({ cells }) => cells.length >= minCells)
    .flatMap(({ cells }) => cells)
    .toSorted((a, b) => a.x1 - b.x1)) {
    const last = columns.at(-1);
    if (last !== undefined && cell.x1 < last.x2) columns[columns.length - 1] = boxOf([last, cell]);
    else columns.push(boxOf([cell]));
  }
  for (const cell of rows.filter(({ cells }) => cells.length < minCells).flatMap(({ cells }) => cells)) {
    const over = columns.filter((column) => overlaps(column, cell));
    if (over.length > 1) continue;
    columns = [...columns.filter((column) => !over.includes(column)), boxOf([...over, cell])].toSorted(
      (a, b) => a.x1 - b.x1,
    );
  }
  return columns;
}

/** Returns the index of the first column that a cell overlaps. */
const columnAt = (columns: readonly Box[], cell: Box): number =>
  Math.max(
    0,
    columns.findIndex((column) => overlaps(column, cell)),
  );

/**
 * Whether the cells of each column begin, end or are centred at the same position. Of three or more columns, one need
 * not be aligned.
 */
function areAligned<Word>(rows: readonly Row<Word>[], columns: readonly Box[]): boolean {
  const cells = rows.flatMap((row) => row.cells);
  const loose = columns.filter((column) => {
    const ownCells = cells.filter(
      (cell) => columns.filter((other) => overlaps(other, cell)).length === 1 && overlaps(column, cell),
    );
    const share = (place: (cell: Box) => number): number => {
      const places = ownCells.map(place);
      const mostAligned = Math.max(0, ...places.map((a) => places.filter((b) => Math.abs(a - b) < 2).length));
      return mostAligned / Math.max(1, ownCells.length);
    };
    return (
      Math.max(
        share(({ x1 }) => x1),
        share(({ x2 }) => x2),
        share(({ x1, x2 }) => (x1 + x2) / 2),
      ) < MIN_ALIGNED_SHARE
    );
  });
  return loose.length <= (columns.length > 2 ? 1 : 0);
}

/**
 * Whether the columns are lines of prose: there are at most four, and in all of them, or in all but one and at least
 * two, most lines fill the width of their column.
 */
function isProse<Word>(rows: readonly Row<Word>[], columns: readonly Box[]): boolean {
  if (columns.length > 4) return false;
  const full = columns.filter((column) => {
    const columnCells = rows.flatMap(({ cells }) => cells.filter((cell) => overlaps(column, cell)));
    const mean = columnCells.reduce((sum, { text }) => sum + text.length, 0) / Math.max(1, columnCells.length);
    const wide = columnCells.filter(({ x1, x2 }) => x2 - x1 > 0.8 * (column.x2 - column.x1));
    return mean > LINE_OF_PROSE && wide.length > 0.6 * columnCells.length;
  });
  return full.length >= Math.max(2, columns.length - 1);
}

/** Whether the words are drawn row by row. Columns of prose are drawn column by column. */
function isDrawnByRows<Word>(
  lines: ReadonlyArray<{ readonly all: readonly Word[] }>,
  order: ReadonlyMap<Word, number>,
): boolean {
  const spans = lines.map(({ all }) => {
    const places = all.map((word) => order.get(word) ?? 0);
    return [Math.min(...places), Math.max(...places)] as const;
  });
  const inTurn = spans.slice(1).filter(([first], nth) => first > (spans[nth]?.[1] ?? 0));
  return inTurn.length >= 0.7 * (spans.length - 1);
}

function looksLikeTable(table: readonly (readonly string[])[], betweenRules: boolean): boolean {
  const filled = table.flat().filter((text) => text !== '');
  const mean = filled.reduce((sum, text) => sum + text.length, 0) / filled.length;
  const longest = betweenRules ? MEAN_CELL_BETWEEN_RULES : MEAN_CELL;
  if (table.length < 2 || mean > longest || filled.length < MIN_FILLED_SHARE * table.flat().length) return false;
  if (!filled.some((text) => /[\p{L}\p{N}]/u.test(text))) return false;
  const first = table.map((row) => row[0] ?? '').filter((text) => text !== '');
  const isTwo = table[0]?.length === 2;
  if (isTwo && first.every((text) => LIST_MARK.test(text))) return false;
  if (filled.filter((text) => DOT_LEADERS.test(text)).length > 0.3 * table.length) return false;
  return !(isTwo && first.filter((text) => text.endsWith(':')).length > first.length / 2);
}
