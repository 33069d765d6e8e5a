import {
  type ActivityOptions,
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  patched,
  proxyActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type {
  BatchResult,
  DeferredInput,
  DeferredResult,
  DeferredStep,
  IngestBatchResult,
} from '../contract/runs/orchestration.js';
import { ocrQueue, transcriptionQueue } from '../contract/runs/workflowIds.js';
import { COMPUTE, TRANSCRIBE } from './activityOptions.js';
import { storeSteps } from './storeSteps.js';

const { ingestBatch } = proxyActivities<Activities>(COMPUTE);

/** Maximum number of batches that one call of planBatches returns. */
const PLAN_AHEAD = 20;
/** Maximum number of files of a run that are, at once, transcribed or recognized, or ingested after this. */
const MAX_DEFERRED = 200;

/** Adds the counts of two batches. */
export const addResults = (a: BatchResult, b: BatchResult): BatchResult => ({
  ready: a.ready + b.ready,
  failed: a.failed + b.failed,
  requeued: a.requeued + b.requeued,
  superseded: a.superseded + b.superseded,
});

/** Returns the steps that process deferred files, each with its own task queue. */
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
  /** Called with the result of each batch as it ends. */
  onBatch(result: BatchResult): void;
  /** Called with true before a wait until the next due file, and with false after it. */
  onWait(waiting: boolean): void;
  /** Called when the run has reached its token limit and nothing is active; resolves when the run is resumed. */
  onPause(): Promise<void>;
  /**
   * For crawls, whose pages link to more pages. Called when nothing is due or active. Returns the milliseconds until a
   * file is due, or null when no file is unfinished. If it is set, batches store the links of their pages.
   */
  follow?(): Promise<number | null>;
}

/**
 * Ingests every unfinished file of a run in a sliding window of batches, and repeats this until no file is left or the
 * history is long. Returns the cursor at which to continue after continue-as-new, or null when all files of the run
 * have a final state.
 */
export async function ingestWindow(runId: number, startAfter: number, hooks: WindowHooks): Promise<number | null> {
  let afterId = startAfter;
  let failure: { reason: unknown } | null = null;
  let isPaused = false as boolean;
  let isPatched: boolean | null = null;
  const activeBatches = new Set<Promise<void>>();
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
    // A file that was in progress at two worker crashes runs alone, so that it cannot fail other files.
    for (const fileId of result.alone) await run([fileId]);
  };
  /**
   * Transcribes or recognizes each file, then ingests it in a batch of its own, unless the step returns that the file
   * has ended or is due in a later iteration. Other batches continue meanwhile.
   */
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
  const track = (pendingSet: Set<Promise<void>>, work: Promise<void>): void => {
    const tracked: Promise<void> = work
      .catch((error: unknown) => {
        failure ??= { reason: error };
      })
      .finally(() => pendingSet.delete(tracked));
    pendingSet.add(tracked);
  };
  const begin = (fileIds: readonly number[]): void => track(activeBatches, run(fileIds));
  const waitUntil = async (isReached: () => boolean): Promise<void> => {
    await condition(isReached);
    // Rethrow the reason unchanged: a cancellation must stay a cancellation.
    // oxlint-disable-next-line typescript/only-throw-error
    if (failure) throw failure.reason;
  };
  /** Waits until all batches and deferred files are done. */
  const waitForAll = (): Promise<void> => waitUntil(() => activeBatches.size === 0 && deferred.size === 0);
  /** Waits until fewer than `window` batches are active, so that another one can begin. */
  const waitForSlot = (window: number): Promise<void> => {
    // Before this patch, batches waited for the deferred files if the window was 1. The first call decides for the
    // whole execution, because patched() can return false in a replay and true after it.
    if (window === 1) isPatched ??= patched('one-batch-skips-deferred');
    return window === 1 && !isPatched ? waitForAll() : waitUntil(() => activeBatches.size < window);
  };

  /** Ingests the unfinished files repeatedly, until none is left or the history is long. */
  const work = async (): Promise<number | null> => {
    for (;;) {
      if (isPaused) {
        await waitForAll();
        isPaused = false;
        await hooks.onPause();
        afterId = 0;
      }
      const plan = await storeSteps.planBatches({ runId, afterId, limit: PLAN_AHEAD });
      for (const fileIds of plan.batches) {
        await waitForSlot(plan.window);
        if (isPaused) break;
        begin(fileIds);
      }
      if (isPaused) continue;
      const reachedEnd = plan.afterId === 0;
      afterId = plan.afterId;
      if (workflowInfo().continueAsNewSuggested) {
        await waitForAll();
        if (isPaused) continue;
        await condition(allHandlersFinished);
        return afterId;
      }
      if (reachedEnd) {
        await waitForAll();
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
    // On a cancellation, the waits above end immediately, before the batches have ended.
    if (isCancellation(error))
      await CancellationScope.nonCancellable(() => condition(() => activeBatches.size + deferred.size === 0));
    throw error;
  }
}
