import type { PageLine } from '../../types.js';

/** A run of characters at a position: the start of its baseline, in points from the upper left corner. */
export interface Glyphs {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** Font size on the page. */
  readonly size: number;
}

export interface SizedLine extends PageLine {
  readonly size: number;
  readonly baseline: number;
}

/** Height of letters above and below the baseline, as shares of the font size. */
export const ASCENT = 0.8;
export const DESCENT = 0.2;

interface OpenLine {
  text: string;
  x1: number;
  x2: number;
  readonly baseline: number;
  size: number;
}

/** Joins runs into lines, in content order, with spaces at gaps. */
export function readLines(runs: Iterable<Glyphs>): SizedLine[] {
  const lines: SizedLine[] = [];
  let line: OpenLine | null = null;
  const end = (): void => {
    if (line !== null && line.text.trim() !== '') {
      const { text, x1, x2, baseline, size } = line;
      lines.push({ text, x1, x2, y1: baseline - ASCENT * size, y2: baseline + DESCENT * size, size, baseline });
    }
    line = null;
  };
  for (const run of runs) {
    if (line !== null && !continues(line, run)) end();
    if (run.text.trim() === '') {
      if (line !== null && !line.text.endsWith(' ')) line.text += ' ';
      continue;
    }
    if (line === null) {
      line = { text: run.text, x1: run.x, x2: run.x + run.width, baseline: run.y, size: run.size };
      continue;
    }
    const gap = run.x - line.x2;
    // A gap as wide as a letter or two separates columns of a table.
    if (gap > 1.8 * run.size) line.text = `${line.text.trimEnd()}  `;
    else if (gap > 0.18 * run.size && !/\s$/.test(line.text) && !/^\s/.test(run.text)) line.text += ' ';
    line.text += run.text;
    line.x1 = Math.min(line.x1, run.x);
    line.x2 = Math.max(line.x2, run.x + run.width);
    line.size = Math.max(line.size, run.size);
  }
  end();
  return lines;
}

function continues(line: OpenLine, run: Glyphs): boolean {
  const size = Math.max(line.size, run.size, 1);
  // Superscript and subscript belong to the line; a run far to the left of its end begins another line.
  return Math.abs(run.y - line.baseline) < 0.5 * size && run.x > line.x2 - 1.5 * size;
}

/** Groups lines: a wider gap, another size, or a step up (the next column) begins a new group. */
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
