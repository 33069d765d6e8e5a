import { PDFDocument, StandardFonts } from 'pdf-lib';
import { describe, expect, test } from '@jest/globals';
import { parseDocument } from '../../../documents/registry.js';
import { drawPicture } from '../../support/pictures.js';
import { LIMITS } from '../page.js';
import { chunksOfFile, faultOfFile, processFile, readFile, upload } from '../readFile.js';
import { makePdf } from './makePdf.js';

const SENTENCE = 'The harbour was built by the town in 1874, and it has been widened twice since then.';

test('headings, paragraphs without their line ends, divided words, and what the file states about itself', async () => {
  const bytes = await makePdf(
    (pdf) => {
      pdf.fontSize(24).text('Harbour rules').moveDown();
      pdf.fontSize(16).text('Mooring').moveDown();
      pdf.fontSize(12).text(`${SENTENCE} It is the larg-\nest of the coast, and the oldest.`).moveDown();
      pdf.text('Boats moor where the harbour master says.');
    },
    { Title: 'Rules', Author: 'Anna Keller', CreationDate: new Date('2024-03-01T12:00:00Z') },
  );
  const document = await readFile(bytes, 'rules.pdf');
  expect(document.text).toBe(
    `# Harbour rules\n\n## Mooring\n\n${SENTENCE} It is the largest of the coast, and the oldest.\n\nBoats moor where the harbour master says.`,
  );
  expect(document).toMatchObject({
    format: 'PDF',
    mimeType: 'application/pdf',
    sourceCreatedAt: '2024-03-01T12:00:00.000Z',
    metadata: { title: 'Rules', author: 'Anna Keller', pages: 1, created: '2024-03-01T12:00:00.000Z' },
  });
});

test('lists keep their lines, and columns of a table their gaps', async () => {
  const bytes = await makePdf((pdf) => {
    pdf.fontSize(12).text('- Rope\n- Anchor\n- Two fenders').moveDown(2);
    for (const [nth, row] of [
      ['Boat', 'Fee'],
      ['Small', '10'],
      ['Large', '25'],
    ].entries()) {
      pdf.text(row[0] ?? '', 72, 200 + nth * 15, { lineBreak: false });
      pdf.text(row[1] ?? '', 200, 200 + nth * 15, { lineBreak: false });
    }
  });
  const { text } = await readFile(bytes, 'list.pdf');
  expect(text).toMatch(/^- Rope\n- Anchor\n- Two fenders/);
  expect(text.replaceAll('\n', ' ')).toMatch(/Boat Fee Small 10 Large 25$/);
});

const threePages = async (): Promise<Uint8Array> => {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  for (const lines of [['First page, first line.', 'First page, second line.'], [], ['Third page.']]) {
    const page = pdf.addPage([600, 800]);
    lines.forEach((line, nth) => page.drawText(line, { x: 50, y: 700 - nth * 200, size: 10, font }));
  }
  return pdf.save();
};

test('pages are told, and which of them have no text', async () => {
  const { text, pages, pagesWithoutText, metadata } = await readFile(await threePages(), 'three.pdf');
  expect(text).toBe('First page, first line.\n\nFirst page, second line.\n\nThird page.');
  expect(pages?.map(({ number, start, end }) => [number, text.slice(start, end)])).toEqual([
    [1, 'First page, first line.\n\nFirst page, second line.'],
    [2, ''],
    [3, 'Third page.'],
  ]);
  expect(pagesWithoutText).toEqual([2]);
  expect(metadata['pages']).toBe(3);
});

test('with pages as boundaries no chunk spans two, and each tells where it lies', async () => {
  const bytes = await threePages();
  expect(await chunksOfFile(bytes, 'three.pdf')).toEqual([
    'First page, first line.\n\nFirst page, second line.\n\nThird page.',
  ]);
  const { texts, cuts } = await processFile(bytes, 'three.pdf', { setPageAsBoundary: true });
  expect(texts).toEqual(['First page, first line.\n\nFirst page, second line.', 'Third page.']);
  // From the upper left corner: 800 - 700 - 8 points of ascent, to 800 - 500 + 2 of descent.
  expect(cuts[0]?.metadata).toEqual({ pg_start: 1, pg_end: 1, x1: 50, x2: expect.any(Number), y1: 92, y2: 302 });
  expect(cuts[1]?.metadata).toMatchObject({ pg_start: 3, pg_end: 3, x1: 50, y1: 92, y2: 102 });
  const small = await processFile(bytes, 'three.pdf', { setPageAsBoundary: true, chunkSize: 6, chunkOverlap: 0 });
  expect(small.cuts.map(({ metadata }) => [metadata?.['pg_start'], metadata?.['y1']])).toEqual([
    [1, 92],
    [1, 292],
    [3, 92],
  ]);
});

test('without it chunks say nothing of pages', async () => {
  const { cuts } = await processFile(await threePages(), 'three.pdf');
  expect(cuts.every(({ metadata }) => metadata === undefined)).toBe(true);
});

test('what was recognized of a page takes its place', async () => {
  const line = { text: 'Read from a scan.', x1: 10, y1: 20, x2: 100, y2: 30 };
  const input = {
    ...upload(await threePages(), 'three.pdf'),
    recognizedPages: [{ number: 2, paragraphs: [{ lines: [line] }] }],
  };
  const { text, pagesWithoutText } = await parseDocument(input, LIMITS);
  expect(text).toBe('First page, first line.\n\nFirst page, second line.\n\nRead from a scan.\n\nThird page.');
  expect(pagesWithoutText).toBeUndefined();
});

test('an encrypted, a broken, an empty and a wrongly named file each say so', async () => {
  const locked = await makePdf((pdf) => pdf.text('Secret'), {}, { userPassword: 'x', ownerPassword: 'y' });
  expect(await faultOfFile(locked, 'a.pdf')).toMatch(/^encrypted: .*password/);
  const printable = await makePdf((pdf) => pdf.text('To be read'), {}, { ownerPassword: 'y' });
  expect((await readFile(printable, 'a.pdf')).text).toBe('To be read');
  expect(await faultOfFile('%PDF-1.7\nnothing of a PDF', 'a.pdf')).toMatch(/^broken_content: .*again/);
  expect(await faultOfFile(await makePdf(() => undefined), 'a.pdf')).toMatch(/^no_text: .*use_ocr/);
  const named = await readFile(await threePages(), 'three.docx');
  expect([named.format, named.metadata['named_as']]).toEqual(['PDF', 'DOCX']);
});

test('more pages or text than are read end with the name of the setting', async () => {
  const bytes = await threePages();
  expect(await faultOfFile(bytes, 'a.pdf', { maxPages: 2 })).toMatch(/^too_large: .*3 pages.*MAX_DOCUMENT_PAGES: 2/);
  expect(await faultOfFile(bytes, 'a.pdf', { maxTextCharacters: 20 })).toMatch(/^too_large: .*MAX_TEXT_CHARACTERS/);
});

describe('a page whose picture covers it', () => {
  const picture = Buffer.from(drawPicture(['The lighthouse was lit in 1901.'], { type: 'jpeg' }));
  const pagesFor = async (words: string, width: number, beforeOcr = true): Promise<readonly number[] | undefined> => {
    const pdf = await makePdf((page) => {
      page.text('Words that are typed.').addPage({ size: [600, 350] });
      page.image(picture, 0, 0, { width });
      page.text(words, 20, 200);
    });
    return (await parseDocument({ ...upload(pdf, 'a.pdf'), beforeOcr }, LIMITS)).pagesWithoutText;
  };
  const stamp = 'Received 12 March 2024, page 2 of 9';
  test.each([
    ['is a scan with a stamp for OCR', stamp, 600, true, [2]],
    ['is as it is typed without OCR', stamp, 600, false, undefined],
    ['is as it is typed where the picture is a figure', stamp, 200, true, undefined],
    ['is as it is typed with more than a stamp', `${stamp} `.repeat(4), 600, true, undefined],
  ])('%s', async (_what, words, width, beforeOcr, pages) => {
    expect(await pagesFor(words, width, beforeOcr)).toEqual(pages);
  });
  test('keeps its typed words where OCR finds none', async () => {
    const pdf = await makePdf((page) => page.text(stamp));
    const read = { ...upload(pdf, 'a.pdf'), recognizedPages: [{ number: 1, paragraphs: [] }] };
    expect((await parseDocument(read, LIMITS)).text).toBe(stamp);
  });
});
