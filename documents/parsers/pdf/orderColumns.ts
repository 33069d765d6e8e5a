import type { Glyphs } from './readLines.js';

/** Minimum number of lines with a part on each side of a gutter for it to separate columns. */
const MIN_LINES = 5;
/** Minimum mean number of characters of these parts on each side: columns of a table are narrower. */
const MIN_CHARACTERS = 12;
/** Minimum width of a gutter as a share of the font size. */
const MIN_GUTTER_WIDTH = 0.9;
/** Maximum share of runs that cross a gutter, such as titles. */
const MAX_CROSSING_SHARE = 0.2;

/** A gap between two parts of one line; `left` and `right`: numbers of characters of the two parts. */
interface Gap {
  readonly from: number;
  readonly to: number;
  readonly left: number;
  readonly right: number;
}

/**
 * Orders runs that are drawn line by line across columns of prose: each column is read to its end before the next.
 * Runs that are drawn column by column keep their order.
 */
export function orderColumns(runs: readonly Glyphs[]): readonly Glyphs[] {
  const gutter = gutterOf(runs);
  if (gutter === null) return runs;
  const ordered: Glyphs[] = [];
  let [left, right]: [Glyphs[], Glyphs[]] = [[], []];
  const flush = (): void => {
    ordered.push(...orderColumns(left), ...orderColumns(right));
    [left, right] = [[], []];
  };
  for (const run of runs) {
    if (crosses(run, gutter)) {
      flush();
      ordered.push(run);
    } else if (run.x + run.width / 2 < gutter) left.push(run);
    else right.push(run);
  }
  flush();
  return ordered;
}

const crosses = ({ x, width, size, text }: Glyphs, gutter: number): boolean =>
  text.trim() !== '' && x < gutter - 0.5 * size && x + width > gutter + 0.5 * size;

/** Returns the position of the gutter that most lines have; null without one. */
function gutterOf(runs: readonly Glyphs[]): number | null {
  const gaps = gapsOf(runs.filter(({ text }) => text.trim() !== ''));
  if (gaps.length < MIN_LINES) return null;
  let best: readonly Gap[] = [];
  for (const { from, to } of gaps) {
    const middle = (from + to) / 2;
    const gapsAtMiddle = gaps.filter((gap) => gap.from <= middle && gap.to >= middle);
    if (gapsAtMiddle.length > best.length) best = gapsAtMiddle;
  }
  const mean = (count: (gap: Gap) => number): number => best.reduce((sum, gap) => sum + count(gap), 0) / best.length;
  if (
    best.length < MIN_LINES ||
    Math.min(
      mean(({ left }) => left),
      mean(({ right }) => right),
    ) < MIN_CHARACTERS
  )
    return null;
  const gutter = (Math.max(...best.map(({ from }) => from)) + Math.min(...best.map(({ to }) => to))) / 2;
  return runs.filter((run) => crosses(run, gutter)).length <= MAX_CROSSING_SHARE * runs.length ? gutter : null;
}

/** Returns the gaps between parts of one line that are drawn one after the other. */
function gapsOf(runs: readonly Glyphs[]): Gap[] {
  const parts: { x1: number; x2: number; y: number; size: number; length: number }[] = [];
  for (const { text, x, y, width, size } of runs) {
    const part = parts.at(-1);
    const gap = part === undefined ? 0 : x - part.x2;
    if (part !== undefined && Math.abs(y - part.y) < 0.5 * size && gap < MIN_GUTTER_WIDTH * size && gap > -1.5 * size) {
      part.x2 = Math.max(part.x2, x + width);
      part.length += text.length;
    } else parts.push({ x1: x, x2: x + width, y, size, length: text.length });
  }
  return parts.slice(1).flatMap((part, nth) => {
    const before = parts[nth] ?? part;
    const isSameLine = Math.abs(part.y - before.y) < 0.5 * part.size && part.x1 > before.x2;
    return isSameLine ? [{ from: before.x2, to: part.x1, left: before.length, right: part.length }] : [];
  });
}
