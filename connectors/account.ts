import type { LiveReadName, LiveReads } from '../contract/sources/liveReads.js';
import { createHash } from 'node:crypto';

import type { GrantStore, StoredGrant } from '../contract/accounts/oauth.js';
import type { SourceType } from '../contract/sources/sources.js';
import type { TypeFilter } from '../contract/sources/typesAtSource.js';
import { type AccountLimits, type GrantFacts, readGrantFacts } from './accountFacts.js';
import type {
  AccountClient,
  ChangePage,
  Connector,
  ContainerPage,
  Identity,
  ItemContent,
  ItemPage,
  OAuthGrant,
  OpenOptions,
} from './connector.js';
import { openCursor, sealCursor } from './cursors.js';
import type { LiveGrant } from './oauth/liveGrant.js';
import { fillUrls, wholeFacts } from './oauth/tokenRequests.js';
import type { RateLimiter } from './rateLimiter.js';
import { createSourceClient, type SourceClientSettings } from './sourceClient.js';
import type { LiveHeaders } from './transport.js';

/** An account of a source: what its connector does, with its credentials in place. Each throws Faults. */
export interface Account {
  /** What an item's file is from. */
  sourceOf(externalId: string): SourceType;
  identify(signal: AbortSignal): Promise<Identity>;
  listRoots(cursor: string | null, signal: AbortSignal): Promise<ItemPage>;
  /** Of sources that number such pages; of others there is none. */
  listContainers(page: { readonly number: number; readonly size: number }, signal: AbortSignal): Promise<ContainerPage>;
  /** @param typeFilter types that become files: other items may be skipped; unset: none is */
  listDescendants(
    externalId: string,
    cursor: string | null,
    signal: AbortSignal,
    typeFilter?: TypeFilter,
  ): Promise<ItemPage>;
  open(externalId: string, signal: AbortSignal, options?: Partial<OpenOptions>): Promise<ItemContent>;
  /** Of sources that tell what happened since a point; of others null. */
  readonly changes: {
    now(signal: AbortSignal): Promise<string>;
    since(changeToken: string, signal: AbortSignal): Promise<ChangePage>;
  } | null;
  /** Of a source with OAuth: the version of the grant that was last in use; of others null. */
  grantVersion(): string | null;
  /** What is known of its limits; its source is not asked. */
  limits(): Promise<AccountLimits>;
  /** What is known of its grant, likewise; null of a source without OAuth. Throws a Fault. */
  grant(): Promise<GrantFacts | null>;
  /** What an operation of its own asks; see Connector.reads. */
  read<Name extends LiveReadName>(
    name: Name,
    query: LiveReads[Name]['query'],
    signal: AbortSignal,
  ): Promise<LiveReads[Name]['answer']>;
}

export interface AccountSettings extends Pick<
  SourceClientSettings,
  'name' | 'urls' | 'egress' | 'maxItemBytes' | 'patienceMs' | 'onRequest'
> {
  readonly source: SourceType;
  readonly connector: Connector<never>;
  readonly requestsAtOnce: number;
  /** What callers handed over, as JSON; or where the grant is stored. */
  readonly credentials: string | GrantStore;
  /** The grant that `credentials` keep, refreshed as needed; null where they are not of that kind. */
  readonly live: LiveGrant | null;
  /** @param group the name of the limit shared with other accounts; null for none */
  rateLimiterOf(group: string | null): RateLimiter;
}

/** Creates an account: each call opens its credentials and gets a client of its own. */
export function createAccount(settings: AccountSettings): Account {
  const { source, connector, credentials, live, rateLimiterOf: gateOf, ...transport } = settings;
  const { oauth, sharedLimit: limit, changes: feed } = connector;
  const keeper = typeof credentials === 'string' ? null : credentials;

  /** The name of the limit that the account shares with others of its OAuth client; null where it shares none. */
  const groupOf = (grant: OAuthGrant & Partial<Pick<StoredGrant, 'clientId'>>): string | null => {
    const { clientId = null } = grant;
    const part = limit?.groupOf ? limit.groupOf(grant) : '';
    if (!limit || clientId === null || part === null) return null;
    // A hash, since both may be of any length and form.
    const hash = createHash('sha256').update(JSON.stringify([clientId, part]));
    return `${source} client ${hash.digest('base64url')}`;
  };

  const open = async (signal: AbortSignal): Promise<AccountClient<never>> => {
    // JSON that the source's own connector checked before it was sealed.
    const grant = live
      ? await live.current(signal)
      : (JSON.parse(keeper ? 'null' : (credentials as string)) as OAuthGrant);
    const given = (live ? { accessToken: grant.accessToken, facts: grant.facts } : grant) as never;
    const facts = connector.facts?.(given) ?? (oauth ? grant.facts : {});
    const client = createSourceClient({
      ...transport,
      connector,
      urls: fillUrls(transport.urls, wholeFacts(oauth, facts)),
      headers: live ? liveHeaders(connector, live) : connector.headers(given),
      rateLimiter: gateOf(oauth ? groupOf(grant) : null),
      signal,
    });
    return { ...client, credentials: given };
  };

  return {
    grantVersion: () => live?.version() ?? null,
    async limits() {
      const kept = limit && keeper ? await keeper.read() : null;
      const { accountMs, sharedMs } = await gateOf(kept && groupOf(kept.grant)).paused();
      const shared = limit && sharedMs !== null ? { requestsAtOnce: limit.requestsAtOnce, pausedMs: sharedMs } : null;
      return { requestsAtOnce: settings.requestsAtOnce, pausedMs: accountMs, shared };
    },
    grant: async () => (oauth && keeper ? readGrantFacts(oauth, keeper) : null),
    sourceOf: (externalId) => connector.sourceOf?.(externalId) ?? source,
    identify: async (signal) => connector.identify(await open(signal)),
    listRoots: async (cursor, signal) => {
      const at = cursor === null ? null : openCursor(cursor);
      return sealed(await connector.listRoots(await open(signal), at));
    },
    listContainers: async (page, signal) =>
      (await connector.listContainers?.(await open(signal), page)) ?? { containers: [], next: null },
    listDescendants: async (externalId, cursor, signal, typeFilter) => {
      const at = cursor === null ? null : openCursor(cursor);
      return sealed(await connector.listDescendants(await open(signal), externalId, at, typeFilter));
    },
    open: async (externalId, signal, { saveAs = null } = {}) =>
      connector.open(await open(signal), externalId, { saveAs }),
    changes: feed
      ? {
          now: async (signal) => sealCursor(await feed.now(await open(signal))),
          async since(changeToken, signal) {
            const from = openCursor(changeToken);
            return sealed(await feed.since(await open(signal), from));
          },
        }
      : null,
    async read(what, query, signal) {
      const read = connector.reads?.[what];
      if (!read) throw new Error(`${settings.name} has no read called ${what}`);
      return read(await open(signal), query);
    },
  };
}

const sealed = <Next extends string | null, Page extends { readonly next: Next }>(page: Page): Page => ({
  ...page,
  next: page.next === null ? null : sealCursor(page.next),
});

/** Headers of a grant that is refreshed while its client is in use. */
function liveHeaders(connector: Connector<never>, live: LiveGrant): LiveHeaders {
  // The token of each request: only the one that the source refused is renewed, unless another request has renewed it.
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
