import type { Model } from 'mongoose';

import { IN_PROGRESS_STATUSES } from '../../contract/files/statuses.js';
import type { FileChanges } from './changes.js';
import type { FileDoc } from '../models/files.js';
import { activeStatus, isStartable, startsSparse, TRANSITIONS } from './transitions.js';

/** A file that a batch has started: its record, and the generation to which this sync writes. */
export interface StartedFile {
  readonly file: FileDoc;
  readonly generation: number;
}

const IN_PROGRESS = { $in: [...IN_PROGRESS_STATUSES] };

/**
 * Moves a run's files to SYNCING, each with a new generation. Files in progress are started again and keep their state.
 */
export async function startFiles(
  files: Model<FileDoc>,
  changes: FileChanges,
  runId: number,
  fileIds: readonly number[],
): Promise<StartedFile[]> {
  const filesOfRun = { _id: { $in: [...fileIds] }, runId };
  const rows = await files
    .find({ ...filesOfRun, syncStatus: activeStatus })
    .sort({ _id: 1 })
    .lean();
  const now = new Date();
  const startable = rows.filter(isStartable);
  // Restarted after a crash or a deferral: no new event.
  const inProgress = rows.filter((row) => !isStartable(row));
  const sparseReport = startable.some(startsSparse) ? { sparseQueuedBy: runId } : {};
  const inc = { lastGeneration: 1, unfinishedStarts: 1 };
  if (inProgress.length > 0)
    await files.updateMany(
      { _id: { $in: inProgress.map(({ _id }) => _id) }, runId, syncStatus: IN_PROGRESS },
      { $set: { updatedAt: now }, $inc: inc },
    );
  const set = { updatedAt: now, ...sparseReport };
  const startedAll = await changes.changeAll('start', startable, { owner: { runId }, where: {}, set, inc });
  // Compute the new records only if every file was queued and was changed by this call. Otherwise read them: another
  // worker, which was presumed dead, may have started some of the files too.
  const isAsExpected = startedAll && inProgress.length === 0;
  const started = isAsExpected
    ? rows.map((row): FileDoc => ({
        ...row,
        ...sparseReport,
        syncStatus: TRANSITIONS.start.to,
        updatedAt: now,
        lastGeneration: row.lastGeneration + 1,
        unfinishedStarts: row.unfinishedStarts + 1,
      }))
    : await files
        .find({ ...filesOfRun, syncStatus: IN_PROGRESS })
        .sort({ _id: 1 })
        .lean();
  return started.map((file) => ({ file, generation: file.lastGeneration }));
}
