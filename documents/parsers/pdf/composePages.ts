import { oneLine, TextBuilder } from '../../textBuilder.js';
import type { PageLine, PageParagraph, PageText, PlacedLine, PlacedPage } from '../../placedText.js';
import type { Items } from '../../types.js';

/** The text of all pages, with the positions of each page, line and table in it. */
export interface ComposedPages {
  readonly text: string;
  readonly pages: PlacedPage[];
  readonly tables: Items[];
}

/**
 * Joins pages into one text.
 * @throws Fault too_large if the text exceeds the limit in characters
 */
export function composePages(pages: readonly PageText[], limit: number): ComposedPages {
  const writer = new TextBuilder(limit);
  const tables: Items[] = [];
  const placed = pages.map(({ number, paragraphs }) => {
    let start = -1;
    const lines: PlacedLine[] = [];
    for (const paragraph of paragraphs) {
      const shown = paragraph.lines
        .map((line) => ({ ...line, text: oneLine(line.text), hasColumns: /\S {2,}\S/.test(line.text) }))
        .filter(({ text }) => text);
      if (shown.length === 0) continue;
      writer.break(true);
      if (start === -1) start = writer.length;
      if (paragraph.isTable === true) tables.push(writeRows(shown, writer, lines));
      else writeParagraph({ ...paragraph, lines: shown }, writer, lines);
    }
    return { number, start: start === -1 ? writer.length : start, end: writer.length, lines };
  });
  return { text: writer.toString(), pages: placed, tables };
}

function writeRows(rows: readonly PageLine[], writer: TextBuilder, placed: PlacedLine[]): Items {
  const items: number[] = [];
  for (const [nth, { text, x1, y1, x2, y2 }] of rows.entries()) {
    if (nth > 0) writer.add('\n');
    const start = writer.length;
    writer.add(text);
    placed.push({ x1, y1, x2, y2, start, end: writer.length });
    items.push(start, writer.length);
  }
  return items;
}

/** A line; `hasColumns`: whether it has wide gaps between words, like a table row. */
type ShownLine = PageLine & { readonly hasColumns: boolean };

function writeParagraph(
  { lines, heading, keepsLines = false }: Omit<PageParagraph, 'lines'> & { readonly lines: readonly ShownLine[] },
  writer: TextBuilder,
  placed: PlacedLine[],
): void {
  if (heading !== undefined) writer.add(`${'#'.repeat(heading)} `);
  const left = Math.min(...lines.map(({ x1 }) => x1));
  const right = Math.max(...lines.map(({ x2 }) => x2));
  for (const [nth, line] of lines.entries()) {
    const next = lines[nth + 1];
    // Join a word that is hyphenated at the end of a line.
    const isDivided = next !== undefined && !keepsLines && /\p{L}-$/u.test(line.text) && /^\p{Ll}/u.test(next.text);
    const text = isDivided ? line.text.slice(0, -1) : line.text;
    const { x1, y1, x2, y2 } = line;
    const start = writer.length;
    writer.add(text);
    placed.push({ x1, y1, x2, y2, start, end: writer.length });
    if (next !== undefined && !isDivided)
      writer.add(heading !== undefined || (!keepsLines && flowsOn(line, next, left, right)) ? ' ' : '\n');
  }
}

/**
 * Whether the next line continues a line: the line extends past 75 % of the width, neither line has columns, and the
 * next one is not a list item.
 */
function flowsOn(line: ShownLine, next: ShownLine, left: number, right: number): boolean {
  if (line.hasColumns || next.hasColumns) return false;
  if (/^(?:[-*+•–]|\d{1,3}[.)])\s/.test(next.text)) return false;
  return line.x2 - left > 0.75 * (right - left);
}
