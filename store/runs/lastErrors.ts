import type { Model } from 'mongoose';

import type { RunDoc, RunError } from '../models/runs.js';

/** Error of the last failed step of a run. It stays stored if a later attempt is interrupted without an error. */
export interface LastErrors {
  note(runId: number, error: RunError): Promise<void>;
  /** Removes the error, because a later attempt succeeded. */
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
