/** Starts scheduled syncs from tests, which cannot wait for the time of the schedule. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type ScheduleDescription, ScheduleNotFoundError } from '@temporalio/client';

import type { AutoSyncInput, AutoSyncResult } from '../../contract/runs/autoSync.js';
import type { TemporalNames } from '../../contract/runs/temporalNames.js';
import { waitFor } from './waitFor.js';

/** Returns the schedule with this id; null if Temporal has none. */
export async function scheduleOf(
  client: Client,
  { idOf }: TemporalNames,
  scheduleId: string,
): Promise<ScheduleDescription | null> {
  try {
    return await client.schedule.getHandle(idOf(scheduleId)).describe();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}

/** Waits until the schedule meets a condition, and returns it. */
export const scheduleWhen = (
  client: Client,
  names: TemporalNames,
  scheduleId: string,
  holds: (schedule: ScheduleDescription | null) => boolean,
): Promise<ScheduleDescription | null> => waitFor(() => scheduleOf(client, names, scheduleId), holds);

/**
 * Triggers a schedule and returns the result of the sync. Triggers it again while another scheduled sync is running.
 */
export async function triggerScheduledSync(
  client: Client,
  names: TemporalNames,
  scheduleId: string,
): Promise<AutoSyncResult> {
  for (;;) {
    const result = await trigger(client, names, scheduleId);
    if (result.outcome !== 'busy') return result;
    await sleep(100);
  }
}

async function trigger(client: Client, names: TemporalNames, scheduleId: string): Promise<AutoSyncResult> {
  const actionsBefore = (await scheduleOf(client, names, scheduleId))?.info.numActionsTaken ?? 0;
  await client.schedule.getHandle(names.idOf(scheduleId)).trigger();
  const acted = await scheduleWhen(
    client,
    names,
    scheduleId,
    (schedule) => (schedule?.info.numActionsTaken ?? 0) > actionsBefore,
  );
  const workflowId = acted?.info.recentActions.at(-1)?.action.workflow.workflowId ?? '';
  return client.workflow.getHandle<(input: AutoSyncInput) => Promise<AutoSyncResult>>(workflowId).result();
}

let started = 0;

/** Runs a scheduled sync as its schedule would, and returns the result. Retries while another scheduled sync runs. */
export async function runScheduledSync(
  client: Client,
  { idOf, taskQueue }: TemporalNames,
  scheduleId: string,
): Promise<AutoSyncResult> {
  for (;;) {
    started += 1;
    const result = await client.workflow.execute<(input: AutoSyncInput) => Promise<AutoSyncResult>>('autoSync', {
      workflowId: idOf(`${scheduleId}-by-test-${started}`),
      taskQueue,
      args: [{ scheduleId }],
    });
    if (result.outcome !== 'busy') return result;
    await sleep(100);
  }
}
