import { findTables } from '../tables/findTables.js';
import { namedLines } from '../tables/foundTable.js';
import type { PageLine, PageParagraph, PageText } from '../placedText.js';
import type { OcrLanguage } from '../../contract/files/ocrLanguages.js';
import { meanConfidence, wordsOf } from './confidence.js';
import type { OcrLine, OcrWord, PictureText } from './engines/engine.js';

/** Minimum confidence of Tesseract, 0 to 100: patterns and edges are below it, letters rarely are. */
const SURE_WORD = 30;
const SURE_LINE = 55;
/** Minimum font size of a heading, relative to the page's median. */
const MIN_HEADING_SIZE_RATIO = 1.35;
const MUCH_LARGER = 1.9;
const MAX_HEADING_LENGTH = 200;

interface ReadWord extends PageLine {
  readonly confidence: number;
}

interface ReadLine extends PageLine {
  readonly words: readonly ReadWord[];
  /** Height from the lowest to the highest letter of its font. */
  readonly size: number;
}

/**
 * Groups recognized text into paragraphs, headings and tables; boxes are in units of the page.
 * @param language in which the page was read
 * @param scale pixels of the picture per unit of the page
 */
export function layoutPage(
  read: PictureText,
  language: OcrLanguage,
  { number, scale, wantsTables }: { readonly number: number; readonly scale: number; readonly wantsTables: boolean },
): PageText {
  const groups = read.map((paragraph) => linesOf(paragraph, scale)).filter((lines) => lines.length > 0);
  const tables = wantsTables ? findTables(groups.flat().flatMap(({ words }) => words)) : [];
  const tableOf = new Map(tables.flatMap((table) => table.words.map((word) => [word, table] as const)));
  const body = bodySize(groups.flat());
  const paragraphs: PageParagraph[] = [];
  const shown = new Set<unknown>();
  for (const group of groups) {
    let pendingLines: ReadLine[] = [];
    const flush = (): void => {
      if (pendingLines.length > 0) paragraphs.push(paragraphOf(pendingLines, body));
      pendingLines = [];
    };
    for (const line of group) {
      const table = line.words.map((word) => tableOf.get(word)).find((found) => found !== undefined);
      const wordsOutside = line.words.filter((word) => !tableOf.has(word));
      if (table === undefined) pendingLines.push(line);
      else {
        flush();
        if (!shown.has(table)) paragraphs.push({ lines: namedLines(table), isTable: true });
        shown.add(table);
        if (wordsOutside.some(({ text }) => /[\p{L}\p{N}]/u.test(text)))
          pendingLines.push(lineOf(wordsOutside, line.size));
      }
    }
    flush();
  }
  // Words that are removed count too: a page whose text is mostly illegible is not read well.
  const confidence = paragraphs.length === 0 ? null : meanConfidence(wordsOf(read));
  return { number, paragraphs, recognition: { language: confidence === null ? null : language, confidence } };
}

function linesOf(lines: readonly OcrLine[], scale: number): ReadLine[] {
  return lines.flatMap(({ words, height }) => {
    const sure = words.filter(({ confidence, text }) => confidence >= SURE_WORD && text.trim() !== '');
    const mean = sure.reduce((sum, { confidence }) => sum + confidence, 0) / sure.length;
    if (sure.length === 0 || mean < SURE_LINE || !sure.some(({ text }) => /[\p{L}\p{N}]/u.test(text))) return [];
    return [
      lineOf(
        sure.map((word) => toReadWord(word, scale)),
        height / scale,
      ),
    ];
  });
}

const toReadWord = ({ text, confidence, bbox }: OcrWord, scale: number): ReadWord => ({
  text: text.trim(),
  confidence,
  x1: bbox.x0 / scale,
  y1: bbox.y0 / scale,
  x2: bbox.x1 / scale,
  y2: bbox.y1 / scale,
});

const lineOf = (words: readonly ReadWord[], size: number): ReadLine => ({
  words,
  size,
  text: joinWords(words.map(({ text }) => text)),
  x1: Math.min(...words.map(({ x1 }) => x1)),
  y1: Math.min(...words.map(({ y1 }) => y1)),
  x2: Math.max(...words.map(({ x2 }) => x2)),
  y2: Math.max(...words.map(({ y2 }) => y2)),
});

/**
 * A character after or before which no space belongs: Chinese and Japanese have none between words, and Tesseract
 * reports single characters as words.
 */
const UNSPACED = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303f\uff00-\uffef]`;
const ENDS_UNSPACED = new RegExp(`${UNSPACED}$`, 'u');
const STARTS_UNSPACED = new RegExp(`^${UNSPACED}`, 'u');

const joinWords = (words: readonly string[]): string =>
  words.reduce((line, word) =>
    ENDS_UNSPACED.test(line) && STARTS_UNSPACED.test(word) ? line + word : `${line} ${word}`,
  );

/** Returns the median size of characters. */
function bodySize(lines: readonly ReadLine[]): number {
  const half = lines.reduce((sum, { text }) => sum + text.length, 0) / 2;
  let seen = 0;
  for (const { text, size } of lines.toSorted((a, b) => a.size - b.size)) {
    seen += text.length;
    if (seen >= half) return size;
  }
  return 0;
}

function paragraphOf(found: readonly ReadLine[], body: number): PageParagraph {
  const lines = found.map(({ text, x1, y1, x2, y2 }) => ({ text, x1, y1, x2, y2 }));
  const larger = Math.min(...found.map(({ size }) => size)) / body;
  const length = lines.reduce((sum, { text }) => sum + text.length, 0);
  const isHeading =
    larger >= MIN_HEADING_SIZE_RATIO &&
    lines.length <= 2 &&
    length <= MAX_HEADING_LENGTH &&
    lines.some(({ text }) => /\p{L}{2}/u.test(text));
  return isHeading ? { lines, heading: larger >= MUCH_LARGER ? 1 : 2 } : { lines };
}
