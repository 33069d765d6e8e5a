/** Tests what happens before and after an OCR engine reads a picture; no engine runs. */
import { createCanvas } from '@napi-rs/canvas';
import { expect, test } from '@jest/globals';

import { eraseRules } from '../../../documents/ocr/eraseRules.js';
import { imageSize } from '../../../documents/ocr/imageSize.js';
import { layoutPage } from '../../../documents/ocr/layoutPage.js';
import { cutRows, rasterOfImage } from '../../../documents/ocr/raster.js';
import { everyRow } from '../../support/everyRow.js';

type Word = readonly [text: string, x0: number, confidence?: number];

/** Returns a line as an engine reads it, with letters 10 pixels wide. */
const lineAt = (y0: number, words: readonly Word[], height = 20) => ({
  height,
  words: words.map(([text, x0, confidence = 90]) => ({
    text,
    confidence,
    bbox: { x0, y0, x1: x0 + 10 * text.length, y1: y0 + height },
  })),
});
/** A paragraph of body text, which sets the font size of the page. */
const BODY = [
  lineAt(900, [
    ['The', 10],
    ['quay', 60],
    ['is', 120],
    ['open', 160],
    ['from', 220],
    ['six', 280],
  ]),
];
const PAGE = { number: 3, scale: 1, wantsTables: false };
const layout = (...paragraphs: Parameters<typeof layoutPage>[0][number][]) => layoutPage(paragraphs, 'eng', PAGE);
const textsOf = ({ paragraphs }: ReturnType<typeof layout>) =>
  paragraphs.map(({ lines, heading }) => [
    ...(heading === undefined ? [] : [heading]),
    ...lines.map(({ text }) => text),
  ]);

test('states the box of each line in units of the page, and how well the page was read', () => {
  const read = [
    [
      lineAt(30, [
        ['Fees', 60, 80],
        [' of ', 120, 60],
      ]),
      lineAt(90, [['12', 30, 97]]),
    ],
  ];
  expect(layoutPage(read, 'deu', { ...PAGE, scale: 3 })).toEqual({
    number: 3,
    paragraphs: [
      {
        lines: [
          { text: 'Fees of', x1: 20, y1: 10, x2: 160 / 3, y2: 50 / 3 },
          { text: '12', x1: 10, y1: 30, x2: 50 / 3, y2: 110 / 3 },
        ],
      },
    ],
    recognition: { language: 'deu', confidence: 0.75 },
  });
});

test('omits illegible words, counts them in the confidence, and states no language for a page without text', () => {
  const read = layout(
    [
      lineAt(10, [
        ['Quay', 10],
        ['|', 60, 29],
        ['ab', 80, 30],
      ]),
      lineAt(40, [['---', 10]]),
    ],
    [lineAt(70, [['smudge', 10, 54]])],
  );
  expect(textsOf(read)).toEqual([['Quay ab']]);
  // (4 × 90 + 2 × 30 + 6 × 54) / 12: words without a letter ("|", "---") do not count.
  expect(read.recognition).toEqual({ language: 'eng', confidence: 0.62 });
  expect(layout([lineAt(70, [['smudge', 10, 54]])])).toEqual({
    number: 3,
    paragraphs: [],
    recognition: { language: null, confidence: null },
  });
});

test('joins words of Chinese and Japanese without spaces', () => {
  expect(
    textsOf(
      layout([
        lineAt(10, [
          ['港', 10],
          ['口', 30],
          ['Quay', 60],
          ['3', 120],
          ['号', 140],
        ]),
      ]),
    ),
  ).toEqual([['港口 Quay 3 号']]);
});

test('makes a paragraph a heading if all of its letters are much larger than those of most of the page', async () => {
  const headed = (height: number, texts: readonly string[], more: readonly number[] = []) =>
    textsOf(
      layout(
        texts.map((text, nth) => lineAt(10 + 50 * nth, [[text, 10]], more[nth] ?? height)),
        BODY,
      ),
    )[0]?.[0];
  const rows: ReadonlyArray<readonly [what: string, found: unknown, expected: unknown]> = [
    ['the size of the text', headed(20, ['Fees']), 'Fees'],
    ['a little larger', headed(26, ['Fees']), 'Fees'],
    ['larger', headed(27, ['Fees']), 2],
    ['twice as large', headed(38, ['Fees']), 1],
    ['two lines', headed(40, ['Fees', 'of 2025']), 1],
    ['two lines, one of them small', headed(40, ['Fees', 'of 2025'], [40, 20]), 'Fees'],
    ['three lines', headed(40, ['Fe', 'es', 'of']), 'Fe'],
    ['a number', headed(40, ['42 b']), '42 b'],
    ['a long text', headed(40, ['x'.repeat(201)]), 'x'.repeat(201)],
  ];
  await everyRow(
    rows,
    ([what]) => what,
    ([, found, expected]) => expect(found).toBe(expected),
  );
});

test('writes a table once, between the text around it, if tables are wanted', () => {
  const row = (y0: number, ...cells: readonly string[]) =>
    lineAt(
      y0,
      cells.map((cell, nth) => [cell, 10 + 300 * nth]),
    );
  const read = [
    [
      lineAt(10, [
        ['Fees', 10],
        ['of', 60],
        ['2025', 90],
      ]),
    ],
    [
      row(100, 'Boat', 'Fee', 'Term'),
      row(130, 'Small', '10', 'Year'),
      row(160, 'Large', '25', 'Month'),
      row(190, 'Barge', '40', 'Week'),
    ],
    [
      lineAt(400, [
        ['Paid', 10],
        ['in', 60],
        ['May', 90],
      ]),
    ],
  ];
  const { paragraphs } = layoutPage(read, 'eng', { ...PAGE, wantsTables: true });
  expect(paragraphs.map(({ lines, isTable = false }) => [isTable, ...lines.map(({ text }) => text)])).toEqual([
    [false, 'Fees of 2025'],
    [true, 'Boat: Small, Fee: 10, Term: Year', 'Boat: Large, Fee: 25, Term: Month', 'Boat: Barge, Fee: 40, Term: Week'],
    [false, 'Paid in May'],
  ]);
  expect(layoutPage(read, 'eng', PAGE).paragraphs.some(({ isTable }) => isTable)).toBe(false);
});

/** Returns a white picture with black rectangles. */
function drawn(
  width: number,
  height: number,
  boxes: readonly (readonly [x: number, y: number, w: number, h: number])[],
) {
  const gray = new Uint8Array(width * height).fill(255);
  for (const [x, y, w, h] of boxes)
    for (let row = y; row < y + h; row += 1) gray.fill(0, row * width + x, row * width + x + w);
  return gray;
}

test('erases long thin lines in both directions, up to the edge, and keeps letters and bars', () => {
  const cross = [
    [0, 50, 200, 6],
    [90, 0, 6, 100],
  ] as const;
  const kept = [
    [10, 10, 59, 3],
    [120, 70, 70, 7],
  ] as const;
  const gray = drawn(200, 100, [...cross, ...kept]);
  eraseRules(gray, 200, 100);
  expect(Buffer.compare(gray, drawn(200, 100, kept))).toBe(0);
});

test('reads the size of a JPEG and a PNG from the header', async () => {
  const jpeg = (...rest: number[]) => Uint8Array.from([0xff, 0xd8, ...rest]);
  const frame = [0xff, 0xc2, 0, 11, 8, 0x01, 0x02, 0x03, 0x04, 1, 0, 0, 0];
  const size = { height: 0x0102, width: 0x0304 };
  const rows: ReadonlyArray<readonly [what: string, bytes: Uint8Array, expected: unknown]> = [
    ['the first segment', jpeg(...frame), size],
    ['after a Huffman table and fill bytes', jpeg(0xff, 0xc4, 0, 4, 9, 9, 0xff, ...frame), size],
    ['after a segment of an application', jpeg(0xff, 0xe1, 0, 3, 9, ...frame), size],
    ['an end inside the header', jpeg(0xff, 0xc0, 0, 11), null],
    ['no marker', jpeg(0, 1, 2, 3), null],
    ['nothing', new Uint8Array(), null],
    ['a PNG', new Uint8Array(createCanvas(30, 20).toBuffer('image/png')), { width: 30, height: 20 }],
  ];
  await everyRow(
    rows,
    ([what]) => what,
    ([, bytes, expected]) => expect(imageSize(bytes)).toEqual(expected),
  );
});

test('enlarges small pictures, reduces large ones, and treats transparent parts as paper', async () => {
  const scaled = async (width: number, height: number) =>
    rasterOfImage(new Uint8Array(createCanvas(width, height).toBuffer('image/png')), 12_000_000);
  expect(await scaled(100, 50)).toMatchObject({ width: 300, height: 150, scale: 3 });
  expect(await scaled(800, 625)).toMatchObject({ width: 1600, height: 1250, scale: 2 });
  expect(await scaled(1000, 1000)).toMatchObject({ width: 1000, height: 1000, scale: 1 });
  const large = new Uint8Array(createCanvas(4000, 2500).toBuffer('image/jpeg', 20));
  expect(await rasterOfImage(large, 12_000_000)).toMatchObject({ width: 3795, height: 2372 });
  const { pixels, bytes } = await scaled(100, 50);
  expect(new Set(pixels)).toEqual(new Set([255]));
  expect(Buffer.from(bytes.subarray(0, 15)).toString()).toBe('P5\n300 150\n255\n');
});

test('rejects a picture that is too large, too small or broken', async () => {
  const png = (width: number, height: number) => new Uint8Array(createCanvas(width, height).toBuffer('image/png'));
  await expect(rasterOfImage(png(30, 20), 600)).resolves.toMatchObject({ width: 90 });
  await expect(rasterOfImage(png(30, 20), 599)).rejects.toMatchObject({ kind: 'too_large' });
  await expect(rasterOfImage(png(8, 9), 600)).resolves.toMatchObject({ width: 24 });
  await expect(rasterOfImage(png(7, 9), 600)).rejects.toMatchObject({ kind: 'no_text' });
  await expect(rasterOfImage(png(30, 20).subarray(0, 40), 600)).rejects.toMatchObject({ kind: 'broken_content' });
  await expect(rasterOfImage(Uint8Array.from([1, 2]), 600)).rejects.toMatchObject({ kind: 'broken_content' });
});

test('cuts rows out of a picture as a picture of its own', () => {
  const pixels = Uint8Array.from([1, 1, 2, 2, 3, 3, 4, 4]);
  const { bytes, ...rest } = cutRows({ bytes: pixels, pixels, width: 2, height: 4, scale: 2 }, 1, 3);
  expect(rest).toMatchObject({ width: 2, height: 2, scale: 2 });
  expect([...rest.pixels]).toEqual([2, 2, 3, 3]);
  expect(Buffer.from(bytes).toString()).toBe('P5\n2 2\n255\n\u0002\u0002\u0003\u0003');
});
