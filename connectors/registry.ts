import { createHash } from 'node:crypto';

import { CONNECTED_SOURCES, type ConnectedSourceType, type SourceType } from '../contract/sources.js';
import { Fault } from '../contract/failures.js';
import type { GrantKeeper, KeptGrant, OAuthClient, RequestToken, StoredGrant } from '../contract/oauth.js';
import type { HostTurns } from '../contract/hostTurns.js';
import type { TypeWishes } from '../contract/typesAtSource.js';
import type { Egress } from '../egress/types.js';
import type {
  ChangePage,
  Connector,
  ContainerPage,
  Identity,
  ItemContent,
  ItemPage,
  OAuthGrant,
  OAuthSpec,
  OpenWishes,
  SourceAbout,
  SourceClient,
} from './connector.js';
import { azureBlobStorage } from './azureBlobStorage/index.js';
import { box } from './box/index.js';
import { freshdesk } from './freshdesk/index.js';
import { dropbox } from './dropbox/index.js';
import { confluence } from './confluence/index.js';
import { document360 } from './document360/index.js';
import { gitbook } from './gitbook/index.js';
import { github } from './github/index.js';
import { gong } from './gong/index.js';
import { notion } from './notion/index.js';
import { guru } from './guru/index.js';
import { oneDrive } from './microsoft/oneDrive.js';
import { outlook } from './microsoft/outlook/index.js';
import { sharePoint } from './microsoft/sharePoint/index.js';
import { googleDrive } from './google/drive/index.js';
import { gmail } from './google/gmail/index.js';
import { googleCloudStorage } from './google/storage/index.js';
import { intercom } from './intercom/index.js';
import { type AccountLimits, type GrantFacts, readGrantFacts } from './accountFacts.js';
import type { SourceUrls } from './readSourceUrls.js';
import type { OAuthClients } from './oauth/clients.js';
import { createLiveGrant, type LiveGrant } from './oauth/liveGrant.js';
import { revokeGrant } from './oauth/revokeGrant.js';
import { beginConsent, exchangeVerifier } from './oauth/oauth1.js';
import {
  type CodeExchange,
  type ConsentRequest,
  consentUrl,
  exchangeCode,
  fillUrls,
  type Provider,
  refreshGrant,
  wholeFacts,
} from './oauth/tokenRequests.js';
import { createRequestGates } from './requestGate.js';
import { s3 } from './s3/index.js';
import { salesforce } from './salesforce/index.js';
import { serviceNow } from './serviceNow/index.js';
import { slack } from './slack/index.js';
import { createSourceClient, type LiveHeaders, outcomeOf } from './sourceClient.js';
import { zendesk } from './zendesk/index.js';
import { zotero } from './zotero/index.js';

/** Every connector on one line. Its row stands in contract/sources.ts. */
const CONNECTORS: Readonly<Record<ConnectedSourceType, Connector<never>>> = {
  CONFLUENCE: confluence,
  DOCUMENT360: document360,
  GITBOOK: gitbook,
  GITHUB: github,
  GMAIL: gmail,
  GOOGLE_CLOUD_STORAGE: googleCloudStorage,
  GOOGLE_DRIVE: googleDrive,
  GURU: guru,
  NOTION: notion,
  ONEDRIVE: oneDrive,
  OUTLOOK: outlook,
  S3: s3,
  SHAREPOINT: sharePoint,
  AZURE_BLOB_STORAGE: azureBlobStorage,
  BOX: box,
  DROPBOX: dropbox,
  GONG: gong,
  SLACK: slack,
  ZENDESK: zendesk,
  INTERCOM: intercom,
  FRESHDESK: freshdesk,
  SERVICENOW: serviceNow,
  SALESFORCE: salesforce,
  ZOTERO: zotero,
};

/** What people are told of a source, with what follows from its connector. */
export interface ToldSource extends SourceAbout {
  /** Whether it tells by itself what happened. */
  readonly hasChanges: boolean;
  /** Requests that all accounts of one OAuth client have under way at most; null: they share no limit. */
  readonly sharedRequestsAtOnce: number | null;
}

/** What people are told of a source. */
export function toldOf(source: ConnectedSourceType): ToldSource {
  const { about, changes, sharedLimit } = CONNECTORS[source];
  return { ...about, hasChanges: changes !== undefined, sharedRequestsAtOnce: sharedLimit?.requestsAtOnce ?? null };
}

/** An account of a source: what its connector does, with its credentials in place. Each throws Faults. */
export interface Account {
  /** What an item's file is from. */
  sourceOf(externalId: string): SourceType;
  identify(signal: AbortSignal): Promise<Identity>;
  roots(cursor: string | null, signal: AbortSignal): Promise<ItemPage>;
  /** Of sources that number such pages; of others there is none. */
  containers(page: { readonly number: number; readonly size: number }, signal: AbortSignal): Promise<ContainerPage>;
  /** @param wishes what is to become files: other things may be left out; unset: nothing is */
  below(externalId: string, cursor: string | null, signal: AbortSignal, wishes?: TypeWishes): Promise<ItemPage>;
  open(externalId: string, signal: AbortSignal, wishes?: Partial<OpenWishes>): Promise<ItemContent>;
  /** Of sources that tell what happened since a point; of others null. */
  readonly changes: {
    now(signal: AbortSignal): Promise<string>;
    since(point: string, signal: AbortSignal): Promise<ChangePage>;
  } | null;
  /** Of a source with OAuth: the version of the grant that was last in use; of others null. */
  grantVersion(): string | null;
  /** What is known of its limits; its source is not asked. */
  limits(): Promise<AccountLimits>;
  /** What is known of its grant, likewise; null of a source without OAuth. Throws a Fault. */
  grant(): Promise<GrantFacts | null>;
  /** What an operation of its own asks; see Connector.reads. */
  read(name: string, query: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown>;
}

/** Where a person consents, and what their answer is exchanged with. */
export interface BegunConsent {
  readonly url: string;
  /** Null where consent needs none. */
  readonly requestToken: RequestToken | null;
}

/** How people consent at a source. */
export interface Consent {
  readonly spec: OAuthSpec;
  /** The client of the deployment; null where none is configured. */
  readonly client: OAuthClient | null;
  /** Where a person consents, where nobody need be asked first. Throws a Fault where the facts name no address. */
  url(facts: Readonly<Record<string, string>>, request: ConsentRequest): string;
  /** Where a person consents; with OAuth 1.0a its provider is asked for a token first. Throws a Fault. */
  begin(facts: Readonly<Record<string, string>>, request: ConsentRequest): Promise<BegunConsent>;
  /** Exchanges a code, which works once. Throws a Fault. */
  exchange(request: CodeExchange): Promise<StoredGrant>;
  /** Has the source end a grant, where its spec says how. Throws a Fault. */
  revoke(grant: StoredGrant): Promise<void>;
}

export interface Connectors {
  /**
   * @param key who shares the limits of requests: the same for the same account
   * @param credentials as the source's connector takes them, as JSON; of a source with OAuth also where its grant rests
   */
  account(source: ConnectedSourceType, key: string, credentials: string | GrantKeeper): Account;
  /** Null for a source that people do not consent at. */
  consent(source: ConnectedSourceType): Consent | null;
}

export interface ConnectorSettings {
  readonly egress: Pick<Egress, 'request'>;
  /** Where the sources are. */
  readonly urls: SourceUrls;
  /** Of the content of an item. */
  readonly maxItemBytes: number;
  /** How long a request waits where a source asks for that. */
  readonly patienceMs?: number;
  /** What all processes that call an account share; without, its limits hold in this one. */
  readonly turns?: HostTurns;
  /** The deployment's own OAuth clients. Unset: none. */
  readonly clients?: OAuthClients;
  /** Told how requests to sources, and refreshes of their tokens, end. Unset: nobody is. */
  readonly counts?: {
    sourceRequest(source: ConnectedSourceType, outcome: string): void;
    tokenRefresh(source: ConnectedSourceType, outcome: string): void;
  };
}

/** Where people consent, where tokens come from, and where they are ended. */
const consentUrls = (urls: Readonly<Record<string, string>>): Readonly<Record<string, string>> => ({
  authorize: urls['authorize'] ?? '',
  token: urls['token'] ?? '',
  request: urls['request'] ?? '',
  revoke: urls['revoke'] ?? '',
});

/** What a connector's call is made with. */
interface Opened {
  readonly client: SourceClient;
  readonly given: never;
}

/** The sources that accounts are connected to. */
export function createConnectors({
  egress,
  urls,
  maxItemBytes,
  patienceMs,
  turns,
  clients = {},
  counts,
}: ConnectorSettings): Connectors {
  const gates = new Map<ConnectedSourceType, ReturnType<typeof createRequestGates>>();
  const refreshing = new Map<string, Promise<KeptGrant>>();
  const clientOf = (source: ConnectedSourceType): OAuthClient | null =>
    (Object.hasOwn(clients, source) ? clients[source as keyof OAuthClients] : undefined) ?? null;
  const providerOf = (source: ConnectedSourceType, spec: OAuthSpec, facts: StoredGrant['facts']): Provider => ({
    name: CONNECTED_SOURCES[source].name,
    spec,
    // Others may name facts that only the answer to consent tells.
    urls: fillUrls(consentUrls(urls[source]), wholeFacts(spec, facts)),
  });

  /** A refresh must come from the client that was consented to. */
  const refresherOf = (source: ConnectedSourceType, spec: OAuthSpec, keeper: GrantKeeper) => {
    return async (grant: StoredGrant): Promise<StoredGrant> => {
      const { clientId, clientSecret } = grant;
      const known = [await keeper.ownClient(), clientOf(source)];
      const client =
        clientSecret !== undefined && clientId !== null
          ? { id: clientId, secret: clientSecret }
          : known.find((one) => one !== null && (clientId === null || one.id === clientId));
      if (!client)
        throw new Fault(
          'not_configured',
          `The OAuth client that this account of ${CONNECTED_SOURCES[source].name} was connected with is not configured any more. Connect it again, or have it configured.`,
        );
      try {
        const fresh = await refreshGrant(providerOf(source, spec, grant.facts), client, grant, egress);
        counts?.tokenRefresh(source, 'refreshed');
        return fresh;
      } catch (error) {
        counts?.tokenRefresh(source, outcomeOf(error));
        throw error;
      }
    };
  };
  const liveGrantOf = (source: ConnectedSourceType, place: string, spec: OAuthSpec, keeper: GrantKeeper): LiveGrant => {
    const inTurn = (work: () => Promise<KeptGrant>): Promise<KeptGrant> => {
      const underWay = refreshing.get(place);
      if (underWay) return underWay;
      const begun = work().finally(() => refreshing.delete(place));
      refreshing.set(place, begun);
      return begun;
    };
    return createLiveGrant(CONNECTED_SOURCES[source].name, keeper, refresherOf(source, spec, keeper), inTurn);
  };

  return {
    consent(source) {
      const spec = CONNECTORS[source].oauth;
      if (!spec) return null;
      return {
        spec,
        client: clientOf(source),
        url: (facts, request) => consentUrl(providerOf(source, spec, facts), request),
        revoke: (grant) => revokeGrant(providerOf(source, spec, grant.facts), grant, egress),
        async begin(facts, request) {
          const provider = providerOf(source, spec, facts);
          if (spec.isOAuth1) return beginConsent(provider, request, egress);
          return { url: consentUrl(provider, request), requestToken: null };
        },
        exchange(request) {
          const provider = providerOf(source, spec, request.facts);
          const { requestToken = null, client, code } = request;
          if (requestToken) return exchangeVerifier(provider, { client, verifier: code, requestToken }, egress);
          return exchangeCode(provider, request, egress);
        },
      };
    },
    account(source, key, credentials) {
      const { name, requestsAtOnce } = CONNECTED_SOURCES[source];
      const connector = CONNECTORS[source];
      const feed = connector.changes;
      const place = `${source} ${key}`;
      const limit = connector.sharedLimit;
      const gateOf = gates.get(source) ?? createRequestGates(name, requestsAtOnce, turns, limit?.requestsAtOnce);
      gates.set(source, gateOf);
      const clientFor = (
        facts: OAuthGrant['facts'],
        headers: Readonly<Record<string, string>> | LiveHeaders,
        group: string | null = null,
      ) =>
        createSourceClient({
          name,
          urls: fillUrls(urls[source], wholeFacts(connector.oauth, facts)),
          headers,
          connector,
          gate: gateOf(place, group),
          egress,
          maxItemBytes,
          onRequest: (outcome) => counts?.sourceRequest(source, outcome),
          ...(patienceMs === undefined ? {} : { patienceMs }),
        });
      const spec = connector.oauth;
      const live = typeof credentials === 'string' || !spec ? null : liveGrantOf(source, place, spec, credentials);
      /** The name of the turns that the account shares with others of its client; null where it shares none. */
      const groupOf = (grant: OAuthGrant & Partial<Pick<StoredGrant, 'clientId'>>): string | null => {
        const { clientId = null } = grant;
        const part = limit?.groupOf ? limit.groupOf(grant) : '';
        if (!limit || clientId === null || part === null) return null;
        // Of any length and form, both of them.
        return `${source} client ${createHash('sha256')
          .update(JSON.stringify([clientId, part]))
          .digest('base64url')}`;
      };
      const headersOf = ({ accessToken, facts }: OAuthGrant) => connector.headers({ accessToken, facts } as never);

      const open = async (signal: AbortSignal): Promise<Opened> => {
        if (live === null) {
          // Only its own connector made sense of them before they were sealed.
          const given = JSON.parse(typeof credentials === 'string' ? credentials : 'null') as never;
          const grant = spec ? (given as OAuthGrant) : null;
          const facts = connector.facts?.(given) ?? grant?.facts ?? {};
          return { client: clientFor(facts, connector.headers(given), grant && groupOf(grant)), given };
        }
        const grant = await live.current(signal);
        const { accessToken, facts } = grant;
        // Of the request that is told that it was refused, whoever else has renewed it since.
        const tokens = new WeakMap<object, string>();
        const signed = (one: OAuthGrant) => {
          const headers = headersOf(one);
          tokens.set(headers, one.accessToken);
          return headers;
        };
        const headers: LiveHeaders = {
          now: async (moment) => signed(await live.current(moment)),
          renewed: async (refused, moment) => signed(await live.renewed(tokens.get(refused) ?? '', moment)),
        };
        const given = { accessToken, facts } as never;
        return { client: clientFor(connector.facts?.(given) ?? facts, headers, groupOf(grant)), given };
      };
      const within = async <T>(signal: AbortSignal, work: (opened: Opened) => Promise<T>): Promise<T> =>
        work(await open(signal));

      const keeper = typeof credentials === 'string' ? null : credentials;
      return {
        grantVersion: () => live?.version() ?? null,
        async limits() {
          const kept = limit && keeper ? await keeper.read() : null;
          const { accountMs, sharedMs } = await gateOf(place, kept && groupOf(kept.grant)).paused();
          const shared =
            limit && sharedMs !== null ? { requestsAtOnce: limit.requestsAtOnce, pausedMs: sharedMs } : null;
          return { requestsAtOnce, pausedMs: accountMs, shared };
        },
        grant: async () => (spec && keeper ? readGrantFacts(spec, keeper) : null),
        sourceOf: (externalId) => connector.sourceOf?.(externalId) ?? source,
        identify: (signal) => within(signal, ({ client, given }) => connector.identify(client, given, signal)),
        roots: (cursor, signal) =>
          within(signal, ({ client, given }) => connector.roots(client, given, cursor, signal)),
        containers: (page, signal) =>
          within(
            signal,
            async ({ client }) =>
              (await connector.containers?.(client, page, signal)) ?? { containers: [], next: null },
          ),
        below: (externalId, cursor, signal, wishes) =>
          within(signal, ({ client, given }) => connector.below(client, externalId, cursor, signal, given, wishes)),
        open: (externalId, signal, { saveAs = null } = {}) =>
          within(signal, ({ client, given }) => connector.open(client, externalId, signal, given, { saveAs })),
        changes: feed
          ? {
              now: (signal) => within(signal, ({ client, given }) => feed.now(client, given, signal)),
              since: (point, signal) => within(signal, ({ client, given }) => feed.since(client, given, point, signal)),
            }
          : null,
        read: (what, query, signal) =>
          within(signal, async ({ client, given }) => {
            const read = connector.reads?.[what];
            if (!read) throw new Error(`${name} has no read called ${what}`);
            return read(client, query, signal, given);
          }),
      };
    },
  };
}
