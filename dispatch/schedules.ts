import {
  type Client,
  type ScheduleOptions,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
} from '@temporalio/client';

import { periodically } from '../config/process/periodically.js';
import { scheduleTimes, scheduleState } from '../contract/sources/autoSync.js';
import type { AutoSyncInput } from '../contract/runs/autoSync.js';
import type { TemporalNames } from '../contract/runs/temporalNames.js';
import type { Log } from '../observability/log.js';
import type { ScheduleDoc } from '../store/models/schedules.js';
import type { Schedules as ScheduleRows, DesiredSchedule } from '../store/schedules/schedules.js';
import { searchAttributes } from './searchAttributes.js';

const SWEEP_MS = 1_000;
/** Maximum number of parallel updates of schedules. */
const AT_ONCE = 4;
/** Deadline of a call to Temporal; a later iteration repeats the call. */
const CALL_TIMEOUT_MS = 10_000;
/** Lease of a row in milliseconds. No update takes longer, so after this time the holder has crashed. */
const LEASE_MS = 60_000;
/** Retry interval of a row after Temporal could not be updated. */
const RETRY_MS = 2_000;
const ROWS_COMPARED = 500;

type Scheduled = Extract<DesiredSchedule, { hours: number }>;

/** Keeps a Temporal schedule for each record that syncs automatically. */
export interface Schedules {
  /** Deletes schedules. When it resolves, they start no further workflow. Safe to repeat. */
  remove(scheduleIds: readonly string[]): Promise<void>;
  /** Updates Temporal from all changed rows; returns their number. */
  reconcile(): Promise<number>;
  /**
   * Compares Temporal's schedules with the rows: deletes schedules without a row (`ended`), and marks rows whose schedule
   * is missing (`missing`), so that they are reconciled. Returns both numbers.
   */
  compare(): Promise<{ readonly ended: number; readonly missing: number }>;
  /** Reconciles every second, and compares at once and then every `compareMs`, until the signal is aborted. */
  sweep(signal: AbortSignal, compareMs: number): Promise<void>;
}

export function createSchedules(
  client: Client,
  { taskQueue, idOf, keyOf }: TemporalNames,
  { schedules: rows }: { readonly schedules: ScheduleRows },
  log: Log,
): Schedules {
  const withDeadline = <T>(call: () => Promise<T>): Promise<T> =>
    client.withDeadline(Date.now() + CALL_TIMEOUT_MS, call);

  const optionsOf = (row: ScheduleDoc, { state, hours }: Scheduled) => {
    const { _id: scheduleId, organizationId, userId, dataSourceId, fileId } = row;
    const { everyMs, offsetMs, jitterMs, catchUpMs } = scheduleTimes(scheduleId, hours);
    const typedSearchAttributes = searchAttributes({
      OrganizationId: String(organizationId),
      UserId: String(userId),
      DataSourceId: dataSourceId === null ? undefined : String(dataSourceId),
      FileId: fileId === null ? undefined : String(fileId),
    });
    return {
      spec: { intervals: [{ every: everyMs, offset: offsetMs }], jitter: jitterMs },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: catchUpMs },
      action: {
        type: 'startWorkflow',
        workflowType: 'autoSync',
        workflowId: idOf(scheduleId),
        taskQueue,
        args: [{ scheduleId }] satisfies [AutoSyncInput],
        typedSearchAttributes,
      },
      typedSearchAttributes,
      state: { paused: state === 'paused' },
    } satisfies Omit<ScheduleOptions, 'scheduleId'>;
  };

  const update = async (row: ScheduleDoc, desired: Scheduled): Promise<boolean> => {
    try {
      await withDeadline(() => client.schedule.getHandle(idOf(row._id)).update(() => optionsOf(row, desired)));
      return true;
    } catch (error) {
      if (error instanceof ScheduleNotFoundError) return false;
      throw error;
    }
  };
  const createOrUpdate = async (row: ScheduleDoc, desired: Scheduled): Promise<void> => {
    if (row.applied !== null && (await update(row, desired))) return;
    try {
      await withDeadline(() => client.schedule.create({ scheduleId: idOf(row._id), ...optionsOf(row, desired) }));
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
      if (!(await update(row, desired))) throw error;
    }
  };
  const deleteSchedule = async (scheduleId: string): Promise<void> => {
    try {
      await withDeadline(() => client.schedule.getHandle(idOf(scheduleId)).delete());
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    }
  };

  const reconcileRow = async (row: ScheduleDoc): Promise<void> => {
    const wanted = await rows.desiredState(row);
    const isWanted = wanted.state === 'on' || (wanted.state === 'paused' && row.applied !== null);
    if (isWanted) {
      const desired = scheduleState(wanted.state, wanted.hours);
      if (row.applied !== desired) {
        await rows.markApplying(row);
        await createOrUpdate(row, wanted);
      }
      // The record and its row were deleted in the meantime, so the schedule must be deleted too.
      if (!(await rows.markApplied(row, desired))) await deleteSchedule(row._id);
    } else {
      if (row.applied !== null) await deleteSchedule(row._id);
      await rows.markApplied(row, null);
      if (wanted.state === 'gone') await rows.remove([row._id]);
    }
    const { _id: scheduleId, organizationId } = row;
    if (isWanted || row.applied !== null)
      log.info({ scheduleId, organizationId, state: wanted.state }, 'schedule updated');
  };

  const removeAll = async (scheduleIds: readonly string[]): Promise<void> => {
    if (scheduleIds.length === 0) return;
    const applied = await rows.findApplied(scheduleIds);
    // Skip rows without a schedule in Temporal. `applied` is set before a schedule is created, so null is reliable.
    const withSchedule = scheduleIds.filter((id) => applied.get(id) !== null);
    for (let from = 0; from < withSchedule.length; from += AT_ONCE)
      await Promise.all(withSchedule.slice(from, from + AT_ONCE).map(deleteSchedule));
    await rows.remove(scheduleIds);
  };

  const reconcile = async (): Promise<number> => {
    let checked = 0;
    // Usually no row is due. Then one claim per iteration is enough.
    const first = await rows.claim(LEASE_MS);
    if (!first) return 0;
    const work = async (claimed: ScheduleDoc | null): Promise<void> => {
      for (let row = claimed ?? (await rows.claim(LEASE_MS)); row; row = await rows.claim(LEASE_MS)) {
        try {
          await reconcileRow(row);
        } catch (error) {
          await rows.postpone(row, new Date(Date.now() + RETRY_MS));
          throw error;
        }
        checked += 1;
      }
    };
    // Wait for all calls, so that none uses a closed connection.
    const ends = await Promise.allSettled(
      Array.from({ length: AT_ONCE }, (_, index) => work(index === 0 ? first : null)),
    );
    const rejected = ends.find((end) => end.status === 'rejected');
    if (rejected) throw rejected.reason;
    return checked;
  };

  const compare = async (): Promise<{ ended: number; missing: number }> => {
    const present = new Set<string>();
    for await (const { scheduleId } of client.schedule.list({ pageSize: ROWS_COMPARED })) {
      // Other deployments may have schedules in the same namespace.
      const key = keyOf(scheduleId);
      if (key !== null) present.add(key);
    }
    let [ended, missing] = [0, 0];
    const presentKeys = [...present];
    for (let from = 0; from < presentKeys.length; from += ROWS_COMPARED) {
      const batch = presentKeys.slice(from, from + ROWS_COMPARED);
      const appliedByKey = await rows.findApplied(batch);
      const withoutRow = batch.filter((id) => !appliedByKey.has(id));
      // A process may have crashed between its change in Temporal and the change of the row.
      await rows.markDirty(batch.filter((id) => appliedByKey.get(id) === null));
      await removeAll(withoutRow);
      ended += withoutRow.length;
    }
    for (let afterId: string | undefined = ''; afterId !== undefined;) {
      const part: string[] = await rows.listApplied(afterId, ROWS_COMPARED);
      const missingKeys = part.filter((id) => !present.has(id));
      await rows.markDirty(missingKeys);
      missing += missingKeys.length;
      afterId = part.length < ROWS_COMPARED ? undefined : part.at(-1);
    }
    return { ended, missing };
  };

  return {
    remove: removeAll,
    reconcile,
    compare,
    async sweep(signal, compareMs) {
      let compared = -Infinity;
      const sweepOnce = async (): Promise<void> => {
        await reconcile();
        if (performance.now() - compared <= compareMs) return;
        const found = await compare();
        compared = performance.now();
        if (found.ended + found.missing > 0)
          log.warn(found, 'schedules differed from their records and were corrected');
      };
      const onError = (error: unknown): void =>
        log.warn({ err: error }, 'schedules could not be updated; trying again');
      await periodically(sweepOnce, { intervalMs: SWEEP_MS, signal, onError });
    },
  };
}
