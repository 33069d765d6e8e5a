import { openPdf, pdfFault } from '../parsers/pdf/pdfjs/openPdf.js';
import { grayOf, type Raster, whiteCanvas, WORKING_PIXELS } from './raster.js';

/** Dots per point (1/72 inch): 216 dpi, with which letters of 8 points are still recognized well. */
const DOTS_PER_POINT = 3;

/**
 * Renders a page of a PDF in gray, at 216 dpi; a page that then has more than WORKING_PIXELS, at a lower resolution.
 * @param page from 1
 * @throws Fault broken_content, encrypted
 */
export async function rasterOfPdf(bytes: Uint8Array, page: number): Promise<Raster> {
  const loading = await openPdf(bytes, 'drawing');
  try {
    const pdf = await loading.promise;
    const drawn = await pdf.getPage(page);
    const { width, height } = drawn.getViewport({ scale: 1 });
    const scale = Math.min(DOTS_PER_POINT, Math.sqrt(WORKING_PIXELS / Math.max(1, width * height)));
    const viewport = drawn.getViewport({ scale });
    const canvas = whiteCanvas(Math.ceil(viewport.width), Math.ceil(viewport.height));
    // PDF.js expects a browser's canvas, and works with this one too.
    const target = canvas as unknown as Parameters<typeof drawn.render>[0]['canvas'];
    await drawn.render({ canvas: target, viewport, background: 'rgb(255,255,255)' }).promise;
    return grayOf(canvas, scale);
  } catch (error) {
    throw pdfFault(error);
  } finally {
    await loading.destroy();
  }
}
