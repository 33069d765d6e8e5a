import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';

import type { RunInput } from '../../contract/runs/orchestration.js';
import type {
  AcceptAutoSyncResult,
  AutoSyncInput,
  AutoSyncPart,
  EndAutoSyncInput,
  NextPartResult,
  NoSyncReason,
} from '../../contract/runs/autoSync.js';
import type { TemporalNames } from '../../contract/runs/temporalNames.js';
import { isConnectedSource } from '../../contract/sources/connectedSources.js';
import { runOfKind } from '../../contract/runs/runs.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { createScheduledSyncParts, LISTING } from './scheduledSyncParts.js';

const STOPPED_MESSAGE = 'The scheduled sync was stopped before this file. The next sync or a resync processes it.';

/** Message of a sync that failed without an error of an activity. */
const PART_ENDED =
  'A run of this scheduled sync was terminated outside of this service, or waited too long for another run. The next sync repeats it.';

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

/** Creates the activities of a scheduled sync. Its parts are runs of the kinds that a user can also request. */
export function createAutoSyncActivities({ store, names, log }: ActivityDeps) {
  const requireScheduledSync = async (runId: number) => runOfKind(await requireRun(store, runId), 'autoSync');
  const parts = createScheduledSyncParts({ store });

  /**
   * Ends a part without a workflow: the sync was stopped before the part began, or the part's workflow was terminated.
   */
  const endOpen = async (part: RunDoc): Promise<void> => {
    const { _id: runId, kind, dataSourceId } = part;
    if (kind === 'syncItems' && dataSourceId)
      await store.dataSources.endListing(part, dataSourceId, runId, { status: 'READY', whole: false, metadata: {} });
    await store.files.abortOpen(runId, STOPPED_MESSAGE, 'cancelled');
    await store.runs.finish(runId, 'aborted', {});
  };

  return {
    /** Accepts the sync of a workflow execution once, or returns the reason why nothing is synced. */
    async acceptPass({ scheduleId }: AutoSyncInput): Promise<AcceptAutoSyncResult> {
      const { workflowExecution } = activityInfo();
      if (!workflowExecution) throw new Error('A scheduled sync must be accepted by a workflow');
      const { workflowId, runId: temporalRunId } = workflowExecution;
      const existing = await store.scheduledSyncs.findByTemporalRunId(temporalRunId);
      if (existing) return { runId: existing._id };
      const decline = (reason: NoSyncReason): AcceptAutoSyncResult => {
        log.info({ scheduleId, workflowId, reason }, 'a scheduled sync is skipped');
        return { runId: null, reason };
      };
      const row = await store.schedules.find(scheduleId);
      if (!row) return decline('gone');
      const desired = await store.schedules.desiredState(row);
      if (desired.state === 'paused') return decline('revoked');
      if (desired.state !== 'on') return decline(desired.state);
      const { dataSourceId, fileId } = row;
      const target = fileId === null ? { dataSourceId: dataSourceId ?? 0 } : { fileId };
      const conflict = await store.scheduledSyncs.findConflict(target);
      if (conflict !== null) return decline(conflict);
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

    /** Begins the next part of a sync. If a part is active, returns that part. */
    async nextPart({ runId }: RunInput): Promise<NextPartResult> {
      const scheduledSync = await requireScheduledSync(runId);
      if (scheduledSync.finishedAt !== null) return { part: null };
      const begunParts = await store.scheduledSyncs.listParts(runId);
      const activePart = begunParts.find(({ finishedAt }) => finishedAt === null);
      if (activePart) return { part: partOf(activePart, names) };
      // The sync was cancelled.
      if (begunParts.some(({ outcome }) => outcome === 'aborted')) return { part: null };
      const source = scheduledSync.dataSourceId
        ? await store.dataSources.find(scheduledSync, scheduledSync.dataSourceId)
        : null;
      const answer = (run: RunDoc | null): NextPartResult => ({ part: run && partOf(run, names) });
      if (source && isConnectedSource(source.type)) {
        const listed = begunParts.find(({ part }) => part === LISTING);
        if (!listed) return answer(await parts.listing(scheduledSync, source._id));
        // An incomplete listing does not show which files are missing, and a revoked account cannot be read.
        if (listed.outcome !== 'finished' || source.revokedAccess) return { part: null };
        if (scheduledSync.progress.listedAt === undefined)
          await store.runs.saveProgress(scheduledSync, {
            ...scheduledSync.progress,
            listedAt: source.sourceItemsSyncedAt,
          });
        if (await parts.isUpToDate(scheduledSync, source, listed)) return { part: null };
        return answer(await parts.selection(scheduledSync, source, begunParts));
      }
      for (const file of await parts.containersOf(scheduledSync, begunParts)) {
        const run = await parts.container(scheduledSync, file);
        if (run) return { part: partOf(run, names) };
      }
      return { part: null };
    },

    /** Ends a sync and its unfinished parts. Call it when no workflow of a part is active. */
    async endPass({ runId, outcome }: EndAutoSyncInput): Promise<void> {
      const scheduledSync = await requireScheduledSync(runId);
      const { organizationId, dataSourceId, fileId, requestId, lastError } = scheduledSync;
      const { listedAt = null } = scheduledSync.progress;
      for (const part of await store.scheduledSyncs.listParts(runId)) if (part.finishedAt === null) await endOpen(part);
      const ended = await store.scheduledSyncs.listParts(runId);
      const failed = ended.filter((part) => part.outcome !== 'finished').length;
      // If max_files_per_upload excluded items, do not mark the listing as applied: later syncs must try to add these
      // items, even if none changes until then.
      const isFull = ended.some((part) => part.kind === 'syncSource' && part.progress.isFull === true);
      if (dataSourceId && listedAt && outcome === 'finished' && failed === 0 && !isFull)
        await store.dataSources.markListingApplied(scheduledSync, dataSourceId, listedAt);
      const synced = ended.reduce((sum, part) => sum + (part.counts['synced'] ?? 0), 0);
      const failure = { message: lastError?.message ?? PART_ENDED, error: lastError?.kind ?? ('run_failed' as const) };
      const counts = { parts: ended.length, failed, synced };
      await store.runs.finish(runId, outcome, counts, outcome === 'failed' ? failure : undefined);
      log.info(
        { runId, organizationId, requestId, dataSourceId, fileId, outcome, parts: ended.length },
        'scheduled sync ended',
      );
    },
  };
}
