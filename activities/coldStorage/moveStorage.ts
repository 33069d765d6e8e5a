import { cancellationSignal, heartbeat } from '@temporalio/activity';

import type { RunInput } from '../../contract/orchestration.js';
import type { RunDoc } from '../../store/runs/model.js';
import { carryVectors, newTry } from './carryVectors.js';
import type { ActivityDeps } from '../deps.js';
import { createPlanMoveActivities } from './planMove.js';
import { tidyMoves } from './tidyMoves.js';

const HEARTBEAT_MS = 1_000;
const FILES_PER_BATCH = 200;

/** Moving vectors between Qdrant and file storage. */
export function createMoveActivities(deps: ActivityDeps) {
  const { store, log } = deps;
  const rowOf = async (runId: number): Promise<RunDoc> => {
    const run = await store.runs.find(runId);
    if (!run) throw new Error(`Run ${runId} has no row`);
    return run;
  };
  const beating = async <T>(work: () => Promise<T>): Promise<T> => {
    const beat = setInterval(() => heartbeat(), HEARTBEAT_MS);
    try {
      return await work();
    } finally {
      clearInterval(beat);
    }
  };
  return {
    ...createPlanMoveActivities(deps),

    /** Moves the vectors of a batch of files that the run has claimed. Safe to repeat. */
    async moveBatch({ runId, fileIds }: RunInput & { fileIds: readonly number[] }): Promise<void> {
      const run = await rowOf(runId);
      const by = newTry(run);
      await beating(async () => {
        const taken = await carryVectors(by, fileIds, deps, cancellationSignal());
        cancellationSignal().throwIfAborted();
        await tidyMoves(store, by, fileIds, taken);
      });
      log.info(
        { runId, organizationId: run.organizationId, requestId: run.requestId, files: fileIds.length },
        'vectors moved',
      );
    },

    /** Ends the run; files whose move it has not ended are where they were. */
    async finishMove({ runId, outcome }: RunInput & { outcome: 'finished' | 'aborted' }): Promise<void> {
      const run = await rowOf(runId);
      await beating(async () => {
        for (;;) {
          const left = await store.moves.claimed(run, runId, FILES_PER_BATCH);
          if (left.length === 0) break;
          const by = newTry(run);
          const taken = await store.moves.take(by, left);
          await tidyMoves(store, by, left, taken);
        }
      });
      await store.runs.finish(runId, outcome, {});
    },
  };
}
