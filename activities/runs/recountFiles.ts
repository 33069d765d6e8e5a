import type { RunInput, RunOutcome } from '../../contract/runs/orchestration.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';

/**
 * Creates the activities of a run that computes and stores the file statistics of an organization. There may be
 * millions of files, so such a run starts only on request.
 */
export function createRecountActivities({ store, log }: ActivityDeps) {
  return {
    async sumFiles({ runId }: RunInput): Promise<void> {
      const run = await requireRun(store, runId);
      await store.runs.markStarted(runId);
      const { organizationId, requestId } = run;
      await store.organizations.setStatistics(organizationId, await store.files.totalsOfAll(organizationId));
      log.info({ runId, organizationId, requestId }, 'file statistics aggregated');
    },

    async finishRecount({ runId, outcome }: RunInput & { outcome: RunOutcome['outcome'] | 'aborted' }): Promise<void> {
      const run = await store.runs.find(runId);
      if (run && outcome === 'finished') {
        const { organizationId } = run;
        const event = {
          kind: 'FILE_STATISTICS_AGGREGATED',
          organizationId,
          customerId: '',
          objectId: null,
          info: null,
          workflowId: run.workflowId,
        } as const;
        await store.events.write([event], null, `recount:${runId}`);
      }
      await store.runs.finish(runId, outcome, {});
    },
  };
}
