import type { Model } from 'mongoose';

import { FINAL_FILE_STATUSES, type FileSyncStatus } from '../../contract/files/statuses.js';
import { metadataFields } from './metadataFields.js';
import type { FileDoc } from '../models/files.js';

/** Only containers with this field count their pages. */
const TOTAL = 'fileMetadata.pages_total';

/** Counts the pages of a container by outcome, for its file_metadata. The total is the sum of the others. */
export async function pageCounts(
  files: Model<FileDoc>,
  { _id: parentId, organizationId, userId }: Pick<FileDoc, '_id' | 'organizationId' | 'userId'>,
): Promise<Record<string, number>> {
  const rows = await files.aggregate<{ _id: FileSyncStatus; pages: number }>([
    { $match: { organizationId, userId, parentId, isContainer: false } },
    { $group: { _id: '$syncStatus', pages: { $sum: 1 } } },
  ]);
  const countOf = (...statuses: FileSyncStatus[]): number =>
    rows.reduce((sum, row) => sum + (statuses.includes(row._id) ? row.pages : 0), 0);
  const [ready, failed, aborted] = [countOf('READY', 'READY_TO_SYNC'), countOf('SYNC_ERROR'), countOf('SYNC_ABORTED')];
  return { pages_total: ready + failed + aborted, pages_ready: ready, pages_failed: failed, pages_aborted: aborted };
}

/**
 * Recounts the pages of the container of a run that did not complete. The run has already written the number of pages
 * it found, while the other counts are from an earlier run. Skips a container that another run has taken over.
 */
export async function recountPages(files: Model<FileDoc>, runId: number): Promise<void> {
  const query = { runId, isContainer: true, syncStatus: { $in: [...FINAL_FILE_STATUSES] }, [TOTAL]: { $exists: true } };
  for (const container of await files.find(query, { organizationId: 1, userId: 1 }).lean()) {
    const counts = metadataFields(await pageCounts(files, container));
    await files.updateOne({ ...query, _id: container._id }, { $set: { ...counts, updatedAt: new Date() } });
  }
}
