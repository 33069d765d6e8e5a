import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PDFDocument, StandardFonts } from 'pdf-lib';
import { describe, expect, test } from '@jest/globals';
import { parseDocument } from '../../../documents/registry.js';
import { drawPicture } from '../../support/pictures.js';
import { LIMITS } from '../page.js';
import { chunksOfFile, faultOfFile, processFile, readFile, upload } from '../readFile.js';
import { makePdf } from './makePdf.js';

const SENTENCE = 'The harbour was built by the town in 1874, and it has been widened twice since then.';

test('reads headings and metadata, and joins lines and hyphenated words', async () => {
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

test('keeps the lines of a list, and writes aligned columns as a table', async () => {
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
  expect(text).toMatch(/\n\n\| Boat \| Fee \|\n\| --- \| --- \|\n\| Small \| 10 \|\n\| Large \| 25 \|$/);
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

test('returns the pages, and which of them have no text', async () => {
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

test('places each chunk on one page, with its box, if pages are boundaries', async () => {
  const bytes = await threePages();
  expect(await chunksOfFile(bytes, 'three.pdf')).toEqual([
    'First page, first line.\n\nFirst page, second line.\n\nThird page.',
  ]);
  const { texts, cuts } = await processFile(bytes, 'three.pdf', { setPageAsBoundary: true });
  expect(texts).toEqual(['First page, first line.\n\nFirst page, second line.', 'Third page.']);
  // Points from the upper left corner: 800 - 700 - 8 (ascent), and 800 - 500 + 2 (descent).
  const box = { x1: 50, x2: expect.any(Number), y1: 92, y2: 302 };
  expect(cuts[0]?.metadata).toEqual({ pg_start: 1, pg_end: 1, ...box, boxes: [{ page: 1, ...box }] });
  expect(cuts[1]?.metadata).toMatchObject({ pg_start: 3, pg_end: 3, x1: 50, y1: 92, y2: 102 });
  const small = await processFile(bytes, 'three.pdf', { setPageAsBoundary: true, chunkSize: 6, chunkOverlap: 0 });
  expect(small.cuts.map(({ metadata }) => [metadata?.['pg_start'], metadata?.['y1']])).toEqual([
    [1, 92],
    [1, 292],
    [3, 92],
  ]);
});

test('places a chunk across pages on each of its pages, if pages are not boundaries', async () => {
  const { cuts } = await processFile(await threePages(), 'three.pdf');
  expect(cuts.map(({ metadata }) => metadata)).toEqual([
    {
      ...{ pg_start: 1, pg_end: 3, x1: 50, x2: expect.any(Number), y1: 92, y2: 102 },
      boxes: [
        { page: 1, x1: 50, x2: expect.any(Number), y1: 92, y2: 302 },
        { page: 3, x1: 50, x2: expect.any(Number), y1: 92, y2: 102 },
      ],
    },
  ]);
});

test('uses recognized text as the text of its page', async () => {
  const line = { text: 'Read from a scan.', x1: 10, y1: 20, x2: 100, y2: 30 };
  const input = {
    ...upload(await threePages(), 'three.pdf'),
    recognizedPages: [{ number: 2, paragraphs: [{ lines: [line] }] }],
  };
  const { text, pagesWithoutText } = await parseDocument(input, LIMITS);
  expect(text).toBe('First page, first line.\n\nFirst page, second line.\n\nRead from a scan.\n\nThird page.');
  expect(pagesWithoutText).toBeUndefined();
});

test('reports encrypted, broken and empty files, and the format of a wrongly named one', async () => {
  const locked = await makePdf((pdf) => pdf.text('Secret'), {}, { userPassword: 'x', ownerPassword: 'y' });
  expect(await faultOfFile(locked, 'a.pdf')).toMatch(/^encrypted: .*password/);
  const printable = await makePdf((pdf) => pdf.text('To be read'), {}, { ownerPassword: 'y' });
  expect((await readFile(printable, 'a.pdf')).text).toBe('To be read');
  expect(await faultOfFile('%PDF-1.7\nnothing of a PDF', 'a.pdf')).toMatch(/^broken_content: .*again/);
  expect(await faultOfFile(await makePdf(() => undefined), 'a.pdf')).toMatch(/^no_text: .*use_ocr/);
  const wronglyNamed = await readFile(await threePages(), 'three.docx');
  expect([wronglyNamed.format, wronglyNamed.metadata['named_as']]).toEqual(['PDF', 'DOCX']);
});

test('rejects too many pages or too much text and names the setting', async () => {
  const bytes = await threePages();
  expect(await faultOfFile(bytes, 'a.pdf', { maxPages: 2 })).toMatch(/^too_large: .*3 pages.*MAX_DOCUMENT_PAGES: 2/);
  expect(await faultOfFile(bytes, 'a.pdf', { maxTextCharacters: 20 })).toMatch(/^too_large: .*MAX_TEXT_CHARACTERS/);
});

// With source maps enabled, Node loads the source map of each module. This failed for the worker of PDF.js, which
// loadPdfjs imports from a data URL.
test('loads PDF.js in a process with source maps enabled', async () => {
  const library = new URL('../../../dist/documents/parsers/pdf/pdfjs/loadPdfjs.js', import.meta.url).href;
  const program = `const { loadPdfjs } = await import('${library}'); console.log(typeof (await loadPdfjs()).getDocument);`;
  const options = ['--enable-source-maps', '--input-type=module', '--eval', program];
  expect((await promisify(execFile)(process.execPath, options)).stdout).toBe('function\n');
});

describe('a page covered by a picture', () => {
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
    ['counts as a scan before OCR if its only text is a stamp', stamp, 600, true, [2]],
    ['keeps its text without OCR', stamp, 600, false, undefined],
    ['keeps its text if the picture is only a figure', stamp, 200, true, undefined],
    ['keeps its text if it is longer than a stamp', `${stamp} `.repeat(4), 600, true, undefined],
  ])('%s', async (_what, words, width, beforeOcr, pages) => {
    expect(await pagesFor(words, width, beforeOcr)).toEqual(pages);
  });
  test('keeps its text if OCR recognizes none', async () => {
    // Without a picture: the parser uses the result of OCR, here an empty one, for any page.
    const pdf = await makePdf((page) => page.text(stamp));
    const read = { ...upload(pdf, 'a.pdf'), recognizedPages: [{ number: 1, paragraphs: [] }] };
    expect((await parseDocument(read, LIMITS)).text).toBe(stamp);
  });
});
