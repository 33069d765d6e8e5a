import type { Model } from 'mongoose';

import type { ReembedSkipReason } from '../../contract/runs/reembed.js';
import type { StartedFile } from '../files/start.js';
import type { Tenant } from '../users/accept.js';
import type { ReembedDoc } from '../models/reembeds.js';

interface OwnedRun extends Tenant {
  readonly _id: number;
}

/** Outcome of one file of a run. */
export type ReembedEnd = { readonly fileId: number } & (
  | { readonly outcome: 'reembedded'; readonly chunks: number; readonly tokens: number }
  | { readonly outcome: 'skipped'; readonly reason: ReembedSkipReason }
  | { readonly outcome: 'failed'; readonly message: string }
);

export interface ReembedSums {
  readonly reembedded: number;
  readonly failed: number;
  readonly chunks: number;
  readonly tokens: number;
  /** Number of skipped files by reason. */
  readonly skipped: Readonly<Partial<Record<ReembedSkipReason, number>>>;
}

/** Rows of a re-embedding run, one per file. Every call is safe to repeat. */
export interface Reembeds {
  /** Records the generation reserved for each file. Call it before writing vectors of these generations. */
  begin(run: OwnedRun, started: readonly StartedFile[]): Promise<void>;
  /** Records outcomes. The first outcome of a file is final. */
  end(run: OwnedRun, ends: readonly ReembedEnd[]): Promise<void>;
  /** Returns the rows of unfinished files: of the given files, or of the whole run. */
  listOpen(runId: number, fileIds?: readonly number[]): Promise<ReembedDoc[]>;
  listEnded(runId: number, fileIds: readonly number[]): Promise<ReembedDoc[]>;
  sums(runId: number): Promise<ReembedSums>;
  /** Returns the first failed files. */
  failures(runId: number, limit: number): Promise<ReembedDoc[]>;
}

export function createReembeds(rows: Model<ReembedDoc>): Reembeds {
  const blank = { outcome: null, reason: null, message: null, chunks: 0, tokens: 0 } as const;
  const idOf = (run: OwnedRun, fileId: number): string => `${run._id}:${fileId}`;
  const keysOf = ({ _id: runId, organizationId, userId }: OwnedRun, fileId: number) => ({
    ...{ organizationId, userId, runId, fileId },
    at: new Date(),
  });
  return {
    async begin(run, started) {
      if (started.length === 0) return;
      await rows.bulkWrite(
        started.map(({ file, generation }) => ({
          updateOne: {
            filter: { _id: idOf(run, file._id) },
            update: {
              $setOnInsert: { ...keysOf(run, file._id), ...blank },
              $set: { from: file.generation, generation },
            },
            upsert: true,
          },
        })),
        { ordered: false },
      );
    },
    async end(run, ends) {
      if (ends.length === 0) return;
      const notStarted = { ...blank, from: null, generation: null };
      await rows.bulkWrite(
        ends.flatMap(({ fileId, ...end }) => [
          {
            updateOne: {
              filter: { _id: idOf(run, fileId) },
              update: { $setOnInsert: { ...keysOf(run, fileId), ...notStarted } },
              upsert: true,
            },
          },
          { updateOne: { filter: { _id: idOf(run, fileId), outcome: null }, update: { $set: end } } },
        ]),
      );
    },
    listOpen: (runId, fileIds) =>
      rows
        .find({ runId, outcome: null, ...(fileIds ? { fileId: { $in: [...fileIds] } } : {}) })
        .lean()
        .exec(),
    listEnded: (runId, fileIds) =>
      rows
        .find({ runId, outcome: { $ne: null }, fileId: { $in: [...fileIds] } })
        .lean()
        .exec(),
    async sums(runId) {
      const found = await rows.aggregate<{
        _id: Pick<ReembedDoc, 'outcome' | 'reason'>;
        files: number;
        chunks: number;
        tokens: number;
      }>([
        { $match: { runId } },
        {
          $group: {
            _id: { outcome: '$outcome', reason: '$reason' },
            files: { $sum: 1 },
            chunks: { $sum: '$chunks' },
            tokens: { $sum: '$tokens' },
          },
        },
      ]);
      const of = (outcome: ReembedDoc['outcome']) => found.filter((row) => row._id.outcome === outcome);
      const [done] = of('reembedded');
      return {
        reembedded: done?.files ?? 0,
        failed: of('failed')[0]?.files ?? 0,
        chunks: done?.chunks ?? 0,
        tokens: done?.tokens ?? 0,
        skipped: Object.fromEntries(of('skipped').map(({ _id, files }) => [_id.reason, files])),
      };
    },
    failures: (runId, limit) => rows.find({ runId, outcome: 'failed' }).sort({ fileId: 1 }).limit(limit).lean().exec(),
  };
}
