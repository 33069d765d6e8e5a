import type { OcrLanguage } from '../../contract/files/ocrLanguages.js';
import { identifyFile } from '../detection/identifyFile.js';
import { withBytes } from '../processDocument.js';
import type { PageText } from '../placedText.js';
import type { DocumentLimits, ParseInput, RecognizeOptions } from '../types.js';
import { layoutPage } from './layoutPage.js';
import type { DataCode } from './data/packages.js';
import { rasterOfImage } from './raster.js';
import { rasterOfPdf } from './rasterOfPdf.js';
import { DataNeeded, type LanguageChoice, readInLanguage } from './readInLanguage.js';

/** Settings of the recognizing process. */
export interface RecognizeSettings extends Omit<LanguageChoice, 'languages'> {
  /** Used if a call names none. */
  readonly languages: readonly OcrLanguage[];
  /** Maximum number of pixels of a picture. */
  readonly maxPixels: number;
}

/** The answer if a page needs data that is not on this machine. */
export interface NeededData {
  readonly needs: DataCode;
}

/**
 * Recognizes the text of one page of a PDF, or of a picture. The result has no paragraphs if there is no text. Boxes
 * are in points from the upper left corner, for a picture in its pixels.
 * @throws Fault too_large, no_text (the picture is too small), broken_content, encrypted
 */
export async function recognizePage(
  input: ParseInput,
  { page: number, findTables: wantsTables, languages }: RecognizeOptions,
  settings: RecognizeSettings,
  limits: DocumentLimits,
): Promise<PageText | NeededData> {
  const { bytes } = await withBytes(input, limits);
  const format = input.readAs ?? identifyFile({ ...input, bytes }).format;
  const raster = format === 'PDF' ? await rasterOfPdf(bytes, number) : await rasterOfImage(bytes, settings.maxPixels);
  try {
    const { language, page } = await readInLanguage(raster, {
      ...settings,
      languages: languages ?? settings.languages,
    });
    return layoutPage(page, language, { number, scale: raster.scale, wantsTables });
  } catch (error) {
    if (error instanceof DataNeeded) return { needs: error.code };
    throw error;
  }
}
