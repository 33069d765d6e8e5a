import type { Model } from 'mongoose';

import { FINAL_FILE_STATUSES, type FileSyncStatus } from '../../contract/files/statuses.js';
import { metadataFields } from './metadataFields.js';
import type { FileDoc } from '../models/files.js';

/** The fact by which a container is one whose pages are counted. */
const TOTAL = 'fileMetadata.pages_total';

/** How the pages below a container have ended, as its file_metadata tells it: the total is the sum of the others. */
export async function pageCounts(
  files: Model<FileDoc>,
  { _id: parentId, organizationId, userId }: Pick<FileDoc, '_id' | 'organizationId' | 'userId'>,
): Promise<Record<string, number>> {
  const rows = await files.aggregate<{ _id: FileSyncStatus; pages: number }>([
    { $match: { organizationId, userId, parentId, isContainer: false } },
    { $group: { _id: '$syncStatus', pages: { $sum: 1 } } },
  ]);
  const of = (...statuses: FileSyncStatus[]): number =>
    rows.reduce((sum, row) => sum + (statuses.includes(row._id) ? row.pages : 0), 0);
  const [ready, failed, aborted] = [of('READY', 'READY_TO_SYNC'), of('SYNC_ERROR'), of('SYNC_ABORTED')];
  return { pages_total: ready + failed + aborted, pages_ready: ready, pages_failed: failed, pages_aborted: aborted };
}

/**
 * Has the container of a run that came to no proper end count its pages as they are now: the run has told how many it had
 * found, and the other counts are those of an earlier one. Not where another run has taken the container over.
 */
export async function recountPages(files: Model<FileDoc>, runId: number): Promise<void> {
  const mine = { runId, isContainer: true, syncStatus: { $in: [...FINAL_FILE_STATUSES] }, [TOTAL]: { $exists: true } };
  for (const container of await files.find(mine, { organizationId: 1, userId: 1 }).lean()) {
    const facts = metadataFields(await pageCounts(files, container));
    await files.updateOne({ ...mine, _id: container._id }, { $set: { ...facts, updatedAt: new Date() } });
  }
}
