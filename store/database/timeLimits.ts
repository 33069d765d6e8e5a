import type { ClientSession, Connection, ConnectOptions } from 'mongoose';

import { StoreFailure } from '../../contract/storeFailures.js';

/** Time that workers wait for a server, in milliseconds: about as long as a restart or an election takes. */
const SELECTION_MS = 15_000;

/**
 * Returns the time limits of a connection to MongoDB, so that a call to a stopped or frozen server fails within
 * `timeLimitMs`. The driver has no limit for a whole call. Heartbeats detect a frozen server within the first half and
 * fail the waiting calls; their retries wait for another server during the second half.
 * @param timeLimitMs null: only the limits for workers, which retry failed calls
 */
export function timeLimits(timeLimitMs: number | null): ConnectOptions & { bufferTimeoutMS?: number } {
  if (timeLimitMs === null) return { serverSelectionTimeoutMS: SELECTION_MS };
  const half = timeLimitMs / 2;
  return {
    heartbeatFrequencyMS: half / 2,
    connectTimeoutMS: half / 2,
    serverSelectionTimeoutMS: half,
    waitQueueTimeoutMS: timeLimitMs,
    // Mongoose waits this long for a lost connection before it calls the driver.
    bufferTimeoutMS: half,
  };
}

/**
 * Runs `work` in one transaction, and repeats it after transient errors of MongoDB. The driver repeats for up to two
 * minutes; `timeLimitMs` sets a shorter limit. If the answer to a commit is late, the commit may still have taken
 * effect.
 * @throws StoreFailure when the limit has passed
 */
export async function transaction<T>(
  connection: Connection,
  work: (session: ClientSession) => Promise<T>,
  timeLimitMs: number | null,
): Promise<T> {
  if (timeLimitMs === null) return connection.transaction((session) => work(session)) as Promise<T>;
  let lastError: unknown = new Error(`no answer within ${timeLimitMs / 1000} s`);
  let isTimedOut = false;
  const timeoutError = (): StoreFailure => new StoreFailure('MongoDB', 'unreachable', lastError);
  const committed = connection.transaction(async (session) => {
    // The driver retries only after errors of its own, so this error ends its retries.
    if (isTimedOut) throw timeoutError();
    try {
      return await work(session);
    } catch (error) {
      lastError = error;
      throw error;
    }
  }) as Promise<T>;
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      isTimedOut = true;
      reject(timeoutError());
    }, timeLimitMs);
  });
  try {
    return await Promise.race([committed, timedOut]);
  } finally {
    clearTimeout(timer);
    committed.catch(() => undefined);
  }
}
