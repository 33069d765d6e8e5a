import { cancellationSignal } from '@temporalio/activity';

import type { SourceItem } from '../../connectors/sourceItem.js';
import { isWalked, type SyncSourceRequest } from '../../contract/accounts/connections.js';
import { fileEvents, uploadEvent } from '../../contract/events.js';
import { itemEnd } from '../../contract/runs/ledger.js';
import type { QueueItemsResult, RunInput } from '../../contract/runs/orchestration.js';
import { supportsOption } from '../../contract/sources/sources.js';
import { becomesFile } from '../../contract/sources/typesAtSource.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { FileRequest } from '../../store/files/acceptance/request.js';
import { runOfKind } from '../../contract/runs/runs.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { type OpenAccount, withAccount } from './openAccount.js';
import { waitOutLimits } from './waitOutLimits.js';
import { recordSkipped, recordOnce } from './recordSkipped.js';
import { nextPage } from './walk.js';

/** Maximum duration of one activity. A selection of any size then fits into a short workflow history. */
const MAX_STEP_MS = 300_000;
/** Files accepted in one transaction. */
const FILES_AT_ONCE = 500;

/** The fields of an item that its file needs. */
type QueuedItem = Pick<
  SourceItem,
  'externalId' | 'externalUrl' | 'name' | 'createdAt' | 'version' | 'tags' | 'typeAtSource'
>;

/** Whether the run is part of a scheduled sync instead of a request for these files. */
const isScheduled = ({ parentRunId }: RunDoc): boolean => parentRunId !== undefined;

/** Returns the file for a requested item that the source did not list. Opening the file fails with the reason. */
const unlistedItem = (externalId: string): QueuedItem => ({
  externalId,
  externalUrl: null,
  name: externalId,
  createdAt: null,
  version: null,
});

/** Queues files from a selection in a connected account. */
export function createQueueActivities(deps: ActivityDeps) {
  const { store } = deps;

  /** Accepts items as files of the run, with the current tags of their data source. */
  const accept = async (
    run: RunDoc,
    request: SyncSourceRequest,
    { source, account }: OpenAccount,
    items: readonly QueuedItem[],
  ): Promise<number> => {
    const requests = (dataSource: DataSourceDoc): FileRequest[] =>
      items.map(({ externalId, externalUrl, name, createdAt, version, typeAtSource, tags = {} }) => ({
        source: account.sourceOf(externalId),
        externalFileId: externalId,
        externalUrl,
        name,
        version,
        ...(typeAtSource === undefined ? {} : { typeAtSource }),
        sourceCreatedAt: createdAt === null ? null : new Date(createdAt),
        parentId: null,
        isContainer: false,
        dataSource,
        tags: { ...tags, ...request.tags },
        options: request.ingest,
        sourceOptions: null,
        enableAutoSync: null,
        isScheduled: isScheduled(run),
        requestId: run.requestId,
        runId: run._id,
        workflowOf: () => run.workflowId,
      }));
    const accepted = await store.files.acceptMany(run, requests(source));
    // If the tags changed before the files existed, accept the files again with the new tags.
    const currentSource = await store.dataSources.find(run, source._id);
    return currentSource && currentSource.tagsVersion !== source.tagsVersion
      ? accept(run, request, { source: currentSource, account }, items)
      : accepted;
  };

  /** Removes the items that an incremental sync skips. Records them in events and in the ledger. */
  const withoutSyncedItems = async (
    run: RunDoc,
    { incremental = false, ingest }: SyncSourceRequest,
    source: DataSourceDoc,
    items: readonly QueuedItem[],
  ): Promise<readonly QueuedItem[]> => {
    if (!incremental || !supportsOption(source.type, 'incremental_sync')) return items;
    const ids = items.map(({ externalId }) => externalId);
    const copies = await store.items.syncedCopies(source, ids, ingest);
    if (copies.size === 0) return items;
    const skipped = [...copies.values()];
    await recordOnce(store, run, fileEvents.skippedOfRequest(skipped, 'incremental_sync', run));
    const end = itemEnd('skipped', 'select', 'incremental_sync');
    await store.ledger.addItems(
      run,
      skipped.map(({ _id: fileId, externalFileId: externalId, name }) => ({
        ...{ fileId, externalId, name, end },
        message: null,
      })),
    );
    return items.filter(({ externalId }) => !copies.has(externalId));
  };

  return {
    /**
     * Queues the next files of the run's selection. The run's row stores the position after each page. Safe to repeat:
     * files are matched by their external ids.
     */
    async queueItems({ runId }: RunInput): Promise<QueueItemsResult> {
      const run = runOfKind(await requireRun(store, runId, 'dataSourceId'), 'syncSource');
      const { dataSourceId } = run;
      const signal = cancellationSignal();
      const { request } = run;
      let { progress } = run;
      let isFull = progress.isFull === true;
      const { max_files_per_upload: maxFiles } = await store.limits.get(run);
      for (const until = Date.now() + MAX_STEP_MS; !isFull && Date.now() < until && !isWalked(progress.walk);) {
        signal.throwIfAborted();
        const queueNextPage = () =>
          withAccount(run, dataSourceId, deps, async (open) => {
            const { source, account } = open;
            const page = await nextPage(account, progress.walk, signal, request.ingest);
            const { items, missing, walk } = page;
            const isRequested = (item: SourceItem) =>
              request.isWhole !== true && item.externalId === progress.walk.open[0];
            const selected = items.filter((item) => becomesFile(item, isRequested(item), request.ingest));
            const selectedItems = new Set(selected);
            // The contents of a requested container are listed, so the container itself is not reported as skipped.
            const unselected = items.filter(
              (item) => !selectedItems.has(item) && !(isRequested(item) && item.isSelectable),
            );
            await recordSkipped(store, { run, source, request }, unselected, page.skipped);
            // In a scheduled sync, a missing item gets no file that would fail: the listing of the account, which is
            // another run, deletes the files of missing items.
            const foundItems: QueuedItem[] = [...selected, ...(isScheduled(run) ? [] : missing.map(unlistedItem))];
            const candidates = await withoutSyncedItems(run, request, source, foundItems);
            const capacity = maxFiles === null ? candidates.length : Math.max(0, maxFiles - progress.queued);
            isFull = capacity < candidates.length;
            let { queued } = progress;
            for (let from = 0; from < Math.min(capacity, candidates.length); from += FILES_AT_ONCE)
              queued += await accept(
                run,
                request,
                open,
                candidates.slice(from, Math.min(capacity, from + FILES_AT_ONCE)),
              );
            return { walk, queued, ...(isFull && { isFull }) };
          });
        progress = (await waitOutLimits(queueNextPage, until, signal)) ?? progress;
        await store.runs.saveProgress(run, progress);
      }
      const done = isFull || isWalked(progress.walk);
      if (done)
        await store.transaction(async (session) => {
          const upload = { ...run, uploadId: run.uploadId ?? null };
          if (isFull)
            await store.events.write([uploadEvent('FILE_SYNC_LIMIT_REACHED', upload)], session, `limit:${runId}`);
          // A scheduled sync has several runs like this one. Its parent run writes ALL_UPLOADED_FILES_QUEUED once, when
          // it ends.
          if (isScheduled(run)) return;
          await store.events.write([uploadEvent('ALL_UPLOADED_FILES_QUEUED', upload)], session, `discovered:${runId}`);
        });
      return { done, discovered: progress.queued };
    },
  };
}
