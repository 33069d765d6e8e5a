import { heartbeat } from '@temporalio/activity';

import type { DeleteFilesRequest } from '../contract/deleteFiles.js';
import type { RunInput } from '../contract/orchestration.js';
import type { ActivityDeps } from './deps.js';

/** Files deleted at once. */
const FILES_PER_BATCH = 200;
/** A delete covers every generation there ever was. */
const EVERY_GENERATION = { below: Number.MAX_SAFE_INTEGER };

/** Deletion, verified: a record says deleted only when no point, chunk or stored file is left. */
export function createDeleteActivities({ store, log }: ActivityDeps) {
  return {
    /** Deletes the next files that match, from a cursor on; answers the next cursor, null at the end. Safe to repeat. */
    async deleteBatch({ runId, afterId }: RunInput & { afterId: number }): Promise<{ afterId: number | null }> {
      const run = await store.runs.find(runId);
      if (!run) throw new Error(`Run ${runId} has no row`);
      await store.runs.markStarted(runId);
      const tenant = { organizationId: run.organizationId, userId: run.userId };
      const { filters, preserveFileRecord, sendWebhook } = run.options as DeleteFilesRequest;
      const ids = await store.files.deletable(tenant, filters, afterId, run.acceptedAt, FILES_PER_BATCH);
      if (ids.length === 0) return { afterId: null };

      const beat = setInterval(() => heartbeat(), 1_000);
      try {
        // Whatever run is at work on them can no longer flip them.
        await store.files.takeOver(tenant, runId, run.workflowId, ids);
        const scopes = ids.map((fileId) => ({ ...tenant, fileId, generations: EVERY_GENERATION }));
        await Promise.all([
          store.vectors.deleteGenerations(scopes),
          store.chunks.deleteGenerations(scopes),
          store.contents.deleteGenerations(scopes),
        ]);
        const counts = await Promise.all([
          store.vectors.countOf(tenant, ids),
          store.chunks.countOf(tenant, ids),
          store.contents.countOf(tenant, ids),
        ]);
        const left = counts.reduce((sum, count) => sum + count, 0);
        // Somebody wrote meanwhile: the retry deletes that as well.
        if (left > 0) throw new Error(`${left} points, chunks or contents of deleted files are left`);
        if (preserveFileRecord) await store.files.emptied(tenant, runId, ids, sendWebhook);
        else await store.files.remove(tenant, runId, ids, sendWebhook);
        log.info(
          { runId, organizationId: run.organizationId, requestId: run.requestId, files: ids.length },
          'files deleted',
        );
        return { afterId: ids.at(-1) ?? null };
      } finally {
        clearInterval(beat);
      }
    },

    async finishDelete({ runId, outcome }: RunInput & { outcome: 'finished' | 'aborted' }): Promise<void> {
      if (outcome === 'aborted') await store.files.stopped(runId);
      await store.runs.finish(runId, outcome, {});
    },
  };
}
