import type * as Pdfjs from 'pdfjs-dist/legacy/build/pdf.mjs';
import { Transformations, UPRIGHT } from './pdfjs/matrix.js';
import { openPdf, operationsOfPdf } from './pdfjs/openPdf.js';

/** A page with less typed text may still be a scan: the text may be a stamp, a number, or a fax header. */
export const SCANNED_CHARACTERS = 100;
/**
 * Minimum share of a page that pictures cover if the page is a scan: scanners leave a margin, and cut pages into
 * strips.
 */
const PICTURE_SHARE = 0.5;

/** Whether pictures cover half of a page or more. Overlapping pictures count twice; nothing is rendered. */
async function isPicture(page: Pdfjs.PDFPageProxy): Promise<boolean> {
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

/** Finds the pages of a PDF that are scans. Opens the PDF with its pictures when the first page is examined. */
export class ScanFinder {
  readonly #bytes: Uint8Array;
  #loading: Promise<Pdfjs.PDFDocumentLoadingTask> | null = null;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Whether pictures cover half of a page or more. False if they cannot be read: its typed text is used then. */
  async isScan(number: number): Promise<boolean> {
    try {
      this.#loading ??= openPdf(this.#bytes, 'pictures');
      const page = await (await (await this.#loading).promise).getPage(number);
      try {
        return await isPicture(page);
      } finally {
        page.cleanup();
      }
    } catch {
      return false;
    }
  }

  async close(): Promise<void> {
    await (await this.#loading)?.destroy();
  }
}
