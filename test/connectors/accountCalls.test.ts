/** What an account passes to its connector, which limits it shares, and which OAuth client refreshes its tokens. */
import { expect, test } from '@jest/globals';

import { createAccount } from '../../connectors/account.js';
import type { Connector } from '../../connectors/connector.js';
import { sealCursor } from '../../connectors/cursors.js';
import { createRateLimiters } from '../../connectors/rateLimiter.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import { createConnectors } from '../../connectors/registry.js';
import { createSourceCache } from '../../connectors/sourceCache.js';
import type { GrantStore, OAuthClient, StoredGrant } from '../../contract/accounts/oauth.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import type { EgressRequest, EgressResponse } from '../../egress/types.js';
import { faultOf } from '../support/faultOf.js';
import { NEVER } from './account.js';

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Returns the store of one grant; null: access is revoked. */
const storeOf = (fields: Partial<StoredGrant> | null, own: OAuthClient | null = null): GrantStore => {
  const grant: StoredGrant = {
    ...{ accessToken: 'token', refreshToken: null, obtainedAt: 0, expiresAt: null, facts: {}, clientId: 'client' },
    ...fields,
  };
  return {
    read: () => Promise.resolve(fields && { grant, version: '1' }),
    claim: () => Promise.resolve('claim'),
    save: () => Promise.resolve('2'),
    release: () => Promise.resolve(),
    ownClient: () => Promise.resolve(own),
  };
};

/**
 * Creates a registry of connectors without network. `answer` answers each request. Returns a function that creates its
 * accounts, the registry, the requests sent, and the counted outcomes.
 */
function registryWith(answer: (request: EgressRequest) => Answer, clients: Record<string, OAuthClient> = {}) {
  const sent: EgressRequest[] = [];
  const counted: string[] = [];
  const request = async (one: EgressRequest): Promise<EgressResponse> => {
    sent.push(one);
    const { status, headers = {}, body = {} } = answer(one);
    return { status, headers, bytes: async () => Buffer.from(JSON.stringify(body)) } as unknown as EgressResponse;
  };
  const connectors = createConnectors({
    ...{ egress: { request }, urls: readSourceUrls(''), maxItemBytes: 1_000, timeLimitMs: 100, clients },
    counts: {
      sourceRequest: (source, outcome) => void counted.push(`${source} ${outcome}`),
      tokenRefresh: (source, outcome) => void counted.push(`refresh ${source} ${outcome}`),
    },
  });
  let keys = 0;
  const account = (source: ConnectedSourceType, grantStore: GrantStore) =>
    connectors.account(source, String((keys += 1)), grantStore);
  return { account, connectors, sent, counted };
}

test('a limit of an OAuth client pauses all accounts of the client, and no account of another one', async () => {
  const refused = { error: { errors: [{ reason: 'rateLimitExceeded' }] } };
  const { account, counted } = registryWith(() => ({ status: 403, headers: { 'retry-after': '60' }, body: refused }));
  const [first, second] = [account('GOOGLE_DRIVE', storeOf({})), account('GOOGLE_DRIVE', storeOf({}))];
  const other = account('GOOGLE_DRIVE', storeOf({ clientId: 'another' }));
  const unknown = account('GOOGLE_DRIVE', storeOf({ clientId: null }));
  expect((await faultOf(first.identify(NEVER))).retryAfterMs).toBe(60_000);
  const sharedMs = async (one: typeof first) => (await one.limits()).shared?.pausedMs;
  expect(await sharedMs(second)).toBeGreaterThan(50_000);
  expect([await sharedMs(other), await sharedMs(unknown)]).toEqual([0, undefined]);
  expect((await second.limits()).pausedMs).toBe(0);
  expect((await first.limits()).pausedMs).toBeGreaterThan(50_000);
  expect((await faultOf(second.identify(NEVER))).kind).toBe('rate_limited');
  expect(counted).toEqual(['GOOGLE_DRIVE rate_limited']);
});

test('a limit of Slack is shared by the accounts of one team, and by none whose team is unknown', async () => {
  const { account } = registryWith(() => ({ status: 429, headers: { 'retry-after': '60' } }));
  const ofTeam = (team?: string) => account('SLACK', storeOf({ facts: team === undefined ? {} : { team } }));
  const [first, same, another, unknown] = [ofTeam('T1'), ofTeam('T1'), ofTeam('T2'), ofTeam()];
  await faultOf(first!.identify(NEVER));
  expect((await same!.limits()).shared!.pausedMs).toBeGreaterThan(50_000);
  expect([(await another!.limits()).shared!.pausedMs, (await unknown!.limits()).shared]).toEqual([0, null]);
});

test("a token is refreshed with its client; if that is unknown, with the organization's, else the deployment's", async () => {
  const clients = { BOX: { id: 'deployment', secret: 'deployment secret' } };
  const own = { id: 'organization', secret: 'organization secret' };
  const refreshOf = async (fields: Partial<StoredGrant>, ownClient: OAuthClient | null = own, status = 200) => {
    const { account, sent, counted } = registryWith(
      ({ url }) => ({ status: url.includes('token') ? status : 200, body: { access_token: 'new', id: '7' } }),
      clients,
    );
    const box = account('BOX', storeOf({ refreshToken: 'r', expiresAt: 1, ...fields }, ownClient));
    const result = await box.identify(NEVER).then(
      () => 'identified',
      (error: { kind: string }) => error.kind,
    );
    const refresh = sent.find(({ url }) => url.includes('token'));
    const parameters = new URLSearchParams(typeof refresh?.body === 'string' ? refresh.body : '');
    return [parameters.get('client_id'), parameters.get('client_secret'), result, counted[0]];
  };
  const refreshed = ['identified', 'refresh BOX refreshed'];
  expect(await refreshOf({ clientId: 'mine', clientSecret: 's' })).toEqual(['mine', 's', ...refreshed]);
  expect(await refreshOf({ clientId: 'organization' })).toEqual([own.id, own.secret, ...refreshed]);
  expect(await refreshOf({ clientId: 'deployment' })).toEqual(['deployment', 'deployment secret', ...refreshed]);
  expect(await refreshOf({ clientId: null })).toEqual([own.id, own.secret, ...refreshed]);
  expect(await refreshOf({ clientId: null }, null)).toEqual(['deployment', 'deployment secret', ...refreshed]);
  expect(await refreshOf({ clientId: 'gone' })).toEqual([null, null, 'not_configured', undefined]);
  expect(await refreshOf({ clientId: 'deployment' }, own, 500)).toEqual([
    ...['deployment', 'deployment secret', 'server_error', 'refresh BOX server_error'],
  ]);
});

test('grant() describes a grant without a request, and rejects with access_revoked if none is stored', async () => {
  const { account, sent } = registryWith(() => ({ status: 500 }));
  const grant = await account('BOX', storeOf({ expiresAt: 5, refreshToken: 'r', scopes: [] })).grant();
  expect(grant).toMatchObject({
    expiresAt: 5,
    isRefreshable: true,
    scopes: { granted: [], missing: ['root_readonly'] },
  });
  expect(await account('BOX', storeOf({})).grant()).toMatchObject({ isRefreshable: false, scopes: { granted: null } });
  expect((await faultOf(account('BOX', storeOf(null)).grant())).kind).toBe('access_revoked');
  expect(sent).toEqual([]);
});

test('accounts of one source share its cache; a rate limit of an account pauses no other account and no other source', async () => {
  const workspace = { id: 'w', language_versions: [{ code: 'de' }] };
  const { connectors, sent } = registryWith(({ url }) =>
    url.includes('gitbook')
      ? { status: 429, headers: { 'retry-after': '60' } }
      : { status: 200, body: { data: url.endsWith('ProjectVersions') ? [workspace] : { id: 'a' } } },
  );
  const credentials = JSON.stringify({ organization: 'o', accountEmail: 'ada@a.example', accessToken: 't' });
  for (const article of ['a', 'b']) {
    const account = connectors.account('DOCUMENT360', '1', credentials);
    await account.open(`w/article:${article}`, NEVER);
  }
  expect(sent.filter(({ url }) => url.endsWith('ProjectVersions'))).toHaveLength(1);
  await faultOf(connectors.account('GITBOOK', '1', credentials).identify(NEVER));
  // A new object of the same account observes the pause.
  expect((await connectors.account('GITBOOK', '1', credentials).limits()).pausedMs).toBeGreaterThan(50_000);
  expect((await connectors.account('GITBOOK', '2', credentials).limits()).pausedMs).toBe(0);
  expect((await connectors.account('DOCUMENT360', '1', credentials).limits()).pausedMs).toBe(0);
});

/** Returns an account of a connector that records what it receives. */
function recordedAccount(more: Partial<Connector<unknown>> = {}) {
  const calls: unknown[] = [];
  const page = { items: [], next: 'after' };
  const connector: Connector<unknown> = {
    about: { listed: '', ingested: '', unchangedBy: null, limits: '' },
    headers: () => ({}),
    identify: () => Promise.resolve({ account: 'a', metadata: {} }),
    async listRoots(_client, cursor) {
      calls.push(cursor);
      return page;
    },
    async listDescendants(_client, id, cursor, filter) {
      calls.push([id, cursor, filter]);
      return page;
    },
    open(_client, id, options) {
      calls.push([id, options]);
      return Promise.reject(new Error('no content'));
    },
    ...more,
  };
  const account = createAccount({
    ...{ source: 'GITBOOK', name: 'GitBook', connector, requestsAtOnce: 1, cache: createSourceCache() },
    ...{ credentials: '{}', live: null, rateLimiterOf: createRateLimiters('GitBook', 1).bind(null, 'a'), urls: {} },
    ...{ egress: { request: () => Promise.reject(new Error('no request')) }, maxItemBytes: 1 },
  });
  return { account, calls };
}

test('an account passes the filter, the export format and the version to its connector, and seals every cursor', async () => {
  const { account, calls } = recordedAccount({
    changes: {
      now: () => Promise.resolve('now'),
      prepare: async (_client, cursor) => (calls.push(cursor), { next: 'prepared', more: true }),
      since: async (_client, cursor) => (calls.push(cursor), { changes: [], next: 'later', more: false }),
    },
    findExisting: async (_client, ids) => ids.slice(1),
  });
  const filter = { autoSyncedSourceTypes: ['ARTICLE'] } as const;
  const { next } = await account.listDescendants('id', sealCursor('at'), NEVER, filter);
  await account.listRoots(next, NEVER);
  await expect(account.open('id', NEVER, { saveAs: 'PDF', version: '3' })).rejects.toThrow('no content');
  await expect(account.open('id', NEVER)).rejects.toThrow('no content');
  const feed = account.changes!;
  expect(await feed.prepare!(await feed.now(NEVER), NEVER)).toEqual({ next: sealCursor('prepared'), more: true });
  expect((await feed.since(sealCursor('start'), NEVER)).next).toBe(sealCursor('later'));
  expect(calls).toEqual([
    ...[['id', 'at', filter], 'after'],
    ...[
      ['id', { saveAs: 'PDF', version: '3' }],
      ['id', { saveAs: null, version: null }],
    ],
    ...['now', 'start'],
  ]);
  expect(await account.findExisting!(['a', 'b'], NEVER)).toEqual(['b']);
  expect(account.sourceOf('id')).toBe('GITBOOK');
});

test('an account of a connector without optional functions has no feed, no containers and no direct queries', async () => {
  const { account } = recordedAccount();
  expect([account.changes, account.findExisting, account.grantVersion(), await account.grant()]).toEqual([
    ...[null, null],
    ...[null, null],
  ]);
  expect(await account.listContainers({ number: 1, size: 5 }, NEVER)).toEqual({ containers: [], next: null });
  await expect(account.read('issues', {} as never, NEVER)).rejects.toThrow('no direct query');
  expect(await account.limits()).toEqual({ requestsAtOnce: 1, pausedMs: 0, shared: null });
});
