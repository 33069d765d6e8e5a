import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { workflowIds } from '../../../contract/runs/workflowIds.js';
import type { FileRecord } from '../../../contract/files/records.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import type { FileDoc } from '../../../store/models/files.js';
import { readStoredState } from '../../support/storedState.js';
import type { TestUser } from '../../support/client.js';
import { withDatabase } from '../../support/mongo.js';
import { testEngines } from '../../support/engines.js';
import { startService, type TestService } from '../../support/service.js';
import { isThorough } from '../../support/thorough.js';
import { waitFor } from '../../support/waitFor.js';

// Tests of the upload stream: one workflow per user, which processes all uploads of that user.
let service: TestService;
let client: Client;

beforeAll(async () => {
  service = await startService({ LOG_LEVEL: 'silent' }, { worker: false });
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
});
afterAll(async () => {
  await service.close();
  await client.connection.close();
});

const text = (nth: number) => ({ contents: `Report ${nth}: the lamp was lit.`, skip_embedding_generation: true });
const upload = (user: TestUser, count: number): Promise<FileRecord[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, nth) => (await user.post<FileRecord>('/upload_text', text(nth))).body),
  );
const streamOf = ({ organization_user_id: userId }: FileRecord) =>
  client.workflow.getHandle(service.names.idOf(workflowIds.uploads(userId ?? 0)));
/** Returns the number of a user's files by state. */
const countByState = (customerId: string): Promise<Record<string, number>> =>
  withDatabase(service, async (connection) => {
    const rows = await connection
      .collection<FileDoc>('files')
      .aggregate<{ _id: string; count: number }>([
        { $match: { customerId } },
        { $group: { _id: '$syncStatus', count: { $sum: 1 } } },
      ])
      .toArray();
    return Object.fromEntries(rows.map(({ _id, count }) => [_id, count]));
  });
const allEnded = () =>
  waitFor(
    () => service.store.runs.listActiveStartedUntil(new Date(), 1),
    (runs) => runs.length === 0,
  );

test('processes 60 uploads in a few batches of one workflow; each upload has its own run, request id and events', async () => {
  const user = await service.user('una');
  const files = await upload(user, 60);
  await service.startWorker();
  await waitFor(
    () => countByState('una'),
    ({ READY = 0 }) => READY === 60,
  );
  await allEnded();
  const { events } = await streamOf(files[0]!).fetchHistory();
  const scheduled = (events ?? []).flatMap(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
  );
  expect(new Set(scheduled)).toEqual(new Set(['ingestUploads']));
  // Usually two batches. On a slow machine an activity may start only a part of its batch, so more are needed.
  expect(scheduled.length).toBeLessThan(15);
  expect(new Set(files.map((file) => file.request_id)).size).toBe(60);
  const feed = await waitFor(
    () => service.store.events.after(files[0]!.organization_id, 0, 10_000),
    (written) => written.filter(({ kind }) => kind === 'ALL_FILES_PROCESSED').length >= 60,
  );
  for (const kind of ['ALL_UPLOADED_FILES_QUEUED', 'ALL_FILES_PROCESSED']) {
    const requests = feed.flatMap((event) => (event.kind === kind ? [event.objectId] : []));
    expect(requests).toHaveLength(60);
    expect(new Set(requests)).toEqual(new Set(files.map((file) => file.request_id)));
  }
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});

test('cancel_sync aborts only one upload of the stream', async () => {
  await service.stopWorker();
  const user = await service.user('cal');
  const [first, second] = await upload(user, 2);
  expect((await user.post('/cancel_sync', { file_id: first!.id })).body).toMatchObject({ sync_status: 'SYNC_ABORTED' });
  await service.startWorker();
  expect(await user.settled(second!.id)).toMatchObject({ sync_status: 'READY' });
  expect(await user.file(first!.id)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
});

test('processes an upload that arrives while its stream ends', async () => {
  const user = await service.user('rae');
  for (let nth = 0; nth < 12; nth += isThorough() ? 1 : 3) {
    const [file] = await upload(user, 1);
    // The stream completes a few milliseconds after its last file becomes READY. The pauses vary around that moment.
    expect(await user.settled(file!.id)).toMatchObject({ sync_status: 'READY' });
    await new Promise((resolve) => setTimeout(resolve, nth * 3));
  }
  await allEnded();
});

test('a delete aborts queued files before it deletes anything', async () => {
  await service.stopWorker();
  const user = await service.user('del');
  const files = await upload(user, 10);
  const statesAtDelete: string[] = [];
  await service.startWorker((activities) => ({
    ...activities,
    // Plan no uploads before the delete, so that all files are still queued.
    planUploads: (input) =>
      statesAtDelete.length > 0 ? activities.planUploads(input) : Promise.resolve({ batches: [], window: 4 }),
    async deleteBatch(input) {
      statesAtDelete.push(JSON.stringify(await countByState('del')));
      return activities.deleteBatch(input);
    },
  }));
  await user.post('/delete_files_v2', { filters: { ids: files.map(({ id }) => id) } });
  await waitFor(
    () => countByState('del'),
    (counts) => Object.keys(counts).length === 0,
  );
  expect(statesAtDelete[0]).toBe(JSON.stringify({ SYNC_ABORTED: 10 }));
  await allEnded();
});
