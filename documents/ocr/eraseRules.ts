/** Brightness below which a pixel counts as ink. */
const INK = 160;
const PAPER = 255;
/**
 * Minimum length of a rule (a drawn line), as a share of the picture's shorter side: longer than the strokes of
 * letters.
 */
const MIN_LENGTH_SHARE = 0.05;
/** The smallest value of that minimum, in pixels. */
const LEAST_MIN_LENGTH = 60;
/**
 * Maximum thickness of a rule, as a share of the same side: thicker ones are bars or shadows, and may contain letters.
 */
const MAX_THICKNESS_SHARE = 0.006;
/** The smallest value of that maximum, in pixels. */
const LEAST_MAX_THICKNESS = 6;

/**
 * Erases the lines of tables and forms from a gray picture, in place: otherwise the text between them is treated as a
 * drawing and skipped.
 */
export function eraseRules(gray: Uint8Array, width: number, height: number): void {
  const side = Math.min(width, height);
  const minLength = Math.max(LEAST_MIN_LENGTH, Math.round(MIN_LENGTH_SHARE * side));
  const maxThickness = Math.max(LEAST_MAX_THICKNESS, Math.round(MAX_THICKNESS_SHARE * side));
  // Find the rules of both directions before erasing any: erasing one would interrupt those that cross it.
  const across = strokes(gray, { lines: height, length: width, toLine: width, toNext: 1 }, minLength, maxThickness);
  const down = strokes(gray, { lines: width, length: height, toLine: 1, toNext: width }, minLength, maxThickness);
  for (let at = 0; at < gray.length; at += 1) if (across[at] === 1 || down[at] === 1) gray[at] = PAPER;
}

/** The direction in which a picture is scanned: along its rows or its columns. */
interface Walk {
  readonly lines: number;
  readonly length: number;
  readonly toLine: number;
  readonly toNext: number;
}

/** Marks the pixels of strokes that are long in the direction of the scan and thin across it. */
function strokes(gray: Uint8Array, walk: Walk, minLength: number, maxThickness: number): Uint8Array {
  const { lines, length, toLine, toNext } = walk;
  const marked = new Uint8Array(gray.length);
  eachRun(
    gray,
    walk,
    (value) => value < INK,
    (start, count) => {
      if (count < minLength) return;
      for (let nth = 0; nth < count; nth += 1) marked[start + nth * toNext] = 1;
    },
  );
  const acrossIt = { lines: length, length: lines, toLine: toNext, toNext: toLine };
  eachRun(
    marked,
    acrossIt,
    (value) => value === 1,
    (start, count) => {
      if (count <= maxThickness) return;
      for (let nth = 0; nth < count; nth += 1) marked[start + nth * toLine] = 0;
    },
  );
  return marked;
}

function eachRun(
  pixels: Uint8Array,
  { lines, length, toLine, toNext }: Walk,
  isIn: (value: number) => boolean,
  report: (start: number, count: number) => void,
): void {
  for (let line = 0; line < lines; line += 1) {
    let count = 0;
    let at = line * toLine;
    for (let nth = 0; nth < length; nth += 1, at += toNext) {
      if (isIn(pixels[at] ?? PAPER)) count += 1;
      else if (count > 0) {
        report(at - count * toNext, count);
        count = 0;
      }
    }
    if (count > 0) report(at - count * toNext, count);
  }
}
