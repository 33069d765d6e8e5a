import { sleepUntilAborted, type Sleep } from './hostLimiter.js';

/** The clock of rate limits: waits and the ends of pauses. Tests replace it, so that hours of waiting take no time. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Rejects with the signal's reason on abort. */
  readonly sleep: Sleep;
}

export const systemClock: Clock = { now: Date.now, sleep: sleepUntilAborted };
