import type { Model } from 'mongoose';

import type { Atomically } from '../events/events.js';
import type { FileDoc } from '../models/files.js';
import type { FileQueue } from '../files/queue.js';
import { transition } from '../files/transitions.js';
import type { RunDoc } from '../models/runs.js';

/** Maximum number of runs of one user that are released in one batch. */
const RUNS_PER_BATCH = 500;

/**
 * Runs of single files that were uploaded while the user's queue was full. They stay in the outbox and use no resources
 * of Temporal.
 */
export interface HeldRuns {
  /**
   * Releases each user's oldest held runs while the user's queue has free slots: queues their files, then they start.
   */
  releaseHeld(): Promise<void>;
}

export function createHeldRuns(
  runs: Model<RunDoc>,
  files: Model<FileDoc>,
  queue: Pick<FileQueue, 'freeUploadSlots'>,
  atomically: Atomically,
): HeldRuns {
  const releaseRunsOf = async (tenant: { readonly organizationId: number; readonly userId: number }): Promise<void> => {
    const { organizationId, userId } = tenant;
    const heldQuery = { held: true, startedAt: null, organizationId, userId };
    const held = await runs.find(heldQuery, { _id: 1, fileId: 1 }).sort({ _id: 1 }).limit(RUNS_PER_BATCH).lean();
    const freeSlots = held.length === 0 ? 0 : await queue.freeUploadSlots(tenant, held.length);
    const starting = held.slice(0, freeSlots);
    if (starting.length === 0) return;
    const ids = starting.map(({ _id }) => _id);
    await atomically(async (session) => {
      const { filter, update } = transition('releaseHeld', {
        owner: tenant,
        where: { _id: { $in: starting.flatMap(({ fileId }) => fileId ?? []) }, runId: { $in: ids } },
        message: null,
      });
      await files.updateMany(filter, update, { session });
      const now = new Date();
      const released = { _id: { $in: ids }, held: true };
      // The sweeper signals the streams of released uploads; a run with its own workflow becomes due instead.
      await runs.updateMany({ ...released, stream: true }, { $set: { held: false } }, { session });
      await runs.updateMany(released, { $set: { held: false, nextTryAt: now } }, { session });
    });
  };
  return {
    async releaseHeld() {
      const owners = await runs.aggregate<{ _id: { organizationId: number; userId: number } }>([
        { $match: { held: true, startedAt: null } },
        { $group: { _id: { organizationId: '$organizationId', userId: '$userId' } } },
      ]);
      for (const { _id } of owners) await releaseRunsOf(_id);
    },
  };
}
