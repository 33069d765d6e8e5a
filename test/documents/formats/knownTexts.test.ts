import ExcelJS from 'exceljs';
import { strToU8 } from 'fflate';
import { PDFDocument, PDFName, PDFString } from 'pdf-lib';
import { expect, test } from '@jest/globals';

import { everyRow } from '../../support/everyRow.js';
import { readFile } from '../readFile.js';
import { epubFile } from './epubFile.js';
import { makePdf } from './makePdf.js';
import { flatFile, odfFile } from './odfFile.js';
import { officeFile } from './officeFile.js';
import { verticalPdf } from './verticalPdf.js';

/**
 * Documents with known text: forms, comments, merged cells, columns, text from right to left and from top to bottom.
 * Scans are in test/system/contents/ocrLanguages.test.ts.
 */
interface KnownText {
  readonly what: string;
  readonly name: string;
  readonly make: () => Uint8Array | string | Promise<Uint8Array>;
  /**
   * All words in reading order, with the labels that the reader adds. A cell that covers a whole row is not repeated.
   */
  readonly words: string;
}

const LEFT = 'The quay was built in 1874 of grey stone from the hills above the town and widened twice since then';
const MIDDLE = 'A pilot must come aboard before any large vessel may pass the outer lights on stormy winter nights';
const RIGHT = 'Fees are paid at noon to the master who keeps every berth and writes all names into one book';
const ARABIC = 'افتتح مكتب الميناء في الصيف ثم أعيد بناؤه مرتين';
const JAPANESE = ['港の事務所は千九百一年に開かれた', 'その後二回建て直された'];
const ARABIC_FONT = '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf';

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const word = (body: string, comments?: string): Uint8Array =>
  officeFile(
    'word/document.xml',
    `<w:document ${W}><w:body>${body}</w:body></w:document>`,
    comments === undefined
      ? {}
      : {
          'word/_rels/document.xml.rels': strToU8(
            `<Relationships><Relationship Id="c" Type="${R}/comments" Target="comments.xml"/></Relationships>`,
          ),
          'word/comments.xml': strToU8(`<w:comments ${W}>${comments}</w:comments>`),
        },
  );
const run = (text: string, properties = ''): string =>
  `<w:r>${properties === '' ? '' : `<w:rPr>${properties}</w:rPr>`}<w:t xml:space="preserve">${text}</w:t></w:r>`;
const line = (text: string, properties = ''): string =>
  `<w:p>${properties === '' ? '' : `<w:pPr>${properties}</w:pPr>`}${run(text)}</w:p>`;
const wordCell = (text: string, properties = ''): string =>
  `<w:tc><w:tcPr>${properties}</w:tcPr>${text === '' ? '<w:p/>' : line(text)}</w:tc>`;
const odfCell = (text: string, attributes = ''): string =>
  `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`;
const odfRow = (...cells: readonly string[]): string => `<table:table-row>${cells.join('')}</table:table-row>`;

async function pdfForm(): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  const page = pdf.addPage([400, 400]);
  page.drawText('Application', { x: 40, y: 360, size: 18 });
  const form = pdf.getForm();
  const [boat, port, insured] = [
    form.createTextField('boat'),
    form.createDropdown('port'),
    form.createCheckBox('insured'),
  ];
  boat.setText('Ada Marie');
  boat.addToPage(page, { x: 40, y: 300, width: 200, height: 20 });
  port.setOptions(['Kiel', 'Hamburg']);
  port.select('Hamburg');
  port.addToPage(page, { x: 40, y: 260, width: 200, height: 20 });
  insured.addToPage(page, { x: 40, y: 220, width: 20, height: 20 });
  insured.check();
  const chosen = form.createRadioGroup('season');
  chosen.addOptionToPage('summer', page, { x: 40, y: 180, width: 20, height: 20 });
  chosen.addOptionToPage('winter', page, { x: 80, y: 180, width: 20, height: 20 });
  chosen.select('winter');
  return pdf.save();
}

async function pdfComments(): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  const page = pdf.addPage([400, 400]);
  page.drawText('The depth is four metres.', { x: 40, y: 360, size: 12 });
  const annotation = (subtype: string, contents: string, y: number): unknown =>
    pdf.context.register(
      pdf.context.obj({
        Type: 'Annot',
        Subtype: subtype,
        Rect: [40, y, 140, y + 20],
        QuadPoints: [40, y + 20, 140, y + 20, 40, y, 140, y],
        Contents: PDFString.of(contents),
        T: PDFString.of('Anna'),
      }),
    );
  page.node.set(
    PDFName.of('Annots'),
    pdf.context.obj([annotation('Text', 'Measured when?', 300), annotation('Highlight', 'Check this', 350)] as never),
  );
  return pdf.save();
}

const pdfColumns = (): Promise<Uint8Array> =>
  makePdf((pdf) => {
    pdf.fontSize(10);
    for (const [nth, text] of [LEFT, MIDDLE, RIGHT].entries())
      pdf.text(`${text}. ${text}. ${text}.`, 60 + nth * 170, 80, { width: 150 });
  });

/** PDFKit shapes Arabic words, but writes them from left to right, so each word is placed separately. */
const pdfArabic = (): Promise<Uint8Array> =>
  makePdf((pdf) => {
    pdf.font(ARABIC_FONT).fontSize(14);
    let x = 500;
    for (const text of ARABIC.split(' ')) {
      x -= pdf.widthOfString(text);
      pdf.text(text, x, 100, { lineBreak: false });
      x -= pdf.widthOfString(' ');
    }
  });

const pdfMerged = (): Promise<Uint8Array> =>
  makePdf((pdf) => {
    pdf.fontSize(10);
    for (const y of [100, 120, 140, 160]) pdf.moveTo(60, y).lineTo(360, y).stroke();
    for (const x of [60, 360]) pdf.moveTo(x, 100).lineTo(x, 160).stroke();
    for (const x of [160, 260]) pdf.moveTo(x, 120).lineTo(x, 160).stroke();
    const cells = [
      ['Fees', 65, 105],
      ['Boat', 65, 125],
      ['Night', 165, 125],
      ['Year', 265, 125],
      ['Small', 65, 145],
      ['10', 165, 145],
      ['1200', 265, 145],
    ] as const;
    for (const [text, x, y] of cells) pdf.text(text, x, y, { lineBreak: false });
  });

async function sheet(fill: (page: ExcelJS.Worksheet) => void): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook();
  fill(book.addWorksheet('Berths'));
  return new Uint8Array(await book.xlsx.writeBuffer());
}

const slide = (shape: string): Uint8Array =>
  officeFile(
    'ppt/presentation.xml',
    `<p:presentation xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="${R}"><p:sldIdLst><p:sldId id="256" r:id="s"/></p:sldIdLst></p:presentation>`,
    {
      'ppt/_rels/presentation.xml.rels': strToU8(
        `<Relationships><Relationship Id="s" Type="${R}/slide" Target="slides/slide1.xml"/></Relationships>`,
      ),
      'ppt/slides/slide1.xml': strToU8(
        `<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><p:cSld><p:spTree>${shape}</p:spTree></p:cSld></p:sld>`,
      ),
    },
  );
const box = (texts: readonly string[], body = ''): string =>
  `<p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:txBody><a:bodyPr ${body}/>${texts.map((text) => `<a:p><a:r><a:t>${text}</a:t></a:r></a:p>`).join('')}</p:txBody></p:sp>`;
const slideCell = (text: string, attributes = ''): string =>
  `<a:tc ${attributes}><a:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></a:txBody></a:tc>`;

const DOCUMENTS: readonly KnownText[] = [
  {
    what: 'form',
    name: 'a.pdf',
    make: pdfForm,
    // PDF.js does not return the export values of buttons (Opt), so the name of the state, 1, is read instead of
    // "winter".
    words: 'Application boat Ada Marie port Hamburg insured checked season 1',
  },
  {
    what: 'comments',
    name: 'a.pdf',
    make: pdfComments,
    words: 'The depth is four metres Comment by Anna Measured when Comment by Anna Check this',
  },
  {
    what: 'three columns',
    name: 'a.pdf',
    make: pdfColumns,
    words: [LEFT, MIDDLE, RIGHT].map((text) => `${text} ${text} ${text}`).join(' '),
  },
  {
    what: 'merged cells',
    name: 'a.pdf',
    make: pdfMerged,
    words: 'Fees Boat Night Year Small 10 1200',
  },
  {
    what: 'Arabic',
    name: 'a.pdf',
    make: pdfArabic,
    words: ARABIC,
  },
  { what: 'vertical Japanese', name: 'a.pdf', make: () => verticalPdf(JAPANESE), words: JAPANESE.join(' ') },
  {
    what: 'form',
    name: 'a.docx',
    make: () =>
      word(
        `<w:p>${run('Boat: ')}<w:sdt><w:sdtPr><w:text/></w:sdtPr><w:sdtContent>${run('Ada Marie')}</w:sdtContent></w:sdt></w:p>` +
          `<w:p>${run('Port: ')}<w:sdt><w:sdtPr><w:dropDownList><w:listItem w:displayText="Kiel"/><w:listItem w:displayText="Hamburg"/></w:dropDownList></w:sdtPr><w:sdtContent>${run('Hamburg')}</w:sdtContent></w:sdt></w:p>`,
      ),
    words: 'Boat Ada Marie Port Hamburg',
  },
  {
    what: 'comments',
    name: 'a.docx',
    make: () =>
      word(
        `<w:p>${run('The ')}<w:commentRangeStart w:id="1"/>${run('depth')}<w:commentRangeEnd w:id="1"/>${run(' is four metres.')}</w:p>`,
        `<w:comment w:id="1" w:author="Anna">${line('Measured when?')}</w:comment>`,
      ),
    words: 'The depth is four metres Comment by Anna on depth Measured when',
  },
  {
    what: 'merged cells',
    name: 'a.docx',
    make: () =>
      word(
        `<w:tbl><w:tr>${wordCell('Boat', '<w:vMerge w:val="restart"/>')}${wordCell('Fee', '<w:gridSpan w:val="2"/>')}</w:tr><w:tr>${wordCell('', '<w:vMerge/>')}${wordCell('Night')}${wordCell('Year')}</w:tr></w:tbl>`,
      ),
    words: 'Boat Fee Fee Boat Night Year',
  },
  {
    what: 'three columns',
    name: 'a.docx',
    make: () => word(`${line(LEFT)}${line(MIDDLE)}${line(RIGHT)}<w:sectPr><w:cols w:num="3"/></w:sectPr>`),
    words: `${LEFT} ${MIDDLE} ${RIGHT}`,
  },
  {
    what: 'Arabic in two runs',
    name: 'a.docx',
    make: () =>
      word(
        `<w:p><w:pPr><w:bidi/></w:pPr>${run(ARABIC.slice(0, 20), '<w:rtl/>')}${run(ARABIC.slice(20), '<w:rtl/>')}</w:p>`,
      ),
    words: ARABIC,
  },
  {
    what: 'vertical Japanese',
    name: 'a.docx',
    make: () =>
      word(`${JAPANESE.map((text) => line(text)).join('')}<w:sectPr><w:textDirection w:val="tbRl"/></w:sectPr>`),
    words: JAPANESE.join(' '),
  },
  {
    what: 'merged cells and comments',
    name: 'a.xlsx',
    make: () =>
      sheet((page) => {
        page.addRow(['Boat', 'Fee', 'Paid']);
        page.addRow(['Ada', 10, 'yes']);
        page.addRow(['Marie', 12, 'no']);
        page.mergeCells('C2:C3');
        page.getCell('B3').note = 'Too low';
      }),
    words: 'Berths Boat Ada Fee 10 Paid yes Boat Marie Fee 12 Paid yes Comment by Author on B3 Too low',
  },
  {
    what: 'Arabic',
    name: 'a.xlsx',
    make: () =>
      sheet((page) => {
        page.views = [{ rightToLeft: true }];
        page.addRow([ARABIC]);
      }),
    words: `Berths ${ARABIC}`,
  },
  {
    what: 'merged cells',
    name: 'a.pptx',
    make: () =>
      slide(
        `<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tr>${slideCell('Fees', 'gridSpan="2"')}${slideCell('', 'hMerge="1"')}</a:tr><a:tr>${slideCell('Boat')}${slideCell('12')}</a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`,
      ),
    words: 'Slide 1 Fees Boat 12',
  },
  {
    what: 'vertical Japanese',
    name: 'a.pptx',
    make: () => slide(box(JAPANESE, 'vert="eaVert"')),
    words: `Slide 1 ${JAPANESE.join(' ')}`,
  },
  {
    what: 'merged cells and comments',
    name: 'a.odt',
    make: () =>
      odfFile('text', {
        body: `<table:table>${odfRow(odfCell('Fee', 'table:number-columns-spanned="2"'), '<table:covered-table-cell/>')}${odfRow(odfCell('Night'), odfCell('Year'))}</table:table><text:p>End.<office:annotation><dc:creator>Anna</dc:creator><text:p>Why?</text:p></office:annotation></text:p>`,
      }),
    words: 'Fee Night Year End Comment by Anna Why',
  },
  {
    what: 'Arabic and comments',
    name: 'a.fods',
    make: () =>
      flatFile('spreadsheet', {
        body: `<table:table table:name="Sheet1">${odfRow(odfCell(ARABIC))}${odfRow('<table:table-cell><office:annotation><dc:creator>Anna</dc:creator><text:p>Why?</text:p></office:annotation><text:p>Ada</text:p></table:table-cell>')}</table:table>`,
      }),
    words: `${ARABIC} Ada Comment by Anna on A2 Why`,
  },
  {
    what: 'Arabic and vertical Japanese',
    name: 'a.epub',
    make: () =>
      epubFile({
        pages: [
          { href: 'a.xhtml', body: `<p dir="rtl">${ARABIC}</p>` },
          { href: 'b.xhtml', body: `<p style="writing-mode: vertical-rl">${JAPANESE.join('<br/>')}</p>` },
        ],
      }),
    words: `${ARABIC} ${JAPANESE.join(' ')}`,
  },
  {
    what: 'Arabic in three columns',
    name: 'a.rtf',
    make: () =>
      `{\\rtf1\\ansi\\cols3\\rtlpar ${[...ARABIC].map((character) => `\\u${character.charCodeAt(0)}?`).join('')}\\par}`,
    words: ARABIC,
  },
];

const wordsIn = (text: string): string[] => text.normalize('NFKC').match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];

test('finds every word of a known text in its order, and no other', () =>
  everyRow(
    DOCUMENTS,
    ({ what, name }) => `${what}: ${name}`,
    async ({ name, make, words }) => {
      const { text } = await readFile(await make(), name);
      expect(wordsIn(text)).toEqual(wordsIn(words));
    },
  ));
