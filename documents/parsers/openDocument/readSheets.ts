import { commentText } from '../../office/commentedText.js';
import { readXml } from '../../office/readXml.js';
import { spanOf } from '../../tables/tableGrid.js';
import { oneLine } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';
import { inlineText, SHAPES, SKIPPED } from './elements.js';
import { objectName } from './readObjects.js';
import type { Styles } from './readStyles.js';
import { type Cell, SheetRows } from './sheetRows.js';

/** A sheet without its rows. */
export interface Sheet {
  readonly name: string;
  readonly isHidden: boolean;
}

/** Receives the sheets of a workbook in their order. */
export interface SheetHandler {
  sheet(sheet: Sheet): void;
  row(cells: readonly string[], isMerged: boolean): void;
  /** Rows without values follow. */
  gap(): void;
  /** A text box, chart or comment; all follow the rows of their sheet. */
  note(text: string): void;
  endSheet(): void;
}

interface SheetParts {
  readonly styles: Styles;
  readonly charts: ReadonlyMap<string, readonly string[]>;
  readonly limits: DocumentLimits;
}

/** A comment or a drawing, whose text does not belong to the cell that contains it. */
interface Annotation {
  readonly isComment: boolean;
  author: string;
  words: string;
}

const sheetOf = (attributes: Readonly<Record<string, string>>, styles: Styles): Sheet => ({
  name: oneLine(attributes['name'] ?? ''),
  isHidden: styles.isHidden(attributes['style-name'] ?? null),
});

/** Returns the sheets of a workbook. Their number decides whether they get headings. */
export function listSheets(part: Uint8Array, styles: Styles, limits: DocumentLimits): Sheet[] {
  const sheets: Sheet[] = [];
  let [tables, skipped] = [0, 0];
  readXml(part, limits, {
    skipsDoctype: true,
    open(name, attributes) {
      if (skipped > 0 || SKIPPED.test(name)) skipped += 1;
      else if (name === 'table' && ++tables === 1) sheets.push(sheetOf(attributes, styles));
    },
    close(name) {
      if (skipped > 0) skipped -= 1;
      else if (name === 'table') tables -= 1;
    },
  });
  return sheets;
}

/** Passes the rows of a workbook to a handler one by one, with cells as the file shows them, and dates as ISO 8601. */
export function readSheets(part: Uint8Array, { styles, charts, limits }: SheetParts, handler: SheetHandler): void {
  let [skipped, tables, paragraphs] = [0, 0, 0];
  let rows: SheetRows | null = null;
  let cell: Cell | null = null;
  let [inAuthor, words] = [false, ''];
  const annotations: Annotation[] = [];
  const notes: string[] = [];
  const endAnnotation = (annotation: Annotation | undefined): void => {
    const text = oneLine(annotation?.words ?? '');
    if (!annotation || text === '') return;
    const place = rows?.place ?? '';
    const comment = commentText(annotation.author, '', text);
    notes.push(annotation.isComment ? comment.replace(/: /, `${place === '' ? '' : ` on ${place}`}: `) : text);
  };
  const endText = (): void => {
    const annotation = annotations.at(-1);
    if (annotation) annotation.words += `${words} `;
    else if (cell) cell.text += `${cell.text === '' ? '' : ' '}${words}`;
    words = '';
  };
  readXml(part, limits, {
    skipsDoctype: true,
    open(name, attributes) {
      if (skipped > 0 || SKIPPED.test(name)) skipped += 1;
      else if (name === 'table') {
        tables += 1;
        if (tables > 1) return;
        handler.sheet(sheetOf(attributes, styles));
        rows = new SheetRows(handler, limits.maxCells);
      } else if (name === 'annotation' || SHAPES.has(name))
        annotations.push({ isComment: name === 'annotation', author: '', words: '' });
      else if (name === 'creator') [inAuthor, words] = [annotations.at(-1)?.isComment === true, ''];
      else if (name === 'object') notes.push(...(charts.get(objectName(attributes['href'])) ?? []));
      else if (name === 'p') [paragraphs, words] = [paragraphs + 1, ''];
      else if (paragraphs > 0) words += inlineText(name, attributes).replace(/\s+/, ' ');
      else if (tables !== 1) return;
      else if (name === 'table-row') rows?.beginRow(spanOf(attributes['number-rows-repeated']));
      else if (name === 'table-cell' || name === 'covered-table-cell')
        cell = {
          text: '',
          value: valueOf(attributes),
          isCovered: name === 'covered-table-cell',
          repeated: spanOf(attributes['number-columns-repeated']),
          columns: spanOf(attributes['number-columns-spanned']),
          rows: spanOf(attributes['number-rows-spanned']),
        };
    },
    text(text) {
      if (skipped === 0 && (paragraphs > 0 || inAuthor)) words += text;
    },
    close(name) {
      if (skipped > 0) skipped -= 1;
      else if (name === 'p') {
        paragraphs -= 1;
        endText();
      } else if (name === 'creator') {
        const annotation = annotations.at(-1);
        if (annotation && inAuthor) annotation.author = oneLine(words);
        [inAuthor, words] = [false, ''];
      } else if (name === 'annotation' || SHAPES.has(name)) endAnnotation(annotations.pop());
      else if (name === 'table') {
        tables -= 1;
        if (tables > 0) return;
        rows = null;
        handler.endSheet();
        for (const note of notes.splice(0)) handler.note(note);
      } else if (tables !== 1) return;
      else if (cell && (name === 'table-cell' || name === 'covered-table-cell')) {
        rows?.add(cell);
        cell = null;
      } else if (name === 'table-row') rows?.endRow();
    },
  });
}

/**
 * Returns the stored value of a cell. A date is in ISO 8601, and replaces the shown text, which depends on the
 * language. Other values are used only if the cell shows no text.
 */
function valueOf(attributes: Readonly<Record<string, string>>): Cell['value'] {
  const type = attributes['value-type'];
  const date = attributes['date-value'];
  if (type === 'date' && date !== undefined && /^\d{4}-\d\d-\d\d/.test(date))
    return {
      text: date
        .replace('T', ' ')
        .replace(/ 00:00:00(?:[.,]0+)?$/, '')
        .replace(/[.,]\d+$/, ''),
      replaces: true,
    };
  const text =
    attributes['string-value'] ?? attributes['value'] ?? attributes['boolean-value'] ?? attributes['time-value'];
  return { text: text ?? '', replaces: false };
}
