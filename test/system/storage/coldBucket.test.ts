import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import type { EmbeddingStorageStatus } from '../../../contract/files/statuses.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import { coldSweepOnce } from '../../../dispatch/coldSweep.js';
import { createDispatcher, type Dispatcher } from '../../../dispatch/dispatcher.js';
import { createLog } from '../../../observability/log.js';
import { type S3Emulator, startS3 } from '../../emulators/s3.js';
import { cli } from '../../support/cli.js';
import type { TestUser } from '../../support/client.js';
import { letDaysPass, pointsOfFile, fileIdsWithStoredVectors } from '../../support/coldFiles.js';
import { testEngines } from '../../support/engines.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughly } from '../../support/thorough.js';
import { waitFor } from '../../support/waitFor.js';

let s3: S3Emulator;
let service: TestService;
let client: Client;
let dispatcher: Dispatcher;
let user: TestUser;

beforeAll(async () => {
  s3 = await startS3(10);
  service = await startService({
    LOG_LEVEL: 'silent',
    S3_BUCKET: 'files',
    S3_ENDPOINT: s3.endpoint,
    S3_ACCESS_KEY_ID: 'id',
    S3_SECRET_ACCESS_KEY: 'secret',
  });
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  dispatcher = createDispatcher(client, service.names, service.store, createLog({ level: 'silent', name: 'test' }));
  user = await service.user('frida');
});
afterAll(async () => {
  await service.close();
  await dispatcher.close();
  await s3.close();
});

const waitForStatus = (id: number, status: EmbeddingStorageStatus): Promise<FileRecord> =>
  waitFor(
    () => user.file(id),
    (file) => file.embedding_storage_status === status,
  );
const allRunsEnded = () =>
  waitFor(
    () => service.store.runs.listActiveStartedUntil(new Date(Date.now() + 1), 10),
    (runs) => runs.length === 0,
  );
const vectorKeys = (): string[] => [...s3.objects.keys()].filter((key) => key.endsWith('.vectors'));
async function moveToColdStorage(id: number): Promise<void> {
  await letDaysPass(service.env, 2, [id]);
  await coldSweepOnce(service.store, dispatcher);
  await waitForStatus(id, 'COLD_STORAGE');
  await allRunsEnded();
}
async function upload(): Promise<number> {
  const content = 'The harbour is closed in winter. '.repeat(60);
  const query = { chunk_size: 60, enable_cold_storage: true, hot_storage_time_to_live: 1 };
  const { id } = await user.send({ name: 'harbour.md', content }, { ...query, generate_sparse_vectors: true });
  expect(await user.settled(id)).toMatchObject({ sync_status: 'READY' });
  return id;
}

test('moves vectors to the bucket of file storage, and restores them bit for bit', async () => {
  const id = await upload();
  const before = await pointsOfFile(service.env, id);
  expect(before.length).toBeGreaterThan(2);
  await moveToColdStorage(id);
  expect(await pointsOfFile(service.env, id)).toEqual([]);
  expect(vectorKeys()).toEqual([expect.stringMatching(new RegExp(`^files/1/${id}/\\d+\\..+\\.vectors$`))]);
  expect(await fileIdsWithStoredVectors(service.env)).toEqual([]);

  expect((await user.post('/move_to_hot_storage', { filters: { ids: [id] } })).body).toBe(true);
  await waitForStatus(id, 'HOT_STORAGE');
  await allRunsEnded();
  expect(await pointsOfFile(service.env, id)).toEqual(before);
  expect(vectorKeys()).toEqual([]);
});

test('sets SYNC_ERROR if vectors in the bucket were changed, and deletes the vectors of a deleted file', async () => {
  const id = await upload();
  await moveToColdStorage(id);
  const key = vectorKeys().find((one) => one.startsWith(`files/1/${id}/`)) ?? '';
  s3.objects.set(key, (s3.objects.get(key) ?? Buffer.alloc(0)).subarray(0, -1));
  await user.post('/move_to_hot_storage', { filters: { ids: [id] } });
  await waitFor(
    () => user.file(id),
    (file) => file.sync_status === 'SYNC_ERROR',
  );
  await allRunsEnded();
  await user.post('/delete_files_v2', { filters: { ids: [id] } });
  await waitFor(
    () => [...s3.objects.keys()].filter((one) => one.includes(`/${id}/`)),
    (remaining) => remaining.length === 0,
  );
  expect(s3.inProgress()).toEqual([]);
});

// test/system/storage/reconcile.test.ts tests the same command with file storage in a folder.
thoroughly(
  'reconcile lists the whole bucket, and deletes only stray objects in the key format of the service',
  async () => {
    const id = await upload();
    await moveToColdStorage(id);
    const env = { ...service.env, PUBLIC_URL: service.url };
    expect((await cli(env, 'reconcile', '--json')).json()).toMatchObject({ left: 0 });
    const keysBefore = [...s3.objects.keys()];
    // More than one page of a listing.
    const strays = Array.from({ length: 25 }, (_, index) => `files/1/${9_000_000 + index}/1.raw`);
    for (const key of strays) s3.objects.set(key, Buffer.from('stray'));
    const foreignKey = 'files/1/notes.txt';
    s3.objects.set(foreignKey, Buffer.from('not ours'));
    const found = await cli(env, 'reconcile', '--json');
    expect(found.code).toBe(1);
    expect(found.json()).toMatchObject({
      looked_at: { stored: keysBefore.length + strays.length + 1 },
      differences: { stray_stored: { count: strays.length + 1 } },
    });
    // Objects with other names are reported but not deleted.
    expect((await cli(env, 'reconcile', '--mend', '--json')).json()).toMatchObject({ left: 1 });
    expect([...s3.objects.keys()].toSorted()).toEqual([...keysBefore, foreignKey].toSorted());
    s3.objects.delete(foreignKey);
    expect((await cli(env, 'reconcile', '--json')).json()).toMatchObject({ left: 0 });
  },
);
