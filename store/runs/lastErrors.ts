import type { Model } from 'mongoose';

import type { RunDoc, RunError } from '../models/runs.js';

/** Error of the last failed step of a run. It stays stored if a later attempt is interrupted without an error. */
export interface LastErrors {
  record(runId: number, error: RunError): Promise<void>;
  /** Removes the error, because a later attempt succeeded. */
  clear(runId: number): Promise<void>;
}

export function createLastErrors(runs: Model<RunDoc>): LastErrors {
  return {
    async record(runId, lastError) {
      await runs.updateOne({ _id: runId, finishedAt: null }, { $set: { lastError } });
    },
    async clear(runId) {
      await runs.updateOne({ _id: runId, finishedAt: null }, { $unset: { lastError: 1 } });
    },
  };
}
