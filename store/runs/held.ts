import type { Model } from 'mongoose';

import type { Atomically } from '../events/events.js';
import type { FileDoc } from '../files/model.js';
import type { FileQueue } from '../files/queue.js';
import type { RunDoc } from './model.js';

/** Runs of one user that are let go in one round. */
const AT_ONCE = 500;

/** Runs about one file that was sent while the user's queue was full: they stay in the outbox, and cost Temporal nothing. */
export interface HeldRuns {
  /** Lets them go as far as there is room, each user's oldest first: their files are queued, and they are due. */
  letGo(): Promise<void>;
}

export function createHeldRuns(
  runs: Model<RunDoc>,
  files: Model<FileDoc>,
  queue: Pick<FileQueue, 'roomForSent'>,
  atomically: Atomically,
): HeldRuns {
  const letGoOf = async (tenant: { readonly organizationId: number; readonly userId: number }): Promise<void> => {
    const { organizationId, userId } = tenant;
    const mine = { held: true, startedAt: null, organizationId, userId };
    const held = await runs.find(mine, { _id: 1, fileId: 1 }).sort({ _id: 1 }).limit(AT_ONCE).lean();
    const room = held.length === 0 ? 0 : await queue.roomForSent(tenant, held.length);
    const going = held.slice(0, room);
    if (going.length === 0) return;
    const ids = going.map(({ _id }) => _id);
    await atomically(async (session) => {
      await files.updateMany(
        {
          _id: { $in: going.flatMap(({ fileId }) => fileId ?? []) },
          organizationId,
          userId,
          runId: { $in: ids },
          syncStatus: 'DELAYED',
        },
        { $set: { syncStatus: 'QUEUED_FOR_SYNC', syncErrorMessage: null, updatedAt: new Date() } },
        { session },
      );
      const now = new Date();
      const letGo = { _id: { $in: ids }, held: true };
      await runs.updateMany({ ...letGo, stream: true }, { $set: { held: false } }, { session });
      await runs.updateMany(letGo, { $set: { held: false, nextTryAt: now } }, { session });
    });
  };
  return {
    async letGo() {
      const owners = await runs.aggregate<{ _id: { organizationId: number; userId: number } }>([
        { $match: { held: true, startedAt: null } },
        { $group: { _id: { organizationId: '$organizationId', userId: '$userId' } } },
      ]);
      for (const { _id } of owners) await letGoOf(_id);
    },
  };
}
