import { expect, test } from '@jest/globals';

import { numberFormat, readNumberFormats, formatNumber } from '../../documents/office/numberFormats.js';
import { everyRow } from '../support/everyRow.js';
import { LIMITS } from './page.js';

type Row = readonly [id: number, code: string, kind: 'plain' | 'date' | 'duration' | 'percent'];

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, at) => from + at);

/**
 * Built-in number formats, which a workbook does not define: ECMA-376, part 1, 18.8.30 (numFmt). East Asian editions of
 * Excel show 27 to 36 and 50 to 58 as dates:
 * https://learn.microsoft.com/dotnet/api/documentformat.openxml.spreadsheet.numberingformat
 */
const BUILT_IN: readonly Row[] = [
  [0, 'General', 'plain'],
  [1, '0', 'plain'],
  [2, '0.00', 'plain'],
  [3, '#,##0', 'plain'],
  [4, '#,##0.00', 'plain'],
  [9, '0%', 'percent'],
  [10, '0.00%', 'percent'],
  [11, '0.00E+00', 'plain'],
  [12, '# ?/?', 'plain'],
  [13, '# ??/??', 'plain'],
  [14, 'mm-dd-yy', 'date'],
  [15, 'd-mmm-yy', 'date'],
  [16, 'd-mmm', 'date'],
  [17, 'mmm-yy', 'date'],
  [18, 'h:mm AM/PM', 'date'],
  [19, 'h:mm:ss AM/PM', 'date'],
  [20, 'h:mm', 'date'],
  [21, 'h:mm:ss', 'date'],
  [22, 'm/d/yy h:mm', 'date'],
  ...range(27, 36).map((id) => [id, 'East Asian date', 'date'] as const),
  [37, '#,##0 ;(#,##0)', 'plain'],
  [38, '#,##0 ;[Red](#,##0)', 'plain'],
  [39, '#,##0.00;(#,##0.00)', 'plain'],
  [40, '#,##0.00;[Red](#,##0.00)', 'plain'],
  [45, 'mm:ss', 'date'],
  [46, '[h]:mm:ss', 'duration'],
  [47, 'mmss.0', 'date'],
  [48, '##0.0E+0', 'plain'],
  [49, '@', 'plain'],
  ...range(50, 58).map((id) => [id, 'East Asian date', 'date'] as const),
];

/** Custom number formats, defined by the workbook. */
const CUSTOM: readonly Row[] = [
  [164, 'yyyy', 'date'],
  [164, 'dd/mm/yyyy', 'date'],
  [164, 'hh:mm', 'date'],
  [164, 'SS', 'date'],
  [164, '[h]', 'duration'],
  [164, '[hh]:mm', 'duration'],
  [164, '[m]', 'duration'],
  [164, '[ss]', 'duration'],
  [164, '[$-407]d. mmmm', 'date'],
  [164, '[$-F800]dddd', 'date'],
  // The last section is for text.
  [164, 'yyyy\\-mm\\-dd;@', 'date'],
  [164, '0.0%;@', 'percent'],
  [164, '@', 'plain'],
  [164, '0.0%', 'percent'],
  [164, '0%;[Red]-0%', 'percent'],
  [164, '0.00', 'plain'],
  [164, '#,##0 &quot;days&quot;', 'plain'],
  [164, '0 &quot;%&quot;', 'plain'],
  [164, '0\\d', 'plain'],
  [164, '0\\%', 'plain'],
  [164, '0_d', 'plain'],
  [164, '[Red]0', 'plain'],
  [164, '[$USD-409]0.00', 'plain'],
  [164, 'General', 'plain'],
  [164, 'GENERAL', 'plain'],
  // A workbook may redefine a built-in format.
  [14, '0.00', 'plain'],
  [1, 'yyyy', 'date'],
];

const kindsOf = (styles: string): string[] =>
  readNumberFormats(new TextEncoder().encode(`<styleSheet>${styles}</styleSheet>`), LIMITS).map(({ kind }) => kind);

test('classifies each built-in number format as ECMA-376 defines it', () =>
  everyRow(
    BUILT_IN,
    ([id, code]) => `${id} ${code}`,
    ([id, , kind]) => expect(kindsOf(`<cellXfs><xf numFmtId="${id}"/></cellXfs>`)).toEqual([kind]),
  ));

test('classifies a custom number format by its letters, except quoted and escaped ones', () =>
  everyRow(
    CUSTOM,
    ([, code]) => code,
    ([id, code, kind]) =>
      expect(
        kindsOf(
          `<numFmts><numFmt numFmtId="${id}" formatCode="${code}"/></numFmts><cellXfs><xf numFmtId="${id}"/></cellXfs>`,
        ),
      ).toEqual([kind]),
  ));

test('returns the kinds of cell formats in order, and plain for a cell format without a number format', () => {
  expect(
    kindsOf(
      '<cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf/><xf numFmtId="14"/><xf numFmtId="9"/></cellXfs><dxfs><xf numFmtId="9"/></dxfs>',
    ),
  ).toEqual(['plain', 'date', 'percent']);
});

type Shown = readonly [raw: string, kind: Row[2], date1904: boolean, shown: string];
const SHOWN: readonly Shown[] = [
  // Excel counts day 60 as 29 February 1900, which did not exist, so earlier days are shifted by one.
  // https://learn.microsoft.com/troubleshoot/microsoft-365-apps/excel/wrongly-assumes-1900-is-leap-year
  ['1', 'date', false, '1900-01-01'],
  ['59', 'date', false, '1900-02-28'],
  ['61', 'date', false, '1900-03-01'],
  ['45292', 'date', false, '2024-01-01'],
  ['45292.6041666667', 'date', false, '2024-01-01 14:30:00'],
  ['45292.99999999', 'date', false, '2024-01-02'],
  ['0', 'date', false, '00:00:00'],
  ['0.5', 'date', false, '12:00:00'],
  ['0.999', 'date', false, '23:58:34'],
  ['2958465', 'date', false, '9999-12-31'],
  // Numbers outside the calendar stay numbers.
  ['2958466', 'date', false, '2958466'],
  ['-1', 'date', false, '-1'],
  // Workbooks with the 1904 date system count days from 1 January 1904:
  // https://support.microsoft.com/office/e7fe7167-48a9-4b96-bb53-5612a800b487
  ['1', 'date', true, '1904-01-02'],
  ['59', 'date', true, '1904-02-29'],
  ['43830', 'date', true, '2024-01-01'],
  ['1.5', 'duration', false, '36:00:00'],
  ['0.5', 'duration', false, '12:00:00'],
  ['6.93056', 'duration', true, '166:20:00'],
  ['-0.0625', 'duration', false, '-01:30:00'],
  ['0', 'duration', false, '00:00:00'],
  ['2958466', 'duration', false, '2958466'],
  ['0.125', 'percent', false, '12.5%'],
  ['1', 'percent', false, '100%'],
  ['0.07', 'percent', false, '7%'],
  ['0.30000000000000004', 'plain', false, '0.3'],
  ['1234567890.12345', 'plain', false, '1234567890.12345'],
  ['1E3', 'plain', false, '1000'],
  ['', 'plain', false, ''],
  [' ', 'date', false, ' '],
  ['n/a', 'percent', false, 'n/a'],
];

test('formats a number by its kind', () =>
  everyRow(
    SHOWN,
    (row) => row.join(' '),
    ([raw, kind, date1904, shown]) => expect(formatNumber(raw, { kind, sections: [] }, date1904)).toBe(shown),
  ));

/**
 * Values as Excel shows them with a format code:
 * https://support.microsoft.com/office/5026bbd6-04bc-48cd-bf33-80f18b4eae68
 * Unlike Excel, formatNumber returns the plain number for fractions, exponents, conditions, very large numbers and
 * sections without digits.
 */
const CODES: ReadonlyArray<readonly [raw: string, code: string, shown: string]> = [
  ['1234.5', '#,##0.00', '1,234.50'],
  ['1234567.5', '#,##0', '1,234,568'],
  ['0.126', '0%', '13%'],
  ['0.125', '0.0%', '12.5%'],
  ['1234.5', '"$"#,##0.00', '$1,234.50'],
  ['-1234.5', '"$"#,##0.00', '-$1,234.50'],
  ['-1234.5', '$#,##0.00_);($#,##0.00)', '($1,234.50)'],
  ['1234.5', '$#,##0.00_);[Red]($#,##0.00)', '$1,234.50'],
  ['9.5', '#,##0.00 [$€-407]', '9.50 €'],
  ['0', '0;-0;"none"', '0'],
  ['0', '#,##0;-#,##0;0.0', '0.0'],
  ['7', '000', '007'],
  // Formats of social security numbers, ZIP codes and French phone numbers: with text between the digits.
  ['123456789', '000\\-00\\-0000', '123-45-6789'],
  ['12345678', '000\\-00\\-0000', '012-34-5678'],
  ['5', '###\\-####', '-5'],
  ['123456789', '00000\\-0000', '12345-6789'],
  ['123456789', '0#" "##" "##" "##" "##', '01 23 45 67 89'],
  ['12345678901', '0#" "##" "##" "##" "##', '123 45 67 89 01'],
  ['4', '\\1\\.0#', '1.04'],
  ['14', '\\1\\.0#', '1.14'],
  ['1234.5', '00\\:00.0', '12:34.5'],
  ['1.5', '0.###', '1.5'],
  ['12345678', '0.0,,"M"', '12.3M'],
  ['5', '0 "days"', '5 days'],
  ['5', '0\\d', '5d'],
  ['0.333333333333333', '0.00', '0.33'],
  // The binary fractions of these numbers are below the decimal ones.
  ['2.675', '0.00', '2.68'],
  ['-1.005', '0.00', '-1.01'],
  ['0.0000005', '0.000000', '0.000001'],
  ['-0.001', '0.00', '0.00'],
  ['1234.5', 'General', '1234.5'],
  ['0.5', '# ?/?', '0.5'],
  ['1234', '0.00E+00', '1234'],
  ['1e20', '#,##0', '100000000000000000000'],
  ['5', '[<10]"few";"many"', '5'],
  ['5', ';;;', '5'],
];

test('shows decimal places, thousands, currencies, percent signs and texts of a format code', () =>
  everyRow(
    CODES,
    (row) => row.join(' '),
    ([raw, code, shown]) => expect(formatNumber(raw, numberFormat(164, code), false)).toBe(shown),
  ));
