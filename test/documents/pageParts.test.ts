/** Tests steps between the bytes of a file and its text on small values: coordinates, lines, sheets, messages, tables. */
import { expect, test } from '@jest/globals';

import { answerTask } from '../../documents/answerTask.js';
import { countTokens } from '../../documents/chunking/countTokens.js';
import { composeMessage } from '../../documents/mail/composeMessage.js';
import { cutStrip } from '../../documents/ocr/cutStrip.js';
import { composePages } from '../../documents/parsers/pdf/composePages.js';
import { asMatrix, multiply, placeBox, Transformations } from '../../documents/parsers/pdf/pdfjs/matrix.js';
import { readNotes, readPeople } from '../../documents/parsers/xlsx/readNotes.js';
import { TableGrid } from '../../documents/tables/tableGrid.js';
import { LIMITS } from './page.js';
import { readFile, upload } from './readFile.js';

test('places rectangles by the matrices of a PDF, and restores the outer matrix after a form or saved state', () => {
  expect(multiply([1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12])).toEqual([31, 46, 39, 58, 52, 76]);
  expect(placeBox([2, 0, 0, -1, 10, 100], [5, 20, 1, 30])).toEqual({ x1: 12, y1: 70, x2: 20, y2: 80 });
  expect([asMatrix([1, 2, 3, 4, 5]), asMatrix([1, 2, 3, 4, 5, NaN]), asMatrix(null)]).toEqual([null, null, null]);
  expect(asMatrix(new Float32Array(6))).toEqual([0, 0, 0, 0, 0, 0]);
  const codes = { save: 1, restore: 2, transform: 3, paintFormXObjectBegin: 4, paintFormXObjectEnd: 5 };
  const page = new Transformations([1, 0, 0, 1, 0, 0], codes);
  const moved = (operation: number, args: unknown[] | null = null) => [
    page.apply(operation, args),
    ...page.now.slice(4),
  ];
  expect(moved(1)).toEqual([true, 0, 0]);
  expect(moved(3, [1, 0, 0, 1, 5, 7])).toEqual([true, 5, 7]);
  expect(moved(4, [[1, 0, 0, 1, 10, 0]])).toEqual([true, 15, 7]);
  expect(moved(9)).toEqual([false, 15, 7]);
  expect(moved(5)).toEqual([true, 5, 7]);
  expect(moved(4, [null])).toEqual([true, 5, 7]);
  expect([moved(2), moved(2), moved(2)]).toEqual([
    [true, 5, 7],
    [true, 0, 0],
    [true, 0, 0],
  ]);
});

test('joins a line with the next one if its text continues there, and states the box and text range of each', () => {
  const line = (text: string, x2: number, y1: number) => ({ text, x1: 10, x2, y1, y2: y1 + 8 });
  const paragraph = (...lines: (readonly [text: string, x2: number])[]) => ({
    lines: lines.map(([text, x2], nth) => line(text, x2, 20 * nth)),
  });
  const textOf = (...paragraphs: object[]) => composePages([{ number: 4, paragraphs } as never], 1000).text;
  expect(textOf(paragraph(['The har-', 90], ['bour is open', 100], ['late.', 30]))).toBe('The harbour is open late.');
  expect(textOf(paragraph(['A short line', 40], ['and a long one', 100]))).toBe('A short line\nand a long one');
  expect(textOf(paragraph(['Boats', 90], ['- small', 100], ['2) large', 95], ['1900 of them', 90]))).toBe(
    'Boats\n- small\n2) large 1900 of them',
  );
  expect(textOf(paragraph(['Boat  Fee', 100], ['Ada  7', 100]))).toBe('Boat Fee\nAda 7');
  expect(textOf({ ...paragraph(['The har-', 90], ['bour', 100]), keepsLines: true })).toBe('The har-\nbour');
  expect(
    textOf({ ...paragraph(['The', 20], ['Fees', 30]), heading: 2 }, paragraph([' ', 9]), paragraph(['End', 9])),
  ).toBe('## The Fees\n\nEnd');
  const table = { ...paragraph(['Boat: Ada', 50], ['Boat: Bo', 60]), isTable: true };
  const { pages, tables } = composePages([{ number: 4, paragraphs: [paragraph(['Fees', 40]), table] }], 1000);
  expect(tables).toEqual([[6, 15, 16, 24]]);
  expect(pages).toEqual([
    {
      ...{ number: 4, start: 0, end: 24 },
      lines: [
        { x1: 10, x2: 40, y1: 0, y2: 8, start: 0, end: 4 },
        { x1: 10, x2: 50, y1: 0, y2: 8, start: 6, end: 15 },
        { x1: 10, x2: 60, y1: 20, y2: 28, start: 16, end: 24 },
      ],
    },
  ]);
});

test('reads comments of a sheet with cell and author, each thread once', async () => {
  const parts = new Map([
    [
      'c.xml',
      '<comments><authors><author>Anna</author><author>tc={1}</author></authors><commentList><comment ref="B2" authorId="0"><text><r><t>Too </t></r><r><rPr/><t>low</t></r></text></comment><comment ref="C1" authorId="1"><text><t>Why?</t></text></comment><comment ref="D1" authorId="7"><text><t> </t></text></comment></commentList></comments>',
    ],
    [
      't.xml',
      '<l><threadedComment ref="C1" personId="{p}"><text>Why?</text></threadedComment><threadedComment personId="{q}"><text>So</text></threadedComment></l>',
    ],
  ]);
  const relation = (type: string, target: string, external = false) => ({ type, target, external });
  const relations = [relation('comments', 'c.xml'), relation('comments', 'gone.xml'), relation('hyperlink', 't.xml')];
  const all = [...relations, relation('threadedComment', 'c.xml', true), relation('threadedComment', 't.xml')];
  const file = {
    relationsOf: async () => new Map(all.map((found, nth) => [`r${nth}`, found])),
    archive: {
      has: (name: string) => parts.has(name),
      read: async (name: string) => Buffer.from(parts.get(name) ?? ''),
    },
  };
  const people = readPeople(Buffer.from('<l><person id="{p}" displayName=" Bo "/><person/></l>'), LIMITS);
  expect(await readNotes(file as never, 'sheet1.xml', people, LIMITS)).toEqual([
    'Comment by Anna on B2: Too low',
    'Comment by Bo on C1: Why?',
    'Comment: So',
  ]);
});

test('names the attachments of a message in its text only if it has no other text', () => {
  const attachments = [{ name: 'a.csv', contentType: null, bytes: new Uint8Array() }];
  const message = {
    ...{ subject: null, from: null, to: [], cc: [], bcc: [], date: null, messageId: null, inReplyTo: null },
    ...{ text: null, html: null, attachments, notRead: { pictures: 0, signed_messages: 0 } },
  };
  const read = (more: object) => composeMessage({ ...message, ...more }, 'EML', LIMITS);
  expect(read({})).toStrictEqual({
    ...{ text: 'Attachments: a.csv', format: 'EML', mimeType: 'message/rfc822', attachments },
    metadata: { attachments: ['a.csv'] },
  });
  expect([read({ text: 'Hi' }).text, read({ subject: 'Fees' }).text]).toEqual(['Hi', '# Fees']);
  expect(read({ text: ' ', html: '<p>Ho' }).text).toBe('Ho');
  expect(read({ cc: ['Bo'], notRead: { pictures: 2, signed_messages: 0 } })).toMatchObject({
    metadata: { cc: ['Bo'] },
    notRead: { pictures: 2 },
  });
  expect(() => read({ attachments: [] })).toThrow(/neither a subject nor a body/);
});

test('repeats the text of a merged cell in the cells that it covers, and not below its last row', () => {
  const grid = new TableGrid();
  const one = { columns: 1, rows: 1 };
  grid.beginRow();
  grid.add('Boat', one, true);
  grid.add('Fee', { columns: 2, rows: 1 }, true);
  grid.addCovered();
  grid.beginRow();
  grid.add('Ada', { columns: 1, rows: 2 }, true);
  grid.add('7', { columns: 2, rows: 1 }, false);
  grid.beginRow();
  grid.addCovered();
  grid.add('8', one, true);
  grid.addEmpty(1);
  grid.beginRow();
  grid.addCovered();
  grid.add('9', one, true);
  grid.addContinued(1);
  expect(grid.rows).toEqual([
    ['Boat', 'Fee', 'Fee'],
    ['Ada', '7', '7'],
    ['Ada', '8', ''],
    ['', '9', ''],
  ]);
});

test('extends the strip of a picture with the most text up to nearby gaps between lines, if there are any', () => {
  const [width, height] = [100, 1000];
  const pixels = new Uint8Array(width * height);
  // Stripes in all rows: text without gaps between its lines, most of it around row 500.
  for (let row = 0; row < height; row += 1)
    for (let column = 0; column < width; column += 1)
      pixels[row * width + column] = column % (row >= 500 && row < 660 ? 6 : 50) < 3 ? 0 : 255;
  const strip = () => cutStrip({ bytes: pixels, pixels, width, height, scale: 1 });
  // The strip begins at row 496: the first multiple of 8 from which 160 rows contain the most text.
  expect(strip()?.height).toBe(161);
  pixels.fill(255, 470 * width, 471 * width);
  pixels.fill(255, 700 * width, 701 * width);
  expect(strip()?.height).toBe(231);
});

test('states the number of tokens of a document, and the cause of a failure', async () => {
  const chunking = { chunkSize: 20, chunkOverlap: 0, prefix: null };
  const text = 'The harbour is open. '.repeat(20).trim();
  const documents = [upload(text, 'a.txt'), upload('{', 'a.docx'), upload('', 'a.txt')];
  const answers = await answerTask({ documents: documents.map((input) => ({ input, chunking })), limits: LIMITS });
  expect(answers[0]).toMatchObject({ document: { text, numTokens: countTokens(text) } });
  expect(answers.slice(1)).toMatchObject([{}, { fault: { kind: 'no_text', cause: null } }]);
  const input = {
    get bytes(): Uint8Array {
      throw new TypeError('a bug');
    },
  };
  const [failed] = await answerTask({ documents: [{ input, links: {} } as never], limits: LIMITS });
  expect(failed).toMatchObject({ fault: { kind: 'broken_content', cause: expect.stringMatching(/a bug\n.*at /) } });
});

test('reads a table with any common delimiter, or with a quote that is never closed', async () => {
  const read = async (content: string) => (await readFile(content, 'a.csv')).text;
  const rows = 'Boat: Ada, Fee: 7\nBoat: Bo, Fee: 8';
  for (const delimiter of [',', ';', '|', '\t'])
    expect(await read(['Boat', 'Fee\nAda', '7\nBo', '8\n'].join(delimiter))).toBe(rows);
  expect(await read('sep=:\r\nBoat:Fee\nAda:7\nBo:8')).toBe(rows);
  expect(await read('Boat,Fee\n"Ada, 2nd",7\nBo,8')).toBe(rows.replace('Ada', 'Ada, 2nd'));
  expect(await read('Boat,Size\nAda,7"\nBo,"8')).toBe('Boat: Ada, Size: 7"\nBoat: Bo, Size: "8');
});
