import type { PageText } from '../../placedText.js';
import type { SizedLine } from './readLines.js';

/** Adjacent lines, or the rows of a table. */
export interface LineGroup {
  readonly lines: readonly SizedLine[];
  /** Whether each line is a row of a table, in the form `header: value, header: value`. */
  readonly isTable?: boolean;
  /** Whether each line stays a line of its own: rows of a table in Markdown, form fields, comments. */
  readonly keepsLines?: boolean;
}

/** The line groups of one page. */
export interface GroupedPage {
  readonly number: number;
  readonly groups: readonly LineGroup[];
}

/** The titles of a document's outline, as `outlineKey` returns them. */
export type Outline = ReadonlySet<string>;

const MAX_HEADING_LENGTH = 200;
/** Minimum font size, relative to the body's, of a heading that is neither bold nor in the outline. */
const MIN_SIZE_RATIO = 1.15;
/** Maximum number of characters of a heading that differs from the body only by its weight. */
const MAX_BOLD_LENGTH = 120;
/** Maximum share of bold groups: a document with more uses bold type for other purposes. */
const MAX_BOLD_SHARE = 0.4;
const ENDS_SENTENCE = /[.,;:…]$/;
const CAPTION = /^(?:table|tab\.|figure|fig\.|tabelle|abbildung|abb\.|tableau|tabla|figura)\s*[\dIVX]/i;
const LIST_MARK = /^(?:[-*+•·–▪◦‣]|\(?[a-z][.)])\s/;
/** Added to the font size of bold headings, so that they rank above regular ones of the same size. */
const BOLD_BONUS = 0.25;

/**
 * Returns a title without spaces, punctuation and its number, for comparing titles in the outline with those on pages.
 */
export const outlineKey = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/^\s*(?:chapter|kapitel|section)?\s*[\divx]+(?:\.\d+)*[.:)]?\s+(?=\p{L})/u, '')
    .replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Font size and weight of most of a document's text. */
interface Body {
  readonly size: number;
  readonly isBold: boolean;
}

/**
 * Finds headings: short groups with a larger or bolder font than most of the document, and those that the outline
 * contains. Those in the largest font get level 1.
 */
export function findHeadings(pages: readonly GroupedPage[], outline: Outline = new Set()): PageText[] {
  const all = pages.flatMap(({ groups }) => groups);
  const body = bodyOf(all);
  const prose = all.filter(isProse);
  const bold = prose.filter((group) => isBoldHeading(group, body)).length;
  const allowsBold = !body.isBold && bold <= MAX_BOLD_SHARE * prose.length;
  const styles = new Map<LineGroup, number>();
  for (const group of prose) {
    if (isLarge(group, body) || (allowsBold && isBoldHeading(group, body)) || isInOutline(group, body, outline))
      styles.set(group, styleOf(group));
  }
  const ranks = [...new Set(styles.values())].toSorted((a, b) => b - a);
  return pages.map(({ number, groups }) => ({
    number,
    paragraphs: groups.map((group) => {
      const style = styles.get(group);
      return style === undefined ? group : { ...group, heading: Math.min(6, ranks.indexOf(style) + 1) };
    }),
  }));
}

function bodyOf(groups: readonly LineGroup[]): Body {
  const characters = new Map<number, number>();
  let [bold, total] = [0, 0];
  for (const { size, text, isBold = false } of groups.flatMap(({ lines }) => lines)) {
    characters.set(roundToHalf(size), (characters.get(roundToHalf(size)) ?? 0) + text.length);
    total += text.length;
    if (isBold) bold += text.length;
  }
  const [size] = [...characters].reduce<readonly [number, number]>((a, b) => (b[1] > a[1] ? b : a), [0, 0]);
  return { size, isBold: bold > 0.5 * total };
}

const isProse = ({ lines, isTable = false, keepsLines = false }: LineGroup): boolean =>
  !isTable && !keepsLines && lines.some(({ text }) => /\p{L}{2}/u.test(text));

const lengthOf = ({ lines }: LineGroup): number => lines.reduce((sum, { text }) => sum + text.length, 0);
const textOf = ({ lines }: LineGroup): string => lines.map(({ text }) => text.trim()).join(' ');

const isLarge = (group: LineGroup, body: Body): boolean =>
  group.lines.length <= 3 && lengthOf(group) <= MAX_HEADING_LENGTH && sizeOf(group) >= MIN_SIZE_RATIO * body.size;

function isBoldHeading(group: LineGroup, body: Body): boolean {
  if (group.lines.length > 2 || lengthOf(group) > MAX_BOLD_LENGTH || sizeOf(group) < 0.95 * body.size) return false;
  const text = textOf(group);
  return (
    group.lines.every(({ isBold }) => isBold === true) &&
    !ENDS_SENTENCE.test(text) &&
    !CAPTION.test(text) &&
    !LIST_MARK.test(text)
  );
}

const isInOutline = (group: LineGroup, body: Body, outline: Outline): boolean =>
  outline.size > 0 &&
  group.lines.length <= 3 &&
  lengthOf(group) <= MAX_HEADING_LENGTH &&
  sizeOf(group) >= 0.95 * body.size &&
  outline.has(outlineKey(textOf(group)));

const styleOf = (group: LineGroup): number =>
  sizeOf(group) + (group.lines.every(({ isBold }) => isBold === true) ? BOLD_BONUS : 0);

const roundToHalf = (size: number): number => Math.round(size * 2) / 2;
const sizeOf = ({ lines }: LineGroup): number => roundToHalf(Math.max(...lines.map(({ size }) => size)));
