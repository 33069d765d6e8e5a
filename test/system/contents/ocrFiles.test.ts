import { tmpdir } from 'node:os';
import path from 'node:path';
import { createCanvas, loadImage, type SKRSContext2D } from '@napi-rs/canvas';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findChromium } from '../../../connectors/web/findChromium.js';
import type { Fault } from '../../../contract/failures.js';
import type { OcrSettings } from '../../../documents/pool.js';
import type { PageText } from '../../../documents/placedText.js';
import type { DocumentPool } from '../../../documents/types.js';
import { jbig2Bomb, jbig2Scan } from '../../support/jbig2.js';
import { drawPicture } from '../../support/pictures.js';
import { makePdf } from '../../documents/formats/makePdf.js';
import { FILES, LIMITS } from '../../documents/page.js';
import { upload } from '../../documents/readFile.js';
import { thoroughRows } from '../../support/thorough.js';
import { loadDocumentPool } from '../../support/product.js';

const { createDocumentPool } = await loadDocumentPool();

const OCR: OcrSettings = {
  processes: 1,
  timeoutMs: 120_000,
  memoryMb: 1024,
  languages: ['eng'],
  folder: path.join(tmpdir(), 'allotrope-ocr-english'),
  maxPixels: 20_000_000,
  niceness: 0,
};
const pools: DocumentPool[] = [];
const startPool = (ocr: Partial<OcrSettings> = {}): DocumentPool => {
  const pool = createDocumentPool({
    threads: 1,
    timeoutMs: 60_000,
    memoryMb: 256,
    limits: LIMITS,
    files: FILES,
    ocr: { ...OCR, ...ocr },
  });
  pools.push(pool);
  return pool;
};
const pool = startPool();
afterAll(() => Promise.all(pools.map((one) => one.close())));

const recognize = (content: Uint8Array, name: string, findTables = false, page = 1): Promise<PageText> =>
  pool.recognize(upload(content, name), { page, findTables });
const textOf = ({ paragraphs }: PageText): string[] => paragraphs.flatMap(({ lines }) => lines.map(({ text }) => text));
const faultOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no fault',
    (fault: Fault) => `${fault.kind}: ${fault.message}`,
  );

const LINES = ['The lighthouse was lit in 1901.', 'Ships of 3,400 tons may enter.'];
const COLUMNS = [70, 420, 770] as const;
const TABLE = [
  ['Port', 'Depth', 'Ships'],
  ['Kinsale', '7.4', '1204'],
  ['Cobh', '11.2', '3981'],
].map((row) => row.map((text, nth) => [COLUMNS[nth] ?? 0, text] as const));
const ROWS = ['Port: Kinsale, Depth: 7.4, Ships: 1204', 'Port: Cobh, Depth: 11.2, Ships: 3981'];

/** Draws the lines of a ruled table of three rows. Its first row is the second line of text in the picture. */
function rule(context: SKRSContext2D): void {
  context.lineWidth = 2;
  const line = (x1: number, y1: number, x2: number, y2: number): void => {
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
  };
  for (let row = 0; row <= 3; row += 1) line(50, 77 + 51 * row, 1100, 77 + 51 * row);
  for (let column = 0; column <= 3; column += 1) line(50 + 350 * column, 77, 50 + 350 * column, 77 + 51 * 3);
}

describe('tables in pictures', () => {
  test.each([
    ['ruled', rule],
    ['open', () => undefined],
  ])('are read as rows when requested: %s', async (_what, paint) => {
    const picture = drawPicture([LINES[0] ?? '', ...TABLE, LINES[1] ?? ''], { paint });
    const { paragraphs } = await recognize(picture, 'table.png', true);
    expect(paragraphs.map(({ isTable = false, lines }) => [isTable, lines.map(({ text }) => text)])).toEqual([
      [false, [LINES[0]]],
      [true, ROWS],
      [false, [LINES[1]]],
    ]);
    expect(textOf(await recognize(picture, 'table.png')).join(' ')).toMatch(/Kinsale 7\.4 1204/);
  });
});

test('reads a much larger line as a heading', async () => {
  const picture = drawPicture([...LINES, 'Another line of ordinary size.'], {
    paint: (context) => {
      context.fillStyle = '#000';
      context.font = '72px "DejaVu Sans"';
      context.fillText('Harbours of Cork', 60, 500);
    },
  });
  const { paragraphs } = await recognize(picture, 'heading.png');
  expect(paragraphs.map(({ heading, lines }) => [heading, lines.length])).toEqual([
    [undefined, 3],
    [1, 1],
  ]);
});

describe.each(['png', ...thoroughRows(['jpeg'])] as const)('screenshots of Chromium as %s', (type) => {
  const SHOTS = {
    'a letter': [
      '<h1>Notice to mariners</h1><p>The light on the south pier is out.<br>Its place is marked by a buoy.</p>',
      'Notice to mariners The light on the south pier is out. Its place is marked by a buoy.',
    ],
    'a bill': [
      '<h2>Invoice 117</h2><table cellpadding="8"><tr><td>Berth for a week<td>350.00<tr><td>Diesel<td>502.20</table>',
      'Invoice 117 Berth for a week 350.00 Diesel 502.20',
    ],
    'a dark screen': [
      '<style>body { background: #123; color: #eef }</style><p>Two boats are moored here.</p><p>Pay before noon.</p>',
      'Two boats are moored here. Pay before noon.',
    ],
  } as const;
  const taken = new Map<string, Uint8Array>();

  beforeAll(async () => {
    const executablePath = findChromium(null);
    if (executablePath === null)
      throw new Error('These tests need Chromium: apt-get install -y chromium-headless-shell');
    const browser = await chromium.launch({ executablePath });
    const page = await browser.newPage({ viewport: { width: 700, height: 300 } });
    for (const [name, [html]] of Object.entries(SHOTS)) {
      await page.setContent(`<body style="font: 24px DejaVu Sans, sans-serif">${html}`);
      taken.set(name, Uint8Array.from(await page.screenshot({ type })));
    }
    await browser.close();
  });

  test.each(Object.entries(SHOTS))('%s is read although its name is a.docx', async (what, [, words]) => {
    const content = taken.get(what) ?? new Uint8Array();
    const read = await recognize(content, 'a.docx');
    const input = { ...upload(content, 'a.docx'), recognizedPages: [read] };
    const { text, format, metadata } = await pool.process(input, { chunkSize: 200, chunkOverlap: 0, prefix: null });
    expect([typeof text === 'string' && text.replaceAll(/[#\s]+/g, ' ').trim(), format, metadata['named_as']]).toEqual([
      words,
      type === 'png' ? 'PNG' : 'JPG',
      'DOCX',
    ]);
  });

  test('a truncated file is reported as broken', async () => {
    const [content = new Uint8Array()] = taken.values();
    expect(await faultOf(recognize(content.slice(0, 30), `a.${type}`))).toMatch(/^broken_content: /);
  });
});

test.each([
  ['transparent', '#000', null],
  ['light on dark', '#eee', '#222'],
])('reads a small %s picture', async (_what, ink, paper) => {
  const canvas = createCanvas(420, 90);
  const context = canvas.getContext('2d');
  if (paper) {
    context.fillStyle = paper;
    context.fillRect(0, 0, 420, 90);
  }
  context.fillStyle = ink;
  context.font = '14px "DejaVu Sans"';
  context.fillText('Save your changes before you leave.', 10, 50);
  const read = await recognize(Uint8Array.from(canvas.toBuffer('image/png')), 'screen.png');
  expect(textOf(read)).toEqual(['Save your changes before you leave.']);
  // Boxes are in the pixels of the original picture, however it was enlarged.
  expect(read.paragraphs[0]?.lines[0]?.x2).toBeLessThan(420);
});

/** A JPEG with an orientation tag: it must be turned by a quarter to be upright. */
function sideways(): Uint8Array {
  const canvas = createCanvas(400, 1200);
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, 400, 1200);
  context.rotate(-Math.PI / 2);
  context.fillStyle = '#000';
  context.font = '32px "DejaVu Sans"';
  context.fillText(LINES[0] ?? '', -1140, 100);
  const jpeg = canvas.toBuffer('image/jpeg', 90);
  // One tag, Orientation, with the value 6, in Intel byte order.
  const tags = Buffer.from('49492a0008000000010012010300010000000600000000000000', 'hex');
  const exif = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tags]);
  const segment = Buffer.concat([Buffer.from([0xff, 0xe1, 0, exif.length + 2]), exif]);
  return Uint8Array.from(Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)]));
}

test('turns a photograph upright by its orientation tag', async () => {
  expect(textOf(await recognize(sideways(), 'turned.jpg'))).toEqual([LINES[0]]);
});

test('gives positions on a PDF page in points from its upper left corner', async () => {
  const pdf = await makePdf((page) => {
    page.text('Typed.').addPage();
    page.image(Buffer.from(drawPicture(LINES, { type: 'jpeg' })), 72, 144, { width: 400 });
  });
  const { number, paragraphs } = await recognize(pdf, 'scan.pdf', false, 2);
  const [line] = paragraphs[0]?.lines ?? [];
  expect({ number, text: line?.text }).toEqual({ number: 2, text: LINES[0] });
  // The letters begin 60 pixels into a picture of 1200, which is 400 points wide here.
  expect(line?.x1).toBeCloseTo(72 + 60 / 3, 0);
  expect(Math.round(((line?.y1 ?? 0) - 144) / 10)).toBe(1);
});

describe('JBIG2 images', () => {
  test('are decoded and read', async () => {
    const size = { width: 1200, height: 200 };
    const image = await loadImage(Buffer.from(drawPicture(LINES.slice(0, 1), size)));
    const context = createCanvas(size.width, size.height).getContext('2d');
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, size.width, size.height);
    const scan = jbig2Scan(size, (x, y) => (data[(y * size.width + x) * 4] ?? 0) < 128);
    expect(textOf(await recognize(scan, 'scan.pdf'))).toEqual([LINES[0]]);
  });

  test('of billions of pixels end at the memory limit of the process that decodes them: OCR, or the reader that searches for scans', async () => {
    expect(await faultOf(recognize(jbig2Bomb(60_000), 'bomb.pdf'))).toMatch(/^parse_limit: .*OCR_MEMORY_MB/);
    const stamped = { ...upload(jbig2Bomb(100_000, 'Page 1'), 'stamped.pdf'), beforeOcr: true };
    expect(await faultOf(pool.process(stamped, { chunkSize: 200, chunkOverlap: 0, prefix: null }))).toMatch(
      /^parse_limit: .*PARSE_FILE_MEMORY_MB/,
    );
  });
});

test('names the setting whose limit of time or memory was exceeded, and rejects with the reason of an abort', async () => {
  const picture = upload(drawPicture(LINES), 'a.png');
  const options = { page: 1, findTables: false };
  expect(await faultOf(startPool({ timeoutMs: 1 }).recognize(picture, options))).toMatch(
    /^parse_limit: .*OCR_PAGE_TIMEOUT_MS/,
  );
  expect(await faultOf(startPool({ memoryMb: 40 }).recognize(picture, options))).toMatch(
    /^parse_limit: .*OCR_MEMORY_MB/,
  );
  const stop = new AbortController();
  const stopped = faultOf(pool.recognize(picture, options, stop.signal));
  stop.abort(Object.assign(new Error('not needed'), { kind: 'stopped' }));
  expect(await stopped).toBe('stopped: not needed');
});
