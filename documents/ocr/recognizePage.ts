import { identifyFile } from '../detection/identifyFile.js';
import { withBytes } from '../processDocument.js';
import type { DocumentLimits, PageText, ParseInput, RecognizeOptions } from '../types.js';
import { type EngineSettings, readPicture } from './engine.js';
import { layoutPage } from './layoutPage.js';
import { rasterOfImage } from './raster.js';
import { rasterOfPdf } from './rasterOfPdf.js';

/** Settings of the recognizing process. */
export interface RecognizeSettings extends EngineSettings {
  /** Maximum number of pixels of a picture. */
  readonly maxPixels: number;
}

/**
 * Recognizes the text of one page of a PDF, or of a picture. The result has no paragraphs if there is no text. Boxes are in points
 * from the upper left corner, for a picture in its pixels.
 * @throws Fault too_large, no_text (the picture is too small), broken_content, encrypted
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
