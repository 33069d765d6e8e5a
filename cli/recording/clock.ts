/**
 * Runs code at another time. Connectors read `Date.now()`, and compare it with times in responses; a replay happens
 * later than its recording.
 */
export interface Clock {
  /** Sets the clock to a time, from which it continues. */
  set(time: number): void;
}

/** Replaces the clock of this process until `work` has ended. */
export async function withClock<T>(work: (clock: Clock) => Promise<T>): Promise<T> {
  const real = Date.now;
  let aheadMs = 0;
  Date.now = () => real() + aheadMs;
  try {
    return await work({ set: (time) => void (aheadMs = time - real()) });
  } finally {
    Date.now = real;
  }
}
