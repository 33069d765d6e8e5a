import type { Model } from 'mongoose';

import type { RunKind } from '../../contract/runs/runKinds.js';
import type { RunDoc } from '../models/runs.js';

/** Runs that were accepted, whether or not they have ended. */
export interface RunHistory {
  /** The latest of a data source first, of one kind where one is named. */
  ofSource(dataSourceId: number, limit: number, kind?: RunKind): Promise<RunDoc[]>;
}

/** A request may hold texts of any length. */
const WITHOUT_REQUEST = { request: 0, progress: 0 } as const;

export function createRunHistory(runs: Model<RunDoc>): RunHistory {
  return {
    ofSource: (dataSourceId, limit, kind) =>
      runs
        .find({ dataSourceId, ...(kind === undefined ? {} : { kind }) }, WITHOUT_REQUEST)
        .sort({ acceptedAt: -1 })
        .limit(limit)
        .lean<RunDoc[]>()
        .exec(),
  };
}
