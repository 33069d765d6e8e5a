const DIGITS = '〇一二三四五六七八九';
const CHINESE_FORMATS = new Set([
  'chineseCounting',
  'chineseCountingThousand',
  'japaneseCounting',
  'taiwaneseCounting',
]);
const ROMAN: ReadonlyArray<readonly [value: number, letters: string]> = [
  ...([
    [1000, 'm'],
    [900, 'cm'],
    [500, 'd'],
    [400, 'cd'],
    [100, 'c'],
    [90, 'xc'],
    [50, 'l'],
    [40, 'xl'],
    [10, 'x'],
    [9, 'ix'],
    [5, 'v'],
    [4, 'iv'],
    [1, 'i'],
  ] as const),
];
/** Largest number that is written in Roman numerals or letters; those of larger numbers would be very long. */
const MAX_LETTERS = 3999;

/**
 * Formats a number by a name of Word's number formats. ECMA-376, part 1, 17.18.59 (ST_NumberFormat). Unsupported
 * formats, and numbers that a format does not cover, become decimal numbers.
 */
export function formatNumber(number: number, format: string): string {
  if (format === 'none') return '';
  if (format === 'decimalZero') return String(number).padStart(2, '0');
  if (format === 'ordinal') return `${number}${ordinalEnding(number)}`;
  if (format === 'decimalFullWidth')
    return String(number).replaceAll(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)));
  if (format === 'decimalEnclosedCircle' && number >= 1 && number <= 20) return String.fromCharCode(0x245f + number);
  if (CHINESE_FORMATS.has(format) && number >= 1 && number <= 99) return chinese(number);
  if (number < 1 || number > MAX_LETTERS) return String(number);
  if (format === 'lowerRoman') return roman(number);
  if (format === 'upperRoman') return roman(number).toUpperCase();
  if (format === 'lowerLetter') return letters(number);
  if (format === 'upperLetter') return letters(number).toUpperCase();
  return String(number);
}

function ordinalEnding(number: number): string {
  const tens = number % 100;
  return (tens >= 11 && tens <= 13 ? undefined : ['th', 'st', 'nd', 'rd'][number % 10]) ?? 'th';
}

function chinese(number: number): string {
  const tens = Math.floor(number / 10);
  const ones = number % 10;
  return `${tens > 1 ? DIGITS[tens] : ''}${tens > 0 ? '十' : ''}${ones > 0 ? DIGITS[ones] : ''}`;
}

/** After z follow aa, bb to zz, then aaa. */
const letters = (number: number): string =>
  String.fromCharCode(97 + ((number - 1) % 26)).repeat(Math.ceil(number / 26));

function roman(number: number): string {
  let [rest, text] = [number, ''];
  for (const [value, digits] of ROMAN) for (; rest >= value; rest -= value) text += digits;
  return text;
}

const MARKDOWN_NUMBER = /^\d{1,4}[.)]$/;

/** Returns the mark of a list item. Markdown supports few forms of numbers; others follow a bullet. */
export const listMark = (number: string): string => (MARKDOWN_NUMBER.test(number) ? number : `- ${number}`.trim());
