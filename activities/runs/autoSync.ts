import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';

import { isByChanges } from '../../contract/accounts/connections.js';
import {
  type AcceptAutoSyncResult,
  type AutoSyncInput,
  CONTAINER_WORKFLOW_IDS,
  type EndAutoSyncInput,
  type NextPartResult,
  type NoSyncReason,
  type AutoSyncPart,
  type RunInput,
} from '../../contract/runs/orchestration.js';
import type { TemporalNames } from '../../contract/runs/temporalNames.js';
import { isConnectedSource } from '../../contract/sources/sources.js';
import { FINAL_FILE_STATUSES, type FileSyncStatus } from '../../contract/files/statuses.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import { containerWork } from '../../contract/runs/containerWork.js';
import type { FileDoc } from '../../store/models/files.js';
import { runOfKind } from '../../contract/runs/runs.js';
import type { Run, RunDoc } from '../../store/models/runs.js';
import type { SelectionGroup } from '../../store/selections/selections.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { isGone } from '../discover/discoverEntries.js';

/** The part that lists an account. */
const LISTING = 'items';
/** Returns the name of the part that syncs one container of a data source. */
const containerPart = (fileId: number): string => `file:${fileId}`;
const STOPPED = 'The scheduled sync was stopped before this file. The next sync or a resync processes it.';
/** Maximum number of containers of one data source that is not an account: a feed has one. */
const MAX_CONTAINERS = 1_000;

const isAtRest = ({ syncStatus }: FileDoc): boolean =>
  (FINAL_FILE_STATUSES as readonly FileSyncStatus[]).includes(syncStatus);

/** Returns a part of a sync as the input of its child workflow. */
function partOf(run: RunDoc, names: Pick<TemporalNames, 'idOf'>): AutoSyncPart {
  const { _id: runId, kind, workflowId, organizationId, userId, dataSourceId, requestId } = run;
  return {
    runId,
    kind,
    workflowId: names.idOf(workflowId),
    attributes: {
      OrganizationId: String(organizationId),
      UserId: String(userId),
      RequestId: requestId,
      ...(dataSourceId ? { DataSourceId: String(dataSourceId) } : {}),
    },
  };
}

/** Creates the activities of a scheduled sync, which performs the same runs as a request. */
export function createPassActivities({ store, names, log }: ActivityDeps) {
  const passOf = async (runId: number) => runOfKind(await requireRun(store, runId), 'autoSync');
  const begunBy = (pass: RunDoc, part: string) => ({ parentRunId: pass._id, part });

  /** Accepts a part, unless it exists. */
  const begin = async (
    pass: RunDoc,
    part: string,
    accept: (runId: number) => Promise<boolean>,
  ): Promise<Run | null> => {
    const known = (await store.passes.parts(pass._id)).find((one) => one.part === part);
    if (known) return known;
    const runId = await store.runs.nextId();
    return (await accept(runId)) ? requireRun(store, runId) : null;
  };
  const listing = (pass: Run<'autoSync'>, dataSourceId: number): Promise<Run | null> =>
    begin(pass, LISTING, (runId) =>
      store.transaction(async (session) => {
        const queued = await store.dataSources.queueListing(pass, dataSourceId, runId, session);
        // A run that a user requested lists the account already.
        if (queued?.itemsRunId !== runId) return false;
        const run = { runId, requestId: pass.requestId, dataSourceId, begun: begunBy(pass, LISTING) };
        await store.connections.list(pass, run, session);
        await store.runs.saveProgress(pass, { ...pass.progress, listedBefore: queued.sourceItemsSyncedAt });
        return true;
      }),
    );
  /**
   * Whether the change feed reported nothing since the last sync, and no file of it failed: then all files are current.
   */
  const isQuiet = async (pass: Run<'autoSync'>, source: DataSourceDoc, part: Run): Promise<boolean> => {
    const { listedBefore = null } = pass.progress;
    const { progress, counts } = runOfKind(part, 'syncItems');
    // The files may not contain changes that another listing has received since then.
    const isNext = listedBefore !== null && listedBefore.getTime() === source.passedListingAt?.getTime();
    if (!isNext || !isByChanges(progress) || counts['listed'] !== 0) return false;
    return !(await store.files.anyUnsynced(source));
  };
  const select = (pass: RunDoc, source: DataSourceDoc, group: SelectionGroup): Promise<Run | null> =>
    begin(pass, group.key, (runId) =>
      store.transaction(async (session) => {
        const run = { runId, requestId: pass.requestId, dataSourceId: source._id, begun: begunBy(pass, group.key) };
        await store.connections.select(pass, run, group, session);
        return true;
      }),
    );
  /** Returns the next selection. Items that were selected by name and have not changed are not requested. */
  const selection = async (pass: RunDoc, source: DataSourceDoc, done: readonly Run[]): Promise<Run | null> => {
    const keys = done.flatMap(({ part }) => part ?? []);
    for (;;) {
      const group = await store.selections.nextGroup(source._id, keys);
      if (!group) return null;
      const left = group.externalIds && (await store.items.unchanged(source, group.externalIds));
      const externalIds = group.externalIds?.filter((id) => left?.has(id) !== true) ?? null;
      if (externalIds === null || externalIds.length > 0) return select(pass, source, { ...group, externalIds });
      keys.push(group.key);
    }
  };
  const container = (pass: RunDoc, file: FileDoc): Promise<Run | null> => {
    const part = containerPart(file._id);
    return begin(pass, part, (runId) =>
      store.transaction(async (session) => {
        const { options, dataSourceId } = file;
        const work = containerWork(file, options);
        const workflowId = CONTAINER_WORKFLOW_IDS[work.kind](file._id);
        const { requestId } = pass;
        const again = { options, runId, workflowId, requestId };
        if (!isAtRest(file) || !(await store.files.queueAgain(pass, file, again, session))) return false;
        const begun = begunBy(pass, part);
        const run = { ...work, workflowId, owner: pass, fileId: file._id, requestId, begun };
        await store.runs.accept(runId, { ...run, ...(dataSourceId !== null && { dataSourceId }) }, session);
        return true;
      }),
    );
  };
  const containersOf = async (pass: RunDoc, done: readonly Run[]): Promise<FileDoc[]> => {
    const ids =
      pass.fileId === null
        ? await store.files.containersOf(pass, pass.dataSourceId ?? 0, MAX_CONTAINERS)
        : [pass.fileId];
    const open = ids.filter((id) => !done.some(({ part }) => part === containerPart(id)));
    return (await store.files.byIds(pass, open)).filter((file) => !isGone(file));
  };

  /**
   * Ends a part without a workflow: the sync was stopped before the part began, or the part's workflow was terminated.
   */
  const endOpen = async (part: RunDoc): Promise<void> => {
    const { _id: runId, kind, dataSourceId } = part;
    if (kind === 'syncItems' && dataSourceId)
      await store.dataSources.endListing(part, dataSourceId, runId, { status: 'READY', whole: false, facts: {} });
    await store.files.abortOpen(runId, STOPPED, 'cancelled');
    await store.runs.finish(runId, 'aborted', {});
  };

  return {
    /** Accepts the sync of a workflow execution once, or returns why there is nothing to do. */
    async acceptPass({ scheduleId }: AutoSyncInput): Promise<AcceptAutoSyncResult> {
      const { workflowExecution } = activityInfo();
      if (!workflowExecution) throw new Error('A scheduled sync must be accepted by a workflow');
      const { workflowId, runId: temporalRunId } = workflowExecution;
      const known = await store.passes.find(temporalRunId);
      if (known) return { runId: known._id };
      const no = (reason: NoSyncReason): AcceptAutoSyncResult => {
        log.info({ scheduleId, workflowId, reason }, 'a scheduled sync has nothing to do');
        return { runId: null, reason };
      };
      const row = await store.schedules.find(scheduleId);
      if (!row) return no('gone');
      const wanted = await store.schedules.wanted(row);
      if (wanted.state === 'paused') return no('revoked');
      if (wanted.state !== 'on') return no(wanted.state);
      const { dataSourceId, fileId } = row;
      const of = fileId === null ? { dataSourceId: dataSourceId ?? 0 } : { fileId };
      const findConflict = await store.passes.findConflict(of);
      if (findConflict !== null) return no(findConflict);
      const runId = await store.runs.nextId();
      await store.transaction((session) =>
        store.runs.accept(
          runId,
          {
            kind: 'autoSync',
            workflowId: names.keyOf(workflowId) ?? workflowId,
            owner: row,
            fileId,
            ...(dataSourceId !== null && { dataSourceId }),
            requestId: randomUUID(),
            request: { scheduleId },
            begun: { temporalRunId },
          },
          session,
        ),
      );
      return { runId };
    },

    /** Begins the next part of a sync. Returns an active part again. */
    async nextPart({ runId }: RunInput): Promise<NextPartResult> {
      const pass = await passOf(runId);
      if (pass.finishedAt !== null) return { part: null };
      const done = await store.passes.parts(runId);
      const open = done.find(({ finishedAt }) => finishedAt === null);
      if (open) return { part: partOf(open, names) };
      // The sync was cancelled.
      if (done.some(({ outcome }) => outcome === 'aborted')) return { part: null };
      const source = pass.dataSourceId ? await store.dataSources.find(pass, pass.dataSourceId) : null;
      const answer = (run: RunDoc | null): NextPartResult => ({ part: run && partOf(run, names) });
      if (source && isConnectedSource(source.type)) {
        const listed = done.find(({ part }) => part === LISTING);
        if (!listed) return answer(await listing(pass, source._id));
        // An incomplete listing does not show which files are missing, and a revoked account cannot be read.
        if (listed.outcome !== 'finished' || source.revokedAccess) return { part: null };
        if (pass.progress.listedAt === undefined)
          await store.runs.saveProgress(pass, { ...pass.progress, listedAt: source.sourceItemsSyncedAt });
        if (await isQuiet(pass, source, listed)) return { part: null };
        return answer(await selection(pass, source, done));
      }
      for (const file of await containersOf(pass, done)) {
        const run = await container(pass, file);
        if (run) return { part: partOf(run, names) };
      }
      return { part: null };
    },

    /** Ends a sync, with its parts that are not active: active ones have ended before. */
    async endPass({ runId, outcome }: EndAutoSyncInput): Promise<void> {
      const pass = await passOf(runId);
      const { organizationId, dataSourceId, fileId, requestId } = pass;
      const { listedAt = null } = pass.progress;
      for (const part of await store.passes.parts(runId)) if (part.finishedAt === null) await endOpen(part);
      const parts = await store.passes.parts(runId);
      const failed = parts.filter((part) => part.outcome !== 'finished').length;
      if (dataSourceId && listedAt && outcome === 'finished' && failed === 0)
        await store.dataSources.passed(pass, dataSourceId, listedAt);
      const synced = parts.reduce((sum, part) => sum + (part.counts['synced'] ?? 0), 0);
      await store.runs.finish(runId, outcome, { parts: parts.length, failed, synced });
      log.info({ runId, organizationId, requestId, dataSourceId, fileId, outcome, parts: parts.length }, 'pass ended');
    },
  };
}
