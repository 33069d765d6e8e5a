import type * as Pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import { operationsOfPdf } from './openPdf.js';

/** A page with less typed text may still be a scan: the text may be a stamp, a number, or a fax header. */
export const SCANNED_CHARACTERS = 100;
/**
 * Minimum share of a page that pictures cover if the page is a scan: scanners leave a margin, and cut pages into
 * strips.
 */
const PICTURE_SHARE = 0.5;

type Matrix = readonly [number, number, number, number, number, number];
const UPRIGHT: Matrix = [1, 0, 0, 1, 0, 0];

const times = (m: Matrix, n: Matrix): Matrix => [
  m[0] * n[0] + m[2] * n[1],
  m[1] * n[0] + m[3] * n[1],
  m[0] * n[2] + m[2] * n[3],
  m[1] * n[2] + m[3] * n[3],
  m[0] * n[4] + m[2] * n[5] + m[4],
  m[1] * n[4] + m[3] * n[5] + m[5],
];

const asMatrix = (value: unknown): Matrix | null => {
  const numbers = Array.from((value ?? []) as ArrayLike<unknown>, Number);
  return numbers.length === 6 && numbers.every(Number.isFinite) ? (numbers as unknown as Matrix) : null;
};

/** Whether pictures cover most of a page. Overlapping pictures count twice; nothing is rendered. */
export async function isPicture(page: Pdfjs.PDFPageProxy): Promise<boolean> {
  const OPS = await operationsOfPdf();
  const { fnArray, argsArray } = await page.getOperatorList();
  const pictures = new Set<number>([
    OPS.paintImageXObject,
    OPS.paintInlineImageXObject,
    OPS.paintImageMaskXObject,
    OPS.paintImageXObjectRepeat,
  ]);
  const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = page.view;
  const enough = PICTURE_SHARE * Math.abs((x2 - x1) * (y2 - y1));
  const outer: Matrix[] = [];
  let now = UPRIGHT;
  let covered = 0;
  for (const [nth, operation] of fnArray.entries()) {
    const args = argsArray[nth] as readonly unknown[] | null;
    if (operation === OPS.save) outer.push(now);
    else if (operation === OPS.restore) now = outer.pop() ?? UPRIGHT;
    else if (operation === OPS.transform) now = times(now, asMatrix(args) ?? UPRIGHT);
    else if (operation === OPS.paintFormXObjectBegin) {
      outer.push(now);
      now = times(now, asMatrix(args?.[0]) ?? UPRIGHT);
    } else if (operation === OPS.paintFormXObjectEnd) now = outer.pop() ?? UPRIGHT;
    else if (pictures.has(operation)) {
      // A picture fills the unit square of its coordinates.
      covered += Math.abs(now[0] * now[3] - now[1] * now[2]);
      if (covered >= enough) return true;
    }
  }
  return false;
}
