import type { HostRateLimits } from '../contract/sources/hostRateLimits.js';
import { Fault } from '../contract/failures.js';
import type { GrantStore, VersionedGrant, OAuthClient, StoredGrant } from '../contract/accounts/oauth.js';
import {
  CONNECTED_SOURCES,
  type ConnectedSource,
  type ConnectedSourceType,
} from '../contract/sources/connectedSources.js';
import type { Egress } from '../egress/types.js';
import { type Account, createAccount } from './account.js';
import { CONNECTORS } from './catalogue.js';
import type { Clock } from './clock.js';
import type { OAuthSpec } from './oauthSpec.js';
import { type Consent, createConsent } from './consent.js';
import { createSourceCache, type SourceCache } from './sourceCache.js';
import type { OAuthClients } from './oauth/clients.js';
import { createLiveGrant, type LiveGrant } from './oauth/liveGrant.js';
import { fillUrls, type Provider, refreshGrant, withDefaults } from './oauth/tokenRequests.js';
import type { SourceUrls } from './readSourceUrls.js';
import { createRateLimiters } from './rateLimiter.js';
import { outcomeOf } from './transport.js';

export interface Connectors {
  /**
   * Returns an account.
   * @param key identifies the account for rate limits and token refreshes. All calls with one key share the rate limit,
   * and a refresh in progress, so accounts with different grants need different keys
   * @param credentials the JSON that the source's connector expects, or (OAuth only) the store of the account's grant
   */
  account(source: ConnectedSourceType, key: string, credentials: string | GrantStore): Account;
  /** Whether a full listing of the source may omit existing items. Its accounts then have `findExisting`. */
  mayOmitItems(source: ConnectedSourceType): boolean;
  /** Null for a source without OAuth. */
  consent(source: ConnectedSourceType): Consent | null;
}

export interface ConnectorSettings {
  readonly egress: Pick<Egress, 'request'>;
  /** URLs of the sources. */
  readonly urls: SourceUrls;
  /** Maximum size of an item's content in bytes. */
  readonly maxItemBytes: number;
  /** Maximum time in milliseconds that a request waits for a rate limit. */
  readonly timeLimitMs?: number;
  /** Clock of the waits for rate limits. Unset: the system's. */
  readonly clock?: Clock;
  /** Slots shared by all processes that call an account; unset: limits apply within this process only. */
  readonly hostRateLimits?: HostRateLimits;
  /** The deployment's own OAuth clients. Unset: none. */
  readonly clients?: OAuthClients;
  /** Counts the results of requests to sources, and of token refreshes. Unset: not counted. */
  readonly counts?: {
    sourceRequest(source: ConnectedSourceType, outcome: string): void;
    tokenRefresh(source: ConnectedSourceType, outcome: string): void;
  };
}

/** Returns the URLs for consent, tokens and revocation. */
const consentUrls = (urls: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  authorize: urls['authorize'] ?? '',
  token: urls['token'] ?? '',
  request: urls['request'] ?? '',
  revoke: urls['revoke'] ?? '',
});

/** Creates the registry of connected sources. */
export function createConnectors({
  egress,
  urls,
  maxItemBytes,
  timeLimitMs,
  clock,
  hostRateLimits,
  clients = {},
  counts,
}: ConnectorSettings): Connectors {
  const rateLimiters = new Map<ConnectedSourceType, ReturnType<typeof createRateLimiters>>();
  const caches = new Map<ConnectedSourceType, SourceCache>();
  const refreshing = new Map<string, Promise<VersionedGrant>>();
  const clientOf = (source: ConnectedSourceType): OAuthClient | null =>
    (Object.hasOwn(clients, source) ? clients[source as keyof OAuthClients] : undefined) ?? null;
  const providerOf = (source: ConnectedSourceType, spec: OAuthSpec, facts: StoredGrant['facts']): Provider => ({
    name: CONNECTED_SOURCES[source].name,
    spec,
    // Only these URLs are filled: others may contain parameters that are known only after the consent.
    urls: fillUrls(consentUrls(urls[source]), withDefaults(spec, facts)),
  });

  /** Returns a function that refreshes a grant. It must use the OAuth client that the user consented to. */
  const refresherOf = (source: ConnectedSourceType, spec: OAuthSpec, grantStore: GrantStore) => {
    return async (grant: StoredGrant): Promise<StoredGrant> => {
      const { clientId, clientSecret } = grant;
      const candidates = [await grantStore.ownClient(), clientOf(source)];
      const client =
        clientSecret !== undefined && clientId !== null
          ? { id: clientId, secret: clientSecret }
          : candidates.find((candidate) => candidate !== null && (clientId === null || candidate.id === clientId));
      if (!client)
        throw new Fault(
          'not_configured',
          `The OAuth client of this ${CONNECTED_SOURCES[source].name} account is no longer configured. Connect the account again, or restore the configuration.`,
        );
      try {
        const renewedGrant = await refreshGrant(providerOf(source, spec, grant.facts), client, grant, egress);
        counts?.tokenRefresh(source, 'refreshed');
        return renewedGrant;
      } catch (error) {
        counts?.tokenRefresh(source, outcomeOf(error));
        throw error;
      }
    };
  };
  const liveGrantOf = (
    source: ConnectedSourceType,
    accountKey: string,
    spec: OAuthSpec,
    grantStore: GrantStore,
  ): LiveGrant => {
    /** Joins a refresh of the same account that is in progress. */
    const shareRefresh = (work: () => Promise<VersionedGrant>): Promise<VersionedGrant> => {
      const inProgress = refreshing.get(accountKey);
      if (inProgress) return inProgress;
      const refresh = work().finally(() => refreshing.delete(accountKey));
      refreshing.set(accountKey, refresh);
      return refresh;
    };
    return createLiveGrant(
      CONNECTED_SOURCES[source].name,
      grantStore,
      refresherOf(source, spec, grantStore),
      shareRefresh,
    );
  };

  return {
    mayOmitItems: (source) => CONNECTORS[source].findExisting !== undefined,
    consent(source) {
      const spec = CONNECTORS[source].oauth;
      return spec ? createConsent(spec, clientOf(source), (facts) => providerOf(source, spec, facts), egress) : null;
    },
    account(source, key, credentials) {
      const { name, requestsAtOnce, intervalMs }: ConnectedSource = CONNECTED_SOURCES[source];
      const connector = CONNECTORS[source];
      const { oauth, sharedLimit } = connector;
      const accountKey = `${source} ${key}`;
      const rateLimiterOf =
        rateLimiters.get(source) ??
        createRateLimiters(name, requestsAtOnce, {
          ...{ hostRateLimits, sharedAtOnce: sharedLimit?.requestsAtOnce, intervalMs, clock },
        });
      rateLimiters.set(source, rateLimiterOf);
      const cache = caches.get(source) ?? createSourceCache(connector.cache);
      caches.set(source, cache);
      return createAccount({
        source,
        name,
        connector,
        requestsAtOnce,
        cache,
        credentials,
        live: typeof credentials === 'string' || !oauth ? null : liveGrantOf(source, accountKey, oauth, credentials),
        rateLimiterOf: (group) => rateLimiterOf(accountKey, group),
        urls: urls[source],
        egress,
        maxItemBytes,
        onRequest: (outcome) => counts?.sourceRequest(source, outcome),
        ...(timeLimitMs === undefined ? {} : { timeLimitMs }),
        ...(clock === undefined ? {} : { clock }),
      });
    },
  };
}
