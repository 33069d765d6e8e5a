import { cancellationSignal } from '@temporalio/activity';

import type { RunInput } from '../../contract/runs/orchestration.js';
import { countHeld } from '../quarantine/massDelete.js';
import { removeMissing, finishRemovals } from '../quarantine/removeMissing.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';

const HELD_MESSAGE =
  'so many pages of a site are missing at once that none was deleted; check the site, then approve the deletion';

/** Creates the activity that deletes pages which no longer exist at their site. */
export function createGonePagesActivities(deps: ActivityDeps) {
  const { store, settings, log } = deps;
  return {
    /**
     * At the end of a scheduled scrape, deletes pages that the site reports as gone, and pages that are no longer in a
     * completely read sitemap. Deletes nothing if so many pages are missing that an error of the site is more likely,
     * unless an operator approved the deletion. Safe to repeat.
     */
    async deleteGonePages({ runId }: RunInput): Promise<void> {
      const run = await requireRun(store, runId, 'fileId');
      const { fileId: parentId, organizationId, requestId } = run;
      const signal = cancellationSignal();
      // Finish the deletions that an earlier attempt began: the query below no longer returns those pages.
      await finishRemovals(run, deps, signal);
      const [parent] = await store.files.byIds(run, [parentId]);
      if (!parent) return;
      const wasRead = run.kind === 'scrapeSitemap' && run.progress.readWhole === true;
      const { pages, gone } = await store.files.findMissingPages(run, parentId, wasRead);
      const isApproved = parent.deletionsApproved === true;
      const missing = { missing: gone.length, files: pages, isEmpty: gone.length === pages, isApproved };
      const numHeld = countHeld(missing, settings.massDeletePercent);
      await store.files.moveContainer(runId, parentId, {
        status: 'SYNCING',
        metadata: { deletions_held: numHeld === 0 ? null : numHeld },
      });
      if (numHeld > 0) {
        log.warn({ runId, organizationId, requestId, fileId: parentId, gone: numHeld, pages }, HELD_MESSAGE);
        return;
      }
      await removeMissing(run, gone, deps, signal);
      if (isApproved) await store.files.setDeletionsApproved(run, parentId, false);
    },
  };
}
