/** Passes of auto-sync, begun by a test instead of a clock. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, type ScheduleDescription, ScheduleNotFoundError } from '@temporalio/client';

import type { AutoSyncInput, AutoSyncResult } from '../../contract/orchestration.js';
import type { TemporalNames } from '../../contract/temporalNames.js';
import { waitFor } from './waitFor.js';

/** The schedule of that id; null where Temporal has none. */
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

/** The schedule as soon as something holds of it. */
export const scheduleWhen = (
  client: Client,
  names: TemporalNames,
  scheduleId: string,
  holds: (schedule: ScheduleDescription | null) => boolean,
): Promise<ScheduleDescription | null> => waitFor(() => scheduleOf(client, names, scheduleId), holds);

/** Has a schedule act now, and answers how the pass ended. Where it meets what is still going on, it acts again. */
export async function triggerPass(client: Client, names: TemporalNames, scheduleId: string): Promise<AutoSyncResult> {
  for (;;) {
    const result = await trigger(client, names, scheduleId);
    if (result.outcome !== 'busy') return result;
    await sleep(100);
  }
}

async function trigger(client: Client, names: TemporalNames, scheduleId: string): Promise<AutoSyncResult> {
  const before = (await scheduleOf(client, names, scheduleId))?.info.numActionsTaken ?? 0;
  await client.schedule.getHandle(names.idOf(scheduleId)).trigger();
  const acted = await scheduleWhen(client, names, scheduleId, (one) => (one?.info.numActionsTaken ?? 0) > before);
  const workflowId = acted?.info.recentActions.at(-1)?.action.workflow.workflowId ?? '';
  return client.workflow.getHandle<(input: AutoSyncInput) => Promise<AutoSyncResult>>(workflowId).result();
}

let passes = 0;

/** Runs a pass as its schedule would. One that meets what is still going on waits for that first. */
export async function runPass(
  client: Client,
  { idOf, taskQueue }: TemporalNames,
  scheduleId: string,
): Promise<AutoSyncResult> {
  for (;;) {
    passes += 1;
    const result = await client.workflow.execute<(input: AutoSyncInput) => Promise<AutoSyncResult>>('autoSync', {
      workflowId: idOf(`${scheduleId}-by-test-${passes}`),
      taskQueue,
      args: [{ scheduleId }],
    });
    if (result.outcome !== 'busy') return result;
    await sleep(100);
  }
}
