import pLimit from 'p-limit';

import { Fault } from '../../contract/failures.js';
import type { ApiDeps, Sample } from '../http/deps.js';
import { type ConcurrencyLimiter, createConcurrencyLimiter } from '../http/limits/concurrency.js';
import type { UserCaller } from '../http/operation.js';

/** Maximum number of concurrent reads of a sample. Files may be large, and are read into memory completely. */
export const PAGES_AT_ONCE = 4;
export const FILES_AT_ONCE = 2;
/** Maximum number of concurrent dry runs per user and process. */
const PER_USER = 2;
const RETRY_AFTER_S = 5;

/** Time limits of a dry run. */
export interface Deadline {
  /** Time limit for discovery: half of the total. */
  readonly discovery: AbortSignal;
  /** Time limit for the whole dry run. */
  readonly total: AbortSignal;
}

/** Creates the limit of concurrent dry runs. */
export const createDryRunLimiter = (): ConcurrencyLimiter =>
  createConcurrencyLimiter(PER_USER, 'dry runs', RETRY_AFTER_S);

/** Runs a dry run within its time limit. @throws HttpError 429 if the user has too many dry runs in progress */
export async function withDeadline<T>(
  { userId }: UserCaller,
  { settings, dryRuns }: Pick<ApiDeps, 'settings' | 'dryRuns'>,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const leave = dryRuns.enter(String(userId));
  try {
    const { timeoutMs } = settings.dryRun;
    return await work({ discovery: AbortSignal.timeout(timeoutMs / 2), total: AbortSignal.timeout(timeoutMs) });
  } finally {
    leave();
  }
}

/** Selects at most `max` evenly distributed items, since the first pages of a site often differ from its last ones. */
export function sampleEvenly<T>(items: readonly T[], max: number): T[] {
  if (items.length <= max) return [...items];
  return Array.from({ length: max }, (_, nth) => items[Math.floor(((nth + 0.5) * items.length) / max)] as T);
}

/**
 * Reads the items of a sample. `failed` counts items that threw a Fault; items that were not read before the signal was
 * aborted are omitted.
 */
export async function readSample<T, S extends Sample>(
  sample: readonly T[],
  atOnce: number,
  read: (item: T) => Promise<S>,
  signal: AbortSignal,
): Promise<{ read: S[]; failed: number }> {
  const limit = pLimit(atOnce);
  let failed = 0;
  const reads = sample.map((item) =>
    limit(async () => {
      if (signal.aborted) return [];
      try {
        return [await read(item)];
      } catch (error) {
        if (signal.aborted) return [];
        if (!(error instanceof Fault)) throw error;
        failed += 1;
        return [];
      }
    }),
  );
  return { read: (await Promise.all(reads)).flat(), failed };
}
