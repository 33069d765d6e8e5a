import { cancellationSignal } from '@temporalio/activity';

import type { RunInput } from '../../contract/runs/orchestration.js';
import { moveVectors, newAttempt } from './moveVectors.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { createPlanMoveActivities } from './planMove.js';
import { cleanUpMoves } from './cleanUpMoves.js';

const FILES_PER_BATCH = 200;

/** Creates the activities that move vectors between Qdrant and file storage. */
export function createMoveActivities(deps: ActivityDeps) {
  const { store, log } = deps;
  return {
    ...createPlanMoveActivities(deps),

    /** Moves the vectors of a batch of files that the run has claimed. Safe to repeat. */
    async moveBatch({ runId, fileIds }: RunInput & { fileIds: readonly number[] }): Promise<void> {
      const run = await requireRun(store, runId);
      const by = newAttempt(run);
      const { claimed, moved } = await moveVectors(by, fileIds, deps, cancellationSignal());
      cancellationSignal().throwIfAborted();
      await cleanUpMoves(store, by, fileIds, claimed);
      const { organizationId, requestId } = run;
      log.info({ runId, organizationId, requestId, files: moved, notMoved: fileIds.length - moved }, 'vectors moved');
    },

    /** Ends the run. Files whose move did not finish stay in their previous storage. */
    async finishMove({ runId, outcome }: RunInput & { outcome: 'finished' | 'aborted' }): Promise<void> {
      const run = await requireRun(store, runId);
      for (;;) {
        const claimed = await store.moves.listClaimed(run, runId, FILES_PER_BATCH);
        if (claimed.length === 0) break;
        const by = newAttempt(run);
        const claimedFiles = await store.moves.beginAttempt(by, claimed);
        await cleanUpMoves(store, by, claimed, claimedFiles);
      }
      await store.runs.finish(runId, outcome, {});
    },
  };
}
