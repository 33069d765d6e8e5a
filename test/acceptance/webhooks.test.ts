import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../contract/files/records.js';
import { type Receiver, startReceiver } from '../emulators/receiver.js';
import { type Site, startSampleSite } from '../emulators/site.js';
import { type ApiClient, apiClient, type Listed, type TestUser } from '../support/client.js';
import { verified } from '../support/signatures.js';
import { waitFor } from '../support/waitFor.js';
import { type SharedService, sharedService } from '../support/sharedService.js';
import { connectMongo } from '../support/mongo.js';

// End-to-end tests of webhooks: registration, all events of a scrape, and verification of the signatures.
const PAGES = 4;
let service: SharedService;
let site: Site;
let receiver: Receiver;
let key: ApiClient;
let user: TestUser;
let webhook: WebhookAnswer & { signing_key: string };

interface WebhookAnswer {
  readonly id: number;
  readonly organization_id: number;
  readonly url: string;
  readonly status: string;
  readonly status_reason: string;
  readonly created_at: string;
  readonly updated_at: string;
}

const clientOf = (apiKey: string): ApiClient => apiClient(service.url, { authorization: `Bearer ${apiKey}` });
const list = async (client: ApiClient, body: unknown = {}) =>
  (await client.post<Listed<WebhookAnswer>>('/webhooks', body)).body;

beforeAll(async () => {
  service = await sharedService();
  site = await startSampleSite(PAGES, 1);
  site.pages.delete('/pages/3.html');
  receiver = await startReceiver();
  key = clientOf(service.apiKey);
  user = await service.user('wanda');
  webhook = (await key.post<typeof webhook>('/add_webhook', { url: receiver.url })).body;
});
afterAll(async () => {
  await service.close();
  await Promise.all([site.close(), receiver.close()]);
});

describe('registration', () => {
  test('returns the signing key only once', async () => {
    const { signing_key, ...record } = webhook;
    expect(signing_key).toMatch(/^[0-9a-f]{64}$/);
    expect(record).toMatchObject({
      organization_id: service.organizationId,
      url: receiver.url,
      status: 'ACTIVE',
      status_reason: '',
    });
    const listed = await list(key);
    expect(listed).toEqual({ results: [record], count: 1 });
    // The signing key is not stored in plain text.
    const connection = await connectMongo(service.env['MONGODB_URI'] ?? '');
    const rows = await connection.collection('webhooks').find({ organizationId: service.organizationId }).toArray();
    await connection.close();
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(signing_key);
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(signing_key, 'hex').toString('base64'));
  });

  test('allows three webhooks per organization, even concurrently; lists filter, order and page them', async () => {
    const client = clientOf((await service.store.organizations.create('three')).apiKey);
    const add = (name: string) => client.post<WebhookAnswer>('/add_webhook', { url: `http://127.0.0.1:9/${name}` });
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(add));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 400, 400]);
    const ids = answers.filter(({ status }) => status === 200).map(({ body }) => body.id);
    const sortedList = await list(client, { order_by: 'created_at', order_dir: 'desc' });
    expect(sortedList.count).toBe(3);
    expect(new Set(sortedList.results.map(({ id }) => id))).toEqual(new Set(ids));
    const sorted = sortedList.results.map(({ created_at }) => created_at);
    expect(sorted).toEqual(sorted.toSorted().toReversed());
    const filtered = await list(client, { filters: { ids: [ids[1]] } });
    expect([filtered.count, filtered.results[0]?.id]).toEqual([1, ids[1]]);
    expect((await list(client, { filters: { ids: null } })).count).toBe(3);
    expect((await list(client, { filters: { ids: [] } })).count).toBe(3);
    const secondPage = await list(client, {
      pagination: { limit: 1, offset: 1 },
      order_by: 'created_at',
      order_dir: 'desc',
    });
    expect(secondPage).toEqual({ results: [sortedList.results[1]], count: 3 });
    // Another organization does not see the webhooks.
    expect((await list(key, { filters: { ids } })).count).toBe(0);
    // After a webhook is deleted, another can be added.
    expect((await key.delete(`/delete_webhook/${ids[0]}`)).status).toBe(404);
    expect((await client.delete('/delete_webhook/none')).status).toBe(422);
    expect((await client.delete(`/delete_webhook/${ids[0]}`)).body).toEqual({ success: true });
    expect((await list(client)).count).toBe(2);
    expect((await add('f')).status).toBe(200);
  });

  test.each([
    ['an invalid URL', 'nonsense'],
    ['another protocol', 'ftp://example.com/hook'],
    ['credentials in the URL', 'https://user:secret@example.com/hook'],
    ['a private address', 'http://10.1.2.3/hook'],
    ['the metadata address', 'http://169.254.169.254/latest'],
  ])('refuses %s, without repeating the value', async (_what, url) => {
    const { status, body } = await key.post<{ detail: { loc: string[] }[] }>('/add_webhook', { url });
    expect(status).toBe(422);
    expect(body.detail[0]?.loc).toEqual(['body', 'url']);
    expect(JSON.stringify(body)).not.toContain(url);
  });
});

const eventsOf = (name: string, id: number): string[] =>
  receiver.accepted().filter((event) => event.startsWith(name) && event.split(' ')[1]?.split(',').includes(String(id)));

describe('events of a scrape, a resync and a delete', () => {
  let parent: FileRecord;
  let pages: FileRecord[];
  beforeAll(async () => {
    parent = await user.settled((await user.scrape({ url: site.url('/sitemap.xml') })).id);
    pages = await user.children(parent.id);
    await receiver.waitForAccepted(1 + 1 + 1 + 2 + PAGES * 3 + 1 + 1);
  });

  test('include each step of the pages and of the scrape, once and in order', () => {
    for (const page of pages) {
      const eventsOfPage = receiver
        .accepted()
        .filter((event) => event.split(' ')[1]?.split(',').includes(String(page.id)));
      const end = page.sync_status === 'READY' ? ['FILE_READY', 'WEBPAGE_READY'] : ['FILE_ERROR', 'WEBPAGE_ERROR'];
      expect(eventsOfPage.map((event) => event.split(' ')[0])).toEqual(['FILES_CREATED', 'FILE_SYNCING', ...end]);
    }
    expect(pages.map((page) => page.sync_status).toSorted()).toEqual([
      ...Array<string>(PAGES - 1).fill('READY'),
      'SYNC_ERROR',
    ]);
    const own = receiver
      .accepted()
      .filter((one) => one.endsWith(` ${parent.id}`) || one.endsWith(` ${parent.request_id}`));
    expect(own.map((one) => one.split(' ')[0])).toEqual([
      'FILES_CREATED',
      'FILE_SYNCING',
      'WEBSCRAPE_URLS_READY',
      'ALL_UPLOADED_FILES_QUEUED',
      'FILE_READY',
      'ALL_FILES_PROCESSED',
    ]);
    expect(receiver.accepted().at(-1)).toBe(`ALL_FILES_PROCESSED ${parent.request_id}`);
  });

  test("are signed in all three ways, and have the format of Carbon's hosted service", () => {
    for (const received of receiver.received) {
      expect(verified(received, webhook.signing_key)).toEqual({ plain: true, compact: true, standard: true });
      // Verification with another key fails.
      expect(verified(received, 'ab'.repeat(32))).toEqual({ plain: false, compact: false, standard: false });
      expect(received.headers['content-type']).toBe('application/json');
      expect(Object.keys(JSON.parse(received.raw) as object)).toEqual(['payload']);
      const publicFields = ['webhook_type', 'obj', 'customer_id', 'timestamp'];
      // Our two additional fields identify the workflow.
      expect(Object.keys(received.event)).toEqual([...publicFields, 'workflow_id', 'workflow_url']);
      expect(received.event.customer_id).toBe('wanda');
      expect(received.event.timestamp).toMatch(/^\d{10}$/);
    }
    const ready = receiver.received.find(({ event }) => event.webhook_type === 'FILE_READY');
    expect(ready?.event.obj.additional_information).toEqual({ is_resync: 'False', request_id: parent.request_id });
  });

  test('have is_resync "True" for a resync', async () => {
    const page = pages.find(({ sync_status }) => sync_status === 'READY');
    const countBefore = receiver.accepted().length;
    const { body } = await user.post<FileRecord>('/resync_file', { file_id: page?.id, chunk_size: 40 });
    const newEvents = (await receiver.waitForAccepted(countBefore + 3)).slice(countBefore);
    expect(newEvents).toEqual(['FILE_SYNCING', 'FILE_READY', 'WEBPAGE_READY'].map((kind) => `${kind} ${page?.id}`));
    expect(receiver.received.at(-1)?.event.obj.additional_information).toEqual({
      is_resync: 'True',
      request_id: body.request_id,
    });
  });

  test('report each deleted file only if requested', async () => {
    const [unreported, ...reported] = pages.map(({ id }) => id);
    await user.post('/delete_files_v2', { filters: { ids: [unreported] } });
    await waitFor(
      () => user.post<Listed<FileRecord>>('/user_files_v2', { filters: { ids: [unreported] } }),
      ({ body }) => body.count === 0,
    );
    const before = receiver.accepted().length;
    await user.post('/delete_files_v2', { filters: { ids: reported }, send_webhook: true, preserve_file_record: true });
    expect(new Set((await receiver.waitForAccepted(before + reported.length)).slice(before))).toEqual(
      new Set(reported.map((id) => `FILE_DELETED ${id}`)),
    );
    expect(eventsOf('FILE_DELETED', unreported ?? 0)).toEqual([]);
  });

  test('are the same in the feed and in the deliveries', async () => {
    const { body } = await key.get<{ results: { webhook_type: string; obj: { object_id: string | string[] } }[] }>(
      '/events?limit=1000',
    );
    const names = body.results.map(({ webhook_type, obj }) => `${webhook_type} ${[obj.object_id].flat().join(',')}`);
    expect(names.toSorted()).toEqual(receiver.accepted().toSorted());
    // A delivery is recorded shortly after the receiver has received the event.
    await waitFor(
      () => key.get<Listed<{ status: string }>>(`/webhooks/${webhook.id}/deliveries?limit=1000&status=DELIVERED`),
      ({ body: deliveries }) => deliveries.count === names.length,
    );
  });

  test('are not sent to a deleted webhook, whose workflow ends', async () => {
    await key.delete(`/delete_webhook/${webhook.id}`);
    await waitFor(
      () => service.store.webhooks.find(webhook.id),
      (registration) => registration === null,
    );
    expect(await service.store.deliveries.count(webhook.id)).toBe(0);
    const countBefore = receiver.received.length;
    await user.settled((await user.scrape({ url: site.url('/sitemap.xml') })).id);
    expect(receiver.received).toHaveLength(countBefore);
  });
});
