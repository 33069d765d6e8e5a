import { setTimeout as sleep } from 'node:timers/promises';
import { cancellationSignal } from '@temporalio/activity';

import {
  BATCH_BYTES,
  BATCH_SIZE,
  type PlanUploadsInput,
  type PlanUploadsResult,
  TIME_SLICE_MS,
  type UploadBatchInput,
  type UploadStreamInput,
} from '../../contract/runs/orchestration.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { OpenUpload } from '../../store/runs/uploadStreams.js';
import type { BatchRunner } from './batchRunner.js';
import type { ActivityDeps } from '../deps.js';
import { cleanUpPublished, settleInterrupted } from '../generations/interruptedAttempts.js';
import { UNLIMITED_TOKENS } from './prepare/tokenBudget.js';

/** Milliseconds that a small batch waits for more uploads while another batch is active. */
const GATHER_MS = 400;
/** Maximum number of runs that one query reads when the workflow of a user's uploads is cancelled. */
const RUNS_PER_STEP = 500;
/** Statuses of files that a batch starts, or continues after a worker's crash. */
const TO_DO: readonly string[] = ['QUEUED_FOR_SYNC', 'RATE_LIMITED', 'SYNCING', 'QUEUED_FOR_OCR'];

/** Splits runs into batches by number and by bytes; content above the limit is a separate batch. */
function splitIntoBatches(runs: readonly RunDoc[]): number[][] {
  const batches: number[][] = [];
  let bytes = 0;
  for (const { _id, bytes: size = 0 } of runs) {
    const last = batches.at(-1);
    if (last && last.length < BATCH_SIZE && bytes + size <= BATCH_BYTES) {
      last.push(_id);
      bytes += size;
    } else {
      batches.push([_id]);
      bytes = size;
    }
  }
  return batches;
}

/** Whether a batch can ingest a file now, and has not tried it before. */
const isDue = ({ fileId, notBefore, syncStatus }: OpenUpload, tried: ReadonlySet<number>): boolean =>
  !tried.has(fileId) && TO_DO.includes(syncStatus) && (notBefore === null || notBefore <= new Date());

/**
 * Creates the activities for a user's uploads. They share a workflow. A run leaves it, and gets a workflow of its own,
 * if all its unfinished files must wait for a later attempt: for a retry, OCR, a transcription or a limit, or because
 * they are suspected of crashing the worker.
 */
export function createUploadActivities({ store, settings, log }: ActivityDeps, runner: BatchRunner) {
  /** Ingests the due files of the runs, and then their attachments. Returns the ids of the files that were tried. */
  const ingest = async (
    input: UploadBatchInput,
    runIds: readonly number[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<number>> => {
    const until = performance.now() + TIME_SLICE_MS;
    const tried = new Set<number>();
    for (;;) {
      const files = (await store.uploadStreams.listOpenFiles(input, runIds)).filter((file) => isDue(file, tried));
      if (files.length === 0) return tried;
      for (const { fileId } of files) tried.add(fileId);
      const { unprocessed } = await runner.run({
        owner: input,
        files,
        until,
        tokensOf: () => UNLIMITED_TOKENS,
        signal,
      });
      for (const fileId of unprocessed) tried.delete(fileId);
      if (unprocessed.length > 0 || performance.now() > until) return tried;
    }
  };

  /**
   * Writes the events of files that an earlier attempt of these runs published, and deletes older generations of these
   * files: the attempt may have crashed before it did both. These events must come before the events that end the runs.
   * The batch itself reads only unfinished files.
   */
  const completePublications = async (runIds: readonly number[]): Promise<void> => {
    const ready = await store.files.listReady(runIds);
    if (ready.length === 0) return;
    await store.events.settle(ready);
    await cleanUpPublished(store, runIds);
  };

  const end = async (run: RunDoc, outcome: 'failed' | 'aborted', message: string): Promise<void> => {
    await store.files.abortOpen(run._id, message, outcome === 'failed' ? 'run_failed' : 'cancelled');
    await settleInterrupted(store, run._id);
    const counts = await store.files.countRun(run._id);
    const error = outcome === 'failed' ? 'run_failed' : 'cancelled';
    await store.runs.finish(run._id, outcome, { ...counts }, { message, error });
    const { _id: runId, organizationId, requestId, fileId } = run;
    log.info({ runId, organizationId, requestId, fileId, outcome }, 'upload ended');
  };

  /**
   * Ends the runs without unfinished files. Of the other runs, those with a due file that was not tried stay in the
   * shared workflow, and those without one get workflows of their own.
   */
  const settleRuns = async (input: UploadBatchInput, tried: ReadonlySet<number>): Promise<void> => {
    const [runs, open] = await Promise.all([
      store.uploadStreams.find(input, input.runIds),
      store.uploadStreams.listOpenFiles(input, input.runIds),
    ]);
    const openRunIds = new Set(open.map(({ runId }) => runId));
    const hasDueFile = new Set(open.filter((file) => isDue(file, tried)).map(({ runId }) => runId));
    const ended = runs.filter(({ _id, finishedAt }) => finishedAt === null && !openRunIds.has(_id));
    await store.uploadStreams.finish(input, ended);
    for (const { _id: runId, organizationId, requestId, fileId } of ended)
      log.info({ runId, organizationId, requestId, fileId }, 'run finished');
    for (const run of runs.filter(({ _id }) => openRunIds.has(_id))) {
      // The upload was cancelled while its file was read: attachments that were found must not stay in the queue.
      if (run.finishedAt !== null) await store.files.abortOpen(run._id, 'The upload was cancelled.', 'cancelled');
      else if (!hasDueFile.has(run._id) && run.fileId !== null)
        await store.uploadStreams.moveToOwnWorkflow(run, workflowIds.upload(run.fileId));
    }
  };

  return {
    /**
     * Splits the waiting uploads of a user into batches. Together with the active batches, there are at most `window`
     * batches.
     */
    async planUploads({ except, underWay, ...tenant }: PlanUploadsInput): Promise<PlanUploadsResult> {
      const window = settings.batchConcurrency;
      const maxRuns = (window - underWay) * BATCH_SIZE;
      if (maxRuns <= 0) return { batches: [], window };
      let runs = await store.uploadStreams.listOpen(tenant, except, maxRuns);
      if (underWay > 0 && runs.length < BATCH_SIZE) {
        await sleep(GATHER_MS);
        runs = await store.uploadStreams.listOpen(tenant, except, maxRuns);
      }
      const batches = splitIntoBatches(runs).slice(0, window - underWay);
      await store.uploadStreams.begin(batches.flat());
      return { batches, window };
    },

    /**
     * Ingests the uploads of the runs, and ends the runs whose files are all finished. A run whose unfinished files
     * must all wait for a later attempt moves to a workflow of its own. A Fault affects only its file. A store failure
     * fails the batch; its retry continues with the remaining files.
     */
    async ingestUploads(input: UploadBatchInput): Promise<void> {
      await completePublications(input.runIds);
      const runs = await store.uploadStreams.find(input, input.runIds);
      const open = runs.filter(({ finishedAt }) => finishedAt === null);
      const limits = await store.limits.get(input);
      if (limits.max_files !== null || limits.max_characters !== null)
        for (const { _id } of open) await store.limits.applyLimits(input, _id, limits);
      const tried = await ingest(
        input,
        open.map(({ _id }) => _id),
        cancellationSignal(),
      );
      await settleRuns(input, tried);
    },

    /**
     * Ends the unfinished runs of a batch whose activity failed with a defect that retries cannot fix. Aborts their
     * unfinished files.
     */
    async failUploads({ message, ...input }: UploadBatchInput & { message: string }): Promise<void> {
      for (const run of await store.uploadStreams.find(input, input.runIds))
        if (run.finishedAt === null) await end(run, 'failed', message);
    },

    /**
     * Ends the runs that a cancelled workflow had started. Other runs stay queued in the database, for the next
     * workflow of the user's uploads.
     */
    async abortUploads(tenant: UploadStreamInput): Promise<void> {
      for (;;) {
        const open = await store.uploadStreams.listOpen(tenant, [], RUNS_PER_STEP);
        const begun = open.filter(({ startedAt }) => startedAt !== null);
        for (const run of begun)
          await end(run, 'aborted', 'The run was cancelled before this file was synced. Resync the file to try again.');
        if (open.length < RUNS_PER_STEP || begun.length === 0) return;
      }
    },
  };
}
