import { readXml } from './readXml.js';
import type { DocumentLimits } from '../types.js';

/** The display of a cell's number. */
export interface NumberFormat {
  readonly kind: 'plain' | 'date' | 'duration' | 'percent';
  /** The sections of the format's code, for positive numbers, negative ones and zero; empty for "General". */
  readonly sections: readonly NumberSection[];
}

interface NumberSection {
  readonly prefix: string;
  readonly suffix: string;
  /** Minimum and maximum number of decimal places; `digits`: minimum number of digits before the point. */
  readonly decimals: readonly [least: number, most: number];
  readonly digits: number;
  /** Literal text between the digits before the point, from left to right: the separators of a phone number. */
  readonly inner: ReadonlyArray<{ readonly text: string; readonly digitsAfter: number }>;
  readonly isGrouped: boolean;
  /** Factor before display: percent signs multiply, commas at the end divide. */
  readonly scale: number;
  /** Whether the section has places for digits; otherwise only its literal text is shown. */
  readonly hasNumber: boolean;
}

export const GENERAL: NumberFormat = { kind: 'plain', sections: [] };

/** Built-in formats, which are not stored in the file: ECMA-376, part 1, 18.8.30. Dates are in DATES. */
const BUILT_IN: ReadonlyMap<number, string> = new Map([
  [1, '0'],
  [2, '0.00'],
  [3, '#,##0'],
  [4, '#,##0.00'],
  [9, '0%'],
  [10, '0.00%'],
  [37, '#,##0 ;(#,##0)'],
  [38, '#,##0 ;(#,##0)'],
  [39, '#,##0.00;(#,##0.00)'],
  [40, '#,##0.00;(#,##0.00)'],
  [46, '[h]:mm:ss'],
]);
const DATES: ReadonlyArray<readonly [from: number, to: number]> = [
  [14, 22],
  [27, 36],
  [45, 45],
  [47, 47],
  [50, 58],
];

/** Returns the format of each cell style, in order, from the workbook's styles. */
export function readNumberFormats(part: Uint8Array, limits: DocumentLimits): NumberFormat[] {
  const codes = new Map<number, string>();
  const read = new Map<number, NumberFormat>();
  const formats: NumberFormat[] = [];
  let inCells = false;
  readXml(part, limits, {
    open(name, { numFmtId, formatCode }) {
      if (name === 'numFmt') codes.set(Number(numFmtId), formatCode ?? '');
      else if (name === 'cellXfs') inCells = true;
      else if (name === 'xf' && inCells) {
        const id = Number(numFmtId ?? 0);
        const format = read.get(id) ?? numberFormat(id, codes.get(id));
        read.set(id, format);
        formats.push(format);
      }
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return formats;
}

/** Returns the format of an id. `code` is undefined for a built-in format. */
export function numberFormat(id: number, code: string | undefined): NumberFormat {
  if (code === undefined && DATES.some(([from, to]) => id >= from && id <= to)) return { kind: 'date', sections: [] };
  const shown = code ?? BUILT_IN.get(id) ?? '';
  const codeWithoutLiterals = shown.replace(/"[^"]*"|\\.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|_./gi, '');
  if (/general/i.test(codeWithoutLiterals) || /^[@;\s]*$/.test(codeWithoutLiterals)) return GENERAL;
  // Units in brackets count on beyond a day: totals of hours, for example.
  if (/\[[hms]/i.test(codeWithoutLiterals)) return { kind: 'duration', sections: [] };
  if (/[ymdhs]/i.test(codeWithoutLiterals)) return { kind: 'date', sections: [] };
  // Fractions and powers of ten are shown as decimal numbers.
  const sections = /[/eE]/.test(codeWithoutLiterals) ? [] : sectionsOf(shown);
  return { kind: codeWithoutLiterals.includes('%') ? 'percent' : 'plain', sections };
}

/** Maximum length in characters of a format code that is examined; Excel allows 255. */
const MAX_CODE_LENGTH = 1000;
/** Maximum number of decimal places that Excel shows. */
const MAX_DECIMALS = 30;

function sectionsOf(code: string): NumberSection[] {
  // A condition in brackets ([<1000]) chooses sections in a way that is not supported: the plain number is shown.
  if (code.length > MAX_CODE_LENGTH || /\[[<>=]/.test(code)) return [];
  const sections = code.match(/(?:"[^"]*"|\\.|[^";\\])+|(?<=;)(?=;|$)/gs) ?? [];
  return sections.slice(0, 3).map(readSection);
}

function readSection(section: string): NumberSection {
  // Literal text is written as in the code; `*` fills the width of a cell, `_` is a space of a character's width.
  const text = section
    .replace(/\[\$([^\]-]*)(?:-[^\]]*)?\]/g, (_all, currency: string) => (currency === '' ? '' : `"${currency}"`))
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\*./g, '')
    .replace(/_./g, ' ');
  let [prefix, pattern, suffix] = ['', '', ''];
  const inner: { readonly text: string; readonly placesBefore: number }[] = [];
  for (const [part] of text.matchAll(/"[^"]*"|\\.|[#0?.,]+|[^"\\#0?.,]/gs)) {
    const isPattern = /^[#0?.,]+$/.test(part);
    const hasPlaces = isPattern && /[#0?]/.test(part);
    if (isPattern && suffix === '' && (hasPlaces || pattern !== '')) pattern += part;
    else if (hasPlaces && !pattern.includes('.')) {
      inner.push({ text: suffix, placesBefore: placesIn(pattern).length });
      suffix = '';
      pattern += part;
    } else {
      const words = part.startsWith('"') ? part.slice(1, -1) : part.startsWith('\\') ? part.slice(1) : part;
      if (pattern === '') prefix += words;
      else suffix += words;
    }
  }
  const trailing = /,*$/.exec(pattern)?.[0].length ?? 0;
  const [whole = '', fraction = ''] = pattern.slice(0, pattern.length - trailing).split('.');
  const percents = (prefix + suffix).split('%').length - 1;
  const places = placesIn(whole);
  return {
    prefix,
    suffix,
    decimals: [
      Math.min(MAX_DECIMALS, fraction.match(/0/g)?.length ?? 0),
      Math.min(MAX_DECIMALS, fraction.match(/[#0?]/g)?.length ?? 0),
    ],
    // All places from the first `0` on are shown: the French format of phone numbers begins with `0#`.
    digits: Math.min(MAX_DECIMALS, places.replace(/^[#?]+/, '').length),
    inner: inner.map(({ text: words, placesBefore }) => ({ text: words, digitsAfter: places.length - placesBefore })),
    isGrouped: whole.includes(','),
    scale: 100 ** percents / 1000 ** trailing,
    hasNumber: pattern !== '',
  };
}

const placesIn = (pattern: string): string => pattern.replace(/[.,]/g, '');

/** Excel counts days from the end of 1899, or of 1903 for workbooks from a Mac. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
const DAY_MS = 86_400_000;
/** The day after 9999-12-31, the last one of Excel's calendar. */
const MAX_DAYS = 2_958_466;

/**
 * Formats a cell's number as Excel displays it with English settings; dates and times as ISO 8601, and
 * durations as hours, minutes and seconds.
 */
export function formatNumber(raw: string, { kind, sections }: NumberFormat, date1904: boolean): string {
  const value = Number(raw);
  if (raw.trim() === '' || Number.isNaN(value)) return raw;
  // A value outside the calendar is a number with a wrong format.
  if (kind === 'date' && value >= 0 && value < MAX_DAYS) return formatDate(value, date1904);
  if (kind === 'duration' && Math.abs(value) < MAX_DAYS) return formatDuration(value);
  const [positive, negative, zero] = sections;
  if (positive !== undefined && Number.isFinite(value)) {
    const section = value < 0 ? (negative ?? positive) : value === 0 ? (zero ?? positive) : positive;
    const shown = formatSection(Math.abs(value), section);
    // A section for negative numbers has its own sign.
    const isSigned = value < 0 && negative === undefined && /[1-9]/.test(shown);
    // A section without places shows literal text or nothing: return the plain number instead, so that it is not lost.
    if (section.hasNumber) return isSigned ? `-${shown}` : shown;
  }
  return kind === 'percent' ? `${shortest(value * 100)}%` : shortest(value);
}

function formatSection(value: number, section: NumberSection): string {
  const { prefix, suffix, decimals, digits, inner, isGrouped, scale } = section;
  const scaled = Number((value * scale).toPrecision(15));
  // Larger numbers have no digits after the point, and toFixed() writes them as powers of ten.
  if (scaled >= 1e15) return `${prefix}${shortest(scaled)}${suffix}`.trim();
  const [least, maxDecimals] = decimals;
  let [whole = '', fraction = ''] = roundHalfUp(scaled, maxDecimals).split('.');
  while (fraction.length > least && fraction.endsWith('0')) fraction = fraction.slice(0, -1);
  whole = whole.padStart(digits, '0');
  if (inner.length > 0) whole = insertLiterals(whole, inner);
  else if (isGrouped) whole = whole.replace(/\B(?=(?:\d{3})+$)/g, ',');
  return `${prefix}${whole}${fraction === '' ? '' : `.${fraction}`}${suffix}`.replace(/\s+/g, ' ').trim();
}

/** Rounds the decimal digits, as Excel does. toFixed() rounds the binary fraction: 1.005 becomes 1.00. */
function roundHalfUp(value: number, decimals: number): string {
  const [digits = '', exponent = '0'] = String(value).split('e');
  const units = Number(`${digits}e${Number(exponent) + decimals}`);
  // The fifteen digits of a larger number end before the last decimal place.
  return (units >= 1e15 ? value : Math.round(units) / 10 ** decimals).toFixed(decimals);
}

/** Inserts the literal text between the digits. Digits beyond the places of the format precede all literal text. */
function insertLiterals(digits: string, inner: NumberSection['inner']): string {
  let [rest, shown, taken] = [digits, '', 0];
  for (const { text, digitsAfter } of inner.toReversed()) {
    const from = Math.max(0, rest.length - (digitsAfter - taken));
    shown = text + rest.slice(from) + shown;
    rest = rest.slice(0, from);
    taken = digitsAfter;
  }
  return rest + shown;
}

/** Rounds to the fifteen digits of Excel; further digits are rounding errors of binary fractions. */
const shortest = (value: number): string => String(Number(value.toPrecision(15)));

function formatDate(days: number, date1904: boolean): string {
  // Round to seconds: fractions of a day are never exact.
  const ms = Math.round((days * DAY_MS) / 1000) * 1000;
  // Excel counts 29 February 1900, which did not exist: earlier dates differ by a day.
  const leap = !date1904 && days < 60 && days >= 1 ? DAY_MS : 0;
  const iso = new Date((date1904 ? EPOCH_1904 : EPOCH_1900) + ms + leap).toISOString();
  const day = iso.slice(0, 10);
  const time = iso.slice(11, 19);
  if (days < 1) return time;
  return time === '00:00:00' ? day : `${day} ${time}`;
}

function formatDuration(days: number): string {
  const seconds = Math.round((Math.abs(days) * DAY_MS) / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return `${days < 0 && seconds > 0 ? '-' : ''}${parts.map((part) => String(part).padStart(2, '0')).join(':')}`;
}
