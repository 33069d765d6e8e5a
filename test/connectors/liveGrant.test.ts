/** When the tokens of a connection are refreshed, and which refresh is stored if several processes try. */
import { afterEach, expect, jest, test } from '@jest/globals';

import { createLiveGrant, isDue } from '../../connectors/oauth/liveGrant.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import { createConnectors } from '../../connectors/registry.js';
import type { GrantStore, StoredGrant, VersionedGrant } from '../../contract/accounts/oauth.js';
import { Fault, type FaultKind } from '../../contract/failures.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import type { EgressRequest, EgressResponse } from '../../egress/types.js';
import { everyRow } from '../support/everyRow.js';
import { faultOf } from '../support/faultOf.js';
import { NEVER } from './account.js';

const HOUR_MS = 3_600_000;
const grantOf = (accessToken: string, fields: Partial<StoredGrant> = {}): StoredGrant => ({
  ...{ accessToken, refreshToken: `refresh ${accessToken}`, obtainedAt: 0, expiresAt: null, facts: {} },
  ...{ clientId: 'client', ...fields },
});

/** Lifetimes of tokens, and the age from which they are refreshed, both in milliseconds. Null: never. */
const LIFETIMES: readonly (readonly [what: string, lifeMs: number | null, dueAtMs: number | null])[] = [
  ['no end', null, null],
  ['an hour: 80 % of it, which is earlier than five minutes before its end', HOUR_MS, 2_880_000],
  ['ten minutes: half of it', 600_000, 300_000],
  ['four minutes: half of it', 240_000, 120_000],
];

test('a token is refreshed before it expires, and never before half of its lifetime', () =>
  everyRow(
    LIFETIMES,
    ([what]) => what,
    ([, lifeMs, dueAtMs]) => {
      const grant = grantOf('a', { obtainedAt: 1_000, expiresAt: lifeMs === null ? null : 1_000 + lifeMs });
      if (dueAtMs === null) return expect(isDue(grant, Number.MAX_SAFE_INTEGER)).toBe(false);
      expect([isDue(grant, 1_000 + dueAtMs - 1), isDue(grant, 1_000 + dueAtMs)]).toEqual([false, true]);
    },
  ));

/** A store of one grant, and the calls that it received. */
function storeOf(first: VersionedGrant) {
  let storedGrant: VersionedGrant | null = first;
  const done: string[] = [];
  const store: GrantStore = {
    read: () => Promise.resolve(storedGrant),
    claim(version) {
      done.push(`claim ${version}`);
      return Promise.resolve('claim');
    },
    save(claim, version, grant) {
      done.push(`save ${claim} ${version}`);
      storedGrant = { grant, version: `${version}+` };
      return Promise.resolve(storedGrant.version);
    },
    release: (claim) => Promise.resolve(void done.push(`release ${claim}`)),
    ownClient: () => Promise.resolve(null),
  };
  /** Another process stores a grant, or the account is disconnected. */
  const put = (next: VersionedGrant | null): void => {
    storedGrant = next;
  };
  return { grantStore: store, done, put };
}
const DUE = { grant: grantOf('old', { expiresAt: 1 }), version: '1' };
const FRESH = { grant: grantOf('new', { expiresAt: Number.MAX_SAFE_INTEGER }), version: '2' };

test('a refresh stores the new grant under its claim', async () => {
  const { grantStore, done } = storeOf(DUE);
  const live = createLiveGrant('Source', grantStore, () => Promise.resolve(FRESH.grant));
  expect((await live.current(NEVER)).accessToken).toBe('new');
  expect(done).toEqual(['claim 1', 'save claim 1']);
  expect(live.version()).toBe('1+');
});

test('a refused refresh does not end the grant if another process has stored a grant meanwhile', async () => {
  const { grantStore, done, put } = storeOf(DUE);
  const live = createLiveGrant('Source', grantStore, () => {
    put(FRESH);
    return Promise.reject(new Fault('access_revoked', 'The refresh token was used.'));
  });
  expect((await live.current(NEVER)).accessToken).toBe('new');
  expect(done).toEqual(['claim 1', 'release claim']);
  expect(live.version()).toBe('2');
});

/** Failed refreshes: attempts in one call, and the version that may be marked as revoked afterwards. */
const FAILURES: readonly (readonly [kind: FaultKind, attempts: number, refused: string | null])[] = [
  ['access_revoked', 1, '1'],
  ['rate_limited', 1, null],
  ['server_error', 1, null],
  ['not_configured', 1, null],
  ['unreachable', 2, null],
  ['timed_out', 2, null],
];

test('a failed refresh releases its claim and reports the failure; a connection failure is retried once', () =>
  everyRow(
    FAILURES,
    ([kind]) => kind,
    async ([kind, attempts, refused]) => {
      const { grantStore, done } = storeOf(DUE);
      let refreshes = 0;
      const live = createLiveGrant('Source', grantStore, () => {
        refreshes += 1;
        return Promise.reject(new Fault(kind, 'It failed.'));
      });
      expect((await faultOf(live.current(NEVER))).kind).toBe(kind);
      expect(refreshes).toBe(attempts);
      expect(done).toEqual(['claim 1', 'release claim']);
      expect(live.version()).toBe(refused);
    },
  ));

test('a token that is still valid is used while its refresh fails, without a refresh per request', async () => {
  const now = Date.now();
  const { grantStore } = storeOf({ grant: grantOf('old', { obtainedAt: 0, expiresAt: now + 60_000 }), version: '1' });
  for (const [kind, isUsed] of [
    ['server_error', true],
    ['rate_limited', true],
    ['access_revoked', false],
  ] as const) {
    let refreshes = 0;
    const live = createLiveGrant('Source', grantStore, () => {
      refreshes += 1;
      return Promise.reject(new Fault(kind, 'It failed.'));
    });
    if (!isUsed) {
      expect((await faultOf(live.current(NEVER))).kind).toBe(kind);
      continue;
    }
    for (let request = 0; request < 3; request += 1) expect((await live.current(NEVER)).accessToken).toBe('old');
    expect([refreshes, live.version()]).toEqual([1, '1']);
  }
});

test('a refused token without a refresh token, or of an account that was disconnected, is access_revoked', async () => {
  const refresh = (): Promise<never> => Promise.reject(new Error('must not be called'));
  const withoutRefreshToken = { grant: grantOf('old', { refreshToken: null }), version: '1' };
  const { grantStore, put } = storeOf(withoutRefreshToken);
  const live = createLiveGrant('Source', grantStore, refresh);
  expect((await live.current(NEVER)).accessToken).toBe('old');
  expect((await faultOf(live.renewed('old', NEVER))).kind).toBe('access_revoked');
  // Another process has connected the account again.
  put(FRESH);
  expect((await live.renewed('old', NEVER)).accessToken).toBe('new');
  put(null);
  expect((await faultOf(live.current(NEVER))).kind).toBe('access_revoked');
});

afterEach(() => void jest.useRealTimers());

test('waits for another process that holds the lock, and uses the grant that it stored', async () => {
  const { grantStore, put } = storeOf(DUE);
  let claims = 0;
  const claim = () => {
    claims += 1;
    if (claims === 2) put(FRESH);
    return Promise.resolve(null);
  };
  const refresh = (): Promise<never> => Promise.reject(new Error('must not be called'));
  const live = createLiveGrant('Source', { ...grantStore, claim }, refresh);
  expect((await live.current(NEVER)).accessToken).toBe('new');
  expect([claims, live.version()]).toEqual([2, '2']);
});

test('uses the stored grant if another process stored one during the refresh', async () => {
  const { grantStore, put } = storeOf(DUE);
  const save = () => {
    put(FRESH);
    return Promise.resolve(null);
  };
  const live = createLiveGrant('Source', { ...grantStore, save }, () => Promise.resolve(grantOf('lost')));
  expect((await live.current(NEVER)).accessToken).toBe('new');
  expect(live.version()).toBe('2');
});

test('repeats a failed refresh of a valid token after the wait of the provider, else after 30 s', async () => {
  for (const [retryAfterMs, waitMs] of [
    [undefined, 30_000],
    [120_000, 120_000],
  ] as const) {
    jest.useFakeTimers({ now: 10_000_000, doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'setTimeout'] });
    const { grantStore } = storeOf({ grant: grantOf('old', { obtainedAt: 0, expiresAt: 11_000_000 }), version: '1' });
    let refreshes = 0;
    const live = createLiveGrant('Source', grantStore, () => {
      refreshes += 1;
      return Promise.reject(new Fault('rate_limited', 'Later.', retryAfterMs === undefined ? {} : { retryAfterMs }));
    });
    for (const [at, expected] of [
      [0, 1],
      [waitMs - 1, 1],
      [waitMs, 2],
    ] as const) {
      jest.setSystemTime(10_000_000 + at);
      expect((await live.current(NEVER)).accessToken).toBe('old');
      expect([at, refreshes]).toEqual([at, expected]);
    }
    jest.useRealTimers();
  }
});

test('a caller that aborts does not abort the refresh, whose grant is stored', async () => {
  const { grantStore, done } = storeOf(DUE);
  let answer: (grant: StoredGrant) => void = () => undefined;
  const answered = new Promise<StoredGrant>((resolve) => (answer = resolve));
  const stop = new AbortController();
  const live = createLiveGrant('Source', grantStore, () => {
    stop.abort(new RangeError('enough'));
    return answered;
  });
  await expect(live.current(stop.signal)).rejects.toThrow('enough');
  answer(FRESH.grant);
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual(['claim 1', 'save claim 1']);
});

/** Accounts of one registry, whose grants are due. The token endpoint answers with these statuses in turn, then 200. */
function registryWith(statuses: number[] = []) {
  const refreshed: string[] = [];
  const used: string[] = [];
  const request = async ({ body, headers }: EgressRequest): Promise<EgressResponse> => {
    const parameters = new URLSearchParams(typeof body === 'string' ? body : '');
    const isRefresh = parameters.get('grant_type') === 'refresh_token';
    const token = parameters.get('refresh_token') ?? '';
    if (isRefresh) refreshed.push(token);
    else used.push(headers?.['authorization'] ?? '');
    await new Promise((resolve) => setImmediate(resolve));
    const status = isRefresh ? (statuses.shift() ?? 200) : 200;
    const answer = isRefresh ? { access_token: `new-${token}`, expires_in: 3600 } : { id: '1', account_id: 'a' };
    return { status, headers: {}, bytes: async () => Buffer.from(JSON.stringify(answer)) } as unknown as EgressResponse;
  };
  const client = { id: 'client', secret: 'secret' };
  const clients = { BOX: client, DROPBOX: client };
  const connectors = createConnectors({ egress: { request }, urls: readSourceUrls(''), maxItemBytes: 1_000, clients });
  const account = (source: ConnectedSourceType, key: string) => {
    const grant = grantOf('old', { refreshToken: `${source}-${key}`, expiresAt: 1 });
    return connectors.account(source, key, storeOf({ grant, version: '1' }).grantStore);
  };
  return { account, refreshed, used };
}

test('concurrent calls of one account share a refresh; other accounts and sources have their own', async () => {
  const { account, refreshed, used } = registryWith();
  const accounts = [account('BOX', '1'), account('BOX', '2'), account('DROPBOX', '1')];
  await Promise.allSettled(accounts.flatMap((one) => [one.identify(NEVER), one.identify(NEVER), one.identify(NEVER)]));
  const names = ['BOX-1', 'BOX-2', 'DROPBOX-1'];
  expect(refreshed.toSorted()).toEqual(names);
  expect(new Set(used)).toEqual(new Set(names.map((name) => `Bearer new-${name}`)));
});

test('a failed refresh is not kept: the next call refreshes again', async () => {
  const { account, refreshed } = registryWith([500]);
  const box = account('BOX', '1');
  expect((await faultOf(box.identify(NEVER))).kind).toBe('server_error');
  expect((await box.identify(NEVER)).account).toBe('1');
  expect(refreshed).toEqual(['BOX-1', 'BOX-1']);
});
