import { activityInfo, cancellationSignal } from '@temporalio/activity';

import { isByChanges, isListed, isAccountedFor, MAX_INACCESSIBLE } from '../../contract/accounts/connections.js';
import type { EndListingInput, ListItemsResult, RunInput } from '../../contract/runs/orchestration.js';
import { runOfKind } from '../../contract/runs/runs.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { lastCause } from '../lastCause.js';
import { deleteMissing } from './deleteMissing.js';
import { withAccount } from './openAccount.js';
import { listPage } from './listPage.js';
import { waitOutLimits } from './waitOutLimits.js';

/** Maximum duration of one activity. A listing of any length then fits into a short workflow history. */
const MAX_STEP_MS = 300_000;

/** Creates the activities that list a connected account and delete the files of vanished items. */
export function createItemActivities(deps: ActivityDeps) {
  const { store, log } = deps;
  const requireListing = async (runId: number) =>
    runOfKind(await requireRun(store, runId, 'dataSourceId'), 'syncItems');

  return {
    /**
     * Starts the run's listing. Returns `finished` if it must not list: the run has ended already, or another run lists
     * the account. In the second case this run is aborted.
     */
    async beginListing({ runId }: RunInput): Promise<{ finished: boolean }> {
      const run = await requireListing(runId);
      await store.runs.markStarted(runId);
      if (run.finishedAt !== null) return { finished: true };
      if (await store.dataSources.beginListing(run, run.dataSourceId, runId)) return { finished: false };
      await store.runs.finish(runId, 'aborted', {});
      return { finished: true };
    },

    /**
     * Stores the next pages of the listing. The run's row stores the position after each page, so a crash repeats at
     * most one page.
     */
    async listItems({ runId }: RunInput): Promise<ListItemsResult> {
      const run = await requireListing(runId);
      const signal = cancellationSignal();
      let { progress } = run;
      let ownsListing = true;
      for (const until = Date.now() + MAX_STEP_MS; ownsListing && Date.now() < until && !isListed(progress);) {
        signal.throwIfAborted();
        const next = () =>
          withAccount(run, run.dataSourceId, deps, async (open) => {
            // False if the run was cancelled, or the account was connected again and another run lists it.
            ownsListing = open.source.itemsRunId === runId;
            return ownsListing
              ? listPage(open, progress, { ...run.request, runId, items: store.items }, signal)
              : progress;
          });
        progress = (await waitOutLimits(next, until, signal)) ?? progress;
        await store.runs.saveProgress(run, progress);
      }
      return { done: !ownsListing || isListed(progress), listed: progress.listed };
    },

    /** Deletes the files of items that the account no longer has. Safe to repeat. */
    async deleteMissingFiles({ runId }: RunInput): Promise<void> {
      const run = await requireListing(runId);
      const source = await store.dataSources.find(run, run.dataSourceId);
      if (source?.itemsRunId !== runId || run.request.isPartial === true) return;
      await deleteMissing(run, source, deps, cancellationSignal(), activityInfo().attempt);
    },

    /**
     * Ends the listing and records its outcome in the data source. After a cancellation, all stored items stay.
     */
    async endListing({ runId, outcome, ...failureInput }: EndListingInput): Promise<void> {
      const run = await requireListing(runId);
      const failure =
        failureInput.message === undefined ? null : lastCause(run, failureInput.message, failureInput.cause);
      const message = failure?.message;
      const finished = outcome === 'finished';
      const { listed, nextChangeToken, walk } = run.progress;
      const source =
        finished && nextChangeToken !== undefined ? await store.dataSources.find(run, run.dataSourceId) : null;
      // The next listing reads only the change feed if the feed reports all that this listing left open. It reports
      // neither items that a full listing missed, nor deletions that are held, nor deletions in a folder while the
      // folder could not be listed. So the token is discarded, and the next listing is a full one, after a full listing
      // with unknown or held items, and after a listing by changes that could list such a folder again or did not find
      // it.
      const canUseFeed = isByChanges(run.progress)
        ? source !== null && (await store.items.countReopened(source, runId)) === 0
        : isAccountedFor(walk) && walk.refused <= MAX_INACCESSIBLE && source?.metadata['deletions_held'] === undefined;
      const metadata = outcome === 'aborted' ? {} : { items_error: message ?? null };
      await store.dataSources.endListing(run, run.dataSourceId, runId, {
        status: outcome === 'failed' ? 'SYNC_ERROR' : 'READY',
        whole: finished,
        metadata,
        ...(source ? { changeToken: canUseFeed ? (nextChangeToken ?? null) : null } : {}),
      });
      if (source) await store.items.unmarkReopened(source, runId);
      await store.runs.finish(
        ...([runId, outcome, { listed }] as const),
        failure ? { message: failure.message, error: failure.cause ?? 'run_failed' } : undefined,
      );
      const { organizationId, requestId, dataSourceId } = run;
      log.info({ runId, organizationId, requestId, dataSourceId, outcome, listed }, 'listing of items ended');
    },
  };
}
