import type { PageLine } from '../placedText.js';

/** A rectangle on a page. */
export type Box = Omit<PageLine, 'text'>;

/** Words on one line that are separated from the next ones by a column gap. */
export interface Cell<Word> extends PageLine {
  readonly words: readonly Word[];
}

/** The cells of one line of a page, from left to right. */
export interface Row<Word> {
  readonly cells: readonly Cell<Word>[];
  readonly y1: number;
  readonly y2: number;
}

/** Column gap as a share of the line's height: wider than any gap between words of a sentence. */
const COLUMN_GAP = 0.9;
/** Minimum gap between two words as a share of the line's height; parts of one word are closer. */
const WORD_GAP = 0.15;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/gu;

/** Returns a height in points, at least 1. */
export const heightOf = ({ y1, y2 }: Pick<Box, 'y1' | 'y2'>): number => Math.max(1, y2 - y1);

/** Returns the smallest box around the given boxes. */
export const boxOf = (boxes: readonly Box[]): Box => ({
  x1: Math.min(...boxes.map(({ x1 }) => x1)),
  y1: Math.min(...boxes.map(({ y1 }) => y1)),
  x2: Math.max(...boxes.map(({ x2 }) => x2)),
  y2: Math.max(...boxes.map(({ y2 }) => y2)),
});

/** Whether most letters are of a script that is written from right to left. */
export function isRightToLeft(text: string): boolean {
  const count = text.match(RIGHT_TO_LEFT)?.length ?? 0;
  return count > 0 && 2 * count >= (text.match(/\p{L}/gu)?.length ?? 0);
}

/** Joins words into lines from the top. */
export function linesOf<Word extends PageLine>(words: readonly Word[]): Word[][] {
  const lines: { words: Word[]; middle: number; height: number }[] = [];
  for (const word of words.toSorted((a, b) => a.y1 + a.y2 - b.y1 - b.y2)) {
    const middle = (word.y1 + word.y2) / 2;
    const line = lines.at(-1);
    if (line !== undefined && Math.abs(middle - line.middle) < 0.45 * Math.max(line.height, heightOf(word))) {
      line.words.push(word);
      line.middle = (line.middle * (line.words.length - 1) + middle) / line.words.length;
      line.height = Math.max(line.height, heightOf(word));
    } else lines.push({ words: [word], middle, height: heightOf(word) });
  }
  return lines.map((line) => line.words);
}

/** Joins words into lines from the top, and cuts each line into cells at wide gaps. */
export const rowsOf = <Word extends PageLine>(words: readonly Word[]): Row<Word>[] =>
  linesOf(words).map((line) => {
    const cells = cellsOf(line);
    return { cells, y1: Math.min(...cells.map(({ y1 }) => y1)), y2: Math.max(...cells.map(({ y2 }) => y2)) };
  });

function cellsOf<Word extends PageLine>(words: readonly Word[]): Cell<Word>[] {
  const height = Math.max(...words.map(heightOf));
  const cells: Word[][] = [];
  let end = -Infinity;
  for (const word of words.toSorted((a, b) => a.x1 - b.x1)) {
    if (word.x1 - end > COLUMN_GAP * height) cells.push([word]);
    else cells.at(-1)?.push(word);
    end = Math.max(end, word.x2);
  }
  return cells.map((cell) => ({ ...boxOf(cell), text: lineText(cell), words: cell }));
}

/** Returns the text of words on any number of lines, in reading order. */
export const textOf = (words: readonly PageLine[]): string =>
  linesOf(words)
    .map(lineText)
    .filter(Boolean)
    .reduce(
      (text, line) => (/\p{L}-$/u.test(text) && /^\p{Ll}/u.test(line) ? text.slice(0, -1) + line : `${text} ${line}`),
      '',
    )
    .trim();

function lineText(words: readonly PageLine[]): string {
  const isReversed = isRightToLeft(words.map(({ text }) => text).join(' '));
  const inOrder = words.toSorted((a, b) => (isReversed ? b.x2 - a.x2 : a.x1 - b.x1));
  let text = '';
  let before: PageLine | undefined;
  for (const word of inOrder) {
    const gap = before === undefined ? 0 : isReversed ? before.x1 - word.x2 : word.x1 - before.x2;
    text += before !== undefined && gap > WORD_GAP * heightOf(word) ? ` ${word.text.trim()}` : word.text;
    before = word;
  }
  return text.replaceAll(/\s+/g, ' ').trim();
}
