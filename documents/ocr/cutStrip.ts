import { cutRows, type Raster } from './raster.js';

/** Brightness below which a pixel counts as ink. */
const INK = 160;
/** Height of the strip as a share of the picture, and its minimum in pixels: about four lines of text. */
const SHARE = 0.07;
const MIN_HEIGHT = 160;
/**
 * Maximum number of changes between ink and paper in a row, as a share of its pixels. Text has more changes than a
 * drawing, but fewer than a photograph.
 */
const MAX_CHANGES_SHARE = 0.5;
/** Maximum number of rows by which an edge is moved to a gap between two lines. */
const MARGIN = 48;
const STEP = 8;

/**
 * Cuts the horizontal strip with the most text out of a picture.
 * @returns null if the strip would be most of the picture
 */
export function cutStrip(raster: Raster): Raster | null {
  const { pixels, width, height } = raster;
  const strip = Math.max(MIN_HEIGHT, Math.round(SHARE * height));
  if (strip > height / 2) return null;
  const changes = new Float64Array(height + 1);
  const isGap = new Uint8Array(height);
  for (let row = 0; row < height; row += 1) {
    let count = 0;
    let before = false;
    for (let at = row * width; at < (row + 1) * width; at += 1) {
      const isInk = (pixels[at] ?? 255) < INK;
      if (isInk !== before) count += 1;
      before = isInk;
    }
    isGap[row] = count === 0 ? 1 : 0;
    changes[row + 1] = (changes[row] ?? 0) + (count > MAX_CHANGES_SHARE * width ? 0 : count);
  }
  let [top, mostChanges] = [0, -1];
  for (let at = 0; at + strip <= height; at += STEP) {
    const sum = (changes[at + strip] ?? 0) - (changes[at] ?? 0);
    if (sum > mostChanges) [top, mostChanges] = [at, sum];
  }
  const gap = (row: number, step: 1 | -1): number => {
    for (let moved = 0; moved < MARGIN; moved += 1) {
      const at = row + step * moved;
      if (at < 0 || at >= height) break;
      if (isGap[at] === 1) return at;
    }
    return row;
  };
  const first = gap(top, -1);
  const last = gap(Math.min(height - 1, top + strip), 1);
  return cutRows(raster, first, Math.min(height, last + 1));
}
