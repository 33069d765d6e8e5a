import {
  BATCH_SIZE,
  FIRST_BATCH_SIZE,
  type PlanBatchesInput,
  type PlanBatchesResult,
} from '../../contract/runs/orchestration.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { msUntilDue } from './msUntilDue.js';
import { siteOfRun } from './site/siteOf.js';
import { MIN_PAGES } from './site/learnBlocks.js';

export function createPlanActivities(deps: ActivityDeps) {
  const { store, settings } = deps;
  return {
    /**
     * Delays files above the user's limits, and splits the due files whose ids are above `afterId` into batches. The
     * first batch is small, so that some pages are searchable early. The first batch of a scrape contains the pages
     * that are compared to find the blocks that the site repeats.
     */
    async planBatches({ runId, afterId, limit }: PlanBatchesInput): Promise<PlanBatchesResult> {
      const run = await requireRun(store, runId);
      const tenant = { organizationId: run.organizationId, userId: run.userId };
      const reached = await store.limits.applyLimits(tenant, runId, await store.limits.get(tenant));
      if (reached !== null && run.fileId !== null)
        await store.files.moveContainer(runId, run.fileId, { status: 'SYNCING', metadata: { limit_reached: reached } });
      const maxFiles = limit * BATCH_SIZE;
      const ids = await store.files.listDue(runId, afterId, maxFiles, new Date());
      const batches: number[][] = [];
      const window = settings.batchConcurrency;
      if (afterId === 0 && ids.length >= MIN_PAGES) {
        const site = siteOfRun(run, settings);
        const learned = site && ((await store.siteBlocks.find(site))?.runId ?? 0) >= runId;
        // Return only this batch, and `afterId` 0: the workflow plans again from the first file after the batch has
        // ended. So no other page is read before the first pages are compared.
        if (learned === false)
          return {
            batches: [ids.slice(0, Math.min(settings.siteSamplePages, BATCH_SIZE))],
            window,
            afterId: 0,
            dueInMs: null,
          };
      }
      let from = 0;
      if (afterId === 0 && ids.length > FIRST_BATCH_SIZE) {
        batches.push(ids.slice(0, FIRST_BATCH_SIZE));
        from = FIRST_BATCH_SIZE;
      }
      for (; from < ids.length; from += BATCH_SIZE) batches.push(ids.slice(from, from + BATCH_SIZE));
      const reachedEnd = ids.length < maxFiles;
      if (!reachedEnd) return { batches, window, afterId: ids.at(-1) ?? 0, dueInMs: null };
      return { batches, window, afterId: 0, dueInMs: await msUntilDue(deps, runId) };
    },
  };
}
