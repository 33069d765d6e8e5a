import {
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
import type { BatchResult, IngestBatchResult } from '../contract/orchestration.js';
import { COMPUTE, STORE } from './activityOptions.js';

const { ingestBatch } = proxyActivities<Activities>(COMPUTE);
const { planBatches } = proxyActivities<Activities>(STORE);

/** Batches planned ahead with one read. */
const PLAN_AHEAD = 20;

export const addResults = (a: BatchResult, b: BatchResult): BatchResult => ({
  ready: a.ready + b.ready,
  failed: a.failed + b.failed,
  requeued: a.requeued + b.requeued,
  superseded: a.superseded + b.superseded,
});

export interface WindowHooks {
  /** Called with what each batch did, as it ends. */
  onBatch(result: BatchResult): void;
  /** Called when nothing is due for a while. */
  onWait(waiting: boolean): void;
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
  const underWay = new Set<Promise<void>>();

  const run = async (fileIds: readonly number[]): Promise<void> => {
    const result: IngestBatchResult = await ingestBatch({
      runId,
      fileIds,
      ...(hooks.follow ? { keepLinks: true } : {}),
    });
    hooks.onBatch(result);
    // A file that was under way at two worker deaths is run alone, so that it can take no other with it.
    for (const fileId of result.alone) await run([fileId]);
  };
  const begin = (fileIds: readonly number[]): void => {
    const batch: Promise<void> = run(fileIds)
      .catch((error: unknown) => {
        failure ??= { reason: error };
      })
      .finally(() => underWay.delete(batch));
    underWay.add(batch);
  };
  const drained = async (atMost: number): Promise<void> => {
    await condition(() => underWay.size <= atMost);
    // The reason is thrown on as it is: cancellation must stay cancellation.
    // oxlint-disable-next-line typescript/only-throw-error
    if (failure) throw failure.reason;
  };

  /** Pass after pass. */
  const work = async (): Promise<number | null> => {
    for (;;) {
      const plan = await planBatches({ runId, afterId, limit: PLAN_AHEAD });
      for (const fileIds of plan.batches) {
        await drained(plan.window - 1);
        begin(fileIds);
      }
      const passOver = plan.afterId === 0;
      afterId = plan.afterId;
      if (workflowInfo().continueAsNewSuggested) {
        await drained(0);
        await condition(allHandlersFinished);
        return afterId;
      }
      if (passOver) {
        await drained(0);
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
      await CancellationScope.nonCancellable(() => condition(() => underWay.size === 0));
    throw error;
  }
}
