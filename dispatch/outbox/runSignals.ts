import type { Client } from '@temporalio/client';

import { CONSENT_RETURNED_SIGNAL, RESUME_SIGNAL } from '../../contract/runs/orchestration.js';
import type { TemporalNames } from '../../contract/runs/temporalNames.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { Log } from '../../observability/log.js';
import type { RunDoc } from '../../store/models/runs.js';
import { CALL_TIMEOUT_MS } from './runStarter.js';

/** Signals to running workflows. None throws: the sweeper repeats an undelivered signal. */
export interface RunSignals {
  /** Signals to the workflow of a connection that its user has returned from the consent page. */
  consentReturned(runId: number): Promise<void>;
  /** Signals the workflow of a paused run to continue. */
  resumed(run: Pick<RunDoc, '_id' | 'workflowId'>): Promise<void>;
}

export function createRunSignals(client: Client, { idOf }: Pick<TemporalNames, 'idOf'>, log: Log): RunSignals {
  const signal = async (key: string, name: string, runId: number, onFailure: string): Promise<void> => {
    try {
      const handle = client.workflow.getHandle(idOf(key));
      await client.withDeadline(Date.now() + CALL_TIMEOUT_MS, () => handle.signal(name));
    } catch (error) {
      log.warn({ runId, err: error }, onFailure);
    }
  };
  return {
    // For a connection that is still in the outbox, this logs a failure, but the workflow checks for the return when it
    // starts.
    consentReturned: (runId) =>
      signal(
        workflowIds.connect(runId),
        CONSENT_RETURNED_SIGNAL,
        runId,
        'the signal that the user returned did not reach the workflow of a connection; the sweeper repeats it',
      ),
    resumed: ({ _id: runId, workflowId }) =>
      signal(
        workflowId,
        RESUME_SIGNAL,
        runId,
        'the workflow of a resumed run was not signalled; the sweeper repeats it',
      ),
  };
}
