import { setTimeout as sleep } from 'node:timers/promises';

import { Fault } from '../../contract/failures.js';
import type { GrantStore, VersionedGrant, StoredGrant } from '../../contract/accounts/oauth.js';
import { untilAborted } from '../../contract/untilAborted.js';
import { TOKEN_TIMEOUT_MS } from './tokenRequests.js';

/** Two tries of a refresh fit into a claim. */
const CLAIM_MS = 2 * TOKEN_TIMEOUT_MS + 5_000;
/** Between looks at what another process is refreshing. */
const LOOK_MS = 50;
/** Tokens are refreshed this long before they expire, or at 80 % of their life, whichever is later. */
const MARGIN_MS = 300_000;
const PART_OF_LIFE = 0.8;

/** The grant of one data source, fresh whenever it is asked for. */
export interface LiveGrant {
  /** Refreshed before its time is over. @throws Fault access_revoked once there is no access */
  current(signal: AbortSignal): Promise<StoredGrant>;
  /** Another one than the provider has just refused. @throws Fault access_revoked where there can be none */
  renewed(refusedToken: string, signal: AbortSignal): Promise<StoredGrant>;
  /** The version that was last in use: what is revoked is this one, and no other that came meanwhile. */
  version(): string | null;
}

/** When a token is refreshed although it still works. */
export function isDue({ obtainedAt, expiresAt }: StoredGrant, now: number): boolean {
  if (expiresAt === null) return false;
  const life = expiresAt - obtainedAt;
  return now >= Math.min(obtainedAt + life * PART_OF_LIFE, Math.max(expiresAt - MARGIN_MS, obtainedAt + life / 2));
}

const revoked = (name: string): Fault =>
  new Fault('access_revoked', `${name} no longer takes the credentials of this connection. Connect the account again.`);

/**
 * @param refresh one request for new tokens; not ended by a caller who goes away, for its answer may be the only one
 * @param inTurn callers of one process that want the same come in as one
 */
export function createLiveGrant(
  name: string,
  keeper: GrantStore,
  refresh: (grant: StoredGrant) => Promise<StoredGrant>,
  inTurn: (work: () => Promise<VersionedGrant>) => Promise<VersionedGrant> = (work) => work(),
): LiveGrant {
  let used: string | null = null;
  const take = ({ grant, version }: VersionedGrant): StoredGrant => {
    used = version;
    return grant;
  };

  /** A claim that broke off may have used the refresh token up; the same request once more tells. */
  const refreshTwice = async (grant: StoredGrant): Promise<StoredGrant> => {
    try {
      return await refresh(grant);
    } catch (error) {
      if (!(error instanceof Fault) || (error.kind !== 'unreachable' && error.kind !== 'timed_out')) throw error;
      return refresh(grant);
    }
  };

  const renew = async (kept: VersionedGrant): Promise<VersionedGrant | null> => {
    const claim = await keeper.claim(kept.version, CLAIM_MS);
    if (claim === null) return null;
    let fresh: StoredGrant;
    try {
      fresh = await refreshTwice(kept.grant);
    } catch (error) {
      await keeper.release(claim);
      const isDead = error instanceof Fault && error.kind === 'access_revoked';
      // After a lost race it proves nothing about the winner's tokens.
      if (isDead && (await keeper.read())?.version !== kept.version) return null;
      if (isDead) used = kept.version;
      throw error;
    }
    const version = await keeper.save(claim, kept.version, fresh);
    return version === null ? null : { grant: fresh, version };
  };

  /** Returns the keeper's grant once another process has refreshed it. */
  const whenGood = async (isGood: (grant: StoredGrant) => boolean): Promise<VersionedGrant> => {
    for (;;) {
      const kept = await keeper.read();
      if (!kept) throw revoked(name);
      if (isGood(kept.grant)) return kept;
      if (kept.grant.refreshToken === null) {
        used = kept.version;
        throw revoked(name);
      }
      const renewed = await renew(kept);
      if (renewed) return renewed;
      await sleep(LOOK_MS + Math.random() * LOOK_MS);
    }
  };
  /** What came out for others of this process may be no good here. */
  const together = async (isGood: (grant: StoredGrant) => boolean): Promise<VersionedGrant> => {
    const kept = await inTurn(() => whenGood(isGood));
    return isGood(kept.grant) ? kept : whenGood(isGood);
  };

  return {
    version: () => used,
    async current(signal) {
      const kept = await keeper.read();
      if (!kept) throw revoked(name);
      const { grant } = kept;
      if (grant.refreshToken === null || !isDue(grant, Date.now())) return take(kept);
      return take(
        await untilAborted(
          signal,
          together((one) => !isDue(one, Date.now())),
        ),
      );
    },
    async renewed(refusedToken, signal) {
      return take(
        await untilAborted(
          signal,
          together(({ accessToken }) => accessToken !== refusedToken),
        ),
      );
    },
  };
}
