import { stringify } from 'csv-stringify/sync';
import { Document, HeadingLevel, Packer, Paragraph } from 'docx';
import ExcelJS from 'exceljs';
import { Marked } from 'marked';
import { createTransport } from 'nodemailer';
import PptxGenJs from 'pptxgenjs';
import { describe, expect, test } from '@jest/globals';

import { processDocument } from '../../../documents/processDocument.js';
import type { ParseInput } from '../../../documents/types.js';
import { LIMITS } from '../page.js';
import { chunksOfFile, upload } from '../readFile.js';
import {
  ARRIVAL,
  FEES,
  guideChunks,
  LAMPS,
  OVERLAP,
  QUAYS,
  ROW_SIZE,
  rowChunks,
  SIZE,
  STORMS,
  TABLE,
} from './guide.js';
import { makeMsg } from './makeMsg.js';
import { makePdf } from './makePdf.js';
import { makeRtf } from './makeRtf.js';
import { wordTable } from './rows/office.js';
import { type Bytes, withMacros } from './rows/row.js';

const SECTIONS = [
  ['Arrival', ARRIVAL],
  ['Storms', STORMS],
] as const;
const PLAIN = SECTIONS.map(([, sentences]) => sentences.join(' ')).join('\n\n');
const MARKDOWN = [
  `# Fees\n\n${TABLE}`,
  ...SECTIONS.map(([title, sentences]) => `# ${title}\n\n${sentences.join(' ')}`),
  `# Lamps\n\n\`\`\`sh\n${LAMPS}\n\`\`\``,
].join('\n\n');

const docx = async (): Promise<Bytes> => {
  const heading = (text: string): Paragraph => new Paragraph({ text, heading: HeadingLevel.HEADING_1 });
  const children = [
    heading('Fees'),
    wordTable(FEES),
    ...SECTIONS.flatMap(([title, sentences]) => [heading(title), new Paragraph(sentences.join(' '))]),
  ];
  return Uint8Array.from(await Packer.toBuffer(new Document({ sections: [{ children }] })));
};

const pdf = async (): Promise<Bytes> =>
  makePdf((drawn) => {
    for (const [title, sentences] of SECTIONS) {
      drawn.fontSize(18).text(title).moveDown();
      drawn.fontSize(11).text(sentences.join(' ')).moveDown();
    }
  });

const eml = async (): Promise<Bytes> => {
  const transport = createTransport({ streamTransport: true, buffer: true });
  const { message } = await transport.sendMail({
    from: 'a@example.org',
    subject: 'Arrival',
    text: PLAIN,
    date: new Date(0),
  });
  return Uint8Array.from(message as Buffer);
};

// In the package's types the class is `PptxGenJs.default`; in Node the import itself is the class.
const Presentation = PptxGenJs as unknown as typeof PptxGenJs.default;
const pptx = async (): Promise<Bytes> => {
  const presentation = new Presentation();
  const master = {
    title: 'M',
    objects: [{ placeholder: { options: { name: 'title', type: 'title', x: 1, y: 0.2, w: 8, h: 1 }, text: '' } }],
  };
  presentation.defineSlideMaster(master as unknown as Parameters<typeof presentation.defineSlideMaster>[0]);
  const add = (title: string) => {
    const slide = presentation.addSlide({ masterName: 'M' });
    slide.addText(title, { placeholder: 'title' });
    return slide;
  };
  add('Fees').addTable(FEES.map((row) => row.map((text) => ({ text }))));
  for (const [title, sentences] of SECTIONS)
    add(title).addText(
      sentences.map((text) => ({ text, options: { bullet: true, breakLine: true } })),
      { x: 1, y: 2, w: 8, h: 4 },
    );
  return (await presentation.write({ outputType: 'uint8array' })) as Uint8Array;
};

const rows = QUAYS.map((row) => [...row]);
const xlsx = async (): Promise<Uint8Array> => {
  const book = new ExcelJS.Workbook();
  book.addWorksheet('Sheet1').addRows(rows);
  return new Uint8Array(await book.xlsx.writeBuffer());
};
const objects = QUAYS.slice(1).map(([place, depth, rule]) => ({ place, depth, rule }));

const NO_STRUCTURE = { headings: false, table: false, code: false };
const FULL_STRUCTURE = { headings: true, table: true, code: true };
/** Chunks of the guide as a message: the subject is the only heading. */
const MAIL = guideChunks(NO_STRUCTURE).with(0, `# Arrival\n\n${ARRIVAL.join(' ')}`);
/**
 * The header lines and the first paragraph do not fit into one chunk: the second chunk begins with the last words of
 * the header.
 */
const MAIL_WITH_HEADERS = [
  '# Arrival\n\nFrom: a@example.org\nDate: 1970-01-01 00:00 UTC',
  `00:00 UTC\n\n${ARRIVAL.join(' ')}`,
  ...MAIL.slice(1),
];

describe('chunks of the guide', () => {
  test.each<readonly [string, string, () => Bytes | Promise<Bytes>, readonly string[]]>([
    ['plain text', 'a.txt', () => PLAIN, guideChunks(NO_STRUCTURE)],
    ['Markdown', 'a.md', () => MARKDOWN, guideChunks(FULL_STRUCTURE)],
    [
      'HTML',
      'a.html',
      () => `<!doctype html><main>${new Marked().parse(MARKDOWN, { async: false })}</main>`,
      guideChunks(FULL_STRUCTURE),
    ],
    ['Word', 'a.docx', docx, guideChunks({ ...FULL_STRUCTURE, code: false })],
    ['PowerPoint', 'a.pptx', pptx, guideChunks({ ...FULL_STRUCTURE, code: false, points: true })],
    ['PDF', 'a.pdf', pdf, guideChunks({ ...NO_STRUCTURE, headings: true })],
    [
      'RTF',
      'a.rtf',
      () => makeRtf([FEES, ...SECTIONS.map(([, sentences]) => sentences.join(' '))]),
      guideChunks({ ...NO_STRUCTURE, table: true }),
    ],
    ['mail', 'a.eml', eml, MAIL_WITH_HEADERS],
    ['Outlook', 'a.msg', () => makeMsg({ subject: 'Arrival', body: PLAIN }), MAIL],
  ])('as %s are those determined by hand from the rules in guide.ts', async (_what, name, make, expected) => {
    expect(await chunksOfFile(await make(), name, { chunkSize: SIZE, chunkOverlap: OVERLAP })).toEqual(expected);
  });

  test.each<readonly [string, string, () => Bytes | Promise<Bytes>, 'rows' | 'objects', boolean]>([
    ['CSV', 'a.csv', () => stringify(rows), 'rows', true],
    ['TSV', 'a.tsv', () => stringify(rows, { delimiter: '\t' }), 'rows', true],
    ['a workbook', 'a.xlsx', xlsx, 'rows', true],
    ['a workbook with macros', 'a.xlsm', () => withMacros(xlsx()), 'rows', false],
    ['JSON', 'a.json', () => JSON.stringify(objects), 'objects', true],
    ['JSON lines', 'a.jsonl', () => objects.map((object) => JSON.stringify(object)).join('\n'), 'objects', true],
  ])(
    'contain two rows or objects of %s, or one with max_items_per_chunk 1 if the format supports it',
    async (_what, name, make, kind, isGrouped) => {
      const size = { chunkSize: ROW_SIZE, chunkOverlap: OVERLAP };
      const content = await make();
      expect(await chunksOfFile(content, name, size)).toEqual(rowChunks(kind, 2));
      const grouped = await chunksOfFile(content, name, { ...size, maxItemsPerChunk: 1 });
      expect(grouped).toEqual(rowChunks(kind, isGrouped ? 1 : 2));
    },
  );

  /** Returns the chunks of a format without items, and checks that max_items_per_chunk does not change them. */
  const ungroupedChunks = async (input: Partial<ParseInput>, name: string) => {
    const chunking = { chunkSize: SIZE, chunkOverlap: OVERLAP, prefix: null };
    const [chunks, grouped] = await Promise.all(
      [chunking, { ...chunking, maxItemsPerChunk: 1 }].map(async (options) => {
        const { text, cuts } = await processDocument({ ...upload('', name), ...input }, options, LIMITS);
        return cuts.map(({ start, end, metadata }) => ({ text: text.slice(start, end), metadata }));
      }),
    );
    expect(grouped).toEqual(chunks);
    return chunks ?? [];
  };

  test.each(['a.png', 'a.jpg'])(
    'as text recognized in %s are those determined by hand, each with the top and bottom of its lines',
    async (name) => {
      let y = 0;
      const paragraphs = SECTIONS.flatMap(([title, sentences]) => {
        const line = (text: string) => ({ text, x1: 10, x2: 500, y1: (y += 20), y2: y + 15 });
        return [{ lines: [line(title)], heading: 1 }, { lines: sentences.map(line) }];
      });
      const readAs = name === 'a.png' ? 'PNG' : 'JPG';
      const chunks = await ungroupedChunks({ readAs, recognizedPages: [{ number: 1, paragraphs }] }, name);
      expect(chunks.map(({ text }) => text)).toEqual(guideChunks({ ...NO_STRUCTURE, headings: true }));
      // Eleven lines, 20 apart; the first and the sixth are headings.
      expect(chunks.map(({ metadata }) => [metadata?.['y1'], metadata?.['y2']])).toEqual([
        [20, 115],
        [100, 195],
        [180, 235],
      ]);
    },
  );

  test('as a recording are those determined by hand, each with the times of its sentences', async () => {
    const segments = SECTIONS.flatMap(([, sentences]) =>
      sentences.map((text, nth) => ({ text, paragraph: nth === 0 })),
    ).map((sentence, nth) => ({ ...sentence, start: nth * 10, end: nth * 10 + 9, speaker: null }));
    const chunks = await ungroupedChunks(
      {
        recording: {
          format: 'MP3',
          mimeType: 'audio/mpeg',
          transcript: {
            service: 'deepgram',
            options: { detectLanguage: false, speakers: false },
            segments,
            language: null,
            duration: 90,
          },
        },
      },
      'a.mp3',
    );
    expect(chunks).toEqual(
      guideChunks(NO_STRUCTURE).map((text, nth) => ({
        text,
        metadata: [
          { start_offset_sec: 0, end_offset_sec: 39 },
          { start_offset_sec: 30, end_offset_sec: 69 },
          { start_offset_sec: 60, end_offset_sec: 89 },
        ][nth],
      })),
    );
  });
});
