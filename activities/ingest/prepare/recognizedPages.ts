import { createHash } from 'node:crypto';

import { Fault } from '../../../contract/failures.js';
import type { PageText } from '../../../documents/placedText.js';
import type { FileDoc } from '../../../store/models/files.js';
import type { ReadingOwner } from '../../../store/recognizedPages/recognizedPages.js';
import type { ActivityDeps, OcrLimits } from '../../deps.js';
import { Deferred } from './deferred.js';

/** Version of OCR. Increase it when OCR returns a different text for the same picture. */
const OCR_VERSION = 2;

/** The formats that are pictures; all their pages may need OCR. */
export const PICTURES: readonly string[] = ['JPG', 'PNG'];
const OCR_FORMATS = ['PDF', ...PICTURES];

/** Whether OCR should read the pages of a file that have no text, such as scans and pictures. */
export const wantsOcr = ({ options }: FileDoc, format: string): boolean =>
  options.useOcr === true && OCR_FORMATS.includes(format);

/** Whether tables should be detected, on recognized pages and on others. */
export const wantsTables = ({ options }: Pick<FileDoc, 'options'>): boolean => options.parsePdfTablesWithOcr === true;

/** Returns the options of OCR for a file. */
export const recognitionOf = (file: Pick<FileDoc, 'options'>) => ({
  findTables: wantsTables(file),
  ...(file.options.ocrLanguages ? { languages: file.options.ocrLanguages } : {}),
});

/** Returns the pages that OCR should read, if they are known before the file is parsed. */
export const pagesKnown = ({ syncStatus, ocrPages }: FileDoc, format: string): readonly number[] | null =>
  PICTURES.includes(format) ? [1] : syncStatus === 'QUEUED_FOR_OCR' ? (ocrPages ?? null) : null;

/** The options and settings that the result of OCR depends on, in addition to the content. */
export const ocrReading = (file: Pick<FileDoc, 'options'>, { engine, languages }: OcrLimits): string =>
  JSON.stringify([
    OCR_VERSION,
    file.options.ocrLanguages ?? languages,
    wantsTables(file),
    // The engine WASM is omitted, so that pages stored by an earlier version stay valid.
    ...(engine === 'wasm' ? [] : [engine]),
  ]);

/** Returns the key under which the recognized pages of a file are stored: its content and the OCR settings. */
export function readingOf(file: FileDoc, hash: string, { settings }: Pick<ActivityDeps, 'settings'>): ReadingOwner {
  const { organizationId, userId, _id: fileId } = file;
  const reading = createHash('sha256')
    .update(hash + ocrReading(file, settings.ocr))
    .digest('hex');
  return { organizationId, userId, fileId, reading };
}

/**
 * Returns the text that OCR read on some pages of a file.
 * @throws Deferred if some pages are not read yet; Fault too_large if there are more than OCR may read
 */
export async function recognizedPagesOf(
  file: FileDoc,
  hash: string,
  pages: readonly number[],
  deps: Pick<ActivityDeps, 'store' | 'settings'>,
): Promise<PageText[]> {
  const { maxPages } = deps.settings.ocr;
  if (pages.length > maxPages) {
    throw new Fault(
      'too_large',
      `${pages.length} pages of the PDF have no text, more than are recognized (setting MAX_OCR_PAGES: ${maxPages}). Split the PDF, or raise the setting.`,
    );
  }
  const storedPages = await deps.store.recognizedPages.find(readingOf(file, hash, deps));
  return pages.map((number) => {
    const page = storedPages.get(number) as PageText | undefined;
    if (page === undefined) throw new Deferred('recognize', pages);
    return page;
  });
}
