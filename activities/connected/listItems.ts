import { cancellationSignal, heartbeat } from '@temporalio/activity';

import { isWalked, type SyncItemsRequest } from '../../contract/connections.js';
import type { EndListingInput, ListItemsResult, RunInput } from '../../contract/orchestration.js';
import type { RunDoc } from '../../store/runs/model.js';
import type { ActivityDeps } from '../deps.js';
import { emptyFiles } from '../emptyFiles.js';
import { toFailure } from '../failures.js';
import { withAccount } from './openAccount.js';
import { takePage } from './walk.js';

const HEARTBEAT_MS = 1_000;
/** How long one activity lists: a history of a few events holds a listing of any length. */
const AT_ONCE_MS = 300_000;
/** Files compared, and deleted, at once. */
const FILES_PER_BATCH = 200;
/** So few may always vanish: of a handful, any one is a large part. */
const FEW = 10;
const HELD =
  'a listing misses so much that nothing was deleted; look at the source, then approve it by the command line';

/** The listing of what a connected account holds, and the end of what it holds no more. */
export function createItemActivities(deps: ActivityDeps) {
  const { store, settings, log } = deps;
  const rowOf = async (runId: number): Promise<RunDoc & { dataSourceId: number; options: SyncItemsRequest }> => {
    const run = await store.runs.find(runId);
    if (!run?.dataSourceId) throw new Error(`Run ${runId} has no row, or no data source`);
    return { ...run, dataSourceId: run.dataSourceId, options: run.options as SyncItemsRequest };
  };

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
      let request = run.options;
      let isOurs = true;
      const beat = setInterval(() => heartbeat({ listed: request.listed }), HEARTBEAT_MS);
      try {
        for (const until = Date.now() + AT_ONCE_MS; isOurs && Date.now() < until && !isWalked(request.walk);) {
          signal.throwIfAborted();
          request = await withAccount(run, run.dataSourceId, deps, async ({ source, account }) => {
            // It was cancelled, or the account was connected anew and is listed by another run.
            isOurs = source.itemsRunId === runId;
            if (!isOurs) return request;
            const { items, walk } = await takePage(account, request.walk, signal);
            // Of what the connector knows, an item keeps what is answered.
            const listed = items.map(({ hasContent: _content, createdAt: _at, ...item }) => item);
            await store.items.keep(source, runId, listed);
            return { ...request, walk, listed: request.listed + items.length };
          });
          await store.runs.setOptions(runId, request);
        }
        return { done: !isOurs || isWalked(request.walk), listed: request.listed };
      } catch (error) {
        throw toFailure(error);
      } finally {
        clearInterval(beat);
      }
    },

    /**
     * Deletes the files and forgets the items that a whole listing did not find. Nothing where it was not whole, or where
     * so much is missing that a fault of the source is likelier. Safe to repeat.
     */
    async dropVanished({ runId }: RunInput): Promise<void> {
      const run = await rowOf(runId);
      const signal = cancellationSignal();
      const source = await store.dataSources.find(run, run.dataSourceId);
      if (source?.itemsRunId !== runId || run.options.isPartial === true) return;
      const { refused } = run.options.walk;
      // A file that came to be after the listing began says nothing of what it should have found.
      const listing = { runId, begun: run.acceptedAt };
      const beat = setInterval(() => heartbeat(), HEARTBEAT_MS);
      try {
        const { files, vanished, items } = await store.items.countVanished(source, listing);
        const isMuch = vanished > FEW && vanished > (files * settings.massDeletePercent) / 100;
        const isHeld = (isMuch || (items === 0 && files > 0)) && source.deletionsApproved !== true;
        const held = refused === 0 && isHeld ? vanished : 0;
        // Nobody knows what lies in what could not be listed.
        const facts = { items_refused: refused || null, deletions_held: held || null };
        await store.dataSources.note(run, source._id, facts);
        const { organizationId, requestId } = run;
        if (held > 0) log.warn({ runId, organizationId, requestId, dataSourceId: source._id, vanished, files }, HELD);
        if (held > 0 || refused > 0) return;
        for (let afterId: number | null = 0; afterId !== null;) {
          signal.throwIfAborted();
          const part = await store.items.vanishedFiles(source, listing, afterId, FILES_PER_BATCH);
          if (part.ids.length > 0) {
            await emptyFiles(store, run, part.ids);
            await store.files.remove(run, runId, part.ids, false);
          }
          afterId = part.afterId;
        }
        await store.items.dropVanished(source, runId);
      } finally {
        clearInterval(beat);
      }
    },

    /** Ends the listing: the data source says how it went. A cancelled one leaves the items that were known and found. */
    async endListing({ runId, outcome, message }: EndListingInput): Promise<void> {
      const run = await rowOf(runId);
      const finished = outcome === 'finished';
      const { listed } = run.options;
      const facts = outcome === 'aborted' ? {} : { items_error: message ?? null };
      await store.dataSources.endListing(run, run.dataSourceId, runId, {
        status: outcome === 'failed' ? 'SYNC_ERROR' : 'READY',
        whole: finished,
        facts,
      });
      await store.runs.finish(runId, outcome, { listed });
      const { organizationId, requestId, dataSourceId } = run;
      log.info({ runId, organizationId, requestId, dataSourceId, outcome, listed }, 'listing of items ended');
    },
  };
}
