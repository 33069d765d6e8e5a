import { readXml } from '../../office/readXml.js';
import type { DocumentLimits } from '../../types.js';

/** How the numbers of a cell's style are shown. */
export type NumberKind = 'plain' | 'date' | 'percent';

/** The kind of each cell style, in order, as the workbook's styles define them. */
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
    // The built-in ones are not written down in the file.
    if ((id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 47) || (id >= 50 && id <= 58))
      return 'date';
    return id === 9 || id === 10 ? 'percent' : 'plain';
  }
  const bare = code.replace(/"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|_./gi, '');
  if (/general/i.test(bare)) return 'plain';
  if (/[ymdhs]/i.test(bare)) return 'date';
  return bare.includes('%') ? 'percent' : 'plain';
}

/** Excel counts days from the end of 1899, or of 1903 where a Mac made the workbook. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
const DAY_MS = 86_400_000;

/** A cell's number as people read it. */
export function showNumber(raw: string, kind: NumberKind, date1904: boolean): string {
  const value = Number(raw);
  if (raw.trim() === '' || Number.isNaN(value)) return raw;
  if (kind === 'percent') return `${shortest(value * 100)}%`;
  // A date that no calendar has is a number in the wrong format.
  if (kind === 'date' && value >= 0 && value < 2_958_466) return showDate(value, date1904);
  return shortest(value);
}

/** Excel keeps fifteen digits; what a file has beyond them is the dust of binary fractions. */
const shortest = (value: number): string => String(Number(value.toPrecision(15)));

function showDate(days: number, date1904: boolean): string {
  // To the second: fractions of a day are never exact.
  const ms = Math.round((days * DAY_MS) / 1000) * 1000;
  // Before March 1900 Excel counts a leap day there never was.
  const leap = !date1904 && days < 60 && days >= 1 ? DAY_MS : 0;
  const iso = new Date((date1904 ? EPOCH_1904 : EPOCH_1900) + ms + leap).toISOString();
  const day = iso.slice(0, 10);
  const time = iso.slice(11, 19);
  if (days < 1) return time;
  return time === '00:00:00' ? day : `${day} ${time}`;
}
