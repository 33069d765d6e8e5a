import { setTimeout as sleep } from 'node:timers/promises';

import { Fault } from '../../contract/failures.js';
import type { GrantStore, VersionedGrant, StoredGrant } from '../../contract/accounts/oauth.js';
import { untilAborted } from '../../contract/untilAborted.js';
import { TOKEN_TIMEOUT_MS } from './tokenRequests.js';

/** Time after which the lock on a refresh ends by itself. It suffices for two attempts. */
const LOCK_MS = 2 * TOKEN_TIMEOUT_MS + 5_000;
/** Interval for polling the result of another process's refresh. */
const POLL_MS = 50;
/**
 * Tokens are refreshed five minutes before they expire, or after 80 % of their life if that is earlier. They are never
 * refreshed in the first half of their life.
 */
const MARGIN_MS = 300_000;
const REFRESH_AFTER_SHARE = 0.8;
/** Time after which a failed refresh of a valid token is repeated, unless the provider states another. */
const REFRESH_RETRY_MS = 30_000;

/** The grant of one data source, refreshed as needed. */
export interface LiveGrant {
  /** Returns the grant, refreshed before it expires. @throws Fault access_revoked if there is no access */
  current(signal: AbortSignal): Promise<StoredGrant>;
  /**
   * Returns a newer grant than the one that the provider just refused. @throws Fault access_revoked if none can be
   * obtained
   */
  renewed(refusedToken: string, signal: AbortSignal): Promise<StoredGrant>;
  /** Returns the version that was last in use. After a refusal, only this version may be marked as revoked. */
  version(): string | null;
}

/** Whether a valid token is due for a refresh. */
export function isDue({ obtainedAt, expiresAt }: StoredGrant, now: number): boolean {
  if (expiresAt === null) return false;
  const life = expiresAt - obtainedAt;
  return (
    now >= Math.min(obtainedAt + life * REFRESH_AFTER_SHARE, Math.max(expiresAt - MARGIN_MS, obtainedAt + life / 2))
  );
}

const isValid = ({ expiresAt }: StoredGrant): boolean => expiresAt !== null && expiresAt > Date.now();

const revoked = (name: string): Fault =>
  new Fault(
    'access_revoked',
    `${name} no longer accepts the credentials of this connection. Connect the account again.`,
  );

/**
 * Creates the live grant of a data source.
 * @param refresh requests new tokens; a caller's disconnect does not abort it, because its answer may contain the only
 * valid tokens
 * @param shared merges concurrent calls of one process
 */
export function createLiveGrant(
  name: string,
  grantStore: GrantStore,
  refresh: (grant: StoredGrant) => Promise<StoredGrant>,
  shared: (work: () => Promise<VersionedGrant>) => Promise<VersionedGrant> = (work) => work(),
): LiveGrant {
  let usedVersion: string | null = null;
  /**
   * Earliest time of the next refresh of a token that is still valid. During an outage of the token endpoint alone, the
   * source accepts the token until it expires.
   */
  let nextRefreshAt = 0;
  const use = ({ grant, version }: VersionedGrant): StoredGrant => {
    usedVersion = version;
    return grant;
  };

  /**
   * Refreshes the grant. If no answer arrives, a second request follows: the first request may have used up the refresh
   * token, and only the second one shows whether it did.
   */
  const refreshTwice = async (grant: StoredGrant): Promise<StoredGrant> => {
    try {
      return await refresh(grant);
    } catch (error) {
      if (!(error instanceof Fault) || (error.kind !== 'unreachable' && error.kind !== 'timed_out')) throw error;
      return refresh(grant);
    }
  };

  /** Refreshes the grant under the lock. Returns null if another process holds the lock or refreshed first. */
  const renew = async (stored: VersionedGrant): Promise<VersionedGrant | null> => {
    const lock = await grantStore.claim(stored.version, LOCK_MS);
    if (lock === null) return null;
    let renewedGrant: StoredGrant;
    try {
      renewedGrant = await refreshTwice(stored.grant);
    } catch (error) {
      await grantStore.release(lock);
      const isRevoked = error instanceof Fault && error.kind === 'access_revoked';
      // If another process has refreshed in the meantime, this refusal does not apply to the new tokens.
      if (isRevoked && (await grantStore.read())?.version !== stored.version) return null;
      if (isRevoked) usedVersion = stored.version;
      throw error;
    }
    const version = await grantStore.save(lock, stored.version, renewedGrant);
    return version === null ? null : { grant: renewedGrant, version };
  };

  /** Returns a usable grant: refreshes it here, or waits until another process has done so. */
  const waitForGrant = async (isUsable: (grant: StoredGrant) => boolean): Promise<VersionedGrant> => {
    for (;;) {
      const stored = await grantStore.read();
      if (!stored) throw revoked(name);
      if (isUsable(stored.grant)) return stored;
      if (stored.grant.refreshToken === null) {
        usedVersion = stored.version;
        throw revoked(name);
      }
      const renewed = await renew(stored);
      if (renewed) return renewed;
      await sleep(POLL_MS + Math.random() * POLL_MS);
    }
  };
  /**
   * Shares one refresh among the callers of this process. The shared result may not satisfy this caller, so it is
   * checked.
   */
  const sharedRefresh = async (isUsable: (grant: StoredGrant) => boolean): Promise<VersionedGrant> => {
    const stored = await shared(() => waitForGrant(isUsable));
    return isUsable(stored.grant) ? stored : waitForGrant(isUsable);
  };

  return {
    version: () => usedVersion,
    async current(signal) {
      const stored = await grantStore.read();
      if (!stored) throw revoked(name);
      const { grant } = stored;
      if (grant.refreshToken === null || !isDue(grant, Date.now())) return use(stored);
      if (isValid(grant) && Date.now() < nextRefreshAt) return use(stored);
      try {
        return use(
          await untilAborted(
            signal,
            sharedRefresh((current) => !isDue(current, Date.now())),
          ),
        );
      } catch (error) {
        if (!isValid(grant) || !(error instanceof Fault && error.retryable)) throw error;
        nextRefreshAt = Date.now() + (error.retryAfterMs ?? REFRESH_RETRY_MS);
        return use(stored);
      }
    },
    async renewed(refusedToken, signal) {
      return use(
        await untilAborted(
          signal,
          sharedRefresh(({ accessToken }) => accessToken !== refusedToken),
        ),
      );
    },
  };
}
