import { Writable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import ExcelJS from 'exceljs';
import writeExcelFile from 'write-excel-file/node';

import { byPython } from '../byPython.js';
import { firstHalf, encryptWithPassword, type Row, withMacros } from './row.js';

type Cell = string | number | Date | { readonly formula: string; readonly result: number };
type Cells = readonly (readonly Cell[])[];

const bookOf = (sheets: Readonly<Record<string, Cells>>): ExcelJS.Workbook => {
  const book = new ExcelJS.Workbook();
  for (const [name, rows] of Object.entries(sheets)) book.addWorksheet(name).addRows(rows.map((row) => [...row]));
  return book;
};
const excelJs = async (sheets: Readonly<Record<string, Cells>>): Promise<Uint8Array> =>
  new Uint8Array(await bookOf(sheets).xlsx.writeBuffer());

const day = (date: string): Date => new Date(`${date}T00:00:00Z`);
const YEAR = {
  Fees: [
    ['Boat', 'Until', 'Nights', 'Fee', 'Sum'],
    ['Ada', day('2024-06-17'), 14, 10, { formula: 'C2*D2', result: 140 }],
    ['Bo, "the old"', day('2024-07-01'), 3, 25, { formula: 'C3*D3', result: 75 }],
  ],
  Crew: [
    ['Name', 'Age'],
    ['Zoë', 41],
  ],
} satisfies Record<string, Cells>;
const YEAR_TEXT = `# Fees

Boat: Ada, Until: 2024-06-17, Nights: 14, Fee: 10, Sum: 140
Boat: Bo, "the old", Until: 2024-07-01, Nights: 3, Fee: 25, Sum: 75

# Crew

Name: Zoë, Age: 41`;

/** Streams a workbook row by row without shared strings, as programs do for workbooks too large for memory. */
async function streamed(sheets: Readonly<Record<string, Cells>>): Promise<Uint8Array> {
  const parts: Buffer[] = [];
  const stream = new Writable({
    write(part: Buffer, _encoding, done) {
      parts.push(part);
      done();
    },
  });
  const book = new ExcelJS.stream.xlsx.WorkbookWriter({ stream, useSharedStrings: false });
  for (const [name, rows] of Object.entries(sheets)) {
    const sheet = book.addWorksheet(name);
    for (const row of rows) sheet.addRow([...row]).commit();
    sheet.commit();
  }
  await book.commit();
  return Uint8Array.from(Buffer.concat(parts));
}
const DEPTHS = {
  Depths: [
    ['Place', 'Metres', 'Sounded', 'Seen by'],
    ['Entrance', 2.1, day('2024-10-07'), 'Survey & Co'],
    ['Inner basin', 3.55, day('2024-10-08'), ''],
    ['  North quay ', 2, day('2024-10-08'), 'Zoë, "the diver"'],
  ],
} satisfies Record<string, Cells>;
const DEPTHS_TEXT = `# Depths

Place: Entrance, Metres: 2.1, Sounded: 2024-10-07, Seen by: Survey & Co
Place: Inner basin, Metres: 3.55, Sounded: 2024-10-08
Place: North quay, Metres: 2, Sounded: 2024-10-08, Seen by: Zoë, "the diver"`;

/** An invoice of three sheets, with dates, percentages and formulas. */
export const INVOICE_TEXT = `# Invoice 2024-117

Item: Berth, 12 m, Delivered: 2024-06-03, Quantity: 14, Price: 25, Sum: 350
Item: Diesel, litre, Delivered: 2024-06-09, Quantity: 310, Price: 1.62, Sum: 502.2
Item: Crane "Goliath", Delivered: 2024-06-17, Quantity: 1, Price: 180, Sum: 180
Item: Total, Sum: 1032.2

# Taxes

Rate: 13.5%, Applies to: Diesel, Amount: 67.8
Rate: 23.0%, Applies to: Berth and crane, Amount: 121.9

# Notes

Note: Payable within 30 days.
Note: Reist der Käufer früher ab, gilt § 4.`;
export const INVOICE_CHUNKS = {
  size: 90,
  parts: [
    ['# Invoice 2024-117\n\nItem: Berth', 'Price: 1.62, Sum: 502.2'],
    ['Item: Crane "Goliath"', 'Berth and crane, Amount: 121.9'],
    ['# Notes\n\nNote: Payable', 'gilt § 4.'],
  ],
} as const;

const stock = async (): Promise<Uint8Array> =>
  Uint8Array.from(
    await writeExcelFile([
      {
        sheet: 'Stock',
        data: [
          ['Part', 'Pieces', 'Counted', 'Sold'],
          ['Rope, 12 mm', 140.5, { value: day('2024-11-30'), type: Date, format: 'dd.mm.yyyy' }, true],
          ['Fender', null, { value: day('2024-12-01'), type: Date, format: 'dd.mm.yyyy' }, false],
        ],
      },
      {
        sheet: 'Shelf',
        data: [
          ['Part', 'Shelf'],
          ['Rope, 12 mm', 'B 4'],
        ],
      },
    ]).toBuffer(),
  );
const STOCK_TEXT = `# Stock

Part: Rope, 12 mm, Pieces: 140.5, Counted: 2024-11-30, Sold: TRUE
Part: Fender, Counted: 2024-12-01, Sold: FALSE

# Shelf

Part: Rope, 12 mm, Shelf: B 4`;

export const XLSX: Row = {
  good: [
    { by: 'ExcelJS, two sheets', from: () => excelJs(YEAR), text: YEAR_TEXT },
    {
      by: 'LibreOffice, an invoice',
      from: 'libreoffice/invoice.xlsx',
      text: INVOICE_TEXT,
      chunks: INVOICE_CHUNKS,
    },
    { by: 'write-excel-file', from: stock, text: STOCK_TEXT },
    { by: 'ExcelJS, row by row', from: () => streamed(DEPTHS), text: DEPTHS_TEXT },
  ],
  broken: { make: () => firstHalf(excelJs(YEAR)), fault: /^broken_content: / },
  empty: () => excelJs({ S: [] }),
  encrypted: () => encryptWithPassword(excelJs(YEAR)),
  wrong: { ending: 'csv' },
};

export const XLSM: Row = {
  good: [
    { by: 'ExcelJS and a macro', from: () => withMacros(excelJs(YEAR)), text: YEAR_TEXT },
    { by: 'write-excel-file and a macro', from: () => withMacros(stock()), text: STOCK_TEXT },
    { by: 'ExcelJS, row by row, and a macro', from: () => withMacros(streamed(DEPTHS)), text: DEPTHS_TEXT },
    {
      by: 'LibreOffice, an invoice',
      from: 'libreoffice/invoice.xlsm',
      text: INVOICE_TEXT,
      chunks: INVOICE_CHUNKS,
    },
    {
      by: 'XlsxWriter, with a macro',
      from: 'python/berths.xlsm',
      text: `# Berths

Berth: N1, Boat: Ada, Since: 2019-05-01, Fee: 1,250.50 €
Berth: N2, Boat: Bo, Since: 2021-11-30, Fee: 980.00 €
Berth: S1, Boat: Cy, Since: 2024-02-29, Fee: 1,410.00 €
Berth: Sum, Fee: 3,640.50 €

# Waiting

Name: Dee, Length: 7.5, Paid: TRUE
Name: Eve & Sons, Length: 12, Paid: FALSE`,
    },
  ],
  broken: { make: () => firstHalf(withMacros(excelJs(YEAR))), fault: /^broken_content: / },
  empty: () => withMacros(excelJs({ S: [] })),
  encrypted: () => encryptWithPassword(withMacros(excelJs(YEAR))),
  wrong: { ending: 'docx' },
};

/** Enough columns and rows to be detected as a table despite the wrong extension "json". */
const FLEET: Cells = [
  ['Boat', 'Berth', 'Fee', 'Remark'],
  ['Ada', 'north', 10, 'small, "old"'],
  ['Bo', 'south', 15, ''],
  ['Cy', 'north', 25, 'in two, lines'],
];
const FLEET_TEXT = `Boat: Ada, Berth: north, Fee: 10, Remark: small, "old"
Boat: Bo, Berth: south, Fee: 15
Boat: Cy, Berth: north, Fee: 25, Remark: in two, lines`;
const FIRST_SHEET = `Item: Berth, 12 m, Delivered: 06/03/2024, Quantity: 14, Price: 25, Sum: 350
Item: Diesel, litre, Delivered: 06/09/2024, Quantity: 310, Price: 1.62, Sum: 502.2
Item: Crane "Goliath", Delivered: 06/17/2024, Quantity: 1, Price: 180, Sum: 180
Item: Total, Sum: 1032.2`;
const FIRST_SHEET_CHUNKS = {
  size: 70,
  parts: [
    ['Item: Berth, 12 m', 'Price: 1.62, Sum: 502.2'],
    ['Item: Crane', 'Item: Total, Sum: 1032.2'],
  ],
} as const;

const rowsOf = (cells: Cells): unknown[][] => cells.map((row) => [...row]);
const fastCsv = async (rows: Cells, delimiter: string): Promise<Uint8Array> =>
  new Uint8Array(await bookOf({ S: rows }).csv.writeBuffer({ formatterOptions: { delimiter } }));

export const CSV: Row = {
  good: [
    { by: 'csv-stringify', from: () => stringify(rowsOf(FLEET)), text: FLEET_TEXT },
    { by: 'ExcelJS, with semicolons', from: () => fastCsv(FLEET, ';'), text: FLEET_TEXT },
    {
      by: 'Python, all cells quoted, in windows-1252',
      from: byPython('fleet.csv'),
      text: FLEET_TEXT.replace('Cy', 'Zoë'),
    },
    {
      by: 'LibreOffice, with semicolons, in windows-1252',
      from: 'libreoffice/invoice.csv',
      text: FIRST_SHEET,
      chunks: FIRST_SHEET_CHUNKS,
    },
  ],
  // An unclosed quote, and a truncated row.
  broken: { make: () => 'Boat,Fee\nAda,"10\nBo,25\nCy', text: 'Boat: Ada, Fee: "10\nBoat: Bo, Fee: 25\nBoat: Cy' },
  empty: () => '\n',
  encrypted: null,
  wrong: { ending: 'json' },
};

export const TSV: Row = {
  good: [
    { by: 'csv-stringify', from: () => stringify(rowsOf(FLEET), { delimiter: '\t' }), text: FLEET_TEXT },
    { by: 'ExcelJS', from: () => fastCsv(FLEET, '\t'), text: FLEET_TEXT },
    { by: 'Python, as Excel writes it', from: byPython('fleet.tsv'), text: FLEET_TEXT.replace('Cy', 'Zoë') },
    {
      by: 'LibreOffice',
      from: 'libreoffice/invoice.tsv',
      text: FIRST_SHEET,
      chunks: FIRST_SHEET_CHUNKS,
    },
  ],
  broken: { make: () => 'Boat\tFee\nAda\t"10\nBo\t25\nCy', text: 'Boat: Ada, Fee: "10\nBoat: Bo, Fee: 25\nBoat: Cy' },
  empty: () => '\n',
  encrypted: null,
  wrong: { ending: 'json' },
};
