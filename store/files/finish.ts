/** Ends successful syncs: of files with new content, and of files whose content is unchanged. */
import type { Model } from 'mongoose';

import { hotMs } from '../../contract/files/coldStorage.js';
import { itemEnd, type ItemCost, type WarningCause } from '../../contract/runs/ledger.js';
import type { EmbeddingModelId } from '../../contract/vectors/embeddingModels.js';
import type { FileDoc, SyncedContent } from '../models/files.js';
import { updateByPipeline } from '../database/driver.js';
import type { FileChanges } from './changes.js';
import { asIfUsed } from './dueTime.js';
import { keepEvaluated } from './evaluate.js';
import { ATTEMPT_ENDED } from './transitions.js';

/** A successful sync: the content that readers see from now on. */
export interface FinishedSync {
  readonly runId: number;
  /** The record when the sync began. */
  readonly file: FileDoc;
  readonly content: SyncedContent;
  readonly name: string | null;
  /** Model of the vectors, if it differs from the requested model. */
  readonly model?: EmbeddingModelId;
  readonly fileMetadata: Record<string, unknown>;
  /** The first warning in `fileMetadata`, for the ledger. */
  readonly warning?: WarningCause;
  /** Creation time that the content states; absent if it states none. */
  readonly sourceCreatedAt?: Date;
  /** Revision of the tags that the points carry. If the file's tags have changed since, the sync is not published. */
  readonly tagsRevision: number | null;
  /** Cost for the ledger. */
  readonly cost: ItemCost;
}

/** A file whose content has not changed, with the generation that this attempt reserved. */
export interface UnchangedFile {
  readonly runId: number;
  /** The record when the sync began. */
  readonly file: FileDoc;
  readonly generation: number;
  /** Cost of the comparison. */
  readonly cost: ItemCost;
}

/**
 * Computes the due times again of files whose days in hot storage were changed during the sync. Their published due
 * time was computed from the days in the record at the start of the sync.
 */
async function correctDueTimes(files: Model<FileDoc>, syncs: readonly FinishedSync[], now: Date): Promise<void> {
  const changed = syncs.flatMap(({ file: { _id, supportsColdStorage, hotStorageTimeToLive: days } }) =>
    supportsColdStorage ? [{ _id, supportsColdStorage: true, hotStorageTimeToLive: { $ne: days }, lastSync: now }] : [],
  );
  if (changed.length > 0) await updateByPipeline(files, { $or: changed }, asIfUsed(now));
}

/** Publishes the new generation of files; returns the published ids. */
export async function finish(
  files: Model<FileDoc>,
  changes: FileChanges,
  syncs: readonly FinishedSync[],
): Promise<number[]> {
  const now = new Date();
  const published = await changes.changeMany(
    'finish',
    syncs.map(({ runId, file, content, name, model, fileMetadata, warning, sourceCreatedAt, tagsRevision, cost }) => ({
      file,
      owner: { runId },
      // tagsRevision null also finds records without the field.
      where: { _id: file._id, lastGeneration: content.generation, tagsRevision },
      message: null,
      set: {
        ...content,
        ...(name === null ? {} : { name }),
        ...(model === undefined ? {} : { 'options.embeddingModel': model }),
        fileMetadata,
        ...(sourceCreatedAt ? { sourceCreatedAt } : {}),
        // Any earlier generation may have left rows: an older content, or an attempt that crashed.
        cleanupPending: content.generation > 1,
        ...ATTEMPT_ENDED,
        ended: { ...itemEnd('ok', null, warning ?? null), ...cost },
        attempts: 0,
        lastSync: now,
        restoredAt: null,
        // The new vectors are in Qdrant, even if the earlier ones were in cold storage.
        embeddingStorageStatus: 'HOT_STORAGE',
        coldCopy: null,
        ...(file.supportsColdStorage ? { coolsAt: new Date(now.getTime() + hotMs(file.hotStorageTimeToLive)) } : {}),
      },
    })),
  );
  await correctDueTimes(files, syncs, now);
  if (published.length === syncs.length) return published;
  // A reply may have been lost: count files that this same sync published earlier.
  const rows = await files
    .find({ $or: syncs.map(({ file, content }) => ({ _id: file._id, generation: content.generation })) }, { _id: 1 })
    .lean();
  return rows.map((row) => row._id);
}

/** Ends files whose content is unchanged: sets READY and rewrites nothing. */
export async function finishUnchanged(changes: FileChanges, unchanged: readonly UnchangedFile[]): Promise<void> {
  const now = new Date();
  const isEvaluated = ({ file }: UnchangedFile): boolean => file.syncStatus === 'EVALUATING_RESYNC';
  await keepEvaluated(changes, unchanged.filter(isEvaluated));
  await changes.changeMany(
    'finishUnchanged',
    unchanged
      .filter((sync) => !isEvaluated(sync))
      .map(({ runId, file, generation, cost }) => ({
        file,
        owner: { runId },
        where: { _id: file._id, lastGeneration: generation },
        message: null,
        set: {
          ...ATTEMPT_ENDED,
          ended: { ...itemEnd('skipped', 'fetch', 'unchanged'), ...cost },
          attempts: 0,
          lastSync: now,
          // The listing reported this version before the content was compared.
          ...(file.listedVersion ? { version: file.listedVersion } : {}),
        },
      })),
  );
}
