/**
 * Runs code at another time. Connectors read `Date.now()`, and compare it with times in responses; a replay happens
 * later than its recording.
 */
export interface Clock {
  /** Sets the clock to a moment, from which it runs on. */
  set(moment: number): void;
}

/** Replaces the clock of this process until `work` has ended. */
export async function withClock<T>(work: (clock: Clock) => Promise<T>): Promise<T> {
  const real = Date.now;
  let aheadMs = 0;
  Date.now = () => real() + aheadMs;
  try {
    return await work({ set: (moment) => void (aheadMs = moment - real()) });
  } finally {
    Date.now = real;
  }
}
