import type { Model } from 'mongoose';

import type { RunKind } from '../../contract/runs/runKinds.js';
import type { RunDoc } from '../models/runs.js';

/** Accepted runs, active and ended. */
export interface RunHistory {
  /** Returns the latest runs of a data source, optionally of one kind. */
  listOfSource(dataSourceId: number, limit: number, kind?: RunKind): Promise<RunDoc[]>;
}

/** Fields that are not read: a request may contain texts of any length. */
const WITHOUT_REQUEST = { request: 0, progress: 0 } as const;

export function createRunHistory(runs: Model<RunDoc>): RunHistory {
  return {
    listOfSource: (dataSourceId, limit, kind) =>
      runs
        .find({ dataSourceId, ...(kind === undefined ? {} : { kind }) }, WITHOUT_REQUEST)
        .sort({ acceptedAt: -1 })
        .limit(limit)
        .lean<RunDoc[]>()
        .exec(),
  };
}
