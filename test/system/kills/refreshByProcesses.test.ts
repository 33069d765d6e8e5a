import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';

import type { DataSourceRecord } from '../../../contract/files/records.js';
import type { ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import type { DataSourceDoc } from '../../../store/models/dataSources.js';
import { type GmailEmulator, startGmail } from '../../emulators/gmail.js';
import { type GoogleDriveEmulator, startGoogleDrive } from '../../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET, type OAuthProvider } from '../../emulators/oauthProvider.js';
import { type AccountCaller, startAccountCaller } from '../../support/accountCaller.js';
import type { IdentifyCalls } from '../../support/accountCallerChild.js';
import type { Listed, TestUser } from '../../support/client.js';
import { consentTo } from '../../support/consent.js';
import { withDatabase } from '../../support/mongo.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughly } from '../../support/thorough.js';
import { waitFor } from '../../support/waitFor.js';

// These tests refresh tokens in separate processes, which can be killed. oauthGrants.test.ts tests a single process.

const PROCESSES = 3;
const CALLS = 50;
const ACCOUNT = 'ada@harbour.example';

/** A source whose refresh tokens rotate: each works once. */
let drive: GoogleDriveEmulator;
/** A source whose refresh tokens do not rotate. */
let gmail: GmailEmulator;
let service: TestService;
let callers: AccountCaller[];
let customers = 0;

beforeAll(async () => {
  [drive, gmail] = await Promise.all([startGoogleDrive({}, { rotates: true }), startGmail()]);
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: `${drive.settings},${gmail.settings}`,
    OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET},GMAIL=${CLIENT_ID}:${CLIENT_SECRET}`,
    LOG_LEVEL: 'silent',
  });
  callers = await Promise.all(Array.from({ length: PROCESSES }, () => startAccountCaller(service.env)));
});
afterEach(() => {
  for (const { oauth } of [drive, gmail]) oauth.requests.length = 0;
});
afterAll(async () => {
  await Promise.all(callers.map((caller) => caller.kill()));
  await service.close();
  await Promise.all([drive.close(), gmail.close()]);
});

const refreshesOf = ({ requests }: OAuthProvider) =>
  requests.filter(({ parameters }) => parameters['grant_type'] === 'refresh_token');

/** Connects an account, and expires its access token. */
async function connected(type: ConnectedSourceType) {
  customers += 1;
  const user = await service.user(`refreshed ${customers}`);
  const connect = async (): Promise<DataSourceRecord> => {
    const body = { service: type, connecting_new_account: true, sync_source_items: false, enable_file_picker: false };
    const { oauth_url: url } = (await user.post<{ oauth_url: string }>('/integrations/oauth_url', body)).body;
    expect(await consentTo(url)).toMatchObject({ status: 200 });
    return record(user);
  };
  const { id } = await connect();
  for (const { oauth } of [drive, gmail]) oauth.expireAll();
  const { organizationId, userId } = await service.store.users.ensure(1, `refreshed ${customers}`);
  const calls = (count: number): IdentifyCalls => ({
    tenant: { organizationId, userId },
    dataSourceId: id,
    calls: count,
  });
  return { user, connect, id, calls };
}
async function record(user: TestUser): Promise<DataSourceRecord> {
  const { results } = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body;
  expect(results).toHaveLength(1);
  return results[0]!;
}

/**
 * Stores an account whose token has expired by its stored expiry time, so that each call detects it before its request.
 * Returns a function that builds its calls.
 */
async function expiredAccount(): Promise<(count: number) => IdentifyCalls> {
  const tenant = await service.store.users.ensure(1, 'out of time');
  const now = Date.now();
  const times = { obtainedAt: now - 3_600_000, expiresAt: now - 1 };
  const credentials = JSON.stringify({ ...drive.oauth.grant(), ...times, facts: {}, clientId: CLIENT_ID });
  const connection = { type: 'GOOGLE_DRIVE', externalId: 'GOOGLE_DRIVE|out of time', credentials } as const;
  const { dataSource } = await service.store.transaction((session) =>
    service.store.dataSources.connect(tenant, { ...connection, metadata: {}, tags: [], enableAutoSync: null }, session),
  );
  return (count) => ({ tenant, dataSourceId: dataSource._id, calls: count });
}

/**
 * Kills a process after the provider has executed its refresh, before the process receives the answer. Its claim
 * remains.
 */
async function killBeforeAnswer({ oauth, load }: typeof drive | typeof gmail, calls: IdentifyCalls): Promise<void> {
  const caller = callers.pop()!;
  const release = oauth.holdReplies();
  void caller.identify(calls);
  await waitFor(
    () => refreshesOf(oauth),
    (refreshes) => refreshes.length === 1,
  );
  await caller.kill();
  await waitFor(
    () => load.current,
    (requests) => requests === 0,
  );
  release();
  await waitFor(
    () => refreshesOf(oauth)[0]?.outcome,
    (outcome) => outcome === 'lost',
  );
}
/** Sets all claims to expired instead of waiting for their expiry. */
const endClaims = () =>
  withDatabase(service, (db) =>
    db
      .collection<DataSourceDoc>('dataSources')
      .updateMany({ refreshClaim: { $ne: null } }, { $set: { 'refreshClaim.until': new Date(0) } }),
  );

test(`makes exactly one refresh for ${CALLS} concurrent calls from ${PROCESSES} processes with an expired, rotating token`, async () => {
  const calls = await expiredAccount();
  for (let iteration = 1; iteration <= 2; iteration += 1) {
    const share = (index: number) => Math.ceil((CALLS - index) / PROCESSES);
    const outcomes = await Promise.all(callers.map((caller, index) => caller.identify(calls(share(index)))));
    expect(outcomes.flat()).toEqual(Array.from({ length: CALLS }, () => ACCOUNT));
    expect(refreshesOf(drive.oauth).map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: iteration }, () => 'granted'),
    );
    // In the next iteration, the source itself rejects the token.
    drive.oauth.expireAll();
  }
});

test('repeats the refresh of a rotating token whose answer was lost with its process, then asks for a new connection', async () => {
  const { user, connect, id, calls } = await connected('GOOGLE_DRIVE');
  await killBeforeAnswer(drive, calls(1));
  const waiting = callers[0]!.identify(calls(5));
  await endClaims();
  expect(new Set(await waiting)).toEqual(new Set(['access_revoked']));
  const [first, ...again] = refreshesOf(drive.oauth);
  expect(again.length).toBeGreaterThanOrEqual(1);
  for (const { parameters, outcome } of again)
    expect([parameters['refresh_token'], outcome]).toEqual([first?.parameters['refresh_token'], 'refused']);

  // A run of the service gets the same refusal, and emits one event.
  for (let times = 0; times < 2; times += 1) await user.post('/integrations/items/sync', { data_source_id: id });
  await waitFor(
    () => record(user),
    (source) => source.revoked_access,
  );
  expect(await record(user)).toMatchObject({ id, last_sync_action: 'REVOKE' });
  await waitFor(
    () => record(user),
    ({ sync_status: status }) => status === 'SYNC_ERROR',
  );
  const revokeEvents = await withDatabase(service, (db) =>
    db
      .collection('events')
      .find({ 'events.kind': 'REVOKE', 'events.customerId': `refreshed ${customers}` })
      .toArray(),
  );
  expect(revokeEvents).toHaveLength(1);
  expect(await connect()).toMatchObject({ id, revoked_access: false });
  expect(await callers[0]!.identify(calls(1))).toEqual([ACCOUNT]);
});

thoroughly(
  'after the answer of a refresh was lost with its process, another process refreshes a token that does not rotate',
  async () => {
    const { user, calls } = await connected('GMAIL');
    await killBeforeAnswer(gmail, calls(1));
    const waiting = callers.map((caller) => caller.identify(calls(5)));
    await endClaims();
    expect(new Set((await Promise.all(waiting)).flat())).toEqual(new Set([ACCOUNT]));
    expect(refreshesOf(gmail.oauth).map(({ outcome }) => outcome)).toEqual(['lost', 'granted']);
    expect(await record(user)).toMatchObject({ revoked_access: false });
  },
);
