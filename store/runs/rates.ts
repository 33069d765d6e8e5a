import type { Model } from 'mongoose';

import type { RunKind } from '../../contract/runs/runKinds.js';
import type { Tenant } from '../users/accept.js';
import type { RunDoc } from '../models/runs.js';

/** Maximum number of earlier runs that are measured. */
const MAX_RUNS = 20;

/** Throughput of the last runs of a kind. */
export interface RunRate {
  readonly runs: number;
  readonly files: number;
  readonly seconds: number;
}

/** Measured throughput of earlier runs. */
export interface RunRates {
  /** Measures the user's last finished runs of a kind that had files and no token limit; null if there are none. */
  rateOf(tenant: Tenant, kind: RunKind): Promise<RunRate | null>;
}

export function createRunRates(runs: Model<RunDoc>): RunRates {
  return {
    async rateOf({ organizationId, userId }, kind) {
      const rows = await runs
        .find(
          {
            ...{ organizationId, userId, kind },
            outcome: 'finished',
            // Exclude runs with a token limit: the time of a pause would count as work.
            maxTokens: { $exists: false },
            'counts.total': { $gt: 0 },
          },
          { startedAt: 1, finishedAt: 1, counts: 1 },
        )
        .sort({ acceptedAt: -1, _id: -1 })
        .limit(MAX_RUNS)
        .lean();
      const files = rows.reduce((sum, { counts }) => sum + (counts['total'] ?? 0), 0);
      const ms = rows.reduce((sum, { startedAt, finishedAt }) => {
        return sum + Math.max(0, (finishedAt?.getTime() ?? 0) - (startedAt?.getTime() ?? 0));
      }, 0);
      return rows.length === 0 ? null : { runs: rows.length, files, seconds: ms / 1_000 };
    },
  };
}
