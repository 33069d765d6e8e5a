import type { Model } from 'mongoose';

import type { RunDoc, RunError } from '../models/runs.js';

/** The last cause for which a step of a run failed: it stays known when a later attempt ends without one. */
export interface LastErrors {
  note(runId: number, error: RunError): Promise<void>;
  /** A later attempt has succeeded. */
  forget(runId: number): Promise<void>;
}

export function createLastErrors(runs: Model<RunDoc>): LastErrors {
  return {
    async note(runId, lastError) {
      await runs.updateOne({ _id: runId, finishedAt: null }, { $set: { lastError } });
    },
    async forget(runId) {
      await runs.updateOne({ _id: runId, finishedAt: null }, { $unset: { lastError: 1 } });
    },
  };
}
