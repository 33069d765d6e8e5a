/** The runs that a scheduled sync consists of: the listing of an account, its selections, and its containers. */
import { isByChanges } from '../../contract/accounts/connections.js';
import { FINAL_FILE_STATUSES, type FileSyncStatus } from '../../contract/files/statuses.js';
import { containerWork } from '../../contract/runs/containerWork.js';
import { runOfKind } from '../../contract/runs/runs.js';
import { CONTAINER_WORKFLOW_IDS } from '../../contract/runs/workflowIds.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { FileDoc } from '../../store/models/files.js';
import type { Run, RunDoc } from '../../store/models/runs.js';
import type { SelectionGroup } from '../../store/selections/selections.js';
import type { ActivityDeps } from '../deps.js';
import { isGone } from '../discover/discoverEntries.js';
import { requireRun } from '../requireRun.js';

/** The part that lists an account. */
export const LISTING = 'items';
/** Returns the name of the part that syncs one container of a data source. */
const containerPart = (fileId: number): string => `file:${fileId}`;
/** Maximum number of containers of one data source that is not an account: a feed has one. */
const MAX_CONTAINERS = 1_000;

const isSettled = ({ syncStatus }: FileDoc): boolean =>
  (FINAL_FILE_STATUSES as readonly FileSyncStatus[]).includes(syncStatus);

/** Creates the functions that begin the parts of a sync. A part that exists already is returned, not begun again. */
export function createScheduledSyncParts({ store }: Pick<ActivityDeps, 'store'>) {
  const begunBy = (scheduledSync: RunDoc, part: string) => ({ parentRunId: scheduledSync._id, part });

  /** Accepts a part, unless it exists. */
  const begin = async (
    scheduledSync: RunDoc,
    part: string,
    accept: (runId: number) => Promise<boolean>,
  ): Promise<Run | null> => {
    const existing = (await store.scheduledSyncs.listParts(scheduledSync._id)).find((row) => row.part === part);
    if (existing) return existing;
    const runId = await store.runs.nextId();
    return (await accept(runId)) ? requireRun(store, runId) : null;
  };
  const listing = (scheduledSync: Run<'autoSync'>, dataSourceId: number): Promise<Run | null> =>
    begin(scheduledSync, LISTING, (runId) =>
      store.transaction(async (session) => {
        const queued = await store.dataSources.queueListing(scheduledSync, dataSourceId, runId, session);
        // A run that a user requested lists the account already.
        if (queued?.itemsRunId !== runId) return false;
        const run = { runId, requestId: scheduledSync.requestId, dataSourceId, begun: begunBy(scheduledSync, LISTING) };
        await store.connections.list(scheduledSync, run, session);
        await store.runs.saveProgress(scheduledSync, {
          ...scheduledSync.progress,
          listedBefore: queued.sourceItemsSyncedAt,
        });
        return true;
      }),
    );
  /** Returns whether a full listing found exactly the items of the previous listing, each with the same version. */
  const isSameListing = async (source: DataSourceDoc, { _id: runId, progress }: Run<'syncItems'>): Promise<boolean> =>
    progress.walk.refused === 0 && progress.hasUnversioned !== true && !(await store.items.hasChanged(source, runId));
  /**
   * Whether all files are current: the listing found no change since the last sync, and no file of the source is in
   * SYNC_ERROR or SYNC_ABORTED. Then no selection is synced, because its run would list the selected items once more.
   */
  const isUpToDate = async (scheduledSync: Run<'autoSync'>, source: DataSourceDoc, part: Run): Promise<boolean> => {
    const { listedBefore = null } = scheduledSync.progress;
    const listed = runOfKind(part, 'syncItems');
    // If another listing ran since the last sync, it may have stored changes that are not in the files yet.
    const isNext = listedBefore !== null && listedBefore.getTime() === source.appliedListingAt?.getTime();
    if (!isNext || (await store.files.hasUnsynced(source))) return false;
    return isByChanges(listed.progress) ? listed.counts['listed'] === 0 : isSameListing(source, listed);
  };
  const select = (scheduledSync: RunDoc, source: DataSourceDoc, group: SelectionGroup): Promise<Run | null> =>
    begin(scheduledSync, group.key, (runId) =>
      store.transaction(async (session) => {
        const run = {
          runId,
          requestId: scheduledSync.requestId,
          dataSourceId: source._id,
          begun: begunBy(scheduledSync, group.key),
        };
        await store.connections.select(scheduledSync, run, group, session);
        return true;
      }),
    );
  /** Begins the sync of the next selection. Skips individually selected items that have not changed. */
  const selection = async (scheduledSync: RunDoc, source: DataSourceDoc, done: readonly Run[]): Promise<Run | null> => {
    const keys = done.flatMap(({ part }) => part ?? []);
    for (;;) {
      const group = await store.selections.nextGroup(source, source._id, keys);
      if (!group) return null;
      const unchanged = group.externalIds && (await store.items.unchanged(source, group.externalIds));
      const externalIds = group.externalIds?.filter((id) => unchanged?.has(id) !== true) ?? null;
      if (externalIds === null || externalIds.length > 0)
        return select(scheduledSync, source, { ...group, externalIds });
      keys.push(group.key);
    }
  };
  const container = (scheduledSync: RunDoc, file: FileDoc): Promise<Run | null> => {
    const part = containerPart(file._id);
    return begin(scheduledSync, part, (runId) =>
      store.transaction(async (session) => {
        const { options, dataSourceId } = file;
        const work = containerWork(file, options);
        const workflowId = CONTAINER_WORKFLOW_IDS[work.kind](file._id);
        const { requestId } = scheduledSync;
        const newSync = { options, runId, workflowId, requestId };
        if (!isSettled(file) || !(await store.files.queueAgain(scheduledSync, file, newSync, session))) return false;
        const begun = begunBy(scheduledSync, part);
        const run = { ...work, workflowId, owner: scheduledSync, fileId: file._id, requestId, begun };
        await store.runs.accept(runId, { ...run, ...(dataSourceId !== null && { dataSourceId }) }, session);
        return true;
      }),
    );
  };
  const containersOf = async (scheduledSync: RunDoc, done: readonly Run[]): Promise<FileDoc[]> => {
    const ids =
      scheduledSync.fileId === null
        ? await store.files.containersOf(scheduledSync, scheduledSync.dataSourceId ?? 0, MAX_CONTAINERS)
        : [scheduledSync.fileId];
    const notBegun = ids.filter((id) => !done.some(({ part }) => part === containerPart(id)));
    return (await store.files.byIds(scheduledSync, notBegun)).filter((file) => !isGone(file));
  };

  return { listing, isUpToDate, selection, container, containersOf };
}
