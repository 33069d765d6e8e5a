import type { ApiDeps } from '../http/deps.js';
import { createNameLimiter } from '../http/limits/rateLimit.js';
import { createLiveOverviews, type LiveSettings } from './live.js';
import { createOverviews, type OverviewDeps } from './overview.js';
import { createOpsSessions, endedAmong } from '../http/identity/opsSessions.js';
import type { SigningKey } from '../http/identity/signer.js';

interface OpsSettings extends LiveSettings {
  readonly sessionMs: number;
  readonly secretKeys: readonly SigningKey[];
}

/** Maximum number of invalid keys per address and minute. */
const MAX_ATTEMPTS_PER_MINUTE = 10;

/** Dependencies of the operator page, in addition to those of all operations. */
export function createOps(
  deps: OverviewDeps,
  { sessionMs, secretKeys, ...live }: OpsSettings,
): Pick<ApiDeps, 'opsSessions' | 'signInAttempts' | 'overviews' | 'live'> {
  // Slightly less than a tick, so that each tick has new data.
  const overviews = createOverviews(deps, live.tickMs * 0.9);
  return {
    opsSessions: createOpsSessions(secretKeys, sessionMs),
    signInAttempts: createNameLimiter(MAX_ATTEMPTS_PER_MINUTE),
    overviews,
    live: createLiveOverviews(overviews, (sessions) => endedAmong(sessions, deps.store), live, deps.log),
  };
}
