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

const { dropGonePages } = proxyActivities<Activities>(COMPUTE);

export const progressQuery = defineQuery<RunProgress>(PROGRESS_QUERY);
const resumeSignal = defineSignal(RESUME_SIGNAL);

/** Nobody had the run go on. */
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
  let told = false as boolean;
  let dropsGone = resume?.dropsGone ?? false;
  setHandler(progressQuery, () => ({ phase, discovered, counts }));
  setHandler(resumeSignal, () => {
    told = true;
  });
  /** Stands still until somebody has the run go on: its row says whether, the signal only that it is time to look. */
  const standStill = async (): Promise<void> => {
    phase = 'paused';
    for (;;) {
      told = false;
      const { goesOn, endsInMs } = await storeSteps().lookAtPause({ runId });
      if (goesOn) break;
      if (endsInMs === 0) throw new PauseOver();
      await condition(() => told, endsInMs);
    }
    phase = 'ingesting';
  };

  try {
    if (!resume) {
      const begun = await storeSteps().beginRun({ runId });
      dropsGone = begun.dropsGone ?? false;
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
      onPause: standStill,
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
        resume: { discovered, afterId: goOnAfter, counts, dropsGone },
      });
    }
    phase = 'finishing';
    if (dropsGone) await dropGonePages({ runId });
    await storeSteps().finishRun({ runId });
    phase = 'done';
    return { outcome: 'finished', discovered, counts };
  } catch (error) {
    if (isCancellation(error)) {
      await CancellationScope.nonCancellable(() => storeSteps().abortRun({ runId }));
      throw error;
    }
    const sentence = error instanceof PauseOver ? PAUSE_OVER : faultSentence(error);
    if (sentence !== null) {
      // Also when the run is cancelled just now: its files must not stay in motion.
      const cause = faultKind(error);
      await CancellationScope.nonCancellable(() => storeSteps().failRun({ runId, message: sentence, cause }));
      return { outcome: 'failed', discovered, counts };
    }
    // continueAsNew leaves by an error of its own; a failed activity is a defect, and must not leave files in motion.
    if (error instanceof ActivityFailure) {
      const message = 'The run stopped at a fault of the service. Its log names the cause; resync to try again.';
      await CancellationScope.nonCancellable(() => storeSteps().failRun({ runId, message }));
    }
    throw error;
  }
}
