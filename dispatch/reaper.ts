import { type Client, WorkflowNotFoundError } from '@temporalio/client';

import type { Log } from '../observability/log.js';
import type { FileCommands } from '../store/files/commands.js';
import type { FileDeletion } from '../store/files/deletion.js';
import type { RunDoc } from '../store/runs/model.js';
import type { Runs } from '../store/runs/outbox.js';
import { pause } from './pause.js';

/** Runs looked at in one round. */
const RUNS_PER_ROUND = 200;
/** A run that was started this recently is not looked at: its workflow may not be visible yet. */
const GRACE_MS = 10_000;
const MESSAGE = 'The run was ended from outside before this was synced. Resync to try again.';

export interface ReaperStores {
  readonly runs: Pick<Runs, 'inMotion' | 'finish'>;
  readonly files: Pick<FileCommands, 'abortOpen'> & Pick<FileDeletion, 'stopped'>;
}

/** Whether Temporal still works on this very run. The state of the workflow decides, never a time stamp. */
async function isAlive(client: Client, run: RunDoc): Promise<boolean> {
  try {
    const { status, memo } = await client.workflow.getHandle(run.workflowId).describe();
    return status.name === 'RUNNING' && memo?.['runId'] === run._id;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Ends the records of runs whose workflow is gone: terminated, failed or timed out runs run no clean-up of their own. */
export async function reapOnce(
  client: Client,
  { runs, files }: ReaperStores,
  log: Log,
  now = Date.now(),
): Promise<number> {
  const candidates = await runs.inMotion(new Date(now - GRACE_MS), RUNS_PER_ROUND);
  let reaped = 0;
  for (const run of candidates) {
    if (await isAlive(client, run)) continue;
    const aborted = await files.abortOpen(run._id, MESSAGE);
    if (run.kind === 'deleteFiles' || run.kind === 'deleteUser') await files.stopped(run._id);
    await runs.finish(run._id, 'aborted', {});
    reaped += 1;
    log.warn(
      {
        runId: run._id,
        workflowId: run.workflowId,
        organizationId: run.organizationId,
        requestId: run.requestId,
        aborted,
      },
      'reaped a run whose workflow is gone',
    );
  }
  return reaped;
}

/** Reaps every `intervalMs` until the signal is aborted. */
export async function reap(
  client: Client,
  stores: ReaperStores,
  log: Log,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await pause(intervalMs, signal);
    if (signal.aborted) return;
    try {
      await reapOnce(client, stores, log);
    } catch (error) {
      log.warn({ err: error }, 'runs could not be compared with Temporal; trying again');
    }
  }
}
