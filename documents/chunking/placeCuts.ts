import type { PlacedLine, PlacedPage } from '../placedText.js';
import type { Cut, Items } from '../types.js';

/** Maximum number of boxes per cut: a chunk may span thousands of pages that have one word each. */
const MAX_BOXES = 100;

/**
 * Adds to each cut its position on the pages: the numbers of the first and last page, the smallest x1 and the largest
 * x2 of all its lines, the smallest y1 of its lines on the first page, and the largest y2 of its lines on the last
 * page. `boxes` has one box for each page that contains lines of the cut, for the first MAX_BOXES of these pages.
 */
export function placeCuts(cuts: readonly Cut[], pages: readonly PlacedPage[]): Cut[] {
  return cuts.map((cut) => {
    const on = pages.slice(firstAfter(pages, cut.start), firstFrom(pages, cut.end));
    const [first, last] = [on[0], on.at(-1)];
    if (first === undefined || last === undefined) return cut;
    const lines = on.flatMap((page) => linesIn(page.lines, cut));
    const top = linesIn(first.lines, cut);
    const bottom = linesIn(last.lines, cut);
    const box =
      lines.length === 0
        ? {}
        : {
            boxes: on.flatMap((page) => boxOn(page, cut)).slice(0, MAX_BOXES),
            x1: minimumOf(lines.map(({ x1 }) => x1)),
            x2: largest(lines.map(({ x2 }) => x2)),
            y1: minimumOf(top.map(({ y1 }) => y1)),
            y2: largest(bottom.map(({ y2 }) => y2)),
          };
    return { ...cut, metadata: { pg_start: first.number, pg_end: last.number, ...box } };
  });
}

/** Returns the box around the lines of a cut on a page; none without lines. */
function boxOn({ number, lines }: PlacedPage, cut: Cut) {
  const ownLines = linesIn(lines, cut);
  if (ownLines.length === 0) return [];
  const x1 = minimumOf(ownLines.map((line) => line.x1));
  const x2 = largest(ownLines.map((line) => line.x2));
  return [
    { page: number, x1, x2, y1: minimumOf(ownLines.map(({ y1 }) => y1)), y2: largest(ownLines.map(({ y2 }) => y2)) },
  ];
}

/** Returns the cuts; those that begin inside a table get `block_types`. */
export function markTables(cuts: readonly Cut[], tables: readonly Items[]): Cut[] {
  const spans = tables.map((rows): Span => ({ start: rows[0] ?? 0, end: rows.at(-1) ?? 0 }));
  return cuts.map((cut) => {
    const table = spans[firstAfter(spans, cut.start)];
    if (table === undefined || cut.start < table.start) return cut;
    return { ...cut, metadata: { ...cut.metadata, block_types: ['TABLE'] } };
  });
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Returns the index of the first span that ends after `offset`. */
function firstAfter(spans: readonly Span[], offset: number): number {
  return search(spans, ({ end }) => end > offset);
}

/** Returns the index of the first span that begins at `offset` or later. */
function firstFrom(spans: readonly Span[], offset: number): number {
  return search(spans, ({ start }) => start >= offset);
}

function search(spans: readonly Span[], isRight: (span: Span) => boolean): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const span = spans[middle];
    if (span !== undefined && isRight(span)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the spans that overlap a given span. The spans must be ascending and disjoint. */
export const spansIn = <T extends Span>(spans: readonly T[], { start, end }: Span): readonly T[] =>
  spans.slice(firstAfter(spans, start), firstFrom(spans, end));

const linesIn: (lines: readonly PlacedLine[], span: Span) => readonly PlacedLine[] = spansIn;

const roundToHundredths = (value: number): number => Math.round(value * 100) / 100;
const minimumOf = (values: readonly number[]): number =>
  roundToHundredths(values.reduce((a, b) => Math.min(a, b), Infinity));
const largest = (values: readonly number[]): number =>
  roundToHundredths(values.reduce((a, b) => Math.max(a, b), -Infinity));
