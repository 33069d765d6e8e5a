import type { Model } from 'mongoose';

import { fileEvents } from '../../contract/events.js';
import { wantsSparseVectors } from '../../contract/ingestOptions.js';
import { type FileSyncStatus, UNDER_WAY_STATUSES } from '../../contract/statuses.js';
import type { Intents } from '../events/intents.js';
import type { FileDoc } from './model.js';
import { leaving, markedFiles } from './told.js';

/** A file that a batch has begun: the record, with the generation number that this sync writes under. */
export interface StartedFile {
  readonly file: FileDoc;
  readonly generation: number;
}

/** Waits for its turn, or for the end of somebody's rate limit: begun by its run once it is due. */
const TO_BEGIN = ['QUEUED_FOR_SYNC', 'RATE_LIMITED'] satisfies FileSyncStatus[];
export const IN_MOTION = { $in: [...TO_BEGIN, ...UNDER_WAY_STATUSES] satisfies FileSyncStatus[] };
const UNDER_WAY = { $in: [...UNDER_WAY_STATUSES] };

/** Puts a run's files into SYNCING, each with a fresh generation, and tells of those that were not; those that OCR has read stay as they are. */
export async function startFiles(
  files: Model<FileDoc>,
  intents: Intents,
  runId: number,
  fileIds: readonly number[],
): Promise<StartedFile[]> {
  const mine = { _id: { $in: [...fileIds] }, runId, syncStatus: IN_MOTION };
  const rows = await files.find(mine).sort({ _id: 1 }).lean<FileDoc[]>();
  const now = new Date();
  // Those that were under way already are started again, after a death or once they were put aside: nothing new for anybody.
  const isEntering = ({ syncStatus }: FileDoc): boolean => TO_BEGIN.some((status) => status === syncStatus);
  const again = rows.filter((row) => !isEntering(row));
  const entering = rows.filter(isEntering);
  // Of sparse vectors to come is told once a run, however often their file is tried.
  const sparse = entering.filter((row) => row.sparseQueuedBy !== runId && wantsSparseVectors(row.options));
  const toldOf = sparse.length > 0 ? { sparseQueuedBy: runId } : {};
  const counted = { $inc: { lastGeneration: 1, unfinishedStarts: 1 } };
  const begun = { $set: { syncStatus: 'SYNCING' as const, updatedAt: now, ...toldOf }, ...counted };
  const idsOf = (some: readonly FileDoc[]) => ({ _id: { $in: some.map(({ _id }) => _id) } });
  let asExpected = true;
  if (again.length > 0) {
    await files.updateMany(
      { ...mine, ...idsOf(again), syncStatus: UNDER_WAY },
      { $set: { updatedAt: now }, ...counted },
    );
    // Whoever was taken for dead may be at it too: the number is read and not reckoned.
    asExpected = false;
  }
  if (entering.length > 0) {
    const events = [...entering.flatMap(fileEvents.syncing), ...sparse.map(fileEvents.sparseQueued)];
    await intents.around(events, async (mark) => {
      const query = { ...mine, ...idsOf(entering), syncStatus: { $in: TO_BEGIN } };
      const { matchedCount } = await files.updateMany(query, { ...begun, ...leaving(mark) });
      if (matchedCount === entering.length) return 'all';
      asExpected = false;
      return markedFiles(files)(
        mark,
        entering.map(({ _id }) => _id),
      );
    });
  }
  const started = asExpected
    ? rows.map((row): FileDoc => ({
        ...row,
        ...toldOf,
        syncStatus: 'SYNCING',
        updatedAt: now,
        lastGeneration: row.lastGeneration + 1,
        unfinishedStarts: row.unfinishedStarts + 1,
      }))
    : await files
        .find({ ...mine, syncStatus: UNDER_WAY })
        .sort({ _id: 1 })
        .lean<FileDoc[]>();
  return started.map((file) => ({ file, generation: file.lastGeneration }));
}
