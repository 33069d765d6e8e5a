/** Ends runs whose workflow no longer exists in Temporal, or has ended there. */
import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';

import type { SkipCause } from '../contract/runs/ledger.js';
import { OPEN_ATTEMPT_STATES } from '../contract/accounts/oauth.js';
import type { RunInput } from '../contract/runs/orchestration.js';
import { IS_UPLOAD } from '../contract/runs/runKinds.js';
import type { TemporalNames } from '../contract/runs/temporalNames.js';
import type { Attempts } from '../store/connections/attempts.js';
import type { DataSourceCommands } from '../store/dataSources/commands.js';
import type { DataSourceListings } from '../store/dataSources/listings.js';
import type { FileCommands } from '../store/files/commands.js';
import type { FileDeletion } from '../store/files/deletion.js';
import type { RunProgress } from '../store/files/runProgress.js';
import type { Frontier } from '../store/frontier/frontier.js';
import type { RunDoc } from '../store/models/runs.js';
import type { Runs } from '../store/runs/outbox.js';
import { searchAttributes } from './searchAttributes.js';

/** A Temporal client and the names of its deployment. */
export interface TemporalAccess {
  readonly client: Client;
  readonly names: Pick<TemporalNames, 'idOf' | 'taskQueue'>;
}

/** The stores to which the end of an orphaned run is written. */
export interface OrphanedRunStores {
  readonly runs: Pick<Runs, 'finish'>;
  readonly files: Pick<FileCommands, 'abortOpen'> &
    Pick<FileDeletion, 'markDeleteStopped'> &
    Pick<RunProgress, 'countRun'>;
  readonly dataSources: Pick<
    DataSourceCommands & DataSourceListings,
    'markTagsStopped' | 'endListing' | 'mergeMetadata'
  >;
  readonly attempts: Pick<Attempts, 'changeState' | 'acknowledge'>;
  readonly frontier: Pick<Frontier, 'clear'>;
}

/** The reason why a run ended, with the messages for its files, its connection and its listing. */
export interface OrphanedRunEnd {
  readonly cause: Extract<SkipCause, 'cancelled' | 'ended_from_outside'>;
  readonly file: string;
  readonly connection: string;
  /** Null if the listing was cancelled, which is not an error. */
  readonly listing: string | null;
}

export const CANCELLED: OrphanedRunEnd = {
  cause: 'cancelled',
  file: 'The run was cancelled before this file was synced. Resync the file to try again.',
  connection: 'The connection was cancelled. Connect again.',
  listing: null,
};
export const ENDED_FROM_OUTSIDE: OrphanedRunEnd = {
  cause: 'ended_from_outside',
  file: 'The run was terminated outside of this service before this file was synced. Resync the file to try again.',
  listing: 'The listing was terminated outside of this service. Sync the items to try again.',
  connection: 'The connection was terminated outside of this service. Connect again.',
};

const syncsFiles = ({ kind }: RunDoc): boolean => IS_UPLOAD[kind] || kind === 'resyncFile';

/** Message of a run that syncs no files, such as a delete. */
const WORK_ENDED = 'The run was terminated outside of this service. Start it again.';

/** Returns the message for the record of a run that was not cancelled. */
function runMessage(run: RunDoc, { file, connection, listing }: Omit<OrphanedRunEnd, 'cause'>): string {
  if (run.kind === 'connectByConsent') return connection;
  if (run.kind === 'syncItems') return listing ?? WORK_ENDED;
  return syncsFiles(run) ? file : WORK_ENDED;
}

/** The workflow of a run. Continue-as-new starts further executions, but the id of the first one stays. */
interface Execution {
  readonly status: string;
  readonly firstExecutionRunId: string;
}

/** Returns the run's workflow; null if Temporal has none, or the workflow belongs to another run. */
export async function executionOf({ client, names }: TemporalAccess, run: RunDoc): Promise<Execution | null> {
  const { _id, workflowId, temporalRunId, stream } = run;
  try {
    const { status, memo, runId, raw } = await client.workflow.getHandle(names.idOf(workflowId)).describe();
    // Temporal starts scheduled syncs, so their memo has no run id.
    const firstExecutionRunId = raw.workflowExecutionInfo?.firstRunId || runId;
    // A stream's workflow handles all open uploads of its user.
    const isOwnWorkflow = stream
      ? true
      : temporalRunId === undefined
        ? memo?.['runId'] === _id
        : firstExecutionRunId === temporalRunId;
    return isOwnWorkflow ? { status: status.name, firstExecutionRunId } : null;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

const stateOf = async (temporal: TemporalAccess, run: RunDoc): Promise<string | null> =>
  (await executionOf(temporal, run))?.status ?? null;

/**
 * Returns whether the workflow of a run is active in Temporal.
 * @param runs if set, a child run of a scheduled sync counts as active if its active parent has not started it yet
 */
export async function isAlive(temporal: TemporalAccess, run: RunDoc, runs?: Pick<Runs, 'find'>): Promise<boolean> {
  const state = await stateOf(temporal, run);
  if (state !== null) return state === 'RUNNING';
  // The run of a scheduled sync starts its child runs.
  const parent = run.parentRunId === undefined ? null : ((await runs?.find(run.parentRunId)) ?? null);
  return parent !== null && parent.finishedAt === null && (await stateOf(temporal, parent)) === 'RUNNING';
}

/**
 * Starts a new workflow for a run whose workflow no longer exists, and cancels it, so that its last step ends the run.
 * For kinds of runs whose last step deletes partial results. Safe to repeat.
 */
async function endByWorkflow({ client, names }: TemporalAccess, run: RunDoc): Promise<void> {
  const { _id: runId, kind, organizationId, userId, requestId } = run;
  const workflowId = names.idOf(run.workflowId);
  const ids = { OrganizationId: String(organizationId), UserId: String(userId), RequestId: requestId };
  try {
    await client.workflow.start<(input: RunInput) => Promise<unknown>>(kind, {
      workflowId,
      taskQueue: names.taskQueue,
      args: [{ runId }],
      memo: { runId },
      typedSearchAttributes: searchAttributes(ids),
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
  await client.workflow.getHandle(workflowId).cancel();
}

/**
 * Ends the records of a run whose workflow no longer exists, in the same order as the workflow: unfinished files first,
 * the run last. Safe to repeat, also concurrently: each event is written once. A re-embedding run ends later: a worker
 * first completes or discards the vectors of its unfinished files. @returns the number of files that were aborted
 */
export async function endOrphanedRun(
  temporal: TemporalAccess,
  { runs, files, dataSources, attempts, frontier }: OrphanedRunStores,
  run: RunDoc,
  { cause, ...messages }: OrphanedRunEnd,
): Promise<number> {
  const { _id: runId, kind, dataSourceId } = run;
  if (kind === 'reembedFiles') {
    await endByWorkflow(temporal, run);
    return 0;
  }
  const aborted = await files.abortOpen(runId, messages.file, cause);
  if (kind === 'deleteFiles' || kind === 'deleteUser') await files.markDeleteStopped(runId);
  if (kind === 'connectByConsent') {
    await attempts.changeState(runId, OPEN_ATTEMPT_STATES, 'failed', { message: messages.connection });
    await attempts.acknowledge(runId);
  }
  if (kind === 'webScrape') await frontier.clear(runId);
  if (dataSourceId) {
    if (kind === 'syncItems')
      await dataSources.endListing(run, dataSourceId, runId, {
        status: messages.listing === null ? 'READY' : 'SYNC_ERROR',
        whole: false,
        metadata: messages.listing === null ? {} : { items_error: messages.listing },
      });
    if (kind === 'updateTags') await dataSources.markTagsStopped(run, dataSourceId);
    if (run.maxTokens !== undefined) await dataSources.mergeMetadata(run, dataSourceId, { files_paused: null });
  }
  const failure = cause === 'cancelled' ? undefined : { message: runMessage(run, messages), error: cause };
  const counts = syncsFiles(run) ? { ...(await files.countRun(runId)) } : {};
  await runs.finish(runId, 'aborted', counts, failure);
  return aborted;
}
