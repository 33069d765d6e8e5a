import type { Model } from 'mongoose';

import type { Tenant } from '../users/accept.js';
import { type RunDoc, PAUSED } from '../models/runs.js';

/** Runs with a token limit: the reserved tokens, and the pause when the limit is reached. */
export interface Pauses {
  /**
   * Reserves tokens before they are embedded, in one write, so that parallel batches cannot exceed the run's limit
   * together. If the tokens do not fit, the run is paused, and no reservation succeeds until clearPause removes the
   * pause.
   */
  reserveTokens(runId: number, tokens: number): Promise<boolean>;
  /** Releases the reserved tokens of texts whose embedding failed. */
  releaseTokens(runId: number, tokens: number): Promise<void>;
  /** Resumes a paused run with another limit; null removes the limit. False if it is not paused or already resumed. */
  resume(tenant: Tenant, runId: number, maxTokens: number | null): Promise<boolean>;
  /** Removes the pause of a resumed run, for its workflow; false if it was not resumed. */
  clearPause(runId: number): Promise<boolean>;
  /** Returns runs that were resumed before a time and whose pause their workflow has not removed yet. */
  listUnacknowledged(before: Date, limit: number): Promise<RunDoc[]>;
  /** Returns paused runs with ids above `afterId`, ordered by id, at most `limit`. */
  listPaused(afterId: number, limit: number): Promise<RunDoc[]>;
  /** Returns the paused run of a workflow that was not resumed; null if there is none. */
  findPausedByWorkflowId(workflowId: string): Promise<RunDoc | null>;
}

const NOT_PAUSED = { $exists: false };

export function createPauses(runs: Model<RunDoc>): Pauses {
  return {
    async reserveTokens(runId, tokens) {
      const fits = { $expr: { $lte: [{ $add: ['$tokensTaken', tokens] }, '$maxTokens'] } };
      const { modifiedCount } = await runs.updateOne(
        { _id: runId, pause: NOT_PAUSED, $or: [{ maxTokens: null }, fits] },
        { $inc: { tokensTaken: tokens } },
      );
      if (modifiedCount > 0) return true;
      const pause = { reason: 'max_tokens', at: new Date(), wanted: tokens, resumedAt: null } as const;
      await runs.updateOne({ _id: runId, finishedAt: null, pause: NOT_PAUSED }, { $set: { pause } });
      return false;
    },
    async releaseTokens(runId, tokens) {
      await runs.updateOne({ _id: runId }, { $inc: { tokensTaken: -tokens } });
    },
    async resume({ organizationId, userId }, runId, maxTokens) {
      const { modifiedCount } = await runs.updateOne(
        { _id: runId, organizationId, userId, ...PAUSED },
        { $set: { maxTokens, 'pause.resumedAt': new Date() } },
      );
      return modifiedCount > 0;
    },
    async clearPause(runId) {
      const { matchedCount } = await runs.updateOne(
        { _id: runId, 'pause.resumedAt': { $type: 'date' } },
        { $unset: { pause: 1 } },
      );
      return matchedCount > 0;
    },
    listUnacknowledged: (before, limit) =>
      runs
        .find({ finishedAt: null, 'pause.at': { $exists: true }, 'pause.resumedAt': { $lte: before } })
        .limit(limit)
        .lean()
        .exec(),
    listPaused: (afterId, limit) =>
      runs
        .find({ ...PAUSED, _id: { $gt: afterId } })
        .sort({ _id: 1 })
        .limit(limit)
        .hint('pause.at_1')
        .lean()
        .exec(),
    findPausedByWorkflowId: (workflowId) =>
      runs
        .findOne({ workflowId, ...PAUSED })
        .lean()
        .exec(),
  };
}
