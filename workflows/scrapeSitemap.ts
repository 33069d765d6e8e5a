import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  continueAsNew,
  defineQuery,
  isCancellation,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import {
  EMPTY_BATCH_RESULT,
  FAULT_FAILURE,
  PROGRESS_QUERY,
  type RunOutcome,
  type RunProgress,
  type ScrapeSitemapInput,
} from '../contract/orchestration.js';
import { FETCH, STORE } from './activityOptions.js';
import { addResults, ingestWindow } from './ingestWindow.js';

const { discoverPages } = proxyActivities<Activities>(FETCH);
const { beginRun, finishRun, failRun, abortRun } = proxyActivities<Activities>(STORE);

export const progressQuery = defineQuery<RunProgress>(PROGRESS_QUERY);

/** The sentence of a Fault that an activity gave up on; null for anything else. */
function faultOf(error: unknown): string | null {
  const cause = error instanceof ActivityFailure ? error.cause : null;
  return cause instanceof ApplicationFailure && cause.type === FAULT_FAILURE ? cause.message : null;
}

/**
 * Reads a sitemap, makes a file of each page it is asked for, and ingests them. The parent ends READY when discovery
 * worked, SYNC_ERROR when it did not, SYNC_ABORTED when the run was cancelled; no file of the run stays in motion.
 */
export async function scrapeSitemap(input: ScrapeSitemapInput): Promise<RunOutcome> {
  const { runId, resume } = input;
  let phase: RunProgress['phase'] = 'starting';
  let discovered = resume?.discovered ?? 0;
  let counts = resume?.counts ?? EMPTY_BATCH_RESULT;
  setHandler(progressQuery, () => ({ phase, discovered, counts }));

  try {
    if (!resume) {
      const begun = await beginRun({ runId });
      if (begun.finished) return { outcome: 'already_finished', discovered, counts };
      phase = 'discovering';
      discovered = (await discoverPages({ runId })).discovered;
    }
    phase = 'ingesting';
    const goOnAfter = await ingestWindow(runId, resume?.afterId ?? 0, {
      onBatch: (result) => {
        counts = addResults(counts, result);
      },
      onWait: (waiting) => {
        phase = waiting ? 'waiting' : 'ingesting';
      },
    });
    if (goOnAfter !== null) {
      return await continueAsNew<typeof scrapeSitemap>({ runId, resume: { discovered, afterId: goOnAfter, counts } });
    }
    phase = 'finishing';
    await finishRun({ runId });
    phase = 'done';
    return { outcome: 'finished', discovered, counts };
  } catch (error) {
    if (isCancellation(error)) {
      await CancellationScope.nonCancellable(() => abortRun({ runId }));
      throw error;
    }
    const sentence = faultOf(error);
    if (sentence === null) {
      // continueAsNew leaves by an error of its own; anything else is a defect, and must not leave files in motion.
      if (error instanceof ActivityFailure) {
        await CancellationScope.nonCancellable(() =>
          failRun({
            runId,
            message: 'The run stopped at a fault of the service. Its log names the cause; resync to try again.',
          }),
        );
      }
      throw error;
    }
    await failRun({ runId, message: sentence });
    return { outcome: 'failed', discovered, counts };
  }
}
