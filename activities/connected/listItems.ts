import { cancellationSignal } from '@temporalio/activity';

import { isByChanges, isListed, knowsAll, MOST_CLOSED } from '../../contract/connections.js';
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

/** The listing of what a connected account holds, and the end of what it holds no more. */
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

    /** Takes the next pages of the listing in. After each the row says where to go on, so a death costs one page. */
    async listItems({ runId }: RunInput): Promise<ListItemsResult> {
      const run = await rowOf(runId);
      const signal = cancellationSignal();
      let { progress } = run;
      let isOurs = true;
      for (const until = Date.now() + AT_ONCE_MS; isOurs && Date.now() < until && !isListed(progress);) {
        signal.throwIfAborted();
        const next = () =>
          withAccount(run, run.dataSourceId, deps, async (open) => {
            // It was cancelled, or the account was connected anew and is listed by another run.
            isOurs = open.source.itemsRunId === runId;
            return isOurs ? listPage(open, progress, { ...run.request, runId, items: store.items }, signal) : progress;
          });
        progress = (await waitOutLimits(next, until, signal)) ?? progress;
        await store.runs.saveProgress(run, progress);
      }
      return { done: !isOurs || isListed(progress), listed: progress.listed };
    },

    /** Lets go what the account holds no more. Safe to repeat. */
    async deleteMissingFiles({ runId }: RunInput): Promise<void> {
      const run = await rowOf(runId);
      const source = await store.dataSources.find(run, run.dataSourceId);
      if (source?.itemsRunId !== runId || run.request.isPartial === true) return;
      await deleteMissing(run, source, deps, cancellationSignal());
    },

    /** Ends the listing: the data source says how it went. A cancelled one leaves the items that were known and found. */
    async endListing({ runId, outcome, ...given }: EndListingInput): Promise<void> {
      const run = await rowOf(runId);
      const failure = given.message === undefined ? null : lastCause(run, given.message, given.cause);
      const message = failure?.message;
      const finished = outcome === 'finished';
      const { listed, point, walk } = run.progress;
      const source = finished && point !== undefined ? await store.dataSources.find(run, run.dataSourceId) : null;
      // What a whole listing missed, or let stand, no feed will tell of, nor what went while it could not be looked into:
      // then all is listed once more.
      const isKnown = isByChanges(run.progress)
        ? source !== null && (await store.items.countReopened(source, runId)) === 0
        : knowsAll(walk) && walk.refused <= MOST_CLOSED && source?.metadata['deletions_held'] === undefined;
      const facts = outcome === 'aborted' ? {} : { items_error: message ?? null };
      await store.dataSources.endListing(run, run.dataSourceId, runId, {
        status: outcome === 'failed' ? 'SYNC_ERROR' : 'READY',
        whole: finished,
        facts,
        ...(source ? { changePoint: isKnown ? (point ?? null) : null } : {}),
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
