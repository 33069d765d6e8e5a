/**
 * A clock. A replay sets it to the time of the recording, because connectors compare `Date.now()` with times in
 * responses.
 */
export interface Clock {
  /** Sets the clock to a time in milliseconds since 1970, from which it continues. */
  set(time: number): void;
}

/** Replaces `Date.now()` of this process until `work` has ended. */
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
