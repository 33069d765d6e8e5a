import { cancellationSignal } from '@temporalio/activity';

import type { DeleteFilesProgress, DeleteFilesRequest } from '../../contract/files/deleteFiles.js';
import type { RunInput } from '../../contract/runs/orchestration.js';
import { scheduleIds } from '../../contract/runs/workflowIds.js';
import { runOfKind } from '../../contract/runs/runs.js';
import type { Run } from '../../store/models/runs.js';
import type { Tenant } from '../../store/users/accept.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { emptyFiles } from '../generations/eraseContents.js';

/** Maximum number of files that one query assigns from other runs to the delete run. */
const FILES_STOPPED = 500;
/** Files deleted in one step. */
const FILES_PER_BATCH = 200;

/** Creates the activities that delete files on request. */
export function createDeleteActivities({ store, schedules, log }: ActivityDeps) {
  /**
   * Returns the request, with the parents whose children are to be deleted. Saves these parents in the progress of the
   * run, because the filters no longer find a parent once it is deleted.
   */
  const withParents = async (run: Run<'deleteFiles'>): Promise<DeleteFilesRequest & DeleteFilesProgress> => {
    const { organizationId, userId, request, progress } = run;
    const includesChildren = request.deleteChildren === true || request.filters.includeAllChildren === true;
    if (!includesChildren || progress.parents !== undefined) return { ...request, ...progress };
    const parents = await store.files.parentsOfDelete({ organizationId, userId }, request);
    await store.runs.saveProgress(run, { parents });
    return { ...request, parents };
  };

  /**
   * Writes tombstones for files. Without a tombstone, the next scheduled sync of the file's data source or container
   * would add it again.
   */
  const addTombstones = async (tenant: Tenant, ids: readonly number[]): Promise<void> => {
    const files = await store.files.byIds(tenant, ids);
    const parents = [...new Set(files.flatMap(({ parentId }) => parentId ?? []))];
    const scheduled = await store.schedules.filterScheduledContainers(tenant, parents);
    await store.selections.skip(tenant, files, new Set(scheduled));
  };

  return {
    /**
     * Assigns waiting and active files to this run before anything is deleted, so that the runs that owned them can no
     * longer change them. Safe to repeat.
     */
    async stopQueued({ runId }: RunInput): Promise<void> {
      const run = runOfKind(await requireRun(store, runId), 'deleteFiles');
      await store.runs.markStarted(runId);
      const request = await withParents(run);
      const deleteRun = { runId, acceptedAt: run.acceptedAt };
      for (;;) {
        const ids = await store.files.listDeletableOpen(run, deleteRun, request, FILES_STOPPED);
        if (ids.length === 0) return;
        await store.files.takeOver(run, runId, run.workflowId, ids);
        cancellationSignal().throwIfAborted();
      }
    },

    /** Deletes the next matching files after a cursor; returns the next cursor, null at the end. Safe to repeat. */
    async deleteBatch({ runId, afterId }: RunInput & { afterId: number }): Promise<{ afterId: number | null }> {
      const run = runOfKind(await requireRun(store, runId), 'deleteFiles');
      const tenant = { organizationId: run.organizationId, userId: run.userId };
      const request = await withParents(run);
      const { acceptedAt } = run;
      const ids = await store.files.listDeletable(tenant, { runId, acceptedAt }, request, afterId, FILES_PER_BATCH);
      if (ids.length === 0) return { afterId: null };

      // Remove the schedules of deleted containers and add the tombstones first: otherwise a scheduled sync that starts
      // before the files are deleted would add them again.
      await schedules.remove((await store.schedules.filterScheduledContainers(tenant, ids)).map(scheduleIds.container));
      if (!request.preserveFileRecord) await addTombstones(tenant, ids);
      // The retention of quarantined children ends, so that a later run erases them.
      await store.quarantine.expire(tenant, { parentIds: ids });
      await emptyFiles(store, run, ids);
      if (request.preserveFileRecord) await store.files.deleteContent(tenant, runId, ids, request.sendWebhook);
      else await store.files.remove(tenant, runId, ids, request.sendWebhook);
      log.info(
        { runId, organizationId: run.organizationId, requestId: run.requestId, files: ids.length },
        'files deleted',
      );
      return { afterId: ids.at(-1) ?? null };
    },

    async finishDelete({ runId, outcome }: RunInput & { outcome: 'finished' | 'aborted' }): Promise<void> {
      if (outcome === 'aborted') await store.files.markDeleteStopped(runId);
      await store.runs.finish(runId, outcome, {});
    },
  };
}
