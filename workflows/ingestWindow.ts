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
import {
  type AsideInput,
  type AsideResult,
  type AsideStep,
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
/** Files of a run at once that were put aside, until something else of them is made; a batch that brings more waits too. */
const MOST_ASIDE = 200;

export const addResults = (a: BatchResult, b: BatchResult): BatchResult => ({
  ready: a.ready + b.ready,
  failed: a.failed + b.failed,
  requeued: a.requeued + b.requeued,
  superseded: a.superseded + b.superseded,
});

/** What may have to be made of a file first, each on a task queue of its own. */
function asideSteps(): Record<AsideStep, (input: AsideInput) => Promise<AsideResult>> {
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
  /** Only where a batch says so: histories from before know no pause. */
  let isPaused = false as boolean;
  const underWay = new Set<Promise<void>>();
  const aside = new Set<Promise<void>>();
  const steps = asideSteps();

  const run = async (fileIds: readonly number[]): Promise<void> => {
    const result: IngestBatchResult = await ingestBatch({
      runId,
      fileIds,
      ...(hooks.follow ? { keepLinks: true } : {}),
    });
    hooks.onBatch(result);
    if (result.paused) isPaused = true;
    if (result.toTranscribe) await putAside('transcribe', result.toTranscribe);
    if (result.toRecognize) await putAside('recognize', result.toRecognize);
    // A file that was under way at two worker deaths is run alone, so that it can take no other with it.
    for (const fileId of result.alone) await run([fileId]);
  };
  /** A file is read once what it needs is made; where that failed it has ended, or is due at a later pass. Batches go on meanwhile. */
  const putAside = async (step: AsideStep, fileIds: readonly number[]): Promise<void> => {
    for (const fileId of fileIds) {
      if (aside.size >= MOST_ASIDE) await condition(() => aside.size < MOST_ASIDE);
      track(
        aside,
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
    await condition(() => underWay.size <= atMost && (atMost > 0 || aside.size === 0));
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
      const plan = await storeSteps().planBatches({ runId, afterId, limit: PLAN_AHEAD });
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
    if (isCancellation(error) && patched('cancelled-batches-end-first'))
      await CancellationScope.nonCancellable(() => condition(() => underWay.size + aside.size === 0));
    throw error;
  }
}
