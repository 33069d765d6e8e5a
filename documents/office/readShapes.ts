import { type AutoNumber, AutoNumbers } from './autoNumbers.js';
import { listMark } from './formatNumber.js';
import { readXml } from './readXml.js';
import { type Span, spanOf, TableGrid } from '../tables/tableGrid.js';
import { markdownTable, oneLine } from '../textBuilder.js';
import type { DocumentLimits } from '../types.js';

export interface Slide {
  readonly title: string | null;
  /** Paragraphs, lists and tables as Markdown-like blocks, in the slide's order. */
  readonly blocks: readonly string[];
}

interface Shape {
  /** Kind of placeholder: `title`, `body`, `sldNum`…; null for a text box. */
  placeholder: string | null;
  lines: string[];
  /** Whether the last line is a list item. */
  wasListItem: boolean;
  readonly numbers: AutoNumbers;
}

interface OpenCell {
  readonly lines: string[];
  readonly span: Span;
  /** Whether a merged cell to its left or above covers it. */
  readonly isCovered: boolean;
}

interface Paragraph {
  text: string;
  level: number;
  /** Whether it has a bullet or number; null: the paragraph does not state this, so its placeholder determines it. */
  isListItem: boolean | null;
  auto: AutoNumber | null;
}

const TITLES = new Set(['title', 'ctrTitle']);
/** Placeholders that a layout repeats on every slide. */
const REPEATED_PLACEHOLDERS = new Set(['sldNum', 'dt', 'ftr', 'hdr', 'sldImg']);

/** Reads the text of the shapes and tables of a slide, of its notes, or of a sheet's drawing. */
export function readShapes(part: Uint8Array, limits: DocumentLimits): Slide {
  let title: string | null = null;
  const blocks: string[] = [];
  let shape: Shape | null = null;
  let table: TableGrid | null = null;
  let cell: OpenCell = { lines: [], span: { columns: 1, rows: 1 }, isCovered: false };
  let paragraph: Paragraph | null = null;
  let inText = false;
  let inFallback = 0;

  const endShape = ({ placeholder, lines }: Shape): void => {
    if (lines.length === 0 || (placeholder !== null && REPEATED_PLACEHOLDERS.has(placeholder))) return;
    if (placeholder !== null && TITLES.has(placeholder))
      title = [title, oneLine(lines.join(' '))].filter(Boolean).join(' ');
    else blocks.push(lines.join('\n'));
  };
  const endParagraph = (ended: Paragraph): void => {
    const line = oneLine(ended.text);
    if (line === '') return;
    if (table) cell.lines.push(line);
    else if (shape) {
      // The body of a slide is a list; text boxes and subtitles contain plain lines.
      const isListItem = ended.isListItem ?? (shape.placeholder === 'body' || shape.placeholder === 'obj');
      const number = shape.numbers.next(ended.level, isListItem ? ended.auto : null);
      // Separate the line: otherwise it would continue the last list item.
      if (!isListItem && shape.wasListItem) shape.lines.push('');
      shape.wasListItem = isListItem;
      shape.lines.push(isListItem ? `${'  '.repeat(ended.level)}${listMark(number)} ${line}` : line);
    }
  };
  readXml(part, limits, {
    open(name, attributes) {
      if (name === 'Fallback' || inFallback > 0) inFallback += 1;
      if (inFallback > 0) return;
      if (name === 'sp') shape = { placeholder: null, lines: [], wasListItem: false, numbers: new AutoNumbers() };
      // A placeholder without a type is a body.
      else if (name === 'ph' && shape) shape.placeholder = attributes['type'] ?? 'body';
      else if (name === 'tbl') table = new TableGrid();
      else if (name === 'tr') table?.beginRow();
      else if (name === 'tc') cell = cellOf(attributes);
      else if (name === 'p') paragraph = { text: '', level: 0, isListItem: null, auto: null };
      else if (name === 'pPr' && paragraph)
        paragraph.level = Math.min(8, Math.max(0, Number(attributes['lvl'] ?? 0) || 0));
      else if (name === 'buChar' && paragraph) paragraph.isListItem = true;
      else if (name === 'buAutoNum' && paragraph) {
        paragraph.isListItem = true;
        paragraph.auto = { type: attributes['type'] ?? '', start: Number(attributes['startAt'] ?? 1) || 1 };
      } else if (name === 'buNone' && paragraph) paragraph.isListItem = false;
      else if (name === 'br' && paragraph) paragraph.text += ' ';
      else if (name === 't') inText = true;
    },
    text(text) {
      if (inText && paragraph && inFallback === 0) paragraph.text += text;
    },
    close(name) {
      if (inFallback > 0) {
        inFallback -= 1;
        return;
      }
      if (name === 't') inText = false;
      else if (name === 'p' && paragraph) {
        endParagraph(paragraph);
        paragraph = null;
      } else if (name === 'tc') {
        if (cell.isCovered) table?.addCovered();
        else table?.add(cell.lines.join(' '), cell.span, true);
      } else if (name === 'tr') table?.endRow();
      else if (name === 'tbl' && table) {
        const markdown = markdownTable(table.rows);
        if (markdown !== '') blocks.push(markdown);
        table = null;
      } else if (name === 'sp' && shape) {
        endShape(shape);
        shape = null;
      }
    },
  });
  return { title, blocks };
}

function cellOf({ gridSpan, rowSpan, hMerge, vMerge }: Readonly<Record<string, string>>): OpenCell {
  const isCovered = [hMerge, vMerge].some((value) => value === '1' || value === 'true');
  return { lines: [], span: { columns: spanOf(gridSpan), rows: spanOf(rowSpan) }, isCovered };
}
