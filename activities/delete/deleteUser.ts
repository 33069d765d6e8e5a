import { cancellationSignal } from '@temporalio/activity';

import type { RunInput } from '../../contract/runs/orchestration.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { emptyFiles } from '../generations/eraseContents.js';
import { advanceQuarantine } from '../quarantine/quarantineSteps.js';

/** Files deleted in one step. */
const FILES_PER_BATCH = 200;
/** Runs stopped in one step. */
const RUNS_PER_BATCH = 500;
/** Schedules removed in one step. */
const SCHEDULES_PER_BATCH = 50;

/**
 * Creates the activities that delete a user with all data. The user's record stays, marked as deleted, so that its id
 * is never reused.
 */
export function createDeleteUserActivities(deps: ActivityDeps) {
  const { store, schedules, names, log } = deps;
  const eraseQuarantined = async (run: RunDoc): Promise<number> => {
    await store.quarantine.claimAll(run, run._id);
    return advanceQuarantine(run, FILES_PER_BATCH, deps, cancellationSignal());
  };
  const runAndTenant = async (runId: number) => {
    const run = await requireRun(store, runId);
    return { run, tenant: { organizationId: run.organizationId, userId: run.userId } };
  };
  return {
    /** Removes the user's schedules. This comes first: they would start new runs. */
    async removeSchedules({ runId }: RunInput): Promise<void> {
      const { tenant } = await runAndTenant(runId);
      for (;;) {
        const ids = await store.schedules.listOfUser(tenant, SCHEDULES_PER_BATCH);
        if (ids.length === 0) return;
        await schedules.remove(ids);
      }
    },

    /**
     * Removes waiting runs from the outbox and returns the ids of at most RUNS_PER_BATCH active workflows of the user.
     */
    async stopUserRuns({ runId }: RunInput): Promise<{ workflowIds: string[] }> {
      const { run, tenant } = await runAndTenant(runId);
      await store.runs.markStarted(runId);
      const inProgress = await store.runs.withdrawOthers(tenant, runId, RUNS_PER_BATCH);
      const workflowKeys = new Set(inProgress.map((other) => other.workflowId).filter((id) => id !== run.workflowId));
      return { workflowIds: [...workflowKeys].map((id) => names.idOf(id)) };
    },

    /** Deletes the next files of the user, at most FILES_PER_BATCH, with all their data; returns their number. */
    async eraseFiles({ runId }: RunInput): Promise<{ erased: number }> {
      const { run, tenant } = await runAndTenant(runId);
      const ids = await store.files.ids(tenant, {}, FILES_PER_BATCH);
      // Files in quarantine are erased last.
      if (ids.length === 0) return { erased: await eraseQuarantined(run) };
      await emptyFiles(store, run, ids);
      await store.files.remove(tenant, runId, ids, false);
      return { erased: ids.length };
    },

    /**
     * Checks for files and runs that a concurrent request created, and returns `again` if there are any. Otherwise it
     * deletes all other data of the user, and marks the user as erased.
     */
    async finishUserDelete({ runId }: RunInput): Promise<{ again: boolean }> {
      const { run, tenant } = await runAndTenant(runId);
      const [files, runs, quarantined] = await Promise.all([
        store.files.ids(tenant, {}, 1),
        store.runs.withdrawOthers(tenant, runId, 1),
        store.quarantine.hasFiles(tenant),
      ]);
      if (files.length > 0 || runs.length > 0 || quarantined) return { again: true };
      // Delete the data sources, and rows without a file, which crashed attempts may have left.
      await Promise.all([
        store.vectors.deleteAll(tenant),
        store.chunks.deleteAll(tenant),
        store.contents.deleteAll(tenant),
        store.originals.deleteAll(tenant),
        store.recognizedPages.deleteAll(tenant),
        store.siteBlocks.deleteAll(tenant),
        store.dataSources.removeAll(tenant),
        store.items.removeAll(tenant),
        store.selections.removeAll(tenant),
        store.attempts.removeAll(tenant),
        store.ledger.removeAll(tenant),
      ]);
      await store.runs.deleteOthers(tenant, runId);
      await store.transaction(async (session) => {
        await store.users.markErased(tenant, session);
        const { organizationId, customerId } = run;
        const objectId = String(run.userId);
        const deleted = {
          kind: 'ORGANIZATION_USER_DELETED',
          organizationId,
          customerId,
          objectId,
          info: null,
          workflowId: run.workflowId,
        } as const;
        await store.events.write([deleted], session, `user-deleted:${runId}`);
      });
      await store.runs.finish(runId, 'finished', {});
      log.info({ runId, ...tenant, requestId: run.requestId }, 'user deleted');
      return { again: false };
    },

    /**
     * Records that the deletion was cancelled. Callers still cannot see the user, and a new request continues the
     * deletion.
     */
    async stopUserDelete({ runId }: RunInput): Promise<void> {
      await store.files.markDeleteStopped(runId);
      await store.runs.finish(runId, 'aborted', {});
    },
  };
}
