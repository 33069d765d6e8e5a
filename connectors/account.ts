import type { LiveReadName, LiveReads } from '../contract/sources/liveReads.js';
import { createHash } from 'node:crypto';

import type { GrantStore, StoredGrant } from '../contract/accounts/oauth.js';
import type { SourceType } from '../contract/sources/sources.js';
import type { TypeFilter } from '../contract/sources/typesAtSource.js';
import { type AccountLimits, type GrantInfo, readGrantInfo } from './accountInfo.js';
import type { Connector, Identity, ItemContent, OpenOptions, PreparedCursor } from './connector.js';
import type { OAuthGrant } from './oauthSpec.js';
import type { AccountClient } from './accountClient.js';
import type { ChangePage, ContainerPage, ItemPage } from './sourceItem.js';
import type { SourceCache } from './sourceCache.js';
import { openCursor, sealCursor } from './cursors.js';
import type { LiveGrant } from './oauth/liveGrant.js';
import { fillUrls, withDefaults } from './oauth/tokenRequests.js';
import type { RateLimiter } from './rateLimiter.js';
import { createSourceClient, type SourceClientSettings } from './sourceClient.js';
import type { LiveHeaders } from './transport.js';

/** An account of a source: the connector's functions, bound to the account's credentials. Each throws Faults. */
export interface Account {
  /** The source type of an item's file. */
  sourceOf(externalId: string): SourceType;
  identify(signal: AbortSignal): Promise<Identity>;
  listRoots(cursor: string | null, signal: AbortSignal): Promise<ItemPage>;
  /** Returns a page of containers; an empty one for sources that cannot list them by page number. */
  listContainers(page: { readonly number: number; readonly size: number }, signal: AbortSignal): Promise<ContainerPage>;
  /** @param typeFilter types that become files; items of other types may be skipped. Unset: no item is skipped */
  listDescendants(
    externalId: string,
    cursor: string | null,
    signal: AbortSignal,
    typeFilter?: TypeFilter,
  ): Promise<ItemPage>;
  open(externalId: string, signal: AbortSignal, options?: Partial<OpenOptions>): Promise<ItemContent>;
  /** For sources with a change feed; null for others. */
  readonly changes: {
    now(signal: AbortSignal): Promise<string>;
    /** Only for sources that return the current cursor at the end of a complete listing; see ChangeFeed. */
    prepare?(cursor: string, signal: AbortSignal): Promise<PreparedCursor>;
    since(changeToken: string, signal: AbortSignal): Promise<ChangePage>;
  } | null;
  /** For sources whose full listing may omit existing items; see Connector.findExisting. Null for others. */
  readonly findExisting: ((externalIds: readonly string[], signal: AbortSignal) => Promise<readonly string[]>) | null;
  /** The version of the OAuth grant in use; null for sources without OAuth. */
  grantVersion(): string | null;
  /** The known limits; reading them sends no request to the source. */
  limits(): Promise<AccountLimits>;
  /** Returns facts about the grant, without a request to the source; null for sources without OAuth. Throws a Fault. */
  grant(): Promise<GrantInfo | null>;
  /** Runs a direct query of the source; see Connector.reads. */
  read<Name extends LiveReadName>(
    name: Name,
    query: LiveReads[Name]['query'],
    signal: AbortSignal,
  ): Promise<LiveReads[Name]['answer']>;
}

export interface AccountSettings extends Pick<
  SourceClientSettings,
  'name' | 'urls' | 'egress' | 'maxItemBytes' | 'timeLimitMs' | 'clock' | 'onRequest'
> {
  readonly source: SourceType;
  readonly connector: Connector<never>;
  readonly requestsAtOnce: number;
  /** Shared by all accounts of the source. */
  readonly cache: SourceCache;
  /** The credentials that the caller supplied, as JSON; or the store of the grant. */
  readonly credentials: string | GrantStore;
  /** The grant in `credentials`, refreshed as needed; null if they are not an OAuth grant. */
  readonly live: LiveGrant | null;
  /** @param group the name of the limit shared with other accounts; null for none */
  rateLimiterOf(group: string | null): RateLimiter;
}

/**
 * Creates an account. Each call that sends requests to the source creates its own client, which reads the OAuth grant
 * before each request.
 */
export function createAccount(settings: AccountSettings): Account {
  const { source, connector, credentials, live, cache, rateLimiterOf: limiterOf, ...transport } = settings;
  const { oauth, sharedLimit: limit, changes: feed } = connector;
  const prepare = feed?.prepare?.bind(feed);
  const findExisting = connector.findExisting?.bind(connector);
  const grantStore = typeof credentials === 'string' ? null : credentials;

  /**
   * Returns the name of the limit that the account shares with others of its OAuth client; null if it shares none.
   */
  const groupOf = (grant: OAuthGrant & Partial<Pick<StoredGrant, 'clientId'>>): string | null => {
    const { clientId = null } = grant;
    const group = limit?.groupOf ? limit.groupOf(grant) : '';
    if (!limit || clientId === null || group === null) return null;
    // Hashed because both values may have any length and characters.
    const hash = createHash('sha256').update(JSON.stringify([clientId, group]));
    return `${source} client ${hash.digest('base64url')}`;
  };

  const open = async (signal: AbortSignal): Promise<AccountClient<never>> => {
    // Not validated here: the API validates credentials before it uses or stores them.
    const grant = live
      ? await live.current(signal)
      : (JSON.parse(grantStore ? 'null' : (credentials as string)) as OAuthGrant);
    const connectorCredentials = (live ? { accessToken: grant.accessToken, facts: grant.facts } : grant) as never;
    const facts = connector.urlParameters?.(connectorCredentials) ?? (oauth ? grant.facts : {});
    const client = createSourceClient({
      ...transport,
      connector,
      urls: fillUrls(transport.urls, withDefaults(oauth, facts)),
      headers: live ? liveHeaders(connector, live) : connector.headers(connectorCredentials),
      rateLimiter: limiterOf(oauth ? groupOf(grant) : null),
      signal,
    });
    return { ...client, credentials: connectorCredentials, cache };
  };

  return {
    grantVersion: () => live?.version() ?? null,
    async limits() {
      const stored = limit && grantStore ? await grantStore.read() : null;
      const { accountMs, sharedMs } = await limiterOf(stored && groupOf(stored.grant)).paused();
      const shared = limit && sharedMs !== null ? { requestsAtOnce: limit.requestsAtOnce, pausedMs: sharedMs } : null;
      return { requestsAtOnce: settings.requestsAtOnce, pausedMs: accountMs, shared };
    },
    grant: async () => (oauth && grantStore ? readGrantInfo(oauth, grantStore) : null),
    sourceOf: (externalId) => connector.sourceOf?.(externalId) ?? source,
    identify: async (signal) => connector.identify(await open(signal)),
    listRoots: async (cursor, signal) => {
      const position = cursor === null ? null : openCursor(cursor);
      return sealed(await connector.listRoots(await open(signal), position));
    },
    listContainers: async (page, signal) =>
      (await connector.listContainers?.(await open(signal), page)) ?? { containers: [], next: null },
    listDescendants: async (externalId, cursor, signal, typeFilter) => {
      const position = cursor === null ? null : openCursor(cursor);
      return sealed(await connector.listDescendants(await open(signal), externalId, position, typeFilter));
    },
    open: async (externalId, signal, { saveAs = null, version = null } = {}) =>
      connector.open(await open(signal), externalId, { saveAs, version }),
    changes: feed
      ? {
          now: async (signal) => sealCursor(await feed.now(await open(signal))),
          ...(prepare && {
            prepare: async (cursor: string, signal: AbortSignal) =>
              sealed(await prepare(await open(signal), openCursor(cursor))),
          }),
          async since(changeToken, signal) {
            const position = openCursor(changeToken);
            return sealed(await feed.since(await open(signal), position));
          },
        }
      : null,
    findExisting: findExisting ? async (externalIds, signal) => findExisting(await open(signal), externalIds) : null,
    async read(what, query, signal) {
      const read = connector.reads?.[what];
      if (!read) throw new Error(`${settings.name} has no direct query named ${what}`);
      return read(await open(signal), query);
    },
  };
}

const sealed = <Next extends string | null, Page extends { readonly next: Next }>(page: Page): Page => ({
  ...page,
  next: page.next === null ? null : sealCursor(page.next),
});

/** Returns the headers of a grant that may be refreshed while its client is in use. */
function liveHeaders(connector: Connector<never>, live: LiveGrant): LiveHeaders {
  // The token of each set of headers. A refused token is renewed, unless another request has already renewed it.
  const tokens = new WeakMap<object, string>();
  const signed = ({ accessToken, facts }: OAuthGrant) => {
    const headers = connector.headers({ accessToken, facts } as never);
    tokens.set(headers, accessToken);
    return headers;
  };
  return {
    now: async (signal) => signed(await live.current(signal)),
    renewed: async (refused, signal) => signed(await live.renewed(tokens.get(refused) ?? '', signal)),
  };
}
