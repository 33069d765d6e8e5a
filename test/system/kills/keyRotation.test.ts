import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../contract/files/records.js';
import { DRIVE_DOCUMENT, DRIVE_ROOT, type GoogleDriveEmulator, startGoogleDrive } from '../../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import { readStoredState } from '../../support/storedState.js';
import type { Listed, TestUser } from '../../support/client.js';
import { consentTo } from '../../support/consent.js';
import { withDatabase } from '../../support/mongo.js';
import { testEngines } from '../../support/engines.js';
import { loadProduct } from '../../support/product.js';
import { startService, type TestService } from '../../support/service.js';
import { sharedLocalModel } from '../../support/sharedLocalModel.js';
import { waitFor } from '../../support/waitFor.js';

const FILES = 12;
const [OLD, NEW] = ['old', 'new'].map((id) => `${id}:${randomBytes(32).toString('base64')}`);

let drive: GoogleDriveEmulator;
let service: TestService;
let user: TestUser;

beforeAll(async () => {
  const names = Array.from({ length: FILES }, (_, nth) => `f${nth}`);
  const files = names.map((name) => [name, { name, mimeType: DRIVE_DOCUMENT, content: `About ${name}.` }]);
  drive = await startGoogleDrive(Object.fromEntries(files), { rotates: true, filesPerPage: 100 });
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: drive.settings,
    OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
    // First, all processes receive the new key in second place.
    SECRET_KEY: `${OLD},${NEW}`,
  });
  user = await service.user('rota');
});
afterAll(async () => {
  await service.close();
  await drive.close();
});

const sourceOf = async (): Promise<DataSourceRecord> =>
  (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;
const filesOf = async (): Promise<FileRecord[]> =>
  (await user.post<Listed<FileRecord>>('/user_files_v2', { pagination: { limit: 100 } })).body.results;
/** Returns the sealed credentials of the record. */
const sealed = (): Promise<string> =>
  withDatabase(service, async (db) =>
    JSON.stringify((await db.collection('dataSources').findOne({}))?.['sealedCredentials']),
  );
const refreshes = (): number =>
  drive.oauth.requests.filter(({ parameters }) => parameters['grant_type'] === 'refresh_token').length;

/** Starts a worker that seals with the new key. */
async function startNewWorker(): Promise<() => Promise<void>> {
  const { createLog, createWorker, loadConfig } = await loadProduct();
  const worker = await createWorker(loadConfig({ ...service.env, SECRET_KEY: `${NEW},${OLD}` }), {
    log: createLog({ level: 'error', name: 'rotated' }),
    localModel: await sharedLocalModel(testEngines()),
    measureLoad: () => ({ waitShare: null, waited: null, othersShare: null }),
  });
  const ended = worker.run();
  return async () => {
    worker.stop();
    await ended;
  };
}

test('a token refreshed by a worker with the new key first is read by an API with the old key first', async () => {
  const body = { service: 'GOOGLE_DRIVE', connecting_new_account: true, enable_file_picker: false };
  const { oauth_url: url } = (await user.post<{ oauth_url: string }>('/integrations/oauth_url', body)).body;
  expect(await consentTo(url)).toMatchObject({ status: 200 });
  await waitFor(sourceOf, (source) => source.sync_status === 'READY');
  expect(await sealed()).toContain('old');

  // The contents of some files are served only after the worker was replaced.
  drive.injectFault((path) => (/\/f1\d*\/export/.test(path) ? 'hang' : null));
  const request = { data_source_id: (await sourceOf()).id, ids: [DRIVE_ROOT] };
  expect((await user.post('/integrations/files/sync', request)).status).toBe(200);
  await waitFor(filesOf, (files) => files.some(({ sync_status: status }) => status === 'READY'));
  await service.stopWorker();
  drive.reset();
  const unfinished = (await filesOf()).filter(({ sync_status: status }) => status !== 'READY').length;
  expect(unfinished).toBeGreaterThan(0);
  drive.oauth.expireAll();
  const stopWorker = await startNewWorker();
  const files = await waitFor(
    filesOf,
    (all) => all.length === FILES && all.every(({ sync_status: status }) => status === 'READY'),
  );
  expect(new Set(files.map(({ external_file_id: id }) => id)).size).toBe(FILES);
  expect(refreshes()).toBe(1);
  expect(await sealed()).toContain('new');

  // In a dry run, the API itself reads the source.
  drive.oauth.expireAll();
  const dry = await user.post<{ files: number }>('/integrations/files/sync', { ...request, dry_run: true });
  expect(dry).toMatchObject({ status: 200, body: { files: FILES } });
  expect(refreshes()).toBe(2);
  expect(await sealed()).toContain('old');
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
  await stopWorker();
});
