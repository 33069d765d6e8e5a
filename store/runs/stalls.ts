import type { Model } from 'mongoose';

import type { RunStall, StallGroup } from '../../contract/runs/stalls.js';
import { FINAL_FILE_STATUSES } from '../../contract/files/statuses.js';
import type { FileDoc } from '../models/files.js';
import type { RunDoc } from '../models/runs.js';
import { updateByPipeline } from '../database/driver.js';
import { type RunPosition, startedBetween } from './position.js';

/** Maximum number of stalls stored per run. */
const STALLS_KEPT = 20;

/** Returns the field that lists the current stall of a run as a past one, for the write that ends the run. */
export const stallsAtEnd = ({ stall, stalls = [] }: Pick<RunDoc, 'stall' | 'stalls'>, until: Date) =>
  stall ? { stalls: [...stalls, { ...stall, until }].slice(-STALLS_KEPT) } : {};

/** Runs that make no progress although they have due work. The callers detect stalls from Temporal's data. */
export interface Stalls {
  /**
   * Returns active runs that are not paused and that Temporal started at or before a time, the oldest first.
   * @param after position of the last run of the previous page; null: from the oldest run
   */
  listStarted(after: RunPosition | null, startedUntil: Date, limit: number): Promise<RunDoc[]>;
  /**
   * Returns runs that were accepted before a time and wait for Temporal, or for a batch of their user's upload stream.
   */
  listUnstarted(before: Date, limit: number): Promise<RunDoc[]>;
  /** Returns the runs that are recorded as stalled. */
  listStalled(limit: number): Promise<RunDoc[]>;
  /** Returns whether a file of the run was discovered, or ended, after a time. */
  hasProgressedSince(run: RunDoc, since: Date): Promise<boolean>;
  /** Records a stall; a stall with the same cause keeps its start time. */
  record(runId: number, stall: RunStall): Promise<void>;
  /** Ends a stall; it remains in the list of past stalls. */
  clear(runId: number): Promise<void>;
  /** Groups stalled runs by cause, for one organization or for all. */
  groupByCause(organizationId?: number): Promise<StallGroup[]>;
}

/**
 * Filter of stalled runs, which have an index of their own. Queries name the index as a hint: otherwise MongoDB reads
 * all runs of all organizations.
 */
const STALLED = { finishedAt: null, 'stall.since': { $exists: true } } as const;

export function createStalls(runs: Model<RunDoc>, files: Model<FileDoc>): Stalls {
  return {
    listStarted: (after, startedUntil, limit) =>
      runs
        .find({ finishedAt: null, ...startedBetween(after, startedUntil), 'pause.at': { $exists: false } })
        .sort({ startedAt: 1 })
        .limit(limit)
        .lean()
        .exec(),
    async listUnstarted(before, limit) {
      const waiting = { startedAt: null, acceptedAt: { $lte: before } };
      const [due, ofStreams] = await Promise.all([
        runs
          .find({ ...waiting, held: { $ne: true }, nextTryAt: { $lte: new Date() } })
          .sort({ nextTryAt: 1 })
          .limit(limit)
          .lean(),
        runs
          .find({ ...waiting, held: false, stream: true, finishedAt: null })
          .hint('streamWaiting')
          .limit(limit)
          .lean(),
      ]);
      return [...due, ...ofStreams];
    },
    listStalled: (limit) => runs.find(STALLED).hint('stalled').limit(limit).lean().exec(),
    async hasProgressedSince({ _id: runId, organizationId, userId }, since) {
      // The index on updatedAt limits the read to files that changed after `since`.
      const changed = { organizationId, userId, updatedAt: { $gt: since }, runId };
      const found = { $or: [{ syncStatus: { $in: [...FINAL_FILE_STATUSES] } }, { createdAt: { $gt: since } }] };
      return (await files.exists({ ...changed, ...found })) !== null;
    },
    async record(runId, stall) {
      const sameStall = { _id: runId, finishedAt: null, 'stall.cause': stall.cause };
      const { matchedCount } = await runs.updateOne(sameStall, { $set: { 'stall.message': stall.message } });
      if (matchedCount > 0) return;
      // A stall with another cause ends the earlier stall, which is added to the past stalls.
      await updateByPipeline(runs, { _id: runId, finishedAt: null }, [
        { $set: { stalls: { $cond: [{ $gt: ['$stall.since', null] }, pastStalls, '$stalls'] } } },
        { $set: { stall: { $literal: stall } } },
      ]);
    },
    async clear(runId) {
      await updateByPipeline(runs, { _id: runId, 'stall.since': { $exists: true } }, [
        { $set: { stalls: pastStalls } },
        { $unset: 'stall' },
      ]);
    },
    groupByCause: (organizationId) =>
      runs
        .aggregate<StallGroup>([
          { $match: { ...STALLED, ...(organizationId !== undefined && { organizationId }) } },
          { $sort: { 'stall.since': 1 } },
          {
            $group: {
              _id: '$stall.cause',
              runs: { $sum: 1 },
              message: { $first: '$stall.message' },
              since: { $first: '$stall.since' },
            },
          },
          { $sort: { runs: -1, _id: 1 } },
          { $project: { _id: 0, cause: '$_id', runs: 1, message: 1, since: 1 } },
        ])
        .hint('stalled'),
  };
}

const pastStalls = {
  $slice: [
    { $concatArrays: [{ $ifNull: ['$stalls', []] }, [{ $mergeObjects: ['$stall', { until: '$$NOW' }] }]] },
    -STALLS_KEPT,
  ],
};
