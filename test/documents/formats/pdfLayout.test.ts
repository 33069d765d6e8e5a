import { PDFDocument, PDFName, PDFString, StandardFonts } from 'pdf-lib';
import { describe, expect, test } from '@jest/globals';

import { openPdf, type PdfUse } from '../../../documents/parsers/pdf/pdfjs/openPdf.js';
import { parseDocument } from '../../../documents/registry.js';
import { LIMITS } from '../page.js';
import { faultOfFile, processFile, readFile, upload } from '../readFile.js';
import { makePdf } from './makePdf.js';

const SENTENCE = 'The harbour was built by the town in 1874, and it has been widened twice since then.';

/** Draws cells at fixed places, row by row. */
function drawCells(
  pdf: PDFKit.PDFDocument,
  rows: readonly (readonly string[])[],
  xs: readonly number[],
  top: number,
  step = 18,
): void {
  for (const [nth, row] of rows.entries())
    for (const [column, text] of row.entries())
      if (text !== '') pdf.text(text, xs[column] ?? 0, top + nth * step, { lineBreak: false });
}

describe('form fields and comments', () => {
  test('are read with their labels, and placed on their page', async () => {
    const pdf = await PDFDocument.create();
    const page = pdf.addPage([600, 800]);
    page.drawText('Application for a berth', {
      x: 50,
      y: 750,
      size: 12,
      font: await pdf.embedFont(StandardFonts.Helvetica),
    });
    const form = pdf.getForm();
    const name = form.createTextField('applicant.name');
    name.setText('Anna Keller');
    name.addToPage(page, { x: 50, y: 600, width: 200, height: 20 });
    for (const [row, y] of [
      ['row1', 460],
      ['row2', 440],
    ] as const) {
      const amount = form.createTextField(`${row}.amount`);
      amount.setText('5');
      // The second place of the same field is not read again.
      for (const x of [50, 100]) amount.addToPage(page, { x, y, width: 40, height: 15 });
    }
    form.createTextField('empty').addToPage(page, { x: 50, y: 570, width: 200, height: 20 });
    const power = form.createCheckBox('Shore power');
    power.addToPage(page, { x: 50, y: 550, width: 10, height: 10 });
    power.check();
    form.createCheckBox('Crane').addToPage(page, { x: 50, y: 530, width: 10, height: 10 });
    const quay = form.createRadioGroup('quay');
    quay.addOptionToPage('north', page, { x: 50, y: 510, width: 10, height: 10 });
    quay.addOptionToPage('south', page, { x: 80, y: 510, width: 10, height: 10 });
    // The PDF names the options by their index.
    quay.select('south');
    const months = form.createDropdown('Months');
    months.addOptions(['three', 'six']);
    months.select('six');
    months.addToPage(page, { x: 50, y: 480, width: 100, height: 20 });
    const comment = pdf.context.obj({
      Type: 'Annot',
      Subtype: 'Text',
      Rect: [300, 700, 320, 720],
      Contents: PDFString.of('Ask the treasurer'),
      T: PDFString.of('Bo'),
    });
    page.node.set(
      PDFName.of('Annots'),
      pdf.context.obj([...(page.node.Annots()?.asArray() ?? []), pdf.context.register(comment)]),
    );
    const bytes = await pdf.save();
    const { text, pages } = await readFile(bytes, 'form.pdf');
    expect(text).toBe(
      [
        'Application for a berth',
        '',
        'name: Anna Keller\namount: 5\namount: 5\nShore power: checked\nCrane: not checked\nquay: 1\nMonths: six',
        '',
        'Comment by Bo: Ask the treasurer',
      ].join('\n'),
    );
    // PDF.js gives the symbol of a comment 22 points.
    const lineOf = (part: string) => pages?.[0]?.lines.find(({ start, end }) => text.slice(start, end) === part);
    expect(lineOf('name: Anna Keller')).toMatchObject({ x1: 49.5, x2: 250.5, y1: 179.5, y2: 200.5 });
    expect(lineOf('Comment by Bo: Ask the treasurer')).toMatchObject({ x1: 300, x2: 322, y1: 80, y2: 102 });
    const { cuts } = await processFile(bytes, 'form.pdf', { setPageAsBoundary: true });
    expect(cuts[0]?.metadata).toMatchObject({ pg_start: 1, x1: 49.5, x2: 322 });
  });

  test('have a space between lines that end with a single carriage return', async () => {
    const pdf = await PDFDocument.create();
    const page = pdf.addPage();
    const field = pdf.getForm().createTextField('Address');
    field.addToPage(page, { x: 50, y: 600, width: 200, height: 60 });
    field.acroField.setValue(PDFString.of('Pier 3\rKinsale\r\rIreland'));
    const comment = pdf.context.obj({ Type: 'Annot', Subtype: 'Text', Rect: [300, 700, 320, 720] });
    comment.set(PDFName.of('Contents'), PDFString.of('Ask\rthe treasurer'));
    page.node.set(
      PDFName.of('Annots'),
      pdf.context.obj([...(page.node.Annots()?.asArray() ?? []), pdf.context.register(comment)]),
    );
    const { text } = await readFile(await pdf.save({ updateFieldAppearances: false }), 'a.pdf');
    expect(text).toBe('Address: Pier 3 Kinsale Ireland\n\nComment: Ask the treasurer');
  });

  test('on a page without typed text do not prevent OCR of the page', async () => {
    const pdf = await PDFDocument.create();
    const field = pdf.getForm().createTextField('Name');
    field.setText('Anna');
    field.addToPage(pdf.addPage(), { x: 50, y: 600, width: 200, height: 20 });
    const { text, pagesWithoutText, metadata } = await readFile(await pdf.save(), 'a.pdf');
    expect([text, pagesWithoutText, metadata['not_read']]).toEqual(['Name: Anna', [1], { pages_without_text: 1 }]);
  });
});

describe('tables', () => {
  const ROWS = [
    ['Boat', 'Fee', 'Remark'],
    ['Small', '10', 'below eight metres'],
    ['Large', '25', ''],
  ];
  const MARKDOWN =
    '| Boat | Fee | Remark |\n| --- | --- | --- |\n| Small | 10 | below eight metres |\n| Large | 25 | |';

  test('are found by the alignment of their cells, between paragraphs', async () => {
    const bytes = await makePdf((pdf) => {
      pdf.fontSize(11).text(SENTENCE, 72, 72);
      drawCells(pdf, ROWS, [72, 200, 300], 150);
      pdf.text(SENTENCE, 72, 260);
    });
    expect((await readFile(bytes, 'a.pdf')).text).toBe(`${SENTENCE}\n\n${MARKDOWN}\n\n${SENTENCE}`);
    const withFoundTables = await parseDocument({ ...upload(bytes, 'a.pdf'), findTables: true }, LIMITS);
    expect(withFoundTables.text).toContain(
      '\n\nBoat: Small, Fee: 10, Remark: below eight metres\nBoat: Large, Fee: 25\n\n',
    );
    expect(withFoundTables.tables).toHaveLength(1);
  });

  test('are found by the lines around their cells, with long texts and merged cells', async () => {
    const long = 'Boats of this size pay for the nights they stay, and for power.';
    const bytes = await makePdf((pdf) => {
      pdf.fontSize(11);
      for (const y of [100, 130, 180, 230]) pdf.moveTo(70, y).lineTo(400, y).stroke();
      for (const x of [70, 400]) pdf.moveTo(x, 100).lineTo(x, 230).stroke();
      pdf.moveTo(150, 130).lineTo(150, 230).stroke().moveTo(280, 130).lineTo(280, 230).stroke();
      pdf.text('Fees', 75, 105);
      pdf.text('Small', 75, 135).text(long, 155, 135, { width: 120 }).text('10', 285, 135);
      pdf.text('Large', 75, 185).text('Twice as much.', 155, 185, { width: 120 }).text('25', 285, 185);
    });
    expect((await readFile(bytes, 'a.pdf')).text).toBe(
      `| Fees | | |\n| --- | --- | --- |\n| Small | ${long} | 10 |\n| Large | Twice as much. | 25 |`,
    );
  });

  test('are not detected in columns of prose, which are read one after the other', async () => {
    const words = (side: string): string[] =>
      Array.from({ length: 12 }, (_, nth) => `${side} line ${nth} tells how the quay was built and`);
    const [left, right] = [words('Left'), words('Right')];
    const byRow = await makePdf((pdf) => {
      pdf.fontSize(9);
      drawCells(
        pdf,
        left.map((text, nth) => [text, right[nth] ?? '']),
        [60, 320],
        100,
        12,
      );
    });
    expect((await readFile(byRow, 'a.pdf')).text.replaceAll('\n', ' ')).toBe(
      [...left, ...right].join(' ').replace(' Right line 0', '  Right line 0'),
    );
    const byColumn = await makePdf((pdf) => {
      pdf.fontSize(9);
      drawCells(
        pdf,
        left.map((text) => [text]),
        [60],
        100,
        12,
      );
      drawCells(
        pdf,
        right.map((text) => [text]),
        [320],
        100,
        12,
      );
    });
    expect((await readFile(byColumn, 'a.pdf')).text).not.toContain('|');
  });
});

test('treats bold lines and titles of the outline as headings', async () => {
  const bytes = await makePdf((pdf) => {
    pdf.outline.addItem('Fees of the harbour');
    pdf.fontSize(11).font('Helvetica-Bold').text('Traffic', 72, 72);
    pdf.font('Helvetica').text(SENTENCE).moveDown(2).text('Fees of the harbour').moveDown(2).text(SENTENCE);
    pdf.font('Helvetica-Bold').text('This sentence is bold, but it is no heading.').font('Helvetica').text(SENTENCE);
  });
  const { text } = await readFile(bytes, 'a.pdf');
  expect(text.match(/^#.*$/gm)).toEqual(['# Traffic', '## Fees of the harbour']);
});

test('keeps running headers and footers as metadata only', async () => {
  const bytes = await makePdf((pdf) => {
    pdf.fontSize(10);
    for (const nth of [1, 2, 3]) {
      if (nth > 1) pdf.addPage();
      pdf.text('Harbour report', 72, 40, { lineBreak: false });
      pdf.text(`Page ${nth} of 3`, 280, 710, { lineBreak: false });
      pdf.text(`Part ${nth}: ${SENTENCE}`, 72, 150);
    }
  });
  const { text, metadata } = await readFile(bytes, 'a.pdf');
  expect(text).toBe([1, 2, 3].map((nth) => `Part ${nth}: ${SENTENCE}`).join('\n\n'));
  expect(metadata).toMatchObject({ page_headers: ['Harbour report'], page_footers: ['Page 1 of 3'] });
});

test('compares the text without headers and footers with MAX_TEXT_CHARACTERS', async () => {
  const pagesOf = (count: number) => Array.from({ length: count }, (_, nth) => `Part ${nth + 1}: ${SENTENCE}`);
  const bytes = await makePdf((pdf) => {
    pdf.fontSize(10);
    for (const [nth, part] of pagesOf(6).entries()) {
      if (nth > 0) pdf.addPage();
      pdf.text('Harbour report', 72, 40, { lineBreak: false });
      pdf.text(`Page ${nth + 1} of 6`, 280, 710, { lineBreak: false });
      pdf.text(part, 72, 150);
    }
  });
  const all = pagesOf(6).join('\n\n');
  expect((await readFile(bytes, 'a.pdf', { maxTextCharacters: all.length })).text).toBe(all);
  const maxTextCharacters = pagesOf(5).join('\n\n').length;
  expect(await faultOfFile(bytes, 'a.pdf', { maxTextCharacters })).toMatch(/^too_large: .*MAX_TEXT_CHARACTERS/);
});

test('reports encryption with a certificate', async () => {
  const pdf = await PDFDocument.create();
  pdf.addPage();
  pdf.context.trailerInfo.Encrypt = pdf.context.register(
    pdf.context.obj({ Filter: 'Adobe.PubSec', SubFilter: 'adbe.pkcs7.s5', V: 4, R: 4 }),
  );
  pdf.context.trailerInfo.ID = pdf.context.obj([PDFString.of('aaaaaaaaaaaaaaaa'), PDFString.of('aaaaaaaaaaaaaaaa')]);
  expect(await faultOfFile(await pdf.save({ useObjectStreams: false }), 'a.pdf')).toMatch(/^encrypted: .*certificate/);
});

test('reads a PDF without its file header', async () => {
  const bytes = Buffer.from(await makePdf((pdf) => pdf.text(SENTENCE)));
  bytes.fill(' ', 0, bytes.indexOf('7 0 obj'));
  expect((await readFile(Uint8Array.from(bytes), 'a.pdf')).text).toBe(SENTENCE);
});

test('outlines of glyphs are computed to draw a page, not to read it', async () => {
  const bytes = await makePdf((pdf) => pdf.font('/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf').text('Harbour'));
  const outlines = async (use: PdfUse): Promise<number> => {
    const task = await openPdf(bytes, use);
    const page = await (await task.promise).getPage(1);
    await page.getOperatorList();
    const names = [...(page.commonObjs as Iterable<readonly [name: string, value: unknown]>)].map(([name]) => name);
    await task.destroy();
    return names.filter((name) => name.includes('_path_')).length;
  };
  expect(await outlines('text')).toBe(0);
  expect(await outlines('drawing')).toBeGreaterThan(0);
});

test('returns the ordinary letters of Arabic text in presentation forms', async () => {
  const forms = '\ufee3\ufeae\ufea3\ufe92\ufe8e';
  const { text } = await readFile(
    await makePdf((pdf) => {
      pdf.font('/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf').text(forms);
    }),
    'a.pdf',
  );
  expect(text).toBe('مرحبا');
});

test('restores the order of lam and alef after an alef, if the font draws both with one glyph', async () => {
  const words = ['الاسم', 'الأول', 'الإدارة', 'الآن'];
  for (const word of words) {
    const bytes = await makePdf((pdf) => {
      pdf.font('/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf').text(word);
    });
    expect((await readFile(bytes, 'a.pdf')).text).toBe(word);
  }
});
