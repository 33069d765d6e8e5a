import { findTables } from '../../tables/findTables.js';
import { type FoundTable, markdownLines, namedLines } from '../../tables/foundTable.js';
import { type Box, rowsOf } from '../../tables/pageRows.js';
import { findRuledTables } from '../../tables/ruledTables.js';
import type { PageLine } from '../../placedText.js';
import type { LineGroup } from './findHeadings.js';
import { orderColumns } from './orderColumns.js';
import { ASCENT, DESCENT, type Glyphs, groupLines, readLines, type SizedLine } from './readLines.js';

interface PlacedRun extends PageLine {
  readonly run: Glyphs;
}

/** Maximum step up to the next cell of a row, in line heights: a larger step leads to another part of the page. */
const MAX_LINES_UP = 5;

/** Maximum distance in points between the left edges, right edges or centres of aligned cells. */
const MAX_ALIGNED_DISTANCE = 3;

/**
 * Returns whether a page may have a table: two lines near each other have column gaps, and a cell after a gap of one
 * line is aligned with a cell after a gap of the other.
 */
export const mayHaveTable = (runs: readonly Glyphs[]): boolean =>
  streamsOf(runs.map(placedRun)).some((stream) => {
    const rows = rowsOf(stream).map(({ cells }) => cells.slice(1));
    return rows.some((cells, nth) =>
      cells.some((cell) =>
        rows.slice(nth + 1, nth + 4).some((nextRow) => nextRow.some((other) => isAligned(cell, other))),
      ),
    );
  });

const isAligned = (a: Box, b: Box): boolean =>
  Math.min(Math.abs(a.x1 - b.x1), Math.abs(a.x2 - b.x2), Math.abs(a.x1 + a.x2 - b.x1 - b.x2) / 2) <
  MAX_ALIGNED_DISTANCE;

/**
 * Groups the lines of a page; the rows of a table replace its lines, at the table's first line.
 * @param rules lines that are drawn on the page
 * @param asRecords true: table rows are lines of `header: value`; false: they are rows of a Markdown table
 */
export function groupPage(runs: readonly Glyphs[], rules: readonly Box[], asRecords: boolean): LineGroup[] {
  const placed = runs.map(placedRun);
  const tables: FoundTable<PlacedRun>[] = rules.length > 0 ? findRuledTables(placed, rules) : [];
  const used = new Set(tables.flatMap(({ words }) => words));
  for (const stream of streamsOf(placed.filter((run) => !used.has(run))))
    tables.push(...findTables(stream, { inOrder: true }));
  const tableOf = new Map(tables.flatMap((table) => table.words.map(({ run }) => [run, table] as const)));
  const groups: LineGroup[] = [];
  const shown = new Set<unknown>();
  let pendingGlyphs: Glyphs[] = [];
  const flush = (): void => {
    groups.push(...groupLines(readLines(orderColumns(pendingGlyphs))).map((lines) => ({ lines })));
    pendingGlyphs = [];
  };
  for (const run of runs) {
    const table = tableOf.get(run);
    if (table === undefined) pendingGlyphs.push(run);
    else if (!shown.has(table)) {
      flush();
      shown.add(table);
      groups.push(
        asRecords
          ? { lines: namedLines(table).map(sizedLine), isTable: true }
          : { lines: markdownLines(table).map(sizedLine), keepsLines: true },
      );
    }
  }
  flush();
  return groups;
}

const placedRun = (run: Glyphs): PlacedRun => ({
  run,
  text: run.text,
  x1: run.x,
  x2: run.x + run.width,
  y1: run.y - ASCENT * run.size,
  y2: run.y + DESCENT * run.size,
});

const sizedLine = (row: PageLine): SizedLine => ({ ...row, size: row.y2 - row.y1, baseline: row.y2 });

/** Splits the runs of a page, in drawing order, before each run far above the lowest one since the last split. */
function streamsOf(runs: readonly PlacedRun[]): PlacedRun[][] {
  const streams: PlacedRun[][] = [];
  let lowest = Infinity;
  for (const run of runs) {
    if (run.text.trim() === '') continue;
    if (streams.length === 0 || run.y2 < lowest - MAX_LINES_UP * Math.max(1, run.y2 - run.y1)) {
      streams.push([]);
      lowest = run.y2;
    }
    streams.at(-1)?.push(run);
    lowest = Math.max(lowest, run.y2);
  }
  return streams;
}
