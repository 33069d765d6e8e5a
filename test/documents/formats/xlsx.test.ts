import ExcelJS from 'exceljs';
import { strToU8 } from 'fflate';
import { encrypt } from 'officecrypto-tool';
import { expect, test } from '@jest/globals';
import { chunksOfFile, faultOfFile, readFile } from '../readFile.js';
import { officeFile } from './officeFile.js';

async function makeXlsx(fill: (book: ExcelJS.Workbook) => void): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook();
  book.creator = 'Anna Keller';
  book.created = new Date('2024-03-01T12:00:00Z');
  fill(book);
  return new Uint8Array(await book.xlsx.writeBuffer());
}

test('reads cells as Excel displays them, each with the name of its column', async () => {
  const bytes = await makeXlsx((book) => {
    const sheet = book.addWorksheet('Boats');
    sheet.addRow(['Name', 'Built', 'Share', 'Total', '', 'Afloat']);
    sheet.addRow(['Ada', new Date('2024-03-01'), 0.125, 0.1 + 0.2, 'spare', true]);
    sheet.getCell('C2').numFmt = '0.0%';
    sheet.addRow(['Bo\nthe second', new Date('2024-03-01T13:05:00Z'), null, { formula: '1+1', result: 2 }]);
    sheet.addRow([]);
    sheet.addRow([{ richText: [{ text: 'Cy ' }, { text: 'old', font: { bold: true } }] }, null, null, 1_234_567.5]);
    sheet.getCell('D5').numFmt = '#,##0.00 "days"';
  });
  const document = await readFile(bytes, 'boats.xlsx');
  expect(document.text).toBe(
    [
      '# Boats',
      '',
      'Name: Ada, Built: 2024-03-01, Share: 12.5%, Total: 0.3, spare, Afloat: TRUE',
      'Name: Bo the second, Built: 2024-03-01 13:05:00, Total: 2',
      'Name: Cy old, Total: 1,234,567.50 days',
    ].join('\n'),
  );
  expect(document).toMatchObject({
    format: 'XLSX',
    metadata: { author: 'Anna Keller', sheets: ['Boats'], rows: 3 },
    sourceCreatedAt: '2024-03-01T12:00:00.000Z',
  });
});

const twoSheets = (): Promise<Uint8Array> =>
  makeXlsx((book) => {
    const fees = book.addWorksheet('Fees');
    fees.addRows([
      ['Boat', 'Fee'],
      ['Small', 10],
      ['Middle', 15],
      ['Large', 25],
    ]);
    book.addWorksheet('Empty');
    book.addWorksheet('Quays').addRows([
      ['Quay', 'Depth'],
      ['North', 4.5],
    ]);
  });

test('puts each sheet below its name, and groups no rows across sheets', async () => {
  const bytes = await twoSheets();
  const { text } = await readFile(bytes, 'fees.xlsx');
  expect(text).toBe(
    '# Fees\n\nBoat: Small, Fee: 10\nBoat: Middle, Fee: 15\nBoat: Large, Fee: 25\n\n# Quays\n\nQuay: North, Depth: 4.5',
  );
  expect(await chunksOfFile(bytes, 'fees.xlsx', { maxItemsPerChunk: 2 })).toEqual([
    '# Fees\n\nBoat: Small, Fee: 10\nBoat: Middle, Fee: 15',
    'Boat: Large, Fee: 25',
    '# Quays\n\nQuay: North, Depth: 4.5',
  ]);
  expect(await chunksOfFile(bytes, 'fees.xlsx')).toEqual([text]);
});

test('detects a workbook with macros as XLSM, and ignores the macros', async () => {
  const bytes = officeFile(
    'xl/workbook.xml',
    '<workbook><workbookPr date1904="1"/><sheets><sheet name="Sheet1" r:id="r1"/></sheets></workbook>',
    {
      'xl/vbaProject.bin': strToU8('never read'),
      'xl/_rels/workbook.xml.rels': strToU8(
        '<Relationships><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="x/styles" Target="styles.xml"/></Relationships>',
      ),
      'xl/styles.xml': strToU8(
        '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-407]d\\.\\ mmmm\\ yyyy"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="20"/></cellXfs></styleSheet>',
      ),
      'xl/worksheets/sheet1.xml': strToU8(
        '<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>Day_x000D_</t></is></c><c r="C1" t="str"><f>1</f><v>At</v></c></row><row r="2"><c r="A2" s="1"><v>0</v></c><c r="C2" s="2"><v>0.5</v></c></row><row r="3"><c s="1"><v>366</v></c><c t="e"><v>#N/A</v></c></row></sheetData></worksheet>',
      ),
    },
  );
  const document = await readFile(bytes, 'macros.xlsm');
  expect([document.format, document.text]).toEqual(['XLSM', 'Day: 00:00:00, At: 12:00:00\nDay: 1905-01-01, #N/A']);
});

test('reports encrypted, broken, empty and too large files, and the format of a wrongly named one', async () => {
  const bytes = await twoSheets();
  expect(await faultOfFile(Uint8Array.from(encrypt(Buffer.from(bytes), { password: 'x' })), 'a.xlsx')).toMatch(
    /^encrypted: /,
  );
  expect(await faultOfFile(bytes.subarray(0, 4000), 'a.xlsx')).toMatch(/^broken_content: /);
  expect(await faultOfFile(await makeXlsx((book) => void book.addWorksheet('A')), 'a.xlsx')).toMatch(/^no_text: /);
  expect(await faultOfFile(bytes, 'a.xlsx', { maxCells: 9 })).toMatch(
    /^too_large: .*9 cells \(setting MAX_TABLE_CELLS\)/,
  );
  const wronglyNamed = await readFile(bytes, 'a.csv');
  expect([wronglyNamed.format, wronglyNamed.metadata['named_as']]).toEqual(['XLSX', 'CSV']);
});
