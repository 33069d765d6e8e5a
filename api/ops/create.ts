import type { ApiDeps } from '../deps.js';
import { createNameLimiter } from '../http/rateLimit.js';
import { createLiveOverviews, type LiveSettings } from './live.js';
import { createOverviews, type OverviewDeps } from './overview.js';
import { createOpsSessions, oversAmong } from '../http/opsSessions.js';
import type { SigningKey } from '../http/signer.js';

interface OpsSettings extends LiveSettings {
  readonly sessionMs: number;
  readonly secretKeys: readonly SigningKey[];
}

/** Unknown keys that one address may try a minute. */
const TRIES_A_MINUTE = 10;

/** What the page of operators needs beside what all operations do. */
export function createOps(
  deps: OverviewDeps,
  { sessionMs, secretKeys, ...live }: OpsSettings,
): Pick<ApiDeps, 'opsSessions' | 'signInTries' | 'overviews' | 'live'> {
  // A little less than a tick, so that each tick brings something new.
  const overviews = createOverviews(deps, live.tickMs * 0.9);
  return {
    opsSessions: createOpsSessions(secretKeys, sessionMs),
    signInTries: createNameLimiter(TRIES_A_MINUTE),
    overviews,
    live: createLiveOverviews(overviews, (sessions) => oversAmong(sessions, deps.store), live, deps.log),
  };
}
