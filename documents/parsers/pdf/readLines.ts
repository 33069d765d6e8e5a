import { isRightToLeft } from '../../tables/pageRows.js';
import type { PageLine } from '../../placedText.js';

/** A run of characters at a position: the start of its baseline, in points from the upper left corner. */
export interface Glyphs {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** Font size on the page. */
  readonly size: number;
  readonly isBold?: boolean;
}

export interface SizedLine extends PageLine {
  readonly size: number;
  readonly baseline: number;
  /** Whether all letters are bold. */
  readonly isBold?: boolean;
}

/** Height of letters above and below the baseline, as shares of the font size. */
export const ASCENT = 0.8;
export const DESCENT = 0.2;
/** Minimum gap, as a share of the font size, that separates columns of a table: the width of one or two letters. */
const COLUMN_GAP = 1.8;
/** Minimum gap between two words, as a share of the font size; letters of one word are closer. */
const WORD_GAP = 0.18;

interface OpenLine {
  readonly runs: Glyphs[];
  x1: number;
  x2: number;
  readonly baseline: number;
  size: number;
  isReversed: boolean;
}

/** Joins runs into lines, in content order, with spaces at gaps. */
export function readLines(runs: Iterable<Glyphs>): SizedLine[] {
  const lines: SizedLine[] = [];
  let line: OpenLine | null = null;
  const end = (): void => {
    if (line?.runs.some(({ text }) => text.trim() !== '') === true) lines.push(toSizedLine(line));
    line = null;
  };
  for (const run of runs) {
    const isReversed = isRightToLeft(run.text);
    if (line !== null && !continues(line, run, isReversed)) end();
    const isBlank = run.text.trim() === '';
    if (line === null && isBlank) continue;
    line ??= { runs: [], x1: run.x, x2: run.x + run.width, baseline: run.y, size: run.size, isReversed };
    line.runs.push(run);
    if (isBlank) continue;
    line.isReversed ||= isReversed;
    line.x1 = Math.min(line.x1, run.x);
    line.x2 = Math.max(line.x2, run.x + run.width);
    line.size = Math.max(line.size, run.size);
  }
  end();
  return lines;
}

function continues(line: OpenLine, run: Glyphs, isReversed: boolean): boolean {
  const size = Math.max(line.size, run.size, 1);
  // Superscript and subscript belong to the line.
  if (Math.abs(run.y - line.baseline) >= 0.5 * size) return false;
  // A line that is written from right to left may continue on either side; else a run far to the left begins a line.
  return line.isReversed || isReversed || run.x > line.x2 - 1.5 * size;
}

function toSizedLine({ runs, x1, x2, baseline, size, isReversed }: OpenLine): SizedLine {
  const whole = runs.map(({ text }) => text).join(' ');
  const text = isReversed ? joinReversed(runs, isRightToLeft(whole) || beginsAtRight(runs)) : join(runs);
  const words = runs.filter(({ text: word }) => /[\p{L}\p{N}]/u.test(word));
  return {
    ...{ text, x1, x2, y1: baseline - ASCENT * size, y2: baseline + DESCENT * size, size, baseline },
    ...(words.length > 0 && words.every(({ isBold }) => isBold === true) ? { isBold: true } : {}),
  };
}

/** Whether a line's first run is its rightmost and written from right to left, as word processors draw such a line. */
function beginsAtRight(runs: readonly Glyphs[]): boolean {
  const shown = runs.filter(({ text }) => /\p{L}/u.test(text));
  const [first] = shown;
  return first !== undefined && isRightToLeft(first.text) && shown.every(({ x }) => x <= first.x);
}

/** Joins runs that follow one another to the right. */
function join(runs: readonly Glyphs[]): string {
  let text = '';
  let end: number | null = null;
  for (const run of runs) {
    if (run.text.trim() === '') {
      if (!text.endsWith(' ')) text += ' ';
      continue;
    }
    if (end !== null) text = withGap(text, run.text, run.x - end, run.size);
    else text += run.text;
    end = Math.max(end ?? run.x, run.x + run.width);
  }
  return text;
}

function withGap(text: string, next: string, gap: number, size: number): string {
  if (gap > COLUMN_GAP * size) return `${text.trimEnd()}  ${next}`;
  return gap > WORD_GAP * size && !/\s$/.test(text) && !/^\s/.test(next) ? `${text} ${next}` : text + next;
}

/**
 * Joins the runs of a line that contains right-to-left text. PDF.js returns each run in logical order, so only the runs
 * are ordered, by their positions: from right to left in a right-to-left line. Adjacent runs in the other direction
 * (words, numbers) keep that direction.
 * @param fromRight whether most letters of the line are written from right to left
 */
function joinReversed(runs: readonly Glyphs[], fromRight: boolean): string {
  const shown = runs.filter(({ text }) => text.trim() !== '').toSorted((a, b) => (fromRight ? b.x - a.x : a.x - b.x));
  const ordered: Glyphs[] = [];
  let turned: Glyphs[] = [];
  const flush = (): void => {
    // Punctuation at the end of a part in the other direction belongs to the line itself.
    const rest: Glyphs[] = [];
    while (turned.length > 0 && isNeutral(turned.at(-1))) rest.unshift(...turned.splice(-1));
    ordered.push(...turned.reverse(), ...rest);
    turned = [];
  };
  for (const run of shown) {
    if (isRightToLeft(run.text) !== fromRight && (!isNeutral(run) || turned.length > 0)) turned.push(run);
    else {
      flush();
      ordered.push(run);
    }
  }
  flush();
  let text = '';
  for (const [nth, run] of ordered.entries()) {
    const before = ordered[nth - 1];
    const gap = before === undefined ? 0 : Math.max(run.x - before.x - before.width, before.x - run.x - run.width);
    text = before === undefined ? run.text : withGap(text, run.text, gap, run.size);
  }
  return text.replaceAll(/ {2,}/g, ' ');
}

const isNeutral = (run: Glyphs | undefined): boolean => run !== undefined && !/[\p{L}\p{N}]/u.test(run.text);

/** Groups lines: a wider gap, another size or weight, or a step up (the next column) begins a new group. */
export function groupLines(lines: readonly SizedLine[]): SizedLine[][] {
  const groups: SizedLine[][] = [];
  let previous: SizedLine | null = null;
  let pitch = 0;
  for (const line of lines) {
    const step: number = previous === null ? 0 : line.baseline - previous.baseline;
    const size = Math.max(line.size, previous?.size ?? 0, 1);
    const isNear: boolean =
      previous !== null &&
      step > 0 &&
      Math.abs(line.size - previous.size) < 0.15 * size &&
      (line.isBold ?? false) === (previous.isBold ?? false) &&
      step < (pitch === 0 ? 1.75 * size : pitch * 1.3 + 0.5);
    if (isNear) {
      pitch = pitch === 0 ? step : Math.min(pitch, step);
      groups.at(-1)?.push(line);
    } else {
      groups.push([line]);
      pitch = 0;
    }
    previous = line;
  }
  return groups;
}
