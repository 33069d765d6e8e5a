import type { Model } from 'mongoose';

import type { Tenant } from '../users/accept.js';
import type { RecognizedPageDoc } from '../models/recognizedPages.js';

/** A file with one set of reading options. */
export interface ReadingOwner extends Tenant {
  readonly fileId: number;
  /** Hash of the content and of all that its reading depends on. */
  readonly reading: string;
}

/** What OCR has read, page by page: a file is read once, however often it is synced again. Safe to repeat. */
export interface RecognizedPages {
  /** Forgets what was read of the file in other ways, or of other contents; answers the numbers of pages that are kept. */
  begin(owner: ReadingOwner): Promise<Set<number>>;
  /** @param number from 1 */
  save(owner: ReadingOwner, number: number, page: unknown): Promise<void>;
  /** The pages that are kept, by their numbers. */
  find(owner: ReadingOwner): Promise<Map<number, unknown>>;
  /** All pages of some files. */
  deleteOf(tenant: Tenant, fileIds: readonly number[]): Promise<void>;
  /** All rows of a user, whether a file still names them or not. */
  deleteAll(tenant: Tenant): Promise<void>;
  /** Pages kept of some files: for checks that nothing is left behind. */
  countOf(tenant: Tenant, fileIds: readonly number[]): Promise<number>;
}

export function createRecognizedPages(rows: Model<RecognizedPageDoc>): RecognizedPages {
  const its = ({ organizationId, userId, fileId, reading }: ReadingOwner) => ({
    organizationId,
    userId,
    fileId,
    reading,
  });
  return {
    async begin(owner) {
      await rows.deleteMany({ ...its(owner), reading: { $ne: owner.reading } });
      return new Set((await rows.find(its(owner), { number: 1 }).lean()).map(({ number }) => number));
    },
    async save(owner, number, page) {
      await rows.updateOne({ ...its(owner), number }, { $set: { page } }, { upsert: true });
    },
    async find(owner) {
      const found = await rows.find(its(owner)).lean();
      return new Map(found.map(({ number, page }) => [number, page]));
    },
    async deleteOf({ organizationId, userId }, fileIds) {
      await rows.deleteMany({ organizationId, userId, fileId: { $in: [...fileIds] } });
    },
    async deleteAll({ organizationId, userId }) {
      await rows.deleteMany({ organizationId, userId });
    },
    countOf: ({ organizationId, userId }, fileIds) =>
      rows.countDocuments({ organizationId, userId, fileId: { $in: [...fileIds] } }).exec(),
  };
}
