import { deflateSync } from 'node:zlib';
import { PDFDocument, PDFName, type PDFPage, PDFRawStream, StandardFonts } from 'pdf-lib';
import { expect, test } from '@jest/globals';

import { openPdf } from '../../../documents/parsers/pdf/pdfjs/openPdf.js';
import { type PageDrawing, readPage } from '../../../documents/parsers/pdf/readPage.js';
import { readFile } from '../readFile.js';

/** Functions of JavaScript that PDF.js could replace, as they are before it is loaded. */
const BUILT_IN = [Array.prototype.push, JSON.parse, JSON.stringify];

/** Makes a page with a drawing by the operators, and below it four aligned cells, which may be a table. */
async function pageWithCells(operators: string, form = ''): Promise<{ pdf: PDFDocument; page: PDFPage }> {
  const pdf = await PDFDocument.create();
  const page = pdf.addPage([600, 800]);
  const box = { Type: 'XObject', Subtype: 'Form', BBox: [0, 0, 600, 800], Resources: {} };
  page.node.normalize();
  page.node.setXObject(PDFName.of('Fm'), pdf.context.register(pdf.context.stream(form, box)));
  page.node.addContentStream(pdf.context.register(pdf.context.stream(operators)));
  const [plain, bold] = [
    await pdf.embedFont(StandardFonts.Helvetica),
    await pdf.embedFont(StandardFonts.HelveticaBold),
  ];
  page.drawText('Boat', { x: 50, y: 500, size: 11, font: bold });
  page.drawText('Fee', { x: 200, y: 500, size: 11, font: bold });
  page.drawText('Small', { x: 50, y: 480, size: 11, font: plain });
  page.drawText('10', { x: 200, y: 480, size: 11, font: plain });
  return { pdf, page };
}

/** Reads the first page. Throws if its operators are read in addition to its text. */
async function drawingOf(pdf: PDFDocument): Promise<PageDrawing> {
  const task = await openPdf(await pdf.save(), 'text');
  try {
    const page = await (await task.promise).getPage(1);
    page.getOperatorList = async () => {
      throw new Error('The page is parsed twice.');
    };
    return await readPage(page);
  } finally {
    await task.destroy();
  }
}

test('fonts and drawn lines are read in the same pass as the text', async () => {
  const { pdf } = await pageWithCells(
    '50 520 200 0.5 re f 50 470 m 250 470 l S 300 470 m 350 420 l S 400 400 90 90 re f',
  );
  const { runs, rules } = await drawingOf(pdf);
  expect(runs.filter(({ text }) => text !== '').map(({ text, isBold = false }) => [text, isBold])).toEqual([
    ['Boat', true],
    [' ', true],
    ['Fee', true],
    ['Small', false],
    [' ', false],
    ['10', false],
  ]);
  expect(rules).toEqual([
    { x1: 50, y1: 279.5, x2: 250, y2: 280 },
    { x1: 50, y1: 330, x2: 250, y2: 330 },
  ]);
});

test('the lines of a form XObject without text are found at each place where it is drawn', async () => {
  const { pdf } = await pageWithCells('q 1 0 0 1 50 520 cm /Fm Do Q q 1 0 0 2 50 470 cm /Fm Do Q', '0 0 m 200 0 l S');
  expect((await drawingOf(pdf)).rules).toEqual([
    { x1: 50, y1: 280, x2: 250, y2: 280 },
    { x1: 50, y1: 330, x2: 250, y2: 330 },
  ]);
});

test('the text of a page with a path of hundreds of thousands of points is read', async () => {
  const { pdf } = await pageWithCells(`0 0 m ${'9 700 l 500 9 l '.repeat(150_000)} S`);
  const { text, metadata } = await readFile(await pdf.save(), 'a.pdf');
  expect([text.includes('Small'), metadata['not_read']]).toEqual([true, undefined]);
});

test('a page is read although its compressed content has a wrong checksum', async () => {
  const { pdf, page } = await pageWithCells('');
  const content = deflateSync('BT /F1 12 Tf 50 700 Td (Harbour) Tj ET');
  content.fill(0, content.length - 4);
  const damaged = PDFRawStream.of(pdf.context.obj({ Filter: 'FlateDecode' }), content);
  page.node.set(PDFName.of('Contents'), pdf.context.register(damaged));
  expect((await readFile(await pdf.save(), 'a.pdf')).text).toBe('Harbour');
});

test('loading PDF.js does not replace built-in functions by slower ones', async () => {
  await drawingOf((await pageWithCells('')).pdf);
  const current: unknown[] = [Array.prototype.push, JSON.parse, JSON.stringify];
  expect(current.map((own, nth) => own === BUILT_IN[nth])).toEqual([true, true, true]);
});
