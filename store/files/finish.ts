/** The ends of successful syncs: files with new content, and files whose content is unchanged. */
import type { Model } from 'mongoose';

import { hotMs } from '../../contract/files/coldStorage.js';
import { endedAs, type ItemCost } from '../../contract/runs/ledger.js';
import type { EmbeddingModelId } from '../../contract/vectors/embeddingModels.js';
import type { FileDoc, SyncedContent } from '../models/files.js';
import type { FileChanges } from './changes.js';
import { keepEvaluated } from './evaluate.js';
import { ATTEMPT_ENDED } from './transitions.js';

/** How a sync ended well: the content that readers see from now on. */
export interface FinishedSync {
  readonly runId: number;
  /** The record when the sync began. */
  readonly file: FileDoc;
  readonly content: SyncedContent;
  readonly name: string | null;
  /** The model of its vectors, which takes the place of the one that was asked for; absent: that one. */
  readonly model?: EmbeddingModelId;
  readonly fileMetadata: Record<string, unknown>;
  /** When the content says it was made; absent where it does not. */
  readonly sourceCreatedAt?: Date;
  /** The revision of the tags that the points carry: a file whose tags have changed is not published. */
  readonly tagsRevision: number | null;
  /** For the ledger. */
  readonly cost: ItemCost;
}

/** A file whose content is still the one it has, under the number that was given out for this try. */
export interface UnchangedFile {
  readonly runId: number;
  /** The record when the sync began. */
  readonly file: FileDoc;
  readonly generation: number;
  /** Of finding that out. */
  readonly cost: ItemCost;
}

/** Publishes the new generation of files; returns the published ids. */
export async function finish(
  files: Model<FileDoc>,
  changes: FileChanges,
  syncs: readonly FinishedSync[],
): Promise<number[]> {
  const now = new Date();
  const published = await changes.many(
    'finish',
    syncs.map(({ runId, file, content, name, model, fileMetadata, sourceCreatedAt, tagsRevision, cost }) => ({
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
        // Any earlier number may have left rows: an older content, or an attempt that crashed.
        cleanupPending: content.generation > 1,
        ...ATTEMPT_ENDED,
        ended: { ...endedAs('ok', null, null), ...cost },
        attempts: 0,
        lastSync: now,
        restoredAt: null,
        // Its vectors are in Qdrant, wherever the earlier ones were.
        embeddingStorageStatus: 'HOT_STORAGE',
        coldCopy: null,
        ...(file.supportsColdStorage ? { coolsAt: new Date(now.getTime() + hotMs(file.hotStorageTimeToLive)) } : {}),
      },
    })),
  );
  if (published.length === syncs.length) return published;
  // A reply may have been lost: files that this very sync published before count as well.
  const rows = await files
    .find({ $or: syncs.map(({ file, content }) => ({ _id: file._id, generation: content.generation })) }, { _id: 1 })
    .lean();
  return rows.map((row) => row._id);
}

/** Ends files whose content is unchanged: READY, nothing rewritten. */
export async function finishUnchanged(changes: FileChanges, all: readonly UnchangedFile[]): Promise<void> {
  const now = new Date();
  const isEvaluated = ({ file }: UnchangedFile): boolean => file.syncStatus === 'EVALUATING_RESYNC';
  await keepEvaluated(changes, all.filter(isEvaluated));
  await changes.many(
    'finishUnchanged',
    all
      .filter((one) => !isEvaluated(one))
      .map(({ runId, file, generation, cost }) => ({
        file,
        owner: { runId },
        where: { _id: file._id, lastGeneration: generation },
        message: null,
        set: {
          ...ATTEMPT_ENDED,
          ended: { ...endedAs('skipped', 'fetch', 'unchanged'), ...cost },
          attempts: 0,
          lastSync: now,
          // It was listed before its content was compared.
          ...(file.listedVersion ? { version: file.listedVersion } : {}),
        },
      })),
  );
}
