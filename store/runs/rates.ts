import type { Model } from 'mongoose';

import type { RunKind } from '../../contract/orchestration.js';
import type { Tenant } from '../users/accept.js';
import type { RunDoc } from './model.js';

/** Runs that are looked back at. */
const RUNS = 20;

/** How fast the last runs of a kind were. */
export interface RunRate {
  readonly runs: number;
  readonly files: number;
  readonly seconds: number;
}

/** What earlier runs tell of later ones. */
export interface RunRates {
  /** By the user's own last runs of a kind that had files and never stood still; null where there is none. */
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
            // What somebody thought about before it went on says nothing of our speed.
            maxTokens: { $exists: false },
            'counts.total': { $gt: 0 },
          },
          { startedAt: 1, finishedAt: 1, counts: 1 },
        )
        .sort({ acceptedAt: -1, _id: -1 })
        .limit(RUNS)
        .lean();
      const files = rows.reduce((sum, { counts }) => sum + (counts['total'] ?? 0), 0);
      const ms = rows.reduce((sum, { startedAt, finishedAt }) => {
        return sum + Math.max(0, (finishedAt?.getTime() ?? 0) - (startedAt?.getTime() ?? 0));
      }, 0);
      return rows.length === 0 ? null : { runs: rows.length, files, seconds: ms / 1_000 };
    },
  };
}
