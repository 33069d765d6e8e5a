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
} from '../contract/orchestration.js';
import type { Activities } from '../activities/index.js';
import { COMPUTE } from './activityOptions.js';
import { faultKind, faultSentence } from './faultSentence.js';
import { addResults, ingestWindow } from './ingestWindow.js';
import { storeSteps } from './storeSteps.js';

const { deleteGonePages } = proxyActivities<Activities>(COMPUTE);

export const progressQuery = defineQuery<RunProgress>(PROGRESS_QUERY);
const resumeSignal = defineSignal(RESUME_SIGNAL);

/** The pause has reached its longest time. */
class PauseOver extends Error {}
const PAUSE_OVER = 'The run was paused at max_tokens, and nobody had it go on. Ask for it again, with another bound.';

/**
 * The life of a run that ingests files: begin, find them, ingest them, end. However it ends, no file of the run stays
 * in motion.
 * @param discover queues the run's files and answers how many there are; not called again after continue-as-new
 * @param follow for runs whose files lead to more files: see WindowHooks
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
  /** Waits while the run is paused. Its row decides; the signal only wakes this wait. */
  const waitWhilePaused = async (): Promise<void> => {
    phase = 'paused';
    for (;;) {
      isResumed = false;
      const { isOver, endsInMs } = await storeSteps.getPauseState({ runId });
      if (isOver) break;
      if (endsInMs === 0) throw new PauseOver();
      await condition(() => isResumed, endsInMs);
    }
    phase = 'ingesting';
  };

  try {
    if (!resume) {
      const begun = await storeSteps.beginRun({ runId });
      deletesGonePages = begun.deletesGonePages ?? false;
      if (begun.finished) return { outcome: 'already_finished', discovered, counts };
      phase = 'discovering';
      discovered = await discover();
    }
    phase = 'ingesting';
    const goOnAfter = await ingestWindow(runId, resume?.afterId ?? 0, {
      onBatch: (result) => {
        counts = addResults(counts, result);
      },
      onWait: (waiting) => {
        phase = waiting ? 'waiting' : 'ingesting';
      },
      onPause: waitWhilePaused,
      ...(follow && {
        follow: async () => {
          const far = await follow();
          discovered = far.discovered;
          return far.dueInMs;
        },
      }),
    });
    if (goOnAfter !== null) {
      return await continueAsNew<(input: IngestRunInput) => Promise<RunOutcome>>({
        runId,
        resume: { discovered, afterId: goOnAfter, counts, deletesGonePages },
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
    const sentence = error instanceof PauseOver ? PAUSE_OVER : faultSentence(error);
    if (sentence !== null) {
      // Also when the run is cancelled just now: its files must not stay in motion.
      const cause = faultKind(error);
      await CancellationScope.nonCancellable(() => storeSteps.failRun({ runId, message: sentence, cause }));
      return { outcome: 'failed', discovered, counts };
    }
    // continueAsNew leaves by an error of its own; a failed activity is a defect, and must not leave files in motion.
    if (error instanceof ActivityFailure) {
      const message = 'The run stopped at a fault of the service. Its log names the cause; resync to try again.';
      await CancellationScope.nonCancellable(() => storeSteps.failRun({ runId, message }));
    }
    throw error;
  }
}
