import { readXml } from '../../office/readXml.js';
import type { DocumentLimits } from '../../types.js';

/** The display format of a number. */
export type NumberKind = 'plain' | 'date' | 'percent';

/** Returns the kind of each cell style, in order, from the workbook's styles. */
export function readNumberKinds(part: Uint8Array, limits: DocumentLimits): NumberKind[] {
  const codes = new Map<number, string>();
  const kinds: NumberKind[] = [];
  let inCells = false;
  readXml(part, limits, {
    open(name, { numFmtId, formatCode }) {
      if (name === 'numFmt') codes.set(Number(numFmtId), formatCode ?? '');
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) kinds.push(kindOf(Number(numFmtId ?? 0), codes));
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return kinds;
}

function kindOf(id: number, codes: ReadonlyMap<number, string>): NumberKind {
  const code = codes.get(id);
  if (code === undefined) {
    // Built-in formats are not stored in the file.
    if ((id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58))
      return 'date';
    return id === 9 || id === 10 ? 'percent' : 'plain';
  }
  const bare = code.replace(/"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|_./gi, '');
  if (/general/i.test(bare)) return 'plain';
  if (/[ymdhs]/i.test(bare)) return 'date';
  return bare.includes('%') ? 'percent' : 'plain';
}

/** Excel counts days from the end of 1899, or of 1903 for workbooks from a Mac. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
const DAY_MS = 86_400_000;

/** Formats a cell's number as Excel displays it. */
export function showNumber(raw: string, kind: NumberKind, date1904: boolean): string {
  const value = Number(raw);
  if (raw.trim() === '' || Number.isNaN(value)) return raw;
  if (kind === 'percent') return `${shortest(value * 100)}%`;
  // A value outside the calendar is a number with a wrong format.
  if (kind === 'date' && value >= 0 && value < 2_958_466) return showDate(value, date1904);
  return shortest(value);
}

/** Rounds to the fifteen digits of Excel; further digits are rounding errors of binary fractions. */
const shortest = (value: number): string => String(Number(value.toPrecision(15)));

function showDate(days: number, date1904: boolean): string {
  // Round to seconds: fractions of a day are never exact.
  const ms = Math.round((days * DAY_MS) / 1000) * 1000;
  // Before March 1900, Excel counts a leap day that did not exist.
  const leap = !date1904 && days < 60 && days >= 1 ? DAY_MS : 0;
  const iso = new Date((date1904 ? EPOCH_1904 : EPOCH_1900) + ms + leap).toISOString();
  const day = iso.slice(0, 10);
  const time = iso.slice(11, 19);
  if (days < 1) return time;
  return time === '00:00:00' ? day : `${day} ${time}`;
}
