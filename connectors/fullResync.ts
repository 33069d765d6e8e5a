import { Fault } from '../contract/failures.js';

import { type Checked, count, shapeOf, number } from './cursors.js';

/**
 * For feeds that may omit changes: the number of syncs since the last complete listing, and the time of that listing.
 */
export const SYNC_COUNT = {
  /** Number of syncs. The name stays, because stored cursors contain it. */
  passes: count,
  /** Milliseconds since 1970. */
  begun: number,
};
const syncCountOf = shapeOf(SYNC_COUNT);
type SyncCount = Checked<typeof syncCountOf>;

/** Maximum number of syncs between two complete listings. */
const MAX_SYNCS = 50;
const MAX_AGE_MS = 14 * 86_400_000;

export const startSyncCount = (): SyncCount => ({ passes: 0, begun: Date.now() });
export const nextSyncCount = ({ passes, begun }: SyncCount): SyncCount => ({ passes: passes + 1, begun });

/** Checks whether a complete listing is due. @throws Fault stale_cursor if so */
export function checkSyncCount({ passes, begun }: SyncCount, source: string): void {
  if (passes >= MAX_SYNCS || Date.now() - begun > MAX_AGE_MS)
    throw new Fault('stale_cursor', `${source} does not report all deletions. Everything is listed once more.`);
}
