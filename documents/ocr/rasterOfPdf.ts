import { openPdf, pdfFault } from '../parsers/pdf/openPdf.js';
import { grayOf, type Raster, whiteCanvas, WORKING_PIXELS } from './raster.js';

/** Of a page's points, at 72 an inch: 216 dots an inch, where letters of 8 points are still well recognized. */
const DOTS = 3;

/**
 * A page of a PDF drawn in gray; larger pages more coarsely.
 * @param page from 1
 * @throws Fault broken_content, encrypted
 */
export async function rasterOfPdf(bytes: Uint8Array, page: number): Promise<Raster> {
  const loading = await openPdf(bytes, true);
  try {
    const pdf = await loading.promise;
    const drawn = await pdf.getPage(page);
    const { width, height } = drawn.getViewport({ scale: 1 });
    const scale = Math.min(DOTS, Math.sqrt(WORKING_PIXELS / Math.max(1, width * height)));
    const viewport = drawn.getViewport({ scale });
    const canvas = whiteCanvas(Math.ceil(viewport.width), Math.ceil(viewport.height));
    // PDF.js takes the canvas of a browser, and draws on this one as well.
    const target = canvas as unknown as Parameters<typeof drawn.render>[0]['canvas'];
    await drawn.render({ canvas: target, viewport, background: 'rgb(255,255,255)' }).promise;
    return { bytes: grayOf(canvas), scale };
  } catch (error) {
    throw pdfFault(error);
  } finally {
    await loading.destroy();
  }
}
