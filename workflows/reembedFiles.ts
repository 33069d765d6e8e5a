import {
  ActivityFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  isCancellation,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import {
  NOTHING_REEMBEDDED,
  type PlanReembedResult,
  PROGRESS_QUERY,
  type ReembedCounts,
  type ReembedInput,
  type ReembedProgress,
} from '../contract/runs/orchestration.js';
import { COMPUTE } from './activityOptions.js';
import { storeSteps } from './storeSteps.js';

const { reembedBatch } = proxyActivities<Activities>(COMPUTE);
const reembedProgress = defineQuery<ReembedProgress>(PROGRESS_QUERY);

/**
 * Processes a plan's batches, `window` at a time. A failure ends one of `window` parallel loops. The other loops
 * process the remaining batches before this function rejects.
 */
async function processBatches(
  runId: number,
  { batches, window }: PlanReembedResult,
  onBatch: (counts: ReembedCounts) => void,
): Promise<void> {
  const waiting = [...batches];
  const processNext = async (): Promise<void> => {
    for (let fileIds = waiting.shift(); fileIds; fileIds = waiting.shift())
      onBatch(await reembedBatch({ runId, fileIds }));
  };
  const loops = await Promise.allSettled(Array.from({ length: window }, processNext));
  const rejected = loops.find((loop) => loop.status === 'rejected');
  // Rethrow the reason unchanged: a cancellation must stay a cancellation.
  // oxlint-disable-next-line typescript/only-throw-error
  if (rejected) throw rejected.reason;
}

/**
 * Embeds the stored chunks of many files again, with another model, or each file with its own model. Each file is
 * published separately: after a run that ends early, each file has either its old or its new vectors, and a new run
 * continues with the remaining files.
 */
export async function reembedFiles({ runId, resume }: ReembedInput): Promise<ReembedCounts> {
  let phase: ReembedProgress['phase'] = 'embedding';
  let { afterId, tokens, counts } = resume ?? { afterId: 0, tokens: 0, counts: NOTHING_REEMBEDDED };
  setHandler(reembedProgress, () => ({ phase, counts }));
  const add = (more: Partial<ReembedCounts>): void => {
    counts = {
      reembedded: counts.reembedded + (more.reembedded ?? 0),
      skipped: counts.skipped + (more.skipped ?? 0),
      failed: counts.failed + (more.failed ?? 0),
    };
  };
  try {
    for (;;) {
      const plan = await storeSteps.planReembed({ runId, afterId, tokens });
      add({ skipped: plan.skipped });
      await processBatches(runId, plan, add);
      ({ afterId, tokens } = plan);
      if (plan.ended) break;
      if (workflowInfo().continueAsNewSuggested) {
        await condition(allHandlersFinished);
        await continueAsNew<typeof reembedFiles>({ runId, resume: { afterId, tokens, counts } });
      }
    }
    phase = 'finishing';
    await storeSteps.finishReembed({ runId, outcome: 'finished' });
    phase = 'done';
    return counts;
  } catch (error) {
    const outcome = isCancellation(error) ? 'aborted' : error instanceof ActivityFailure ? 'failed' : null;
    if (outcome !== null) await CancellationScope.nonCancellable(() => storeSteps.finishReembed({ runId, outcome }));
    throw error;
  }
}
