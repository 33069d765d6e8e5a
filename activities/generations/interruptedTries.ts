/** What a dead worker, or a store that was down, left of the tries of files that no batch takes up again. */
import type { Store } from '../../store/connect.js';
import { cleanUp, discard } from './cleanUp.js';

/** Files settled at once. */
const FILES_PER_STEP = 500;

/** Deletes the older generations of READY files of some runs, where the flip was not followed by it. Safe to repeat. */
export async function cleanUpPublished(store: Store, runIds: readonly number[]): Promise<void> {
  for (;;) {
    const unclean = await store.files.uncleanOf(runIds, FILES_PER_STEP);
    if (unclean.length > 0)
      await cleanUp(
        store,
        unclean.map((file) => ({ file, generation: file.generation })),
      );
    if (unclean.length < FILES_PER_STEP) return;
  }
}

/**
 * Settles the interrupted tries of a run that ends early: completes flips, and deletes what tries of its aborted files
 * wrote. To be called once its open files are aborted, since no try can flip them from then on. Safe to repeat.
 */
export async function settleInterrupted(store: Store, runId: number): Promise<void> {
  await cleanUpPublished(store, [runId]);
  let afterId = 0;
  for (;;) {
    const tried = await store.files.abortedTries(runId, afterId, FILES_PER_STEP);
    if (tried.length > 0)
      await discard(
        store,
        tried.map((file) => ({ file, generation: file.lastGeneration })),
      );
    if (tried.length < FILES_PER_STEP) return;
    afterId = tried.at(-1)?._id ?? afterId;
  }
}
