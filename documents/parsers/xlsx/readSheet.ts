import { readXml } from '../../office/readXml.js';
import type { DocumentLimits } from '../../types.js';
import { columnOf } from './columnOf.js';
import { mergesIn, MergedCells } from './mergedCells.js';
import { GENERAL, type NumberFormat, formatNumber } from '../../office/numberFormats.js';

export interface Workbook {
  readonly strings: readonly string[];
  readonly formats: readonly NumberFormat[];
  readonly date1904: boolean;
}

/** Maximum number of columns in Excel; a hostile reference must not create a row of a billion cells. */
const MAX_COLUMNS = 16_384;

/** Receives the rows of a sheet that have values. */
export interface RowHandler {
  /** @param isMerged whether cells of the row cover several columns */
  row(cells: readonly string[], isMerged: boolean): void;
  /** Rows without values precede the next row that `row` receives. */
  gap(): void;
}

/**
 * Passes a sheet's rows to a handler one by one, with cells as Excel displays them. Uses the stored results of
 * formulas. Cells that a merged cell covers repeat its text.
 */
export function readSheet(part: Uint8Array, workbook: Workbook, limits: DocumentLimits, handler: RowHandler): void {
  let row: string[] = [];
  let column = 0;
  let type = 'n';
  let style = 0;
  let value = '';
  let isReading = false;
  let isPhonetic = false;
  let [number, last] = [0, 0];
  const merged = new MergedCells(mergesIn(part), limits.maxCells);
  const endRow = (): void => {
    if (row.length === 0) return;
    if (number > last + 1) handler.gap();
    last = number;
    const isMerged = merged.fill(row, number);
    handler.row(row, isMerged);
  };
  readXml(part, limits, {
    open(name, attributes) {
      if (name === 'row') {
        row = [];
        column = 0;
        const stated = Number(attributes['r']);
        number = stated > number ? stated : number + 1;
      } else if (name === 'c') {
        column = columnOf(attributes['r']) ?? column;
        type = attributes['t'] ?? 'n';
        style = Number(attributes['s'] ?? 0);
        value = '';
      } else if (name === 'v' || name === 't') isReading = !isPhonetic;
      else if (name === 'rPh') isPhonetic = true;
    },
    text(text) {
      if (isReading) value += text;
    },
    close(name) {
      if (name === 'v' || name === 't') isReading = false;
      else if (name === 'rPh') isPhonetic = false;
      else if (name === 'c') {
        if (column < MAX_COLUMNS && value !== '') {
          while (row.length < column) row.push('');
          row[column] = displayedText(value, type, workbook.formats[style] ?? GENERAL, workbook);
        }
        column += 1;
      } else if (name === 'row') endRow();
    },
  });
}

function displayedText(value: string, type: string, format: NumberFormat, { strings, date1904 }: Workbook): string {
  if (type === 's') return strings[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  if (type === 'n') return formatNumber(value, format, date1904);
  if (type === 'd') return value.replace(/T00:00:00(?:\.0+)?Z?$/, '');
  return decodeEscapes(value);
}

/** Reads the shared strings of cells. */
export function readStrings(part: Uint8Array, limits: DocumentLimits): string[] {
  const strings: string[] = [];
  let text = '';
  let isReading = false;
  let isPhonetic = false;
  readXml(part, limits, {
    open(name) {
      if (name === 'si') text = '';
      else if (name === 't') isReading = !isPhonetic;
      else if (name === 'rPh') isPhonetic = true;
    },
    text(more) {
      if (isReading) text += more;
    },
    close(name) {
      if (name === 't') isReading = false;
      else if (name === 'rPh') isPhonetic = false;
      else if (name === 'si') strings.push(decodeEscapes(text));
    },
  });
  return strings;
}

/** Decodes `_x000D_`, the form of characters that XML cannot contain. */
const decodeEscapes = (text: string): string =>
  text.includes('_x')
    ? text.replace(/_x([0-9A-Fa-f]{4})_/g, (_mark, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text;
