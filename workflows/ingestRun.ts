import {
  ActivityFailure,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';

import {
  EMPTY_BATCH_RESULT,
  type FollowLinksResult,
  type IngestRunInput,
  PROGRESS_QUERY,
  RESUME_SIGNAL,
  type RunOutcome,
  type RunProgress,
} from '../contract/runs/orchestration.js';
import type { Activities } from '../activities/index.js';
import { COMPUTE } from './activityOptions.js';
import { faultKind, faultSentence } from './faultSentence.js';
import { addResults, ingestWindow } from './ingestWindow.js';
import { storeSteps } from './storeSteps.js';

const { deleteGonePages } = proxyActivities<Activities>(COMPUTE);

export const progressQuery = defineQuery<RunProgress>(PROGRESS_QUERY);
const resumeSignal = defineSignal(RESUME_SIGNAL);

/** Thrown when a pause has reached its maximum duration. */
class PauseExpired extends Error {}
const PAUSE_OVER =
  'The run was paused at max_tokens and was not resumed in time. Request it again with a higher limit.';

/**
 * Runs an ingest from start to end: begins the run, discovers its files, ingests them, ends the run. After a failure or
 * a cancellation, the unfinished files of the run get a final status too.
 * @param discover queues the run's files and returns their number; not called again if the ingest continues as new
 * @param follow for crawls: queues the links of the pages that were read (see WindowHooks in ingestWindow.ts)
 */
export async function ingestRun(
  { runId, resume }: IngestRunInput,
  discover: () => Promise<number>,
  follow?: () => Promise<FollowLinksResult>,
): Promise<RunOutcome> {
  let phase: RunProgress['phase'] = 'starting';
  let discovered = resume?.discovered ?? 0;
  let counts = resume?.counts ?? EMPTY_BATCH_RESULT;
  let isResumed = false as boolean;
  let deletesGonePages = resume?.deletesGonePages ?? false;
  setHandler(progressQuery, () => ({ phase, discovered, counts }));
  setHandler(resumeSignal, () => {
    isResumed = true;
  });
  /** Waits while the run's row states that the run is paused. The signal only triggers another read of the row. */
  const waitWhilePaused = async (): Promise<void> => {
    phase = 'paused';
    for (;;) {
      isResumed = false;
      const { isOver, endsInMs } = await storeSteps.getPauseState({ runId });
      if (isOver) break;
      if (endsInMs === 0) throw new PauseExpired();
      await condition(() => isResumed, endsInMs);
    }
    phase = 'ingesting';
  };

  try {
    if (!resume) {
      const begunRun = await storeSteps.beginRun({ runId });
      deletesGonePages = begunRun.deletesGonePages ?? false;
      if (begunRun.finished) return { outcome: 'already_finished', discovered, counts };
      phase = 'discovering';
      discovered = await discover();
    }
    phase = 'ingesting';
    const resumeAfterId = await ingestWindow(runId, resume?.afterId ?? 0, {
      onBatch: (result) => {
        counts = addResults(counts, result);
      },
      onWait: (waiting) => {
        phase = waiting ? 'waiting' : 'ingesting';
      },
      onPause: waitWhilePaused,
      ...(follow && {
        follow: async () => {
          const crawl = await follow();
          discovered = crawl.discovered;
          return crawl.dueInMs;
        },
      }),
    });
    if (resumeAfterId !== null) {
      return await continueAsNew<(input: IngestRunInput) => Promise<RunOutcome>>({
        runId,
        resume: { discovered, afterId: resumeAfterId, counts, deletesGonePages },
      });
    }
    phase = 'finishing';
    if (deletesGonePages) await deleteGonePages({ runId });
    await storeSteps.finishRun({ runId });
    phase = 'done';
    return { outcome: 'finished', discovered, counts };
  } catch (error) {
    if (isCancellation(error)) {
      await CancellationScope.nonCancellable(() => storeSteps.abortRun({ runId }));
      throw error;
    }
    const sentence = error instanceof PauseExpired ? PAUSE_OVER : faultSentence(error);
    if (sentence !== null) {
      // Not cancellable: also if the run is cancelled now, its files must not stay unfinished.
      const cause = faultKind(error);
      await CancellationScope.nonCancellable(() => storeSteps.failRun({ runId, message: sentence, cause }));
      return { outcome: 'failed', discovered, counts };
    }
    // Other errors, such as that of continueAsNew, are rethrown. A failed activity must not leave files unfinished.
    if (error instanceof ActivityFailure) {
      const message =
        'The run failed because of an internal error. See the log of the service for the cause. Resync to try again.';
      await CancellationScope.nonCancellable(() => storeSteps.failRun({ runId, message }));
    }
    throw error;
  }
}
