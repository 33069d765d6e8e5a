import { type Client, ScheduleNotFoundError } from '@temporalio/client';

import type { TemporalNames } from '../contract/temporalNames.js';

const DEADLINE_MS = 5_000;

/** A schedule as Temporal has it. */
export interface ScheduleState {
  readonly isPaused: boolean;
  /** When it acts next; null where it does not. */
  readonly nextAt: Date | null;
}

/** Asks Temporal about schedules; changes nothing. */
export interface ScheduleReader {
  /** Null: Temporal has none. @throws when Temporal does not answer */
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
