import { WorkflowNotFoundError } from '@temporalio/client';

import type { Log } from '../../observability/log.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { Runs } from '../../store/runs/outbox.js';
import {
  CANCELLED,
  endOrphanedRun,
  executionOf,
  type OrphanedRunStores,
  isAlive,
  type TemporalAccess,
} from '../orphanedRuns.js';
import { temporalFailure } from '../temporalFailure.js';
import { CALL_TIMEOUT_MS } from './runStarter.js';

export interface CancelDeps {
  readonly access: TemporalAccess;
  readonly stores: OrphanedRunStores & { readonly runs: Pick<Runs, 'find' | 'finish' | 'withdraw'> };
  readonly log: Log;
}

/**
 * Cancels the workflow of a run. If the workflow no longer exists in Temporal, or was ended there, this function ends
 * the run.
 */
async function cancelOrEnd({ access, stores, log }: CancelDeps, run: RunDoc): Promise<void> {
  const { _id: runId, organizationId, requestId } = run;
  const workflowId = access.names.idOf(run.workflowId);
  // Check first, and cancel only this execution: another run may already use the same workflow id.
  if (await isAlive(access, run, stores.runs)) {
    try {
      const execution = await executionOf(access, run);
      if (execution === null) throw new WorkflowNotFoundError('The run has no workflow', workflowId, undefined);
      const { firstExecutionRunId } = execution;
      await access.client.workflow.getHandle(workflowId, undefined, { firstExecutionRunId }).cancel();
      return;
    } catch (error) {
      // The workflow ended in the meantime: it completed and ended its run, or an operator terminated it.
      if (!(error instanceof WorkflowNotFoundError) || (await isAlive(access, run, stores.runs))) throw error;
    }
  }
  // A workflow ends its run before it completes, so a finished run needs nothing more.
  if ((await stores.runs.find(runId))?.finishedAt !== null) return;
  await endOrphanedRun(access, stores, run, CANCELLED);
  log.warn({ runId, workflowId, organizationId, requestId }, 'cancelled a run whose workflow is gone');
}

/**
 * Cancels a run, in the outbox or in Temporal. Its unfinished files become SYNC_ABORTED.
 * @throws StoreFailure when Temporal does not answer
 */
export async function cancelRun(deps: CancelDeps, runId: number): Promise<void> {
  const { runs, files } = deps.stores;
  if (await runs.withdraw(runId)) {
    await files.abortOpen(runId, 'The run was cancelled before it began. Resync to try again.', 'cancelled');
    await runs.finish(runId, 'aborted', {});
    return;
  }
  const run = await runs.find(runId);
  if (!run || run.finishedAt !== null) return;
  if (run.stream) {
    // The workflow also ingests other uploads, so it is not cancelled. The batch that reads this file detects that the
    // run no longer owns it.
    await files.abortOpen(runId, 'The upload was cancelled. Resync to try again.', 'cancelled');
    await runs.finish(runId, 'aborted', { ...(await files.countRun(runId)) });
    return;
  }
  try {
    await deps.access.client.withDeadline(Date.now() + CALL_TIMEOUT_MS, () => cancelOrEnd(deps, run));
  } catch (error) {
    throw temporalFailure(error);
  }
}
