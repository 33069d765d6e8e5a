import type { ClientSession, Connection, ConnectOptions } from 'mongoose';

import { StoreFailure } from '../../contract/storeFailures.js';

/** Milliseconds that workers wait for a server, as long as a restart or an election takes. */
const SELECTION_MS = 15_000;

/**
 * Returns the time limits of a connection to MongoDB, so that a call to a server that is down or frozen fails within
 * `patienceMs`. The driver has no limit of a whole call: heartbeats find a frozen server within the first half and
 * end the calls that wait for it, and their retries wait for another server for the second half.
 * @param patienceMs null: limits for workers, which retry anyway
 */
export function timeLimits(patienceMs: number | null): ConnectOptions & { bufferTimeoutMS?: number } {
  if (patienceMs === null) return { serverSelectionTimeoutMS: SELECTION_MS };
  const half = patienceMs / 2;
  return {
    heartbeatFrequencyMS: half / 2,
    connectTimeoutMS: half / 2,
    serverSelectionTimeoutMS: half,
    waitQueueTimeoutMS: patienceMs,
    // Mongoose's own wait for a lost connection, before the driver is called.
    bufferTimeoutMS: half,
  };
}

/**
 * Runs `work` in one transaction, again when MongoDB asks for it. The driver repeats for two minutes; with a patience
 * the caller waits no longer than that. A commit whose answer is late can still take effect, as with any lost answer.
 * @throws StoreFailure when the patience is over
 */
export async function transaction<T>(
  connection: Connection,
  work: (session: ClientSession) => Promise<T>,
  patienceMs: number | null,
): Promise<T> {
  if (patienceMs === null) return connection.transaction((session) => work(session)) as Promise<T>;
  let last: unknown = new Error(`no answer within ${patienceMs / 1000} s`);
  let isOver = false;
  const late = (): StoreFailure => new StoreFailure('MongoDB', 'unreachable', last);
  const committed = connection.transaction(async (session) => {
    // Not an error of the driver, so the driver stops repeating.
    if (isOver) throw late();
    try {
      return await work(session);
    } catch (error) {
      last = error;
      throw error;
    }
  }) as Promise<T>;
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      isOver = true;
      reject(late());
    }, patienceMs);
  });
  try {
    return await Promise.race([committed, over]);
  } finally {
    clearTimeout(timer);
    committed.catch(() => undefined);
  }
}
