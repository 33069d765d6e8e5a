import type { ColdStorageChange } from '../../contract/files/coldStorage.js';
import type { FileFilters } from '../../contract/files/fileFilters.js';
import type { MovePlan, RunInput } from '../../contract/runs/orchestration.js';
import { runOfKind } from '../../contract/runs/runs.js';
import type { Run, RunDoc } from '../../store/models/runs.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';

/** Maximum number of files in one batch. */
const FILES_PER_BATCH = 200;
const DONE: MovePlan = { fileIds: [], afterId: null, waiting: false };

/** Creates the activity that selects the next files of a moveStorage run. */
export function createPlanMoveActivities({ store }: Pick<ActivityDeps, 'store'>) {
  const { moves } = store;

  const planCold = async (run: RunDoc): Promise<MovePlan> => {
    const fileIds = await moves.claimDue(run, run._id, new Date(), FILES_PER_BATCH);
    // Claimed files are no longer due, so every call begins at the front.
    return fileIds.length === 0 ? DONE : { fileIds, afterId: 0, waiting: false };
  };

  const planHot = async (run: RunDoc, filters: FileFilters, afterId: number): Promise<MovePlan> => {
    const fileIds = await moves.claimCold(run, run._id, filters, afterId, FILES_PER_BATCH);
    const last = fileIds.at(-1);
    if (last !== undefined) return { fileIds, afterId: last, waiting: false };
    // If another run is still moving files to cold storage, the workflow waits and then calls this step again.
    return (await moves.keepHot(run, filters)) ? { fileIds: [], afterId: 0, waiting: true } : DONE;
  };

  /** Changes the settings of the next batch of matching files. The request itself changed the first batch. */
  const modifyNext = async (
    run: Run<'moveStorage'>,
    { filters, change }: { readonly filters: FileFilters; readonly change: ColdStorageChange },
    from: number,
  ): Promise<void> => {
    const next = await store.transaction((session) =>
      store.moves.modify(run, filters, change, { afterId: from, limit: FILES_PER_BATCH }, session),
    );
    await store.runs.saveProgress(run, { modifiedTo: next ?? Number.MAX_SAFE_INTEGER });
  };

  return {
    /**
     * Claims the next files of a run, at most one batch. Files that were claimed but not moved come first. A run that
     * changes settings first changes those of all files, one batch per call. Safe to repeat.
     */
    async planMove({ runId, afterId }: RunInput & { afterId: number }): Promise<MovePlan> {
      const run = runOfKind(await requireRun(store, runId), 'moveStorage');
      await store.runs.markStarted(runId);
      await moves.adopt(run, runId);
      const claimedIds = await moves.listClaimed(run, runId, FILES_PER_BATCH);
      if (claimedIds.length > 0) return { fileIds: claimedIds, afterId, waiting: false };
      const { request, progress } = run;
      if (request.move === 'toCold') return planCold(run);
      if (request.move === 'toHot') return planHot(run, request.filters, afterId);
      const { modifiedTo = 0 } = progress;
      if (modifiedTo < Number.MAX_SAFE_INTEGER) {
        await modifyNext(run, request, modifiedTo);
        return { fileIds: [], afterId: 0, waiting: false };
      }
      // Files whose cold storage was disabled move back.
      return request.change.enabled === false ? planHot(run, request.filters, afterId) : DONE;
    },
  };
}
