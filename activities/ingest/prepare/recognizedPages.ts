import { createHash } from 'node:crypto';

import { Fault } from '../../../contract/failures.js';
import type { PageText } from '../../../documents/types.js';
import type { FileDoc } from '../../../store/files/model.js';
import type { ReadingOwner } from '../../../store/recognizedPages/recognizedPages.js';
import type { ActivityDeps, OcrLimits } from '../../deps.js';
import { Deferred } from './deferred.js';

/** Raised whenever OCR would read something else in the same picture. */
const OCR_VERSION = 1;

/** The formats that are pictures, and all of which pages may be. */
export const PICTURES: readonly string[] = ['JPG', 'PNG'];
const RECOGNIZED = ['PDF', ...PICTURES];

/** Whether the pages of a file that are pictures are to be read. */
export const wantsOcr = ({ options }: FileDoc, format: string): boolean =>
  options.useOcr === true && RECOGNIZED.includes(format);

/** Whether tables are to be found, on pages that are recognized and on others. */
export const wantsTables = ({ options }: Pick<FileDoc, 'options'>): boolean => options.parsePdfTablesWithOcr === true;

/** The pages of a file that OCR is to read, as far as that is known before it is read. */
export const pagesKnown = ({ syncStatus, ocrPages }: FileDoc, format: string): readonly number[] | null =>
  PICTURES.includes(format) ? [1] : syncStatus === 'QUEUED_FOR_OCR' ? (ocrPages ?? null) : null;

/** The settings that the result of OCR depends on, in addition to the content. */
export const ocrReading = ({ languages }: OcrLimits, findTables: boolean): string =>
  JSON.stringify([OCR_VERSION, languages, findTables]);

/** Under what the pages of a file are kept: its content, and how it is read. */
export function readingOf(file: FileDoc, hash: string, { settings }: Pick<ActivityDeps, 'settings'>): ReadingOwner {
  const { organizationId, userId, _id: fileId } = file;
  const reading = createHash('sha256')
    .update(hash + ocrReading(settings.ocr, wantsTables(file)))
    .digest('hex');
  return { organizationId, userId, fileId, reading };
}

/**
 * What OCR read on some pages of a file.
 * @throws Deferred where it has not read them all yet; Fault too_large where they are more than it reads
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
      `${pages.length} pages of the PDF have no text, more than are recognized (setting MAX_OCR_PAGES: ${maxPages}). Split it, or raise the setting.`,
    );
  }
  const kept = await deps.store.recognizedPages.find(readingOf(file, hash, deps));
  return pages.map((number) => {
    const page = kept.get(number) as PageText | undefined;
    if (page === undefined) throw new Deferred('recognize', pages);
    return page;
  });
}
