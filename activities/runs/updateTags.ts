import type { CopyTagsResult, RunInput } from '../../contract/runs/orchestration.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { copySourceTags, settlePointTags } from '../generations/pointTags.js';

/** Maximum number of files per step. */
const FILES_PER_BATCH = 200;

/** Creates the activities of a run that copies tags from a data source to its files, and from files to their points. */
export function createTagActivities({ store, log }: ActivityDeps) {
  const copyNextTags = async (
    tenant: { organizationId: number; userId: number },
    dataSourceId: number,
    afterId: number,
  ): Promise<CopyTagsResult> => {
    // Read again for every batch, so that the latest version is copied.
    const source = await store.dataSources.find(tenant, dataSourceId);
    if (!source) return { done: true, afterId: 0 };
    const outdated = await store.files.listBehindSourceTags(source, afterId, FILES_PER_BATCH);
    const last = outdated.at(-1);
    if (last) {
      await copySourceTags(store, source, outdated);
      return { done: false, afterId: last._id };
    }
    // The copy is complete only if a scan from the first file finds none to update: earlier files may have changed
    // meanwhile.
    return {
      done: afterId === 0 && (await store.dataSources.markTagsCopied(tenant, dataSourceId, source.tagsVersion)),
      afterId: 0,
    };
  };

  return {
    /** Copies tags to the next files after a cursor, and to their points; returns the next cursor. Safe to repeat. */
    async copyTags({ runId, afterId }: RunInput & { afterId: number }): Promise<CopyTagsResult> {
      const run = await requireRun(store, runId);
      await store.runs.markStarted(runId);
      const { organizationId, userId, fileId, dataSourceId } = run;
      if (dataSourceId) return await copyNextTags({ organizationId, userId }, dataSourceId, afterId);
      await settlePointTags(store, fileId === null ? [] : [fileId]);
      return { done: true, afterId: 0 };
    },

    async finishTags({ runId, outcome }: RunInput & { outcome: 'finished' | 'aborted' }): Promise<void> {
      const run = await store.runs.find(runId);
      if (outcome === 'aborted' && run?.dataSourceId) await store.dataSources.markTagsStopped(run, run.dataSourceId);
      await store.runs.finish(runId, outcome, {});
      log.info({ runId, outcome }, 'the copying of tags to files and points ended');
    },
  };
}
