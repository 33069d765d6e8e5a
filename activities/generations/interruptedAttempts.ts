/** Deletes the data of attempts that a crash or a store failure interrupted and that no batch retries. */
import type { Store } from '../../store/connect.js';
import { cleanUp, discard } from './cleanUp.js';

/** Maximum number of files that are cleaned up in one step. */
const FILES_PER_STEP = 500;

/** Deletes older generations of READY files whose attempt ended between publishing and clean-up. Safe to repeat. */
export async function cleanUpPublished(store: Store, runIds: readonly number[]): Promise<void> {
  for (;;) {
    const uncleaned = await store.files.listNeedingCleanUp(runIds, FILES_PER_STEP);
    if (uncleaned.length > 0)
      await cleanUp(
        store,
        uncleaned.map((file) => ({ file, generation: file.generation })),
      );
    if (uncleaned.length < FILES_PER_STEP) return;
  }
}

/**
 * Cleans up the interrupted attempts of a run that ends early: deletes the older generations of published files, and
 * the data of aborted attempts. Call it after the unfinished files are aborted, so that no attempt can publish them.
 * Safe to repeat.
 */
export async function settleInterrupted(store: Store, runId: number): Promise<void> {
  await cleanUpPublished(store, [runId]);
  let afterId = 0;
  for (;;) {
    const attempted = await store.files.listAbortedAttempts(runId, afterId, FILES_PER_STEP);
    if (attempted.length > 0)
      await discard(
        store,
        attempted.map((file) => ({ file, generation: file.lastGeneration })),
      );
    if (attempted.length < FILES_PER_STEP) return;
    afterId = attempted.at(-1)?._id ?? afterId;
  }
}
