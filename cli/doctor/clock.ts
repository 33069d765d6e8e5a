import { bad, type Check, ok } from './check.js';

/** Larger differences disturb leases and token lifetimes. */
const MAX_SKEW_MS = 5_000;

/**
 * Compares this machine's clock with MongoDB's, accurate to the duration of the request.
 * @param asked time of this machine before the request, in milliseconds since 1970
 * @param answered time of this machine after the answer
 */
export function clockCheck(mongodb: Date, asked: number, answered: number): Check {
  const name = 'clock';
  const skew = Math.max(0, asked - mongodb.getTime(), mongodb.getTime() - answered);
  const found = `differs from MongoDB's by ${Math.round(skew / 1000)} s`;
  return skew <= MAX_SKEW_MS
    ? ok(name, found)
    : bad(name, found, 'Synchronize the clocks of both machines (NTP): tokens, retries and leases depend on them.');
}
