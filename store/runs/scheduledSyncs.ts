import type { Model } from 'mongoose';

import type { Run, RunDoc } from '../models/runs.js';

/** Scheduled syncs, and the runs of their parts. */
export interface ScheduledSyncs {
  /** Returns the scheduled sync that an execution of a workflow has already accepted; null if there is none. */
  findByTemporalRunId(temporalRunId: string): Promise<Run | null>;
  /** Returns the runs of the parts that the scheduled sync has begun so far, in the order of their acceptance. */
  listParts(scheduledSyncId: number): Promise<Run[]>;
  /**
   * Returns `busy` if an unfinished sync of the data source or file is not paused, `paused` if all are paused, and null
   * if there is none.
   */
  findConflict(of: { readonly dataSourceId: number } | { readonly fileId: number }): Promise<'busy' | 'paused' | null>;
}

export function createScheduledSyncs(runs: Model<RunDoc>): ScheduledSyncs {
  return {
    findByTemporalRunId: (temporalRunId) => runs.findOne({ temporalRunId }).lean<Run | null>().exec(),
    listParts: (parentRunId) =>
      runs
        .find({ parentRunId, part: { $exists: true } })
        .sort({ acceptedAt: 1, _id: 1 })
        .lean<Run[]>()
        .exec(),
    async findConflict(of) {
      const kinds = ['autoSync', 'syncItems', 'syncSource', 'syncFeed', 'scrapeSitemap', 'webScrape'] as const;
      const unfinished = { ...of, kind: { $in: kinds }, finishedAt: null };
      if ((await runs.exists({ ...unfinished, pause: { $exists: false } })) !== null) return 'busy';
      return (await runs.exists(unfinished)) === null ? null : 'paused';
    },
  };
}
