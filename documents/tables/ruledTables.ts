import type { PageLine } from '../placedText.js';
import { findTables } from './findTables.js';
import { type FoundTable, rowBox, type TableRow, tidyTable } from './foundTable.js';
import { type Box, boxOf, heightOf, linesOf, textOf } from './pageRows.js';

/** Distance in points within which two rules (drawn lines) are on one line, or touch. */
const NEAR = 3;
/** Minimum share of filled cells: charts and frames have few. */
const MIN_FILLED_SHARE = 0.3;
/** Maximum length of the text of a merged cell that is repeated in each row and column of that cell. */
const MAX_REPEATED_LENGTH = 80;
/** Minimum number of lines of text between two rules that become separate rows. */
const MIN_SPLIT_LINES = 3;
/** Maximum number of positions of rules per direction: a grid with more is a drawing. */
const MAX_POSITIONS = 400;
/** Maximum number of horizontal rules of a table without vertical ones. */
const MAX_RULES_PER_TABLE = 60;

/** A horizontal or vertical line on a page: its position on one axis, and its extent on the other. */
interface Line {
  at: number;
  from: number;
  to: number;
}

/** Rules that touch each other; or horizontal rules of the same extent that touch no vertical one. */
interface Grid {
  readonly horizontal: readonly Line[];
  readonly vertical: readonly Line[];
}

/**
 * Finds tables by the lines drawn around their cells, or by horizontal lines of equal length above and below the table.
 * @param words of one page with their boxes, in the order in which they are drawn
 * @param rules thin rectangles on the page, horizontal or vertical
 */
export function findRuledTables<Word extends PageLine>(
  words: readonly Word[],
  rules: readonly Box[],
): FoundTable<Word>[] {
  const horizontal = mergeLines(
    rules.filter(isHorizontal).map(({ x1, x2, y1, y2 }) => ({ at: (y1 + y2) / 2, from: x1, to: x2 })),
  );
  const vertical = mergeLines(
    rules.filter((rule) => !isHorizontal(rule)).map(({ x1, x2, y1, y2 }) => ({ at: (x1 + x2) / 2, from: y1, to: y2 })),
  );
  const tables: FoundTable<Word>[] = [];
  const used = new Set<Word>();
  for (const grid of gridsOf(horizontal, vertical)) {
    const free = words.filter((word) => !used.has(word));
    for (const table of grid.vertical.length > 0 ? tablesOfGrid(free, grid) : tablesBetween(free, grid.horizontal)) {
      tables.push(table);
      for (const word of table.words) used.add(word);
    }
  }
  return tables;
}

const isHorizontal = ({ x1, y1, x2, y2 }: Box): boolean => x2 - x1 >= y2 - y1;

/** Joins pieces of one line that touch or overlap. */
function mergeLines(lines: readonly Line[]): Line[] {
  const joined: Line[] = [];
  for (const line of lines.toSorted((a, b) => a.at - b.at || a.from - b.from)) {
    const same = joined.findLast(
      ({ at, from, to }) => Math.abs(at - line.at) < NEAR && line.from <= to + NEAR && from <= line.to + NEAR,
    );
    if (same === undefined) joined.push({ ...line });
    else {
      same.from = Math.min(same.from, line.from);
      same.to = Math.max(same.to, line.to);
    }
  }
  return joined;
}

/** Groups lines that touch; horizontal lines without vertical ones by their extent. */
function gridsOf(horizontal: readonly Line[], vertical: readonly Line[]): Grid[] {
  const grids: { horizontal: Line[]; vertical: Line[] }[] = [];
  for (const line of vertical) {
    const crossed = horizontal.filter((other) => touch(line, other));
    const crossingGrids = grids.filter((grid) => grid.horizontal.some((other) => crossed.includes(other)));
    const joined = {
      horizontal: [...new Set([...crossed, ...crossingGrids.flatMap((grid) => grid.horizontal)])],
      vertical: [line, ...crossingGrids.flatMap((grid) => grid.vertical)],
    };
    for (const grid of crossingGrids) grids.splice(grids.indexOf(grid), 1);
    grids.push(joined);
  }
  const alone = horizontal.filter((line) => !grids.some((grid) => grid.horizontal.includes(line)));
  for (const line of alone) {
    const same = grids.find(
      (grid) =>
        grid.vertical.length === 0 &&
        grid.horizontal.some((other) => Math.abs(other.from - line.from) < NEAR && Math.abs(other.to - line.to) < NEAR),
    );
    if (same === undefined) grids.push({ horizontal: [line], vertical: [] });
    else same.horizontal.push(line);
  }
  return grids;
}

const touch = (vertical: Line, horizontal: Line): boolean =>
  horizontal.at > vertical.from - NEAR &&
  horizontal.at < vertical.to + NEAR &&
  vertical.at > horizontal.from - NEAR &&
  vertical.at < horizontal.to + NEAR;

/** Returns the positions of lines in ascending order, each once, with the outer ends of the crossing lines. */
function positionsOf(lines: readonly Line[], crossing: readonly Line[]): number[] {
  const ends =
    crossing.length === 0
      ? []
      : [Math.min(...crossing.map(({ from }) => from)), Math.max(...crossing.map(({ to }) => to))];
  const positions: number[] = [];
  for (const position of [...lines.map(({ at }) => at), ...ends].toSorted((a, b) => a - b))
    if (position - (positions.at(-1) ?? -Infinity) > 2 * NEAR) positions.push(position);
  return positions;
}

function tablesOfGrid<Word extends PageLine>(
  words: readonly Word[],
  { horizontal, vertical }: Grid,
): FoundTable<Word>[] {
  const xs = positionsOf(vertical, horizontal);
  const ys = positionsOf(horizontal, vertical);
  if (xs.length < 3 || ys.length < 2 || xs.length > MAX_POSITIONS || ys.length > MAX_POSITIONS) return [];
  const inside = words.filter(
    (word) => intervalOf(xs, (word.x1 + word.x2) / 2) >= 0 && intervalOf(ys, (word.y1 + word.y2) / 2) >= 0,
  );
  const hasRule = (lines: readonly Line[], position: number, from: number, to: number): boolean => {
    const covered = lines
      .filter(({ at }) => Math.abs(at - position) <= 2 * NEAR)
      .reduce((sum, piece) => sum + Math.max(0, Math.min(piece.to, to) - Math.max(piece.from, from)), 0);
    return covered > 0.5 * (to - from);
  };
  // Cells without a rule between them are one cell.
  const rows = ys.length - 1;
  const columns = xs.length - 1;
  const owner = Array.from({ length: rows * columns }, (_, nth) => nth);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const [left = 0, right = 0, top = 0, bottom = 0] = [xs[column], xs[column + 1], ys[row], ys[row + 1]];
      const at = row * columns + column;
      if (column > 0 && !hasRule(vertical, left, top, bottom)) owner[at] = owner[at - 1] ?? at;
      else if (row > 0 && !hasRule(horizontal, top, left, right)) owner[at] = owner[at - columns] ?? at;
    }
  }
  const cells = new Map<number, Word[]>();
  for (const word of inside) {
    const at = owner[intervalOf(ys, (word.y1 + word.y2) / 2) * columns + intervalOf(xs, (word.x1 + word.x2) / 2)] ?? 0;
    cells.set(at, [...(cells.get(at) ?? []), word]);
  }
  const used = Array.from({ length: columns }, (_, column) => column).filter((column) =>
    Array.from({ length: rows }, (_, row) => row).some((row) => cells.has(owner[row * columns + column] ?? -1)),
  );
  if (used.length < 2 || cells.size < 3 || cells.size < MIN_FILLED_SHARE * new Set(owner).size) return [];
  const found: TableRow[] = [];
  for (let row = 0; row < rows; row++) {
    const bounds = { x1: xs[0] ?? 0, x2: xs.at(-1) ?? 0, y1: ys[row] ?? 0, y2: ys[row + 1] ?? 0 };
    const owners = used.map((column) => owner[row * columns + column] ?? -1);
    found.push(...tableRowsOf(owners, (at) => at >= row * columns && at < (row + 1) * columns, cells, bounds));
  }
  const table = tidyTable({ rows: found, words: inside });
  return table.rows.length >= 2 ? [table] : [];
}

/**
 * Returns the table rows between two horizontal rules: one, or one for each line of text if nearly all filled cells
 * have the same number of lines.
 */
function tableRowsOf<Word extends PageLine>(
  owners: readonly number[],
  begins: (owner: number) => boolean,
  cells: ReadonlyMap<number, readonly Word[]>,
  bounds: Box,
): TableRow[] {
  const ownWords = owners.map((at) => (begins(at) ? (cells.get(at) ?? []) : []));
  const lines = ownWords.map((words) => linesOf(words));
  const count = Math.max(...lines.map(({ length }) => length));
  const filled = lines.filter(({ length }) => length > 0);
  const areSame = filled.filter(({ length }) => length === count).length;
  if (count >= MIN_SPLIT_LINES && filled.length > 1 && areSame >= 0.8 * filled.length) {
    const all = linesOf(ownWords.flat());
    return all.map((words) => ({
      ...rowBox(words, bounds),
      cells: ownWords.map((cell) => textOf(cell.filter((word) => words.includes(word)))),
    }));
  }
  // A cell over all columns is a title of the rows below: its text is not repeated.
  const isWhole = owners.every((at) => at === owners[0]);
  const texts = owners.map((at, nth) => {
    const text = textOf(cells.get(at) ?? []);
    const isFirst = begins(at) && owners.indexOf(at) === nth;
    return isFirst || (text.length <= MAX_REPEATED_LENGTH && !isWhole) ? text : '';
  });
  return [{ ...rowBox(ownWords.flat(), bounds), cells: texts }];
}

/** Returns the index of the interval between ascending positions that contains `value`; -1 for none. */
function intervalOf(positions: readonly number[], value: number): number {
  const index = positions.findIndex((position) => position > value);
  return index <= 0 ? -1 : index - 1;
}

/** Returns the tables between horizontal rules of one length: as many rules as possible belong to one table. */
function tablesBetween<Word extends PageLine>(words: readonly Word[], rules: readonly Line[]): FoundTable<Word>[] {
  const sorted = rules.toSorted((a, b) => a.at - b.at);
  const found: FoundTable<Word>[] = [];
  for (let from = 0; from < sorted.length - 1; from++) {
    for (let to = Math.min(sorted.length - 1, from + MAX_RULES_PER_TABLE - 1); to > from; to--) {
      const table = tableBetween(words, sorted.slice(from, to + 1));
      if (table === null) continue;
      found.push(table);
      from = to;
      break;
    }
  }
  return found;
}

/**
 * Returns the table between the first and the last of several rules; null if there is none, or if other content is
 * between the rules.
 */
function tableBetween<Word extends PageLine>(words: readonly Word[], rules: readonly Line[]): FoundTable<Word> | null {
  const [top, bottom] = [rules[0]?.at ?? 0, rules.at(-1)?.at ?? 0];
  const [left, right] = [Math.min(...rules.map(({ from }) => from)), Math.max(...rules.map(({ to }) => to))];
  const inside = words.filter((word) => {
    const [x, y] = [(word.x1 + word.x2) / 2, (word.y1 + word.y2) / 2];
    return word.text.trim() !== '' && x > left - NEAR && x < right + NEAR && y > top - NEAR && y < bottom + NEAR;
  });
  if (inside.length < 4) return null;
  const [table, ...more] = findTables(inside, { betweenRules: true });
  if (table === undefined || more.length > 0) return null;
  // A table fills the space between its rules; otherwise the rules belong to other content.
  const { y1, y2 } = boxOf(table.rows);
  const line = Math.max(...inside.map(heightOf));
  return inside.length - table.words.length <= 0.1 * inside.length && y1 - top < 3 * line && bottom - y2 < 3 * line
    ? table
    : null;
}
