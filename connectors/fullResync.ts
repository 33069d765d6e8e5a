import { Fault } from '../contract/failures.js';

import { type Checked, count, shapeOf, number } from './cursors.js';

/**
 * For feeds that may omit changes: the number of syncs since the last complete listing, and the time of that listing.
 */
export const PASSES = {
  passes: count,
  /** Milliseconds since 1970. */
  begun: number,
};
const passesOf = shapeOf(PASSES);
type Passes = Checked<typeof passesOf>;

/** Maximum number of syncs between two complete listings. */
const MAX_PASSES = 50;
const LONGEST_MS = 14 * 86_400_000;

export const firstPass = (): Passes => ({ passes: 0, begun: Date.now() });
export const nextPass = ({ passes, begun }: Passes): Passes => ({ passes: passes + 1, begun });

/** Checks whether a complete listing is due. @throws Fault stale_cursor if so */
export function checkPasses({ passes, begun }: Passes, source: string): void {
  if (passes >= MAX_PASSES || Date.now() - begun > LONGEST_MS)
    throw new Fault('stale_cursor', `${source} does not report all deletions. Everything is listed once more.`);
}
