import type { Config } from '../config/types.js';
import { findTesseract, notInstalled } from '../documents/ocr/data/nativeTesseract.js';
import type { OcrSettings } from '../documents/pool.js';
import type { Log } from '../observability/log.js';

/**
 * Returns the settings of OCR for a worker's document pool. With OCR_ENGINE `native`, finds the installed Tesseract and
 * logs which languages of OCR_LANGUAGES it lacks, and whether it lacks script detection.
 * @throws StartError if no usable Tesseract is installed
 */
export async function ocrEngine(
  { searchPath, ...settings }: Config['documents']['ocr'],
  log: Log,
): Promise<OcrSettings> {
  const onProgress = (line: string): void => log.info({}, line);
  if (searchPath === null) return { ...settings, onProgress };
  const native = await findTesseract(searchPath);
  const { program, version, codes } = native;
  const missing = notInstalled(native, settings.languages);
  log.info({ program, version, codes }, 'OCR uses the installed Tesseract');
  if (missing.length > 0)
    log.warn({ missing }, 'Tesseract lacks data of OCR_LANGUAGES: pages in these languages cannot be read');
  if (notInstalled(native, ['osd']).length > 0)
    log.warn(
      { missing: ['osd'] },
      'Tesseract lacks the data of script detection: pages are read in several languages instead',
    );
  return { ...settings, onProgress, native };
}
