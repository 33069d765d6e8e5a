import type { PageText } from '../../types.js';
import type { SizedLine } from './readLines.js';

/** Adjacent lines, or the rows of a table. */
export interface LineGroup {
  readonly lines: readonly SizedLine[];
  readonly isTable?: boolean;
}

/** The line groups of one page. */
export interface GroupedPage {
  readonly number: number;
  readonly groups: readonly LineGroup[];
}

const LONGEST_HEADING = 200;

/** Finds headings: short groups with a larger font than most of the document. The largest font gets the first rank. */
export function findHeadings(pages: readonly GroupedPage[]): PageText[] {
  const characters = new Map<number, number>();
  const headings = new Set<number>();
  for (const { groups } of pages)
    for (const line of groups.flatMap(({ lines }) => lines))
      characters.set(rounded(line.size), (characters.get(rounded(line.size)) ?? 0) + line.text.length);
  const [body] = [...characters].reduce<readonly [number, number]>((a, b) => (b[1] > a[1] ? b : a), [0, 0]);
  const isHeading = ({ lines, isTable = false }: LineGroup): boolean => {
    const length = lines.reduce((sum, { text }) => sum + text.length, 0);
    return (
      !isTable && lines.length <= 3 && length <= LONGEST_HEADING && sizeOf(lines) >= 1.15 * body && hasWords(lines)
    );
  };
  for (const { groups } of pages) for (const group of groups) if (isHeading(group)) headings.add(sizeOf(group.lines));
  const ranks = [...headings].toSorted((a, b) => b - a);
  return pages.map(({ number, groups }) => ({
    number,
    paragraphs: groups.map((group) =>
      isHeading(group) ? { ...group, heading: Math.min(6, ranks.indexOf(sizeOf(group.lines)) + 1) } : group,
    ),
  }));
}

const rounded = (size: number): number => Math.round(size * 2) / 2;
const sizeOf = (group: readonly SizedLine[]): number => rounded(Math.max(...group.map(({ size }) => size)));
const hasWords = (group: readonly SizedLine[]): boolean => group.some(({ text }) => /\p{L}{2}/u.test(text));
