import type * as Pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import { Transformations, UPRIGHT } from './matrix.js';
import { operationsOfPdf } from './openPdf.js';

/** A page with less typed text may still be a scan: the text may be a stamp, a number, or a fax header. */
export const SCANNED_CHARACTERS = 100;
/**
 * Minimum share of a page that pictures cover if the page is a scan: scanners leave a margin, and cut pages into
 * strips.
 */
const PICTURE_SHARE = 0.5;

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
  const transformations = new Transformations(UPRIGHT, OPS);
  let covered = 0;
  for (const [nth, operation] of fnArray.entries()) {
    if (transformations.apply(operation, argsArray[nth] as readonly unknown[] | null)) continue;
    if (pictures.has(operation)) {
      // A picture fills the unit square of its coordinates.
      const now = transformations.now;
      covered += Math.abs(now[0] * now[3] - now[1] * now[2]);
      if (covered >= enough) return true;
    }
  }
  return false;
}
