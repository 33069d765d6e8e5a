import { type Client, WorkflowNotFoundError } from '@temporalio/client';

import { REDONE_KINDS } from '../contract/orchestration.js';
import type { TemporalNames } from '../contract/temporalNames.js';
import { OPEN_ATTEMPT_STATES } from '../contract/oauth.js';
import type { Log } from '../observability/log.js';
import type { Attempts } from '../store/connections/attempts.js';
import type { DataSourceCommands } from '../store/dataSources/commands.js';
import type { DataSourceListings } from '../store/dataSources/listings.js';
import type { FileCommands } from '../store/files/commands.js';
import type { FileDeletion } from '../store/files/deletion.js';
import type { RunProgress } from '../store/files/runProgress.js';
import type { RunDoc } from '../store/runs/model.js';
import type { Originals } from '../store/originals/originals.js';
import type { Runs } from '../store/runs/outbox.js';
import type { Pauses } from '../store/runs/pauses.js';
import { sweepEvery } from './sweep.js';

/** Runs looked at in one round. */
const RUNS_PER_ROUND = 200;
/** A run that was started this recently is not looked at: its workflow may not be visible yet. */
const GRACE_MS = 10_000;
const MESSAGE = 'The run was ended from outside before this was synced. Resync to try again.';
const LISTING_MESSAGE = 'The listing was ended from outside. Sync the items to try again.';
const CONNECTION_MESSAGE = 'The connection was ended from outside. Connect again.';

export interface ReaperStores {
  readonly originals: Pick<Originals, 'sweep'>;
  readonly runs: Pick<Runs, 'inMotion' | 'find' | 'finish' | 'redo'>;
  readonly dataSources: Pick<DataSourceCommands & DataSourceListings, 'tagsStopped' | 'endListing'>;
  readonly attempts: Pick<Attempts, 'move' | 'heard'>;
  readonly files: Pick<FileCommands, 'abortOpen'> & Pick<FileDeletion, 'stopped'> & Pick<RunProgress, 'countRun'>;
  readonly pauses: Pick<Pauses, 'standing' | 'resume'>;
}

/** A Temporal client and the names of the deployment it works for. */
export interface TemporalAccess {
  readonly client: Client;
  readonly names: Pick<TemporalNames, 'idOf'>;
}

/** The state of the very workflow of a run; null: Temporal has none, or that of another run. */
async function stateOf({ client, names }: TemporalAccess, run: RunDoc): Promise<string | null> {
  const { _id, workflowId, temporalRunId, stream } = run;
  try {
    const { status, memo, runId } = await client.workflow.getHandle(names.idOf(workflowId)).describe();
    // A pass is begun by a schedule, which knows none of our ids.
    // A stream works on all open uploads of its user.
    const isIts = stream ? true : temporalRunId === undefined ? memo?.['runId'] === _id : runId === temporalRunId;
    return isIts ? status.name : null;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/**
 * Whether Temporal still works on this very run. The state of the workflow decides, never a time stamp.
 * @param runs with them, a part that its pass is about to begin counts as well
 */
export async function isAlive(temporal: TemporalAccess, run: RunDoc, runs?: Pick<Runs, 'find'>): Promise<boolean> {
  const state = await stateOf(temporal, run);
  if (state !== null) return state === 'RUNNING';
  // A part of a pass is begun by the pass.
  const pass = run.parentRunId === undefined ? null : ((await runs?.find(run.parentRunId)) ?? null);
  return pass !== null && pass.finishedAt === null && (await stateOf(temporal, pass)) === 'RUNNING';
}

/**
 * Ends the records of runs whose workflow is gone: terminated, failed or timed out runs run no clean-up of their own. Those
 * that no other run makes up for begin anew.
 */
export async function reapOnce(
  temporal: TemporalAccess,
  { runs, files, dataSources, attempts }: Omit<ReaperStores, 'originals' | 'pauses'>,
  log: Log,
  now = Date.now(),
): Promise<number> {
  const candidates = await runs.inMotion(new Date(now - GRACE_MS), RUNS_PER_ROUND);
  let reaped = 0;
  for (const run of candidates) {
    if (await isAlive(temporal, run, runs)) continue;
    // Of many candidates the last are looked at seconds after they were listed: most have come to a proper end since.
    if ((await runs.find(run._id))?.finishedAt !== null) continue;
    reaped += 1;
    if (REDONE_KINDS.includes(run.kind) && (await runs.redo(run))) {
      log.warn(
        {
          runId: run._id,
          workflowId: temporal.names.idOf(run.workflowId),
          organizationId: run.organizationId,
          requestId: run.requestId,
        },
        'a run whose workflow is gone begins anew',
      );
      continue;
    }
    const aborted = await files.abortOpen(run._id, MESSAGE, 'ended_from_outside');
    if (run.kind === 'deleteFiles' || run.kind === 'deleteUser') await files.stopped(run._id);
    if (run.dataSourceId && run.kind === 'syncItems')
      await dataSources.endListing(run, run.dataSourceId, run._id, {
        status: 'SYNC_ERROR',
        whole: false,
        facts: { items_error: LISTING_MESSAGE },
      });
    if (run.kind === 'connectByConsent') {
      await attempts.move(run._id, OPEN_ATTEMPT_STATES, 'failed', { message: CONNECTION_MESSAGE });
      await attempts.heard(run._id);
    }
    if (run.dataSourceId && run.kind === 'updateTags') await dataSources.tagsStopped(run, run.dataSourceId);
    await runs.finish(run._id, 'aborted', {}, { message: MESSAGE, error: 'ended_from_outside' });
    log.warn(
      {
        runId: run._id,
        workflowId: temporal.names.idOf(run.workflowId),
        organizationId: run.organizationId,
        requestId: run.requestId,
        aborted,
      },
      'reaped a run whose workflow is gone',
    );
  }
  return reaped;
}

/** Has paused runs whose files were all deleted, or taken over, come to their end: the dispatcher's sweep tells their workflows. */
export async function endEmptyPauses({ pauses, files }: Pick<ReaperStores, 'pauses' | 'files'>): Promise<number> {
  let ended = 0;
  for (const run of await pauses.standing(RUNS_PER_ROUND)) {
    if ((await files.countRun(run._id)).open > 0) continue;
    if (await pauses.resume(run, run._id, run.maxTokens ?? null)) ended += 1;
  }
  return ended;
}

/** Reaps every `intervalMs` until the signal is aborted. */
export async function reap(
  temporal: TemporalAccess,
  stores: ReaperStores,
  log: Log,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const sweepOnce = async (): Promise<void> => {
    await reapOnce(temporal, stores, log);
    await endEmptyPauses(stores);
    const swept = await stores.originals.sweep();
    if (swept > 0) log.info({ swept }, 'swept what broken uploads left behind, and what was replaced');
  };
  const failed = 'runs could not be compared with Temporal, or uploads not swept; trying again';
  await sweepEvery(intervalMs, signal, sweepOnce, log, failed);
}
