import { type Client, ScheduleNotFoundError } from '@temporalio/client';

import type { TemporalNames } from '../contract/runs/temporalNames.js';

const DEADLINE_MS = 5_000;

/** The state of a schedule in Temporal. */
export interface ScheduleState {
  readonly isPaused: boolean;
  /** Time of the next start; null if there is none. */
  readonly nextAt: Date | null;
}

/** Reads schedules from Temporal; changes nothing. */
export interface ScheduleReader {
  /**
   * Returns null if Temporal has no such schedule.
   * @throws when Temporal does not answer
   */
  stateOf(scheduleId: string): Promise<ScheduleState | null>;
}

export function createScheduleReader(client: Client, { idOf }: Pick<TemporalNames, 'idOf'>): ScheduleReader {
  return {
    async stateOf(scheduleId) {
      try {
        const { state, info } = await client.withDeadline(Date.now() + DEADLINE_MS, () =>
          client.schedule.getHandle(idOf(scheduleId)).describe(),
        );
        return { isPaused: state.paused, nextAt: state.paused ? null : (info.nextActionTimes[0] ?? null) };
      } catch (error) {
        if (error instanceof ScheduleNotFoundError) return null;
        throw error;
      }
    },
  };
}
