import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { loadConfig, storeSettings } from '../../config/config.js';
import { type Connectors, createConnectors } from '../../connectors/registry.js';
import { createEgress } from '../../egress/createEgress.js';
import type { Egress } from '../../egress/types.js';
import { connectStore, type Store } from '../../store/connect.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import { type GoogleDriveEmulator, startGoogleDrive } from '../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { withDatabase } from '../support/mongo.js';
import { startService, type TestService } from '../support/service.js';

/** Number of independent stores and connectors, which act like separate processes that refresh one grant. */
const WORKERS = 3;
const CALLS = 50;
const NEVER = new AbortController().signal;

let service: TestService;
let drive: GoogleDriveEmulator;
let egress: Egress;
let workers: { store: Store; connectors: Connectors }[];
let source: DataSourceDoc;
let accounts = 0;

beforeAll(async () => {
  drive = await startGoogleDrive({}, { rotates: true });
  service = await startService(
    {
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      SOURCE_URLS: drive.settings,
      OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
    },
    { worker: false },
  );
  const config = loadConfig(service.env);
  egress = createEgress(config.egress);
  workers = [];
  for (let count = 0; count < WORKERS; count += 1)
    workers.push({
      store: await connectStore(storeSettings(config)),
      connectors: createConnectors({ egress, ...config.connectors }),
    });
});
afterAll(async () => {
  await Promise.all(workers.map(({ store }) => store.close()));
  await egress.close();
  await service.close();
  await drive.close();
});

beforeEach(async () => {
  drive.oauth.requests.length = 0;
  drive.oauth.loseReplies(0);
  source = await connectWithGrant();
});
/** Connects a data source with a rotating grant. @param expiresIn milliseconds until its access token expires */
async function connectWithGrant({ expiresIn = -1, clientId = CLIENT_ID } = {}): Promise<DataSourceDoc> {
  accounts += 1;
  const { accessToken, refreshToken } = drive.oauth.grant();
  const now = Date.now();
  const times = { obtainedAt: now - 3_600_000, expiresAt: now + expiresIn };
  const grant = { accessToken, refreshToken, ...times, facts: {}, clientId };
  const owner = await service.store.users.ensure(1, 'refreshed');
  const { dataSource } = await service.store.transaction((session) =>
    service.store.dataSources.connect(
      owner,
      {
        type: 'GOOGLE_DRIVE',
        externalId: `GOOGLE_DRIVE|account ${accounts}`,
        credentials: JSON.stringify(grant),
        metadata: {},
        tags: [],
        enableAutoSync: null,
      },
      session,
    ),
  );
  return dataSource;
}

const accountAt = ({ store, connectors }: (typeof workers)[number]) =>
  connectors.account('GOOGLE_DRIVE', String(source._id), store.accountCredentials(source) ?? 'null');
const identify = (worker: (typeof workers)[number]) => accountAt(worker).identify(NEVER);
const refreshes = () => drive.oauth.requests.filter(({ parameters }) => parameters['grant_type'] === 'refresh_token');

test('fifty concurrent calls with an expired, rotating token make exactly one refresh', async () => {
  const calls = Array.from({ length: CALLS }, (_, index) => identify(workers[index % WORKERS]!));
  const identities = await Promise.all(calls);
  expect(identities.every(({ account }) => account === 'ada@harbour.example')).toBe(true);
  expect(refreshes()).toHaveLength(1);
});

test('fifty concurrent calls make one refresh if the provider refuses the token before its expiry', async () => {
  source = await connectWithGrant({ expiresIn: 3_600_000_000 });
  drive.oauth.expireAll();
  await Promise.all(Array.from({ length: CALLS }, (_, index) => identify(workers[index % WORKERS]!)));
  expect(refreshes()).toHaveLength(1);
});

test('uses the new refresh token for the next refresh', async () => {
  await identify(workers[0]!);
  drive.oauth.expireAll();
  await identify(workers[1]!);
  drive.oauth.expireAll();
  await identify(workers[2]!);
  const used = refreshes().map(({ parameters }) => parameters['refresh_token']);
  expect(new Set(used).size).toBe(3);
  expect(refreshes().every(({ outcome }) => outcome === 'granted')).toBe(true);
});

describe('interrupted refresh', () => {
  test('whose process was killed before the request: another process refreshes after the claim expires', async () => {
    const keeper = workers[0]!.store.accountCredentials(source);
    if (keeper === null || typeof keeper === 'string') throw new Error('no keeper');
    const storedGrant = await keeper.read();
    expect(await keeper.claim(storedGrant?.version ?? '', 400)).not.toBeNull();
    expect(await keeper.claim(storedGrant?.version ?? '', 400)).toBeNull();
    await identify(workers[1]!);
    expect(refreshes()).toHaveLength(1);
  });

  test('whose reply was lost is retried once; after that, the account must be connected again', async () => {
    drive.oauth.loseReplies(1);
    await expect(identify(workers[0]!)).rejects.toMatchObject({ kind: 'access_revoked' });
    expect(refreshes()).toHaveLength(2);
    // The failed refresh has released its claim, so another process does not wait until the claim expires.
    await expect(identify(workers[1]!)).rejects.toMatchObject({ kind: 'access_revoked' });
  });

  test('that the provider refuses temporarily keeps the grant', async () => {
    drive.oauth.refuseRefreshes(1, { status: 503, body: {} });
    await expect(identify(workers[0]!)).rejects.toMatchObject({ kind: 'server_error', retryable: true });
    await identify(workers[1]!);
    expect(refreshes().map(({ outcome }) => outcome)).toEqual(['refused', 'granted']);
  });

  test('continues after its caller aborts, because the provider may send a new token only once', async () => {
    const release = drive.oauth.hold();
    const abort = new AbortController();
    const aborted = accountAt(workers[0]!).identify(abort.signal);
    while (refreshes().length === 0) await sleep(10);
    abort.abort(new Error('cancelled'));
    await expect(aborted).rejects.toThrow('cancelled');
    release();
    await identify(workers[1]!);
    expect(refreshes()).toHaveLength(1);
  });

  test('stores no credentials if the grant was revoked meanwhile', async () => {
    const release = drive.oauth.hold();
    const call = identify(workers[0]!).catch((error: unknown) => error);
    while (refreshes().length === 0) await sleep(10);
    await service.store.transaction((session) => service.store.dataSources.revoke(source, source._id, session));
    release();
    expect(await call).toMatchObject({ kind: 'access_revoked' });
    const rows = await withDatabase(service, (db) =>
      db.collection<DataSourceDoc>('dataSources').find({ _id: source._id }).toArray(),
    );
    expect(rows[0]).toMatchObject({ sealedCredentials: null, revokedAccess: true });
  });
});

test('a grant moved to another record cannot be decrypted there', async () => {
  const otherSource = await connectWithGrant();
  await withDatabase(service, (db) =>
    db
      .collection<DataSourceDoc>('dataSources')
      .updateOne({ _id: otherSource._id }, { $set: { sealedCredentials: source.sealedCredentials } }),
  );
  source = otherSource;
  await expect(identify(workers[0]!)).rejects.toThrow(/authenticate/i);
});

test('a call with the grant of a client that is no longer configured fails without a refresh', async () => {
  source = await connectWithGrant({ clientId: 'another-client' });
  await expect(identify(workers[0]!)).rejects.toMatchObject({ kind: 'not_configured' });
  expect(refreshes()).toHaveLength(0);
});
