import {
  type ActivityOptions,
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  proxyActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import {
  type DeferredInput,
  type DeferredResult,
  type DeferredStep,
  type BatchResult,
  type IngestBatchResult,
  ocrQueue,
  transcriptionQueue,
} from '../contract/orchestration.js';
import { COMPUTE, TRANSCRIBE } from './activityOptions.js';
import { storeSteps } from './storeSteps.js';

const { ingestBatch } = proxyActivities<Activities>(COMPUTE);

/** Batches planned ahead with one read. */
const PLAN_AHEAD = 20;
/** Deferred files of a run at once; a batch that brings more waits too. */
const MAX_DEFERRED = 200;

export const addResults = (a: BatchResult, b: BatchResult): BatchResult => ({
  ready: a.ready + b.ready,
  failed: a.failed + b.failed,
  requeued: a.requeued + b.requeued,
  superseded: a.superseded + b.superseded,
});

/** The steps that files are deferred for, each on a task queue of its own. */
function deferredSteps(): Record<DeferredStep, (input: DeferredInput) => Promise<DeferredResult>> {
  const { taskQueue } = workflowInfo();
  const transcribing: ActivityOptions = { ...TRANSCRIBE, taskQueue: transcriptionQueue(taskQueue) };
  const recognizing: ActivityOptions = { ...COMPUTE, taskQueue: ocrQueue(taskQueue) };
  return {
    transcribe: proxyActivities<Activities>(transcribing).transcribe,
    recognize: proxyActivities<Activities>(recognizing).recognize,
  };
}

export interface WindowHooks {
  /** Called with what each batch did, as it ends. */
  onBatch(result: BatchResult): void;
  /** Called when nothing is due for a while. */
  onWait(waiting: boolean): void;
  /** Called when the run has come to its bound of tokens and nothing is under way; resolves when it goes on. */
  onPause(): Promise<void>;
  /**
   * For runs whose files lead to more files: called when nothing is due and nothing under way; answers how long until a
   * file is due, or null when none is open. What the pages link to is kept for it.
   */
  follow?(): Promise<number | null>;
}

/**
 * Ingests every open file of a run in a sliding window of batches, pass after pass, until none is left or the history
 * has grown enough. Answers the cursor to go on from after continue-as-new, or null when the run has no open file.
 */
export async function ingestWindow(runId: number, startAfter: number, hooks: WindowHooks): Promise<number | null> {
  let afterId = startAfter;
  let failure: { reason: unknown } | null = null;
  let isPaused = false as boolean;
  const underWay = new Set<Promise<void>>();
  const deferred = new Set<Promise<void>>();
  const steps = deferredSteps();

  const run = async (fileIds: readonly number[]): Promise<void> => {
    const result: IngestBatchResult = await ingestBatch({
      runId,
      fileIds,
      ...(hooks.follow ? { keepLinks: true } : {}),
    });
    hooks.onBatch(result);
    if (result.paused) isPaused = true;
    if (result.toTranscribe) await defer('transcribe', result.toTranscribe);
    if (result.toRecognize) await defer('recognize', result.toRecognize);
    // A file that was under way at two worker deaths is run alone, so that it can take no other with it.
    for (const fileId of result.alone) await run([fileId]);
  };
  /** Reads each file after its step. Where the step fails, the file has ended or is due in a later pass. Batches go on meanwhile. */
  const defer = async (step: DeferredStep, fileIds: readonly number[]): Promise<void> => {
    for (const fileId of fileIds) {
      if (deferred.size >= MAX_DEFERRED) await condition(() => deferred.size < MAX_DEFERRED);
      track(
        deferred,
        steps[step]({ runId, fileId }).then(async ({ done }) => {
          if (done) await run([fileId]);
        }),
      );
    }
  };
  const track = (among: Set<Promise<void>>, work: Promise<void>): void => {
    const tracked: Promise<void> = work
      .catch((error: unknown) => {
        failure ??= { reason: error };
      })
      .finally(() => among.delete(tracked));
    among.add(tracked);
  };
  const begin = (fileIds: readonly number[]): void => track(underWay, run(fileIds));
  /** @param atMost batches; of 0, nothing at all is under way */
  const drained = async (atMost: number): Promise<void> => {
    await condition(() => underWay.size <= atMost && (atMost > 0 || deferred.size === 0));
    // The reason is thrown on as it is: cancellation must stay cancellation.
    // oxlint-disable-next-line typescript/only-throw-error
    if (failure) throw failure.reason;
  };

  /** Pass after pass. */
  const work = async (): Promise<number | null> => {
    for (;;) {
      if (isPaused) {
        await drained(0);
        isPaused = false;
        await hooks.onPause();
        afterId = 0;
      }
      const plan = await storeSteps.planBatches({ runId, afterId, limit: PLAN_AHEAD });
      for (const fileIds of plan.batches) {
        await drained(plan.window - 1);
        if (isPaused) break;
        begin(fileIds);
      }
      if (isPaused) continue;
      const passOver = plan.afterId === 0;
      afterId = plan.afterId;
      if (workflowInfo().continueAsNewSuggested) {
        await drained(0);
        if (isPaused) continue;
        await condition(allHandlersFinished);
        return afterId;
      }
      if (passOver) {
        await drained(0);
        if (isPaused) continue;
        if (plan.batches.length > 0) continue;
        const dueInMs = hooks.follow ? await hooks.follow() : plan.dueInMs;
        if (dueInMs === null) return null;
        if (dueInMs > 0) {
          hooks.onWait(true);
          await sleep(dueInMs);
          hooks.onWait(false);
        }
      }
    }
  };

  try {
    return await work();
  } catch (error) {
    // The waits above end at once when the run is cancelled; its batches need a moment.
    if (isCancellation(error))
      await CancellationScope.nonCancellable(() => condition(() => underWay.size + deferred.size === 0));
    throw error;
  }
}
