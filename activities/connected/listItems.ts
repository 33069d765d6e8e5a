import { cancellationSignal } from '@temporalio/activity';

import { isByChanges, isListed, knowsAll, MAX_CLOSED } from '../../contract/connections.js';
import type { EndListingInput, ListItemsResult, RunInput } from '../../contract/orchestration.js';
import { runOfKind } from '../../contract/runs.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { lastCause } from '../lastCause.js';
import { deleteMissing } from './deleteMissing.js';
import { withAccount } from './openAccount.js';
import { listPage } from './listPage.js';
import { waitOutLimits } from './waitOutLimits.js';

/** How long one activity lists: a history of a few events holds a listing of any length. */
const AT_ONCE_MS = 300_000;

/** Lists a connected account, and deletes the files of items that are gone. */
export function createItemActivities(deps: ActivityDeps) {
  const { store, log } = deps;
  const rowOf = async (runId: number) => runOfKind(await requireRun(store, runId, 'dataSourceId'), 'syncItems');

  return {
    /** `finished` when there is nothing to do: an earlier execution did it all, or another run has the listing. */
    async beginListing({ runId }: RunInput): Promise<{ finished: boolean }> {
      const run = await rowOf(runId);
      await store.runs.markStarted(runId);
      if (run.finishedAt !== null) return { finished: true };
      if (await store.dataSources.beginListing(run, run.dataSourceId, runId)) return { finished: false };
      await store.runs.finish(runId, 'aborted', {});
      return { finished: true };
    },

    /** Stores the next pages of the listing. The row holds the position after each, so a crash costs one page. */
    async listItems({ runId }: RunInput): Promise<ListItemsResult> {
      const run = await rowOf(runId);
      const signal = cancellationSignal();
      let { progress } = run;
      let isOurs = true;
      for (const until = Date.now() + AT_ONCE_MS; isOurs && Date.now() < until && !isListed(progress);) {
        signal.throwIfAborted();
        const next = () =>
          withAccount(run, run.dataSourceId, deps, async (open) => {
            // False if it was cancelled, or the account was connected again and another run lists it.
            isOurs = open.source.itemsRunId === runId;
            return isOurs ? listPage(open, progress, { ...run.request, runId, items: store.items }, signal) : progress;
          });
        progress = (await waitOutLimits(next, until, signal)) ?? progress;
        await store.runs.saveProgress(run, progress);
      }
      return { done: !isOurs || isListed(progress), listed: progress.listed };
    },

    /** Deletes the files of items that the account no longer has. Safe to repeat. */
    async deleteMissingFiles({ runId }: RunInput): Promise<void> {
      const run = await rowOf(runId);
      const source = await store.dataSources.find(run, run.dataSourceId);
      if (source?.itemsRunId !== runId || run.request.isPartial === true) return;
      await deleteMissing(run, source, deps, cancellationSignal());
    },

    /** Ends the listing and records its outcome in the data source. A cancelled one keeps the items that were known and found. */
    async endListing({ runId, outcome, ...given }: EndListingInput): Promise<void> {
      const run = await rowOf(runId);
      const failure = given.message === undefined ? null : lastCause(run, given.message, given.cause);
      const message = failure?.message;
      const finished = outcome === 'finished';
      const { listed, point, walk } = run.progress;
      const source = finished && point !== undefined ? await store.dataSources.find(run, run.dataSourceId) : null;
      // A feed reports neither what a whole listing missed or kept, nor deletions in folders that could not be listed:
      // then the next listing reads everything.
      const isKnown = isByChanges(run.progress)
        ? source !== null && (await store.items.countReopened(source, runId)) === 0
        : knowsAll(walk) && walk.refused <= MAX_CLOSED && source?.metadata['deletions_held'] === undefined;
      const facts = outcome === 'aborted' ? {} : { items_error: message ?? null };
      await store.dataSources.endListing(run, run.dataSourceId, runId, {
        status: outcome === 'failed' ? 'SYNC_ERROR' : 'READY',
        whole: finished,
        facts,
        ...(source ? { changeToken: isKnown ? (point ?? null) : null } : {}),
      });
      if (source) await store.items.forgetClosed(source, runId);
      await store.runs.finish(
        ...([runId, outcome, { listed }] as const),
        failure ? { message: failure.message, error: failure.cause ?? 'run_failed' } : undefined,
      );
      const { organizationId, requestId, dataSourceId } = run;
      log.info({ runId, organizationId, requestId, dataSourceId, outcome, listed }, 'listing of items ended');
    },
  };
}
