import { Fault } from '../contract/failures.js';

import { type Checked, count, shapeOf, number } from './cursors.js';

/** Of feeds that may leave something untold: how many passes they have told since all was listed, and when that was. */
export const PASSES = {
  passes: count,
  /** Milliseconds since 1970. */
  begun: number,
};
const passesOf = shapeOf(PASSES);
type Passes = Checked<typeof passesOf>;

/** So many passes, or so long, until all is listed once more. */
const MAX_PASSES = 50;
const LONGEST_MS = 14 * 86_400_000;

export const firstPass = (): Passes => ({ passes: 0, begun: Date.now() });
export const nextPass = ({ passes, begun }: Passes): Passes => ({ passes: passes + 1, begun });

/** @throws Fault stale_cursor once all is to be listed again */
export function checkPasses({ passes, begun }: Passes, source: string): void {
  if (passes >= MAX_PASSES || Date.now() - begun > LONGEST_MS)
    throw new Fault('stale_cursor', `${source} does not report all deletions. Everything is listed once more.`);
}
