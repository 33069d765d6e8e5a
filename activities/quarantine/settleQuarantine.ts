import { cancellationSignal } from '@temporalio/activity';

import type { RunInput } from '../../contract/runs/orchestration.js';
import { runOfKind } from '../../contract/runs/runs.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { advanceQuarantine } from './quarantineSteps.js';

/** Maximum number of files per step. */
const FILES_PER_BATCH = 200;

/** Creates the activities that restore quarantined files, or erase them after their deadline. */
export function createQuarantineActivities(deps: ActivityDeps) {
  const { store, log } = deps;
  return {
    /** Performs the next step for some of the files; returns whether more may follow. Safe to repeat. */
    async settleBatch({ runId }: RunInput): Promise<{ more: boolean }> {
      const run = await requireRun(store, runId);
      await store.runs.markStarted(runId);
      // Take over the unfinished work of ended runs.
      await store.quarantine.adopt(run, runId);
      const { does } = runOfKind(run, 'settleQuarantine').request;
      if (does === 'erase') await store.quarantine.claimDue(run, runId, new Date(), FILES_PER_BATCH);
      const files = await advanceQuarantine(run, FILES_PER_BATCH, deps, cancellationSignal());
      if (files > 0)
        log.info(
          { runId, organizationId: run.organizationId, requestId: run.requestId, does, files },
          'completed a step of restoring or erasing quarantined files',
        );
      return { more: files > 0 };
    },

    /** Ends the run. The next run continues the unfinished work of a cancelled run. */
    async finishQuarantine({ runId, outcome }: RunInput & { outcome: 'finished' | 'aborted' }): Promise<void> {
      await store.runs.finish(runId, outcome, {});
    },
  };
}
