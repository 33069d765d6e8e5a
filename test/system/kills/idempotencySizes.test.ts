import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type mongoose from 'mongoose';

import { operations } from '../../../api/routes.js';
import type { FileRecord } from '../../../contract/files/records.js';
import { ACCESS_KEY, ACCESS_KEY_SECRET, type S3SourceEmulator, startS3Source } from '../../emulators/s3Source.js';
import { type Site, sitemapOf, startSite } from '../../emulators/site.js';
import { type Answer, type ApiClient, apiClient, type TestUser, testUser } from '../../support/client.js';
import { everyRow } from '../../support/everyRow.js';
import { startFaultProxy } from '../../support/faultProxy.js';
import { startProcess } from '../../support/processes.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { fixtureForS3 } from '../../support/sourceFixtures/s3.js';
import { thoroughRows } from '../../support/thorough.js';
import { connectMongo, countDocuments } from '../../support/mongo.js';

const ROW_BYTES = 10_000;
const MAX_JSON = 300_000;
const MAX_CONTENTS = 1_000_000;
const MAX_UPLOAD = 1_500_000;
/** Number of settled files. Each operation on a settled file takes one of its own. */
const FILES = 20;

let service: TestService;
let site: Site;
let s3: S3SourceEmulator;
let database: mongoose.Connection;
let user: TestUser;
let organization: ApiClient;
let dataSourceId: number;
const settledFiles: number[] = [];

beforeAll(async () => {
  site = await startSite();
  s3 = await startS3Source();
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: s3.settings,
    CONTENT_ROW_BYTES: String(ROW_BYTES),
    MAX_JSON_BYTES: String(MAX_JSON),
    MAX_CONTENTS_BYTES: String(MAX_CONTENTS),
    MAX_UPLOAD_BYTES: String(MAX_UPLOAD),
  });
  user = await service.user('ida');
  organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  database = await connectMongo(service.env['MONGODB_URI'] ?? '');
  const made = await Promise.all(
    Array.from({ length: FILES }, () =>
      user.post<FileRecord>('/upload_text', { contents: 'A text.', store_file_only: true }),
    ),
  );
  await Promise.all(made.map(({ body }) => user.settled(body.id)));
  settledFiles.push(...made.map(({ body }) => body.id));
  const fixture = fixtureForS3(s3);
  fixture.reset();
  dataSourceId = ((await fixture.connect(user)).body as { id: number }).id;
  // From here on, requests are accepted and no worker runs: their records stay as written.
  await service.stopWorker();
});
afterAll(async () => {
  await database.close();
  await service.close();
  await Promise.all([site.close(), s3.close()]);
});

const nextSettledFile = (): number => {
  const id = settledFiles.pop();
  if (id === undefined) throw new Error('FILES is too small');
  return id;
};

/** Returns a body of exactly this many bytes, padded by a filler text in it. */
function sized(bytes: number, bodyWith: (filler: string) => unknown): unknown {
  const emptySize = JSON.stringify(bodyWith('')).length;
  return bodyWith('x'.repeat(bytes - emptySize));
}

const texts = (bytes: number, each: number): string[] =>
  Array.from({ length: Math.floor(bytes / (each + 3)) }, (_, number) => `${number}`.padEnd(each, 'x'));

type Caller = 'user' | 'organization';
interface Row {
  readonly path: string;
  readonly what: string;
  readonly who?: Caller;
  /** Returns a body, or the bytes of an uploaded file. Called once, just before the request. */
  readonly make: () => unknown;
}

const text = (what: string, contents: () => unknown, more: () => object = () => ({})): Row => ({
  path: '/upload_text',
  what,
  make: () => ({ contents: contents(), ...more() }),
});
const file = (bytes: number): Row => ({
  path: '/uploadfile',
  what: `${bytes} bytes`,
  make: () => Buffer.alloc(bytes, 'x'),
});
const chunks = (what: string, chunk: () => string, files = 1): Row => ({
  path: '/upload_chunks_and_embeddings',
  what,
  make: () => ({
    embedding_model: 'OPENAI',
    chunks_only: true,
    chunks_and_embeddings: Array.from({ length: files }, () => ({
      file_id: nextSettledFile(),
      chunks_and_embeddings: [{ chunk_number: 0, chunk: chunk() }],
    })),
  }),
});
const json = (path: string, what: string, make: () => unknown, who: Caller = 'user'): Row => ({
  path,
  what,
  make,
  who,
});
const tags = () => ({ tags: { word: 'x'.repeat(60_000) } });
const filters = () => ({ filters: { ids: Array.from({ length: 10_000 }, (_, number) => 10 ** 14 + number) } });
const at = (name: string) => site.url(`/${name}`);

const ROWS: readonly Row[] = [
  text('the shortest text', () => 'x'.repeat(5)),
  text('exactly a row', () => 'x'.repeat(ROW_BYTES)),
  text('just more than a row', () => 'x'.repeat(ROW_BYTES + 1)),
  json('/upload_text', 'the longest request', () => sized(MAX_CONTENTS, (contents) => ({ contents }))),
  text(
    'a short text over another',
    () => 'y'.repeat(5),
    () => ({ overwrite_file_id: nextSettledFile() }),
  ),
  text(
    'a long text over another',
    () => 'y'.repeat(ROW_BYTES * 3),
    () => ({ overwrite_file_id: nextSettledFile() }),
  ),
  ...[1, ROW_BYTES, ROW_BYTES + 1, MAX_UPLOAD].map(file),
  chunks('the shortest chunk', () => 'x'),
  chunks('just less than a row', () => 'x'.repeat(ROW_BYTES - 100)),
  chunks('just more than a row', () => 'x'.repeat(ROW_BYTES)),
  chunks('three files of more than a row', () => 'x'.repeat(ROW_BYTES), 3),
  chunks('nearly the longest request', () => 'x'.repeat(MAX_CONTENTS - 300)),
  json('/upload_file_from_url', 'short', () => ({ url: at('a') })),
  json('/scrape_sitemap', 'short', () => ({ url: at('1.xml') })),
  json('/scrape_sitemap', 'long', () => ({ url: at('2.xml'), urls_to_scrape: texts(MAX_JSON - 1_000, 100) })),
  json('/web_scrape', 'one', () => [{ url: at('') }]),
  json('/integrations/rss_feed', 'short', () => ({ url: at('feed') })),
  json('/create_user_file_tags', 'long', () => ({ organization_user_file_id: nextSettledFile(), ...tags() })),
  json('/create_user_file_tags', 'short', () => ({ organization_user_file_id: nextSettledFile(), tags: { a: 1 } })),
  json('/delete_user_file_tags', 'short', () => ({ organization_user_file_id: nextSettledFile(), tags: ['a'] })),
  json('/resync_file', 'short', () => ({ file_id: nextSettledFile() })),
  json('/files/reembed', 'short', () => ({ embedding_model: 'OPENAI' })),
  json('/move_to_hot_storage', 'short', () => ({ filters: { ids: [1] } })),
  json('/modify_cold_storage_parameters', 'short', () => ({ filters: { ids: [1] }, enable_cold_storage: true })),
  json('/delete_files', 'short', () => ({ file_ids: [1] })),
  json('/delete_files_v2', 'short', () => ({ filters: { ids: [1] } })),
  json('/delete_files_v2', 'long', filters),
  json('/integrations/s3', 'short', () => ({ access_key: ACCESS_KEY, access_key_secret: ACCESS_KEY_SECRET })),
  json('/integrations/items/sync', 'short', () => ({ data_source_id: dataSourceId })),
  json('/integrations/files/sync', 'short', () => ({ data_source_id: dataSourceId, ids: ['a'] })),
  json('/integrations/files/sync', 'long', () => ({
    data_source_id: dataSourceId,
    ids: texts(MAX_JSON - 1_000, 100),
  })),
  json('/data_sources/tags/add', 'short', () => ({ data_source_id: dataSourceId, tags: { a: 1 } })),
  json('/data_sources/tags/remove', 'short', () => ({ data_source_id: dataSourceId, tags_to_remove: ['a'] })),
  json('/add_webhook', 'short', () => ({ url: at('') }), 'organization'),
  json('/white_label/create', 'short', () => [whiteLabel('DROPBOX', 'x')], 'organization'),
  json('/quarantined_files/restore', 'short', () => ({ file_ids: [1] }), 'organization'),
  json('/organization/statistics', 'no body', () => undefined, 'organization'),
  json('/delete_users', 'short', () => ({ customer_ids: ['gone'] }), 'organization'),
  json(
    '/delete_users',
    'long',
    () => ({ customer_ids: Array.from({ length: 10_000 }, (_, number) => `customer ${number}`) }),
    'organization',
  ),
  // These rows run only in `npm run test:long`. The rows above test the same operations with short bodies, and other
  // operations with long lists and tags.
  ...thoroughRows([
    json('/upload_file_from_url', 'the longest address', () => ({ url: at('').padEnd(8_192, 'a') })),
    json('/web_scrape', 'long', () => [{ url: at('b'), url_paths_to_include: texts(75_000, 8_000) }]),
    json('/integrations/rss_feed', 'long', () => ({ url: at('feed2'), ...tags() })),
    json('/files/reembed', 'long', () => ({ embedding_model: 'OPENAI', ...filters() })),
    json('/move_to_hot_storage', 'long', filters),
    json('/modify_cold_storage_parameters', 'long', () => ({ enable_cold_storage: false, ...filters() })),
    json('/data_sources/tags/add', 'long', () => ({ data_source_id: dataSourceId, ...tags() })),
    json('/add_webhook', 'the longest address', () => ({ url: at('').padEnd(2_048, 'a') }), 'organization'),
    json('/white_label/create', 'long', () => [whiteLabel('BOX', 'x'.repeat(10_000))], 'organization'),
  ]),
];

const whiteLabel = (data_source_type: string, client_secret: string) => ({
  data_source_type,
  credentials: { client_id: 'id', redirect_uri: 'https://example.com/back', client_secret },
});

/**
 * Operations that need accounts or files in special states. Their handlers write in the same way as those in the table.
 */
const SIMILAR_OPERATIONS = [
  '/data_sources/{data_source_id}/held_deletions/approve',
  '/integrations/azure_blob_storage',
  '/integrations/azure_blob_storage/files',
  '/integrations/confluence/sync',
  '/integrations/connect',
  '/integrations/document360',
  '/integrations/freshdesk',
  '/integrations/github',
  '/integrations/github/sync_repos',
  '/integrations/gitbook',
  '/integrations/gitbook/sync',
  '/integrations/gmail/sync',
  '/integrations/guru',
  '/integrations/oauth_url',
  '/integrations/outlook/sync',
  '/integrations/s3/files',
  '/integrations/slack/sync',
  '/sync_runs/{sync_run_id}/retry',
];

const send = (
  row: Row,
  made: unknown,
  key: string,
  client: ApiClient = row.who === 'organization' ? organization : user,
): Promise<Answer<unknown>> => {
  const headers = { 'idempotency-key': key };
  if (row.path === '/uploadfile') return client.upload({ name: 'a.txt', content: made as Buffer }, {}, headers);
  return client.post(row.path, made, headers);
};

const COUNTED = ['files', 'runs', 'originals', 'webhooks', 'white_labels', 'dataSources', 'events', 'idempotencyKeys'];
const counts = () => countDocuments(database, COUNTED);

/** Returns stored contents that belong to no file: rows without a file id, and blobs without a row. */
async function leftovers(): Promise<unknown[]> {
  const rows = await database
    .collection<{ _id: number; fileId: number | null; bytes: unknown; aliveAt: Date | null }>('originals')
    .find({}, { projection: { fileId: 1, aliveAt: 1, isRow: { $ne: ['$bytes', null] } } })
    .toArray();
  // Replaced contents wait for the reaper, marked by the oldest possible time.
  const current = rows.filter(({ aliveAt }) => aliveAt?.getTime() !== 0);
  const folder = join(service.env['DATA_DIR'] ?? '', 'files', '1', 'originals');
  const blobs = await readdir(folder).catch(() => []);
  const rowIds = new Set(rows.map(({ _id }) => String(_id)));
  return [...current.filter(({ fileId }) => fileId === null), ...blobs.filter((name) => !rowIds.has(name))];
}

test('covers every operation that accepts a key, in the table or in the list of similar ones', () => {
  const accepting = operations.filter(({ createsWork }) => createsWork).map(({ path: one }) => one);
  expect([...new Set([...ROWS.map(({ path: one }) => one), ...SIMILAR_OPERATIONS])].toSorted()).toEqual(
    accepting.toSorted(),
  );
});

test(
  'executes the same request with the same key once, with the same answer',
  () =>
    everyRow(
      ROWS,
      ({ path, what }) => `${path}, ${what}`,
      async (row) => {
        const made = row.make();
        const key = randomBytes(8).toString('hex');
        const first = await send(row, made, key);
        expect([first.status, first.body]).toEqual([200, expect.anything()]);
        await waitFor(leftovers, (found) => found.length === 0);
        const before = await counts();
        const again = await send(row, made, key);
        expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: first.body });
        expect(again.headers.get('idempotent-replayed')).toBe('true');
        // A repeated upload stores its bytes as a draft, which the API deletes after it has sent the answer.
        await waitFor(leftovers, (found) => found.length === 0);
        expect(await counts()).toEqual(before);
      },
    ),
  1_800_000,
);

test('keeps no content of a refused request, and leaves its key free', async () => {
  const key = { 'idempotency-key': 'refused' };
  const missing = { contents: 'x'.repeat(ROW_BYTES * 2), overwrite_file_id: 2 ** 40 };
  expect((await user.post('/upload_text', missing, key)).status).toBe(404);
  const other = { contents: 'x'.repeat(ROW_BYTES * 2) };
  expect((await user.post('/upload_text', other, key)).status).toBe(200);
  expect((await user.post('/upload_text', { contents: 'x'.repeat(ROW_BYTES * 3) }, key)).status).toBe(422);
  expect(await leftovers()).toEqual([]);
});

test('creates one file for 100 concurrent requests with one key, and gives them all the same answer', async () => {
  const contents = 'z'.repeat(ROW_BYTES * 3);
  const before = await database.collection('files').countDocuments();
  const answers = await Promise.all(
    Array.from({ length: 100 }, () =>
      waitFor(
        () => user.post<FileRecord>('/upload_text', { contents }, { 'idempotency-key': 'hundred' }),
        ({ status }) => status !== 409,
      ),
    ),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect(await database.collection('files').countDocuments()).toBe(before + 1);
  await waitFor(leftovers, (found) => found.length === 0);
});

test('answers a dry run that exceeds the time limit of a transaction, and reads its site once', async () => {
  // MongoDB aborts a transaction after 5 s, and checks for expired ones every 2.5 s.
  site.pages.set('/slow.xml', { body: sitemapOf(site.origin, ['/p']), delayMs: 9_000 });
  const body = { url: site.url('/slow.xml'), dry_run: true };
  const answer = await user.post('/scrape_sitemap', body, { 'idempotency-key': 'slow' });
  expect(answer).toMatchObject({ status: 200, body: { dry_run: true, files: 1 } });
  expect(site.requests.filter((path) => path === '/slow.xml')).toHaveLength(1);
});

describe('a request repeated with the same key', () => {
  const large = 'k'.repeat(ROW_BYTES * 3);
  const KILLED: readonly (readonly [Row, 'before' | 'after'])[] = [
    [text('large', () => large), 'before'],
    [file(ROW_BYTES * 3), 'after'],
    ...thoroughRows([
      [text('large', () => large), 'after'] as const,
      [file(ROW_BYTES * 3), 'before'] as const,
      [chunks('large', () => large), 'before'] as const,
      [chunks('large', () => large), 'after'] as const,
    ]),
  ];
  test.each(KILLED.map(([row, when]) => [row.path, when, row] as const))(
    'executes %s once if the API is killed %s the commit',
    async (_path, when, row) => {
      const proxy = await startFaultProxy(service.env);
      const api = await startProcess('api/server', { ...service.env, MONGODB_URI: proxy.env.MONGODB_URI });
      const client = await testUser(`http://127.0.0.1:${String(api.ready['port'])}`, service.apiKey, 'ida');
      const files = await database.collection('files').countDocuments();
      const made = row.make();
      const key = `killed ${when}`;
      const moment = proxy.stopAt({ step: 'commitTransaction', when, nth: 1 });
      const unanswered = send(row, made, key, client).catch(() => null);
      await moment;
      await api.kill();
      expect(await unanswered).toBeNull();
      proxy.reopen();
      // MongoDB holds the dead API's locks until its transaction expires, after 5 s.
      const answer = await waitFor(
        () => send(row, made, key),
        ({ status }) => status !== 409,
      );
      expect(answer.status).toBe(200);
      expect(answer.headers.get('idempotent-replayed')).toBe(when === 'after' ? 'true' : null);
      const isNew = row.path === '/upload_chunks_and_embeddings' ? 0 : 1;
      expect(await database.collection('files').countDocuments()).toBe(files + isNew);
      // The dead API's draft is deleted once it counts as abandoned.
      await waitFor(leftovers, (found) => found.length === (when === 'after' ? 0 : 1));
      await service.store.originals.sweep(Date.now() + 10 * 60_000);
      expect(await leftovers()).toEqual([]);
      await api.stop();
      await proxy.close();
    },
  );
});
