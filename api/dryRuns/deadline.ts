import pLimit from 'p-limit';

import { Fault } from '../../contract/failures.js';
import type { ApiDeps, Sample } from '../deps.js';
import { HttpError } from '../http/errors.js';
import type { UserCaller } from '../http/operation.js';

/** Of a sample, so many are read at once. Files may be large, and are in memory whole. */
export const PAGES_AT_ONCE = 4;
export const FILES_AT_ONCE = 2;
/** Of one user, so many dry runs are under way at once in a process. */
const PER_USER = 2;
const RETRY_AFTER_S = 5;

/** How long a dry run may take. */
export interface Deadline {
  /** For finding what there is: half of it. */
  readonly looking: AbortSignal;
  readonly whole: AbortSignal;
}

const underWay = new Map<number, number>();

/** Does a dry run within its time. @throws HttpError 429 where its user has enough of them under way */
export async function withDeadline<T>(
  { userId }: UserCaller,
  { settings }: Pick<ApiDeps, 'settings'>,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const others = underWay.get(userId) ?? 0;
  if (others >= PER_USER)
    throw new HttpError(429, `${PER_USER} dry runs of this user are under way. Wait for one of them.`, RETRY_AFTER_S);
  underWay.set(userId, others + 1);
  try {
    const { timeoutMs } = settings.dryRun;
    return await work({ looking: AbortSignal.timeout(timeoutMs / 2), whole: AbortSignal.timeout(timeoutMs) });
  } finally {
    const left = (underWay.get(userId) ?? 1) - 1;
    if (left === 0) underWay.delete(userId);
    else underWay.set(userId, left);
  }
}

/** Some of many, as far apart as can be: a site's first pages are seldom like its last. */
export function spread<T>(all: readonly T[], most: number): T[] {
  if (all.length <= most) return [...all];
  return Array.from({ length: most }, (_, nth) => all[Math.floor(((nth + 0.5) * all.length) / most)] as T);
}

/** Reads a sample. What can't be read is counted; what was not read in time is no part of it. */
export async function readSample<T, S extends Sample>(
  sample: readonly T[],
  atOnce: number,
  read: (one: T) => Promise<S>,
  signal: AbortSignal,
): Promise<{ read: S[]; failed: number }> {
  const limit = pLimit(atOnce);
  let failed = 0;
  const tries = sample.map((one) =>
    limit(async () => {
      if (signal.aborted) return [];
      try {
        return [await read(one)];
      } catch (error) {
        if (signal.aborted) return [];
        if (!(error instanceof Fault)) throw error;
        failed += 1;
        return [];
      }
    }),
  );
  return { read: (await Promise.all(tries)).flat(), failed };
}
