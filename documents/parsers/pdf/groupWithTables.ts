import { findTables } from '../../tables/findTables.js';
import type { PageLine } from '../../types.js';
import type { LineGroup } from './findHeadings.js';
import { ASCENT, DESCENT, type Glyphs, groupLines, readLines, type SizedLine } from './readLines.js';

interface PlacedRun extends PageLine {
  readonly run: Glyphs;
}

/** Groups the lines of a page; the rows of a table replace its lines, at the table's first line. */
export function groupWithTables(runs: readonly Glyphs[]): LineGroup[] {
  const tables = findTables(runs.map(boxed));
  const tableOf = new Map(tables.flatMap((table) => table.words.map(({ run }) => [run, table] as const)));
  const groups: LineGroup[] = [];
  const shown = new Set<unknown>();
  let rest: Glyphs[] = [];
  const flush = (): void => {
    groups.push(...groupLines(readLines(rest)).map((lines) => ({ lines })));
    rest = [];
  };
  for (const run of runs) {
    const table = tableOf.get(run);
    if (table === undefined) rest.push(run);
    else if (!shown.has(table)) {
      flush();
      shown.add(table);
      groups.push({ lines: table.rows.map(sized), isTable: true });
    }
  }
  flush();
  return groups;
}

const boxed = (run: Glyphs): PlacedRun => ({
  run,
  text: run.text,
  x1: run.x,
  x2: run.x + run.width,
  y1: run.y - ASCENT * run.size,
  y2: run.y + DESCENT * run.size,
});

const sized = (row: PageLine): SizedLine => ({ ...row, size: row.y2 - row.y1, baseline: row.y2 });
