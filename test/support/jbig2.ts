/** JBIG2 images as embedded in PDF: the segments of one page, without a file header. */
import { pdfOf } from './makeBombs.js';

interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * States of the arithmetic coder: Qe, next state after MPS and after LPS; `!` marks a switch of the MPS. ITU-T T.88,
 * table E.1.
 */
const STATES = (
  '5601:1:1! 3401:2:6 1801:3:9 0ac1:4:12 0521:5:29 0221:38:33 5601:7:6! 5401:8:14 4801:9:14 3801:10:14 3001:11:17 ' +
  '2401:12:18 1c01:13:20 1601:29:21 5601:15:14! 5401:16:14 5101:17:15 4801:18:16 3801:19:17 3401:20:18 3001:21:19 ' +
  '2801:22:19 2401:23:20 2201:24:21 1c01:25:22 1801:26:23 1601:27:24 1401:28:25 1201:29:26 1101:30:27 0ac1:31:28 ' +
  '09c1:32:29 08a1:33:30 0521:34:31 0441:35:32 02a1:36:33 0221:37:34 0141:38:35 0111:39:36 0085:40:37 0049:41:38 ' +
  '0025:42:39 0015:43:40 0009:44:41 0005:45:42 0001:45:43 5601:46:46'
)
  .split(' ')
  .map((row) => {
    const [qe = '', afterMps = '', afterLps = ''] = row.split(':');
    return {
      qe: Number.parseInt(qe, 16),
      afterMps: Number(afterMps),
      afterLps: Number.parseInt(afterLps, 10),
      changes: row.endsWith('!'),
    };
  });

/**
 * The neighbours that predict a pixel, most significant first: T.88, figure 3, adaptive pixels at their nominal
 * positions.
 */
const NEIGHBOURS = [
  ...[-2, -1, 0, 1, 2].map((dx) => [dx, -2] as const),
  ...[-3, -2, -1, 0, 1, 2, 3].map((dx) => [dx, -1] as const),
  ...[-4, -3, -2, -1].map((dx) => [dx, 0] as const),
];
const ADAPTIVE_PIXELS = Buffer.from(Int8Array.of(3, -1, -3, -1, 2, -2, -2, -2).buffer);

/** Creates the arithmetic encoder of T.88, annex E.2. `write` encodes one bit in a context; `end` returns all bytes. */
function createEncoder() {
  const states = new Uint8Array(1 << 16);
  const likely = new Uint8Array(1 << 16);
  const bytes: number[] = [];
  let interval = 0x8000;
  let code = 0;
  let shifts = 12;
  const putByte = (): void => {
    // A carry goes into the previous byte. A byte of 0xff is followed by only seven bits, so that it receives no carry.
    const last = bytes.at(-1);
    if (last !== undefined && last !== 0xff && code >= 0x8000000) {
      bytes[bytes.length - 1] = last + 1;
      code %= 0x8000000;
    }
    const bits = bytes.at(-1) === 0xff ? 7 : 8;
    const unit = 2 ** (27 - bits);
    bytes.push(Math.floor(code / unit));
    code %= unit;
    shifts = bits;
  };
  return {
    write(context: number, bit: number): void {
      const state = STATES[states[context] ?? 0];
      if (state === undefined) throw new RangeError('no such state');
      const { qe, afterMps, afterLps, changes } = state;
      const isLikely = bit === likely[context];
      interval -= qe;
      if (isLikely === interval < qe) interval = qe;
      else code += qe;
      if (isLikely && interval >= 0x8000) return;
      if (!isLikely && changes) likely[context] = bit;
      states[context] = isLikely ? afterMps : afterLps;
      for (; interval < 0x8000; interval *= 2) {
        code *= 2;
        shifts -= 1;
        if (shifts === 0) putByte();
      }
    },
    end(): Buffer {
      const past = code + interval;
      code = Math.floor(code / 0x10000) * 0x10000 + 0xffff;
      if (code >= past) code -= 0x8000;
      for (let nth = 0; nth < 2; nth += 1) {
        code *= 2 ** shifts;
        putByte();
      }
      return Buffer.from([...bytes, 0xff, 0xac]);
    },
  };
}

/** A segment of page 1 without references to other segments: T.88, 7.2. */
function segment(number: number, type: number, data: Buffer): Buffer {
  const header = Buffer.alloc(11);
  header.writeUInt32BE(number, 0);
  header[4] = type;
  header[6] = 1;
  header.writeUInt32BE(data.length, 7);
  return Buffer.concat([header, data]);
}

/** The page information segment (T.88, 7.4.8) of an initially black or white page. */
function pageInformation({ width, height }: Size, isBlack: boolean): Buffer {
  const data = Buffer.alloc(19);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data[16] = isBlack ? 4 : 0;
  return segment(0, 48, data);
}

/**
 * An image as a single generic region with arithmetic coding, template 0, as scanners write it. T.88, 7.4.6 and 6.2.5.
 */
function genericRegion({ width, height }: Size, isBlack: (x: number, y: number) => boolean): Buffer {
  const header = Buffer.alloc(18);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const pixel = (x: number, y: number): number =>
    x >= 0 && x < width && y >= 0 && y < height && isBlack(x, y) ? 1 : 0;
  const encoder = createEncoder();
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      encoder.write(
        NEIGHBOURS.reduce((context, [dx, dy]) => context * 2 + pixel(x + dx, y + dy), 0),
        pixel(x, y),
      );
  return segment(1, 38, Buffer.concat([header, ADAPTIVE_PIXELS, encoder.end()]));
}

/** A PDF with one page that consists of a JBIG2 image, with text over it. */
function pdfOfImage({ width, height }: Size, image: Buffer, typed: string): Uint8Array {
  const pageHeight = Math.round((600 * height) / width);
  const content = `q 600 0 0 ${pageHeight} 0 0 cm /I Do Q BT /F 12 Tf 20 20 Td (${typed}) Tj ET`;
  const font = '/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>';
  return pdfOf(
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 ${pageHeight}] /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> ${font} >> >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    Buffer.concat([
      Buffer.from(
        `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray ` +
          `/BitsPerComponent 1 /Filter /JBIG2Decode /Length ${image.length} >>\nstream\n`,
      ),
      image,
      Buffer.from('\nendstream'),
    ]),
  );
}

/** A PDF of one page with a JBIG2 scan. */
export const jbig2Scan = (size: Size, isBlack: (x: number, y: number) => boolean): Uint8Array =>
  pdfOfImage(size, Buffer.concat([pageInformation(size, false), genericRegion(size, isBlack)]), '');

/**
 * A PDF of about 800 bytes whose JBIG2 image is a black square.
 * @param side side length in pixels; a byte of the decoded image holds eight pixels
 * @param typed text on the image
 */
export const jbig2Bomb = (side: number, typed = ''): Uint8Array => {
  const size = { width: side, height: side };
  return pdfOfImage(size, pageInformation(size, true), typed);
};
