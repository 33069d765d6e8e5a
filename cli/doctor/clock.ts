import { bad, type Check, ok } from './check.js';

/** Maximum difference of the clocks. Larger differences make leases and tokens expire at the wrong time. */
const MAX_SKEW_MS = 5_000;

/**
 * Compares this machine's clock with MongoDB's, accurate to the duration of the request.
 * @param sentAt time of this machine before the request, in milliseconds since 1970
 * @param receivedAt time of this machine after the answer
 */
export function clockCheck(mongodb: Date, sentAt: number, receivedAt: number): Check {
  const name = 'clock';
  const skew = Math.max(0, sentAt - mongodb.getTime(), mongodb.getTime() - receivedAt);
  const found = `differs from MongoDB's by ${Math.round(skew / 1000)} s`;
  return skew <= MAX_SKEW_MS
    ? ok(name, found)
    : bad(name, found, 'Synchronize the clocks of both machines (NTP): tokens, retries and leases depend on them.');
}
