import type { Model } from 'mongoose';

import type { Tenant } from '../users/accept.js';
import { type RowsOfFiles, rowsOfFiles } from '../database/rowsOfFiles.js';
import type { RecognizedPageDoc } from '../models/recognizedPages.js';

/** A file with one set of reading options. */
export interface ReadingOwner extends Tenant {
  readonly fileId: number;
  /** Hash of the content and of all options that affect its reading. */
  readonly reading: string;
}

/** OCR results by page: a page is recognized once, even if the file is synced several times. Safe to repeat. */
export interface RecognizedPages extends RowsOfFiles {
  /**
   * Deletes the file's results for other contents and other reading options. Returns the numbers of the pages that have
   * a stored result for this reading.
   */
  begin(owner: ReadingOwner): Promise<Set<number>>;
  /** @param number from 1 */
  save(owner: ReadingOwner, number: number, page: unknown): Promise<void>;
  /** Returns the stored pages by their numbers. */
  find(owner: ReadingOwner): Promise<Map<number, unknown>>;
}

export function createRecognizedPages(rows: Model<RecognizedPageDoc>): RecognizedPages {
  const filterOf = ({ organizationId, userId, fileId, reading }: ReadingOwner) => ({
    organizationId,
    userId,
    fileId,
    reading,
  });
  return {
    async begin(owner) {
      await rows.deleteMany({ ...filterOf(owner), reading: { $ne: owner.reading } });
      return new Set((await rows.find(filterOf(owner), { number: 1 }).lean()).map(({ number }) => number));
    },
    async save(owner, number, page) {
      await rows.updateOne({ ...filterOf(owner), number }, { $set: { page } }, { upsert: true });
    },
    async find(owner) {
      const found = await rows.find(filterOf(owner)).lean();
      return new Map(found.map(({ number, page }) => [number, page]));
    },
    ...rowsOfFiles(rows),
  };
}
