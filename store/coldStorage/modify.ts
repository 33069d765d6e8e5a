import type { Model } from 'mongoose';

import { type ColdStorageChange, hotMs } from '../../contract/files/coldStorage.js';
import { fileEvents } from '../../contract/events.js';
import type { FileFilters } from '../../contract/files/fileFilters.js';
import type { EventWriter } from '../events/events.js';
import { TAKEN_OVER } from '../files/deletion.js';
import { fileQuery } from '../files/filter.js';
import type { FileDoc } from '../models/files.js';
import type { FileQueries } from '../files/queries.js';
import type { Session } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';

/** Changes of the cold storage options of files. */
export interface StorageChanges {
  /**
   * Changes the next matching files and writes events for the changed ones, in the caller's transaction. Returns the
   * cursor for the next call, null at the end.
   * @param by a run, or a request, which has no workflow
   */
  modify(
    by: Tenant & { readonly requestId: string; readonly workflowId?: string },
    filters: FileFilters,
    change: ColdStorageChange,
    page: { readonly afterId: number; readonly limit: number },
    session: NonNullable<Session>,
  ): Promise<number | null>;
}

/** Returns the changed fields; null if nothing changes. */
function changedFields(file: FileDoc, { enabled, days }: ColdStorageChange, now: number): Partial<FileDoc> | null {
  const supports = enabled ?? file.supportsColdStorage;
  const hotStorageTimeToLive = supports ? (days ?? file.hotStorageTimeToLive) : null;
  if (supports === file.supportsColdStorage && hotStorageTimeToLive === file.hotStorageTimeToLive) return null;
  // The days count from the last recorded use.
  const lastUse = file.coolsAt ? file.coolsAt.getTime() - hotMs(file.hotStorageTimeToLive) : now;
  return {
    supportsColdStorage: supports,
    hotStorageTimeToLive,
    coolsAt: supports ? new Date(Math.min(lastUse, now) + hotMs(hotStorageTimeToLive)) : null,
    updatedAt: new Date(now),
  };
}

export function createStorageChanges(
  files: Model<FileDoc>,
  events: EventWriter,
  { expand }: Pick<FileQueries, 'expand'>,
): StorageChanges {
  return {
    async modify({ organizationId, userId, requestId, workflowId }, filters, change, { afterId, limit }, session) {
      const tenant = { organizationId, userId };
      const query = {
        $and: [fileQuery(tenant, await expand(tenant, filters), afterId), { isContainer: false, $nor: [TAKEN_OVER] }],
      };
      const rows = await files.find(query, null, { session }).sort({ _id: 1 }).limit(limit).lean();
      const now = Date.now();
      const changes = rows.flatMap((file) => {
        const fields = changedFields(file, change, now);
        return fields ? [{ file, fields }] : [];
      });
      if (changes.length > 0)
        await files.bulkWrite(
          changes.map(({ file, fields }) => ({
            updateOne: { filter: { _id: file._id, ...tenant }, update: { $set: fields } },
          })),
          { session },
        );
      const changedFiles = changes.map(({ file }) => file);
      await events.write(fileEvents.stored('EMBEDDING_STORAGE_MODIFIED', changedFiles, requestId, workflowId), session);
      const last = rows.at(-1);
      return last && rows.length === limit ? last._id : null;
    },
  };
}
