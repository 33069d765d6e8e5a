import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { Activities } from '../../../activities/index.js';
import type { FileRecord } from '../../../contract/files/records.js';
import type { FileDoc } from '../../../store/models/files.js';
import { startHeldSite } from '../../emulators/heldSite.js';
import { readStoredState } from '../../support/storedState.js';
import type { TestUser } from '../../support/client.js';
import { withDatabase } from '../../support/mongo.js';
import { waitFor } from '../../support/waitFor.js';
import { startService, type TestService } from '../../support/service.js';

const MAX_QUEUED = 3;
let service: TestService;
/** Number of queued files of each customer at each planning of batches. */
const planned = new Map<string, number[]>();

const counting = (activities: Activities): Activities => ({
  ...activities,
  async planBatches(input) {
    const plan = await activities.planBatches(input);
    const { customerId = '' } = (await service.store.runs.find(input.runId)) ?? {};
    const queued = await withDatabase(service, (connection) =>
      connection
        .collection<FileDoc>('files')
        .countDocuments({ customerId, isContainer: false, syncStatus: 'QUEUED_FOR_SYNC' }),
    );
    planned.set(customerId, [...(planned.get(customerId) ?? []), queued]);
    return plan;
  },
});

beforeAll(async () => {
  service = await startService(
    { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', MAX_QUEUED_FILES: String(MAX_QUEUED), LIMIT_RECHECK_S: '0.3' },
    { worker: false },
  );
  await service.startWorker(counting);
});
afterAll(() => service.close());

const statuses = (files: readonly FileRecord[]): string[] => files.map((file) => file.sync_status).toSorted();
const settledIn = (user: TestUser, parent: FileRecord, expected: string[]) =>
  waitFor(
    () => user.children(parent.id),
    (pages) => statuses(pages).join() === expected.join(),
  );

test('marks files beyond a full queue DELAYED with the reason, and processes them once there is space', async () => {
  const site = await startHeldSite(8);
  const user = await service.user('quinn');
  const parent = await user.scrape({ url: site.url('/sitemap.xml') });
  // The site answers the first two pages and holds the third. Until its release, no other file is queued.
  const delayed = Array<string>(8 - MAX_QUEUED).fill('DELAYED');
  const pages = await settledIn(user, parent, [...delayed, 'READY', 'READY', 'SYNCING']);
  const held = pages.filter((page) => page.sync_status === 'DELAYED');
  expect(held.map((page) => page.external_url?.match(/\d+(?=\.html)/)?.[0])).toEqual(['3', '4', '5', '6', '7']);
  for (const page of held) expect(page.sync_error_message).toMatch(/maximum number of queued files/);
  expect((await user.post('/resync_file', { file_id: held[0]?.id })).status).toBe(409);

  site.release();
  expect(await user.settled(parent.id)).toMatchObject({ sync_status: 'READY', file_metadata: { pages_ready: 8 } });
  for (const page of await user.children(parent.id))
    expect(page).toMatchObject({ sync_status: 'READY', sync_error_message: null });
  expect(Math.max(...(planned.get('quinn') ?? []))).toBe(MAX_QUEUED);
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
  await site.close();
});

test('processes an upload and a scrape while files of another scrape are DELAYED, and cancels these', async () => {
  const [slow, quick] = [await startHeldSite(8), await startHeldSite(2)];
  const user = await service.user('ruth');
  const parent = await user.scrape({ url: slow.url('/sitemap.xml') });
  await settledIn(user, parent, [...Array<string>(5).fill('DELAYED'), 'READY', 'READY', 'SYNCING']);
  const sent = await user.send({ name: 'notes.txt', content: 'Sent in between.' });
  expect(await user.settled(sent.id)).toMatchObject({ sync_status: 'READY' });
  const second = await user.scrape({ url: quick.url('/sitemap.xml') });
  expect(await user.settled(second.id)).toMatchObject({ sync_status: 'READY', file_metadata: { pages_ready: 2 } });
  expect((await user.post('/cancel_sync', { file_id: parent.id })).status).toBe(200);
  expect((await user.settled(parent.id)).sync_status).toBe('SYNC_ABORTED');
  expect(statuses(await user.children(parent.id))).toEqual([
    'READY',
    'READY',
    ...Array<string>(6).fill('SYNC_ABORTED'),
  ]);
  await Promise.all([slow.close(), quick.close()]);
});

test('marks uploads beyond a full queue DELAYED without a worker, and later processes or cancels them', async () => {
  await service.stopWorker();
  const user = await service.user('sid');
  const files: FileRecord[] = [];
  for (let n = 0; n < 8; n += 1) files.push(await user.send({ name: `${n}.txt`, content: `Number ${n}.` }));
  const last = files.at(-1)!;
  expect(files.map((file) => file.sync_status)).toEqual([
    ...Array<string>(MAX_QUEUED).fill('QUEUED_FOR_SYNC'),
    ...Array<string>(8 - MAX_QUEUED).fill('DELAYED'),
  ]);
  expect(last.sync_error_message).toMatch(/maximum number of queued files/);
  const other = await service.user('someone else');
  expect(await other.send({ name: 'a.txt', content: 'Mine.' })).toMatchObject({ sync_status: 'QUEUED_FOR_SYNC' });
  const runs = () =>
    withDatabase(service, (connection) =>
      connection.collection('runs').countDocuments({ customerId: 'sid', held: true, startedAt: null }),
    );
  expect(await runs()).toBe(8 - MAX_QUEUED);
  expect((await user.post('/cancel_sync', { file_id: last.id })).status).toBe(200);
  expect((await user.file(last.id)).sync_status).toBe('SYNC_ABORTED');

  await service.startWorker(counting);
  for (const { id } of files.slice(0, -1))
    expect(await user.settled(id)).toMatchObject({ sync_status: 'READY', sync_error_message: null });
  expect(await runs()).toBe(0);
  expect(Math.max(...(planned.get('sid') ?? []))).toBeLessThanOrEqual(MAX_QUEUED);
  expect((await user.file(last.id)).sync_status).toBe('SYNC_ABORTED');
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});
