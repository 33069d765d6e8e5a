import { oneLine } from '../../textBuilder.js';
import type { LineGroup } from './findHeadings.js';
import type { SizedLine } from './readLines.js';

/** The line groups of one page, with its height in points. */
interface Page {
  readonly number: number;
  readonly height: number;
  readonly groups: readonly LineGroup[];
}

/** Pages without the lines that repeat at their edges, and the different texts of these lines. */
export interface RunningLines<P extends Page> {
  readonly pages: readonly P[];
  readonly headers: readonly string[];
  readonly footers: readonly string[];
}

/** Share of a page's height, at the top and at the bottom, in which headers and footers are searched. */
const EDGE_SHARE = 0.14;
/** Maximum number of lines of a header or footer. */
const MAX_EDGE_LINES = 3;
/** Minimum number of pages on which a line repeats. */
const MIN_PAGES = 3;
/** Maximum distance in points between the places of a line on two pages. */
const MAX_DISTANCE = 8;
/** Maximum number of texts that are kept as metadata. */
const MAX_TEXTS = 20;

interface EdgeLine {
  readonly page: number;
  readonly line: SizedLine;
  readonly text: string;
}

/**
 * Removes headers and footers: lines at the edge of at least three pages, at the same place and with the same text
 * except page numbers. In a document of two pages, only lines with the page number are removed. The rows of tables are
 * not examined.
 */
export function findRunningLines<P extends Page>(pages: readonly P[]): RunningLines<P> {
  const top = runningAt(
    pages,
    (line) => line.y1,
    (line, height) => line.y2 < EDGE_SHARE * height,
  );
  const bottom = runningAt(
    pages,
    (line) => -line.y2,
    (line, height) => line.y1 > (1 - EDGE_SHARE) * height,
  );
  const running = new Set([...top, ...bottom].map(({ line }) => line));
  const hasOtherLines = pages.some(({ groups }) =>
    groups.some(({ lines }) => lines.some((line) => !running.has(line))),
  );
  // A document that consists only of such lines keeps them.
  if (running.size === 0 || !hasOtherLines) return { pages, headers: [], footers: [] };
  const kept = pages.map((page) => ({
    ...page,
    groups: page.groups
      .map((group) =>
        group.lines.some((line) => running.has(line))
          ? { ...group, lines: group.lines.filter((line) => !running.has(line)) }
          : group,
      )
      .filter(({ lines }) => lines.length > 0),
  }));
  return { pages: kept, headers: textsOf(top), footers: textsOf(bottom) };
}

/** Returns the running lines at one edge of the pages. */
function runningAt(
  pages: readonly Page[],
  distance: (line: SizedLine) => number,
  isInZone: (line: SizedLine, height: number) => boolean,
): EdgeLine[] {
  const byKey = new Map<string, EdgeLine[]>();
  let written = 0;
  for (const { number, height, groups } of pages) {
    const lines = groups
      .filter(({ isTable, keepsLines }) => isTable !== true && keepsLines !== true)
      .flatMap(({ lines: pageLines }) => pageLines);
    if (lines.length > 0) written += 1;
    const edge = lines.filter((line) => isInZone(line, height)).toSorted((a, b) => distance(a) - distance(b));
    const rows = [...new Set(edge.map(({ baseline }) => Math.round(baseline / 3)))].slice(0, MAX_EDGE_LINES);
    for (const line of edge.filter(({ baseline }) => rows.includes(Math.round(baseline / 3)))) {
      const text = oneLine(line.text);
      const key = keyOf(text);
      byKey.set(key, [...(byKey.get(key) ?? []), { page: number, line, text }]);
    }
  }
  return [...byKey.values()].flatMap((found) => {
    const near = atOnePlace(found);
    const count = new Set(near.map(({ page }) => page)).size;
    const isEnough = count >= MIN_PAGES || (count === 2 && written === 2);
    const isSame = count >= MIN_PAGES && near.every(({ text }) => text === near[0]?.text);
    return isEnough && (isSame || countsPages(near)) ? near : [];
  });
}

/** Returns a line's text with `#` for each number, also for a line that is only a Roman numeral. */
const keyOf = (text: string): string => (/^[ivxlc]+$/i.test(text) ? '#' : text.toLowerCase().replaceAll(/\d+/g, '#'));

/** Returns the lines at the position that most lines have. */
function atOnePlace(lines: readonly EdgeLine[]): EdgeLine[] {
  let best: EdgeLine[] = [];
  for (const { line } of lines.slice(0, 50)) {
    const near = lines.filter((other) => Math.abs(other.line.baseline - line.baseline) < MAX_DISTANCE);
    if (near.length > best.length) best = near;
  }
  return best;
}

/** Whether the lines contain page numbers: they are numbers only, or a number in them grows from page to page. */
function countsPages(lines: readonly EdgeLine[]): boolean {
  if (lines.every(({ text }) => /^[ivxlc]+$/i.test(text) || /^\d+$/.test(text))) return true;
  const numbers = lines.map(({ text }) => (text.match(/\d+/g) ?? []).map(Number));
  return (numbers[0] ?? []).some((_, nth) =>
    numbers.slice(1).every((pageNumbers, before) => (pageNumbers[nth] ?? 0) > (numbers[before]?.[nth] ?? 0)),
  );
}

/** Returns the different texts, without those that are only a number. */
const textsOf = (lines: readonly EdgeLine[]): string[] => {
  const texts = lines.map(({ text }) => text).filter((text) => /\p{L}{2}/u.test(text) && !/^[ivxlc]+$/i.test(text));
  const byKey = new Map(texts.toReversed().map((text) => [keyOf(text), text]));
  return [...byKey.values()].toReversed().slice(0, MAX_TEXTS);
};
