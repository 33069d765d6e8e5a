import ExcelJS from 'exceljs';
import { strToU8, unzipSync, zipSync } from 'fflate';
import { expect, test } from '@jest/globals';
import { findHeader } from '../../../documents/tables/hasHeader.js';
import { everyRow } from '../../support/everyRow.js';
import { readFile } from '../readFile.js';

type Book = ExcelJS.Workbook;

async function textOf(fill: (book: Book) => void): Promise<string> {
  return (await readFile(await bytesOf(fill), 'a.xlsx')).text;
}

async function bytesOf(fill: (book: Book) => void): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook();
  fill(book);
  return new Uint8Array(await book.xlsx.writeBuffer());
}

test('repeats the text of merged cells, joins the names of a header of two rows, and reads a title once', async () => {
  const text = await textOf((book) => {
    const sheet = book.addWorksheet('Depths');
    sheet.addRows([
      ['Depths of the quays'],
      [],
      ['Quay', 'Depth', null],
      [null, 'Low', 'High'],
      ['North', 4.5, 7],
      [null, 4.6, 7.1],
    ]);
    for (const range of ['A1:C1', 'A3:A4', 'B3:C3', 'A5:A6']) sheet.mergeCells(range);
  });
  expect(text).toBe(
    '# Depths\n\nDepths of the quays\n\nQuay: North, Depth Low: 4.5, Depth High: 7\nQuay: North, Depth Low: 4.6, Depth High: 7.1',
  );
});

test('gives the second table of a sheet its own header, and continues a table after an empty row', async () => {
  const text = await textOf((book) =>
    book
      .addWorksheet('Sheet1')
      .addRows([
        ['Boat', 'Fee'],
        ['Small', 10],
        [],
        ['Large', 25],
        ['Huge', 40],
        [],
        ['Fees by year'],
        ['Year', 'Sum'],
        [2023, 900],
        [2024, 950],
      ]),
  );
  expect(text).toBe(
    'Boat: Small, Fee: 10\nBoat: Large, Fee: 25\nBoat: Huge, Fee: 40\n\nFees by year\n\nYear: 2023, Sum: 900\nYear: 2024, Sum: 950',
  );
});

test('lists no column with values under "Columns without values" if a row has more values than the header', async () => {
  const { text } = await readFile(new TextEncoder().encode('Name,Price\n,5,note\nPear,7,\nPlum,9,\n'), 'a.csv');
  expect(text).toBe('Price: 5, note\nName: Pear, Price: 7\nName: Plum, Price: 9');
});

test('marks hidden sheets, and reads comments after the rows', async () => {
  const bytes = await bytesOf((book) => {
    const sheet = book.addWorksheet('Fees');
    sheet.addRows([
      ['Boat', 'Fee'],
      ['Small', 10],
    ]);
    sheet.getCell('B2').note = 'Agreed in May';
    book.addWorksheet('Drafts', { state: 'hidden' }).addRow(['Old fee', 9]);
  });
  const document = await readFile(bytes, 'a.xlsx');
  expect(document.text).toMatch(
    /^# Fees\n\nBoat: Small, Fee: 10\n\nComment(?: by \w+)? on B2: Agreed in May\n\n# Drafts \(hidden\)\n\nOld fee, 9$/,
  );
  expect(document.metadata).toMatchObject({ sheets: ['Fees', 'Drafts'], hidden_sheets: ['Drafts'], rows: 2 });
});

const R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

test('reads text boxes, charts and threads of comments of a sheet without values', async () => {
  const parts = unzipSync(await bytesOf((book) => void book.addWorksheet('Sheet1')));
  const bytes = zipSync({
    ...parts,
    'xl/worksheets/_rels/sheet1.xml.rels': strToU8(
      `<Relationships><Relationship Id="r1" Type="${R}/drawing" Target="../drawings/drawing1.xml"/><Relationship Id="r2" Type="${R}/threadedComment" Target="../threadedComments/t1.xml"/><Relationship Id="r3" Type="${R}/comments" Target="../comments1.xml"/></Relationships>`,
    ),
    'xl/drawings/drawing1.xml': strToU8(
      '<d:wsDr xmlns:d="d" xmlns:a="a"><d:sp><d:txBody><a:p><a:r><a:t>In a box</a:t></a:r></a:p></d:txBody></d:sp></d:wsDr>',
    ),
    'xl/drawings/_rels/drawing1.xml.rels': strToU8(
      `<Relationships><Relationship Id="r1" Type="${R}/chart" Target="../charts/chart1.xml"/></Relationships>`,
    ),
    'xl/charts/chart1.xml': strToU8(
      '<c:chartSpace xmlns:c="c"><c:plotArea><c:ser><c:tx><c:v>Calls</c:v></c:tx><c:cat><c:pt idx="0"><c:v>May</c:v></c:pt></c:cat><c:val><c:pt idx="0"><c:v>7.1640000000000001</c:v></c:pt></c:val></c:ser></c:plotArea></c:chartSpace>',
    ),
    'xl/threadedComments/t1.xml': strToU8(
      '<ThreadedComments><threadedComment ref="B2" personId="{1}"><text>Why?</text></threadedComment></ThreadedComments>',
    ),
    'xl/comments1.xml': strToU8(
      '<comments><authors><author>tc={1}</author></authors><commentList><comment ref="B2" authorId="0"><text><t>[Threaded comment] Why?</t></text></comment></commentList></comments>',
    ),
  });
  expect((await readFile(bytes, 'a.xlsx')).text).toBe(
    'In a box\n\n|  | Calls |\n| --- | --- |\n| May | 7.164 |\n\nComment on B2: Why?',
  );
});

test('rejects a small file whose merged cells would fill more than maxCells cells', async () => {
  const bytes = await bytesOf((book) => {
    const sheet = book.addWorksheet('Sheet1');
    for (let row = 1; row <= 20; row++) sheet.addRow(['a', row]);
    sheet.mergeCells('C1:CX20');
    sheet.getCell('C1').value = 'wide';
  });
  await expect(readFile(bytes, 'a.xlsx', { maxCells: 500 })).rejects.toMatchObject({ kind: 'too_large' });
});

const HEADERS: ReadonlyArray<readonly [what: string, rows: readonly (readonly string[])[], header: number | null]> = [
  [
    'a header',
    [
      ['Boat', 'Fee'],
      ['Small', '10'],
    ],
    0,
  ],
  [
    'a title above the header',
    [['Fees 2024'], ['Boat', 'Fee', 'Until'], ['Small', '10', 'May'], ['Large', '25', 'May']],
    1,
  ],
  [
    'a title and a date',
    [['Fees'], ['Date:', '2024-01-01'], ['Boat', 'Fee', 'VAT', 'Sum'], ['Small', '10', '2', '12']],
    2,
  ],
  ['a title above numbers only', [['Numbers'], ['1', '2', '3'], ['4', '5', '6']], 0],
  [
    'no header',
    [
      ['1', '2'],
      ['3', '4'],
    ],
    null,
  ],
  ['one row', [['Boat', 'Fee']], null],
  [
    'a narrow table next to a wide one',
    [
      ['a', 'b', 'c'],
      ['1', '2', '3'],
      ['4', '5', '6', 'x', 'y', 'z', 'w'],
    ],
    0,
  ],
];

test('finds the row with the names of the columns below titles', () =>
  everyRow(
    HEADERS,
    ([what]) => what,
    ([, rows, header]) => expect(findHeader(rows)).toBe(header),
  ));
