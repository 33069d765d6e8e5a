import { identifyFile } from '../detection/identifyFile.js';
import { withBytes } from '../processDocument.js';
import type { DocumentLimits, PageText, ParseInput, RecognizeOptions } from '../types.js';
import { type EngineSettings, readPicture } from './engine.js';
import { layoutPage } from './layoutPage.js';
import { rasterOfImage } from './raster.js';
import { rasterOfPdf } from './rasterOfPdf.js';

/** What the process that recognizes has to know beside the page. */
export interface RecognizeSettings extends EngineSettings {
  /** Of a picture at most. */
  readonly maxPixels: number;
}

/**
 * What one page of a PDF, or a picture, says by OCR; a page without a paragraph where nothing was found. Boxes are in
 * points from the upper left corner, in a picture in its pixels.
 * @throws Fault too_large, no_text (a picture that is too small), broken_content, encrypted
 */
export async function recognizePage(
  input: ParseInput,
  { page, findTables }: RecognizeOptions,
  settings: RecognizeSettings,
  limits: DocumentLimits,
): Promise<PageText> {
  const { bytes } = await withBytes(input, limits);
  const format = input.readAs ?? identifyFile({ ...input, bytes }).format;
  const { scale, bytes: picture } =
    format === 'PDF' ? await rasterOfPdf(bytes, page) : await rasterOfImage(bytes, settings.maxPixels);
  return layoutPage(await readPicture(picture, settings), page, scale, findTables);
}
