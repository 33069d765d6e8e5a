import { createCanvas, type Canvas, loadImage } from '@napi-rs/canvas';
import { Fault } from '../../contract/failures.js';
import { eraseRules } from './eraseRules.js';
import { imageSize } from './imageSize.js';

/** A picture for OCR, and its scale relative to the page. */
export interface Raster {
  /** A portable graymap: a short header and one byte per pixel. */
  readonly bytes: Uint8Array;
  /** The pixels of `bytes`, row by row. */
  readonly pixels: Uint8Array;
  readonly width: number;
  readonly height: number;
  /** Pixels of the picture per unit of the page. */
  readonly scale: number;
}

/** Maximum number of pixels for recognition: an A4 page at 300 dpi. More pixels are slower without better results. */
export const WORKING_PIXELS = 9_000_000;
/** Smaller pictures are enlarged: letters of a few pixels are not recognized. */
const SMALL_PIXELS = 1_000_000;
const MAX_SCALE = 3;
/** Minimum length of a side: smaller pictures cannot show a letter. */
const MIN_SIDE = 8;

/**
 * Decodes a JPEG or PNG, upright and in gray.
 * @param maxPixels limit of the picture's size, checked before decoding
 * @throws Fault too_large, no_text, broken_content
 */
export async function rasterOfImage(bytes: Uint8Array, maxPixels: number): Promise<Raster> {
  const size = imageSize(bytes);
  if (size === null) throw brokenPicture();
  const { width, height } = size;
  if (width * height > maxPixels) {
    throw new Fault(
      'too_large',
      `The picture is ${width} x ${height} pixels, which exceeds the limit (setting MAX_OCR_PIXELS: ${maxPixels.toLocaleString('en-US')}). Scale it down, or raise the setting.`,
    );
  }
  if (Math.min(width, height) < MIN_SIDE) {
    throw new Fault('no_text', `The picture is ${width} x ${height} pixels: too small to hold text.`);
  }
  const image = await loadImage(Buffer.from(bytes)).catch((error: unknown) => {
    throw brokenPicture(error);
  });
  // The decoder has already applied the orientation of the camera.
  const scale = workingScale(image.width, image.height);
  const canvas = whiteCanvas(Math.round(image.width * scale), Math.round(image.height * scale));
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  return grayOf(canvas, scale);
}

/** Returns the factor that scales a picture to a size that is recognized well. */
function workingScale(width: number, height: number): number {
  const pixels = width * height;
  if (pixels > WORKING_PIXELS) return Math.sqrt(WORKING_PIXELS / pixels);
  return pixels < SMALL_PIXELS ? Math.min(MAX_SCALE, Math.sqrt((2 * SMALL_PIXELS) / pixels)) : 1;
}

/** Creates a white canvas, so that transparent pixels count as paper. */
export function whiteCanvas(width: number, height: number): Canvas {
  const canvas = createCanvas(Math.max(1, width), Math.max(1, height));
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  return canvas;
}

/** Converts a canvas to the input of OCR. @param scale pixels of the canvas per unit of the page */
export function grayOf(canvas: Canvas, scale: number): Raster {
  const { width, height } = canvas;
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
  const header = headerOf(width, height);
  const gray = Buffer.alloc(header.length + width * height);
  header.copy(gray);
  for (let from = 0, to = header.length; from < data.length; from += 4, to += 1) {
    // Perceived brightness of red, green and blue, in 256ths.
    gray[to] = ((data[from] ?? 0) * 77 + (data[from + 1] ?? 0) * 150 + (data[from + 2] ?? 0) * 29) >> 8;
  }
  const pixels = gray.subarray(header.length);
  eraseRules(pixels, width, height);
  return { bytes: gray, pixels, width, height, scale };
}

const headerOf = (width: number, height: number): Buffer => Buffer.from(`P5\n${width} ${height}\n255\n`);

/** Returns some rows of a picture. @param last exclusive */
export function cutRows({ pixels, width, scale }: Raster, first: number, last: number): Raster {
  const header = headerOf(width, last - first);
  const bytes = Buffer.concat([header, pixels.subarray(first * width, last * width)]);
  return { bytes, pixels: bytes.subarray(header.length), width, height: last - first, scale };
}

const brokenPicture = (cause?: unknown): Fault =>
  new Fault(
    'broken_content',
    "The picture is broken: it can't be read as a JPEG or PNG. Open it in its program, save it again and send that.",
    { cause },
  );
