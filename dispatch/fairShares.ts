import type { Priority } from '@temporalio/common';

import { fairnessKeys } from '../contract/runs/workflowIds.js';
import type { RunDoc } from '../store/models/runs.js';
import type { Runs } from '../store/runs/outbox.js';

/** Lifetime of a cached count of an organization's users, in milliseconds. */
const COUNT_LIFE_MS = 10_000;
/** Minimum weight that Temporal accepts. */
const MIN_WEIGHT = 0.001;
const DELETING_KINDS: readonly RunDoc['kind'][] = ['deleteFiles', 'deleteUser', 'settleQuarantine'];

/** Computes the share of the workers that Temporal gives to the tasks of a run. */
export interface FairShares {
  /**
   * Returns the fairness key of a run's user. Its weight is 1 divided by the number of active users of the organization,
   * so that organizations get equal shares. Deletes and quarantine runs have a separate key, so that they do not wait
   * behind the backlog of their user.
   */
  of(run: Pick<RunDoc, 'organizationId' | 'userId'> & { readonly kind?: RunDoc['kind'] }): Promise<Priority>;
}

export function createFairShares(runs: Pick<Runs, 'countUsersWithOpenRuns'>): FairShares {
  const counts = new Map<number, { readonly users: number; readonly until: number }>();
  const usersOf = async (organizationId: number): Promise<number> => {
    const now = Date.now();
    const cachedCount = counts.get(organizationId);
    if (cachedCount && cachedCount.until > now) return cachedCount.users;
    for (const [id, { until }] of counts) if (until <= now) counts.delete(id);
    const users = Math.max(1, await runs.countUsersWithOpenRuns(organizationId));
    counts.set(organizationId, { users, until: now + COUNT_LIFE_MS });
    return users;
  };
  return {
    async of({ organizationId, userId, kind }) {
      const keyOf = kind && DELETING_KINDS.includes(kind) ? fairnessKeys.deletes : fairnessKeys.work;
      const fairnessWeight = Math.max(MIN_WEIGHT, 1 / (await usersOf(organizationId)));
      return { fairnessKey: keyOf(organizationId, userId), fairnessWeight };
    },
  };
}
