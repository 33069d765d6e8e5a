import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type mongoose from 'mongoose';

import { operations } from '../../../api/routes.js';
import type { FileRecord } from '../../../contract/files/records.js';
import { type Site, startSampleSite } from '../../emulators/site.js';
import type { TestUser } from '../../support/client.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { connectMongo } from '../../support/mongo.js';

let service: TestService;
let site: Site;
let user: TestUser;
let database: mongoose.Connection;

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
  site = await startSampleSite(2, 1);
  user = await service.user('ida');
  database = await connectMongo(service.env['MONGODB_URI'] ?? '');
});
afterAll(async () => {
  await database.close();
  await service.close();
  await site.close();
});

const withKey = (key: string) => ({ 'idempotency-key': key });
const WITHOUT_VECTORS = { skip_embedding_generation: true };
const scrape = (key: string, body: Record<string, unknown> = {}, caller = user) =>
  caller.post<FileRecord>(
    '/scrape_sitemap',
    { url: site.url('/sitemap.xml'), ...WITHOUT_VECTORS, ...body },
    withKey(key),
  );
const runs = () => database.collection('runs').countDocuments();

/**
 * POST operations without `createsWork`, which accept no Idempotency-Key. They only read or set a state, except
 * /webhooks/{webhook_id}/redeliver: a repetition can send deliveries again.
 */
const WITHOUT_KEY = [
  '/cancel_sync',
  '/data_sources',
  '/data_sources/{data_source_id}/held_deletions/refuse',
  '/embeddings',
  '/fetch_webpage',
  '/files/reembed/{reembed_id}/cancel',
  '/files/{file_id}/held_deletions/approve',
  '/files/{file_id}/held_deletions/refuse',
  '/integrations/confluence/list',
  '/integrations/data/crm/accounts',
  '/integrations/data/crm/contacts',
  '/integrations/data/crm/leads',
  '/integrations/data/crm/opportunities',
  '/integrations/data/github/issues',
  '/integrations/data/github/pull_requests',
  '/integrations/data/github/pull_requests/comments',
  '/integrations/data/github/pull_requests/commits',
  '/integrations/data/github/pull_requests/files',
  '/integrations/items/list',
  '/integrations/items/sync/cancel',
  '/list_chunks_and_embeddings',
  '/list_users',
  '/modify_user_configuration',
  '/organization/update',
  '/revoke_access_token',
  '/sync_runs/{sync_run_id}/resume',
  '/text_chunks',
  '/update_users',
  '/user',
  '/user_data_sources',
  '/user_files',
  '/user_files_v2',
  '/user_webpages',
  '/webhooks',
  '/webhooks/{webhook_id}/redeliver',
  '/white_label/delete',
  '/white_label/list',
  '/white_label/update',
];

test('every POST that creates work accepts a key', () => {
  const posts = operations.filter(({ method }) => method === 'post');
  const without = posts.filter(({ createsWork }) => !createsWork).map(({ path }) => path);
  expect(without.toSorted()).toEqual(WITHOUT_KEY);
});

test('executes a repeated request with the same key once, and returns the first answer', async () => {
  const before = await runs();
  const first = await scrape('once');
  expect(first.status).toBe(200);
  expect(first.headers.get('idempotent-replayed')).toBeNull();
  await user.settled(first.body.id);
  // The same values in another order, with a default given explicitly.
  const again = await user.post<FileRecord>(
    '/scrape_sitemap',
    { store_file_only: false, tags: null, ...WITHOUT_VECTORS, url: site.url('/sitemap.xml') },
    withKey('once'),
  );
  expect(again).toMatchObject({ status: 200, body: first.body });
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(await runs()).toBe(before + 1);
  expect((await user.children(first.body.id)).map((page) => page.sync_status)).toEqual(['READY', 'READY']);
});

test('starts a run that was accepted with a key immediately, without waiting for the sweeper', async () => {
  const { body } = await scrape('at once', { tags: { a: 1 } });
  const run = await database.collection('runs').findOne({ requestId: body.request_id });
  const started = await waitFor(
    () => database.collection('runs').findOne({ requestId: body.request_id }),
    (found) => found?.['startedAt'] !== null,
  );
  // The sweeper ignores the row until nextTryAt.
  expect(started?.['startedAt'].getTime()).toBeLessThan(run?.['nextTryAt'].getTime());
  await user.settled(body.id);
});

test('the same key for another request is 422 and does nothing', async () => {
  await scrape('other body');
  const before = await runs();
  const answer = await scrape('other body', { chunk_size: 77 });
  expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['header', 'idempotency-key'] }] } });
  expect(await runs()).toBe(before);
});

test('executes one of twenty concurrent requests with one key; early repetitions get 409, later ones the answer', async () => {
  const before = await runs();
  const answers = await Promise.all(Array.from({ length: 20 }, () => scrape('at the same time', { tags: { b: 1 } })));
  const statuses = new Set(answers.map(({ status }) => status));
  expect([...statuses].filter((status) => status !== 200 && status !== 409)).toEqual([]);
  const served = answers.filter(({ status }) => status === 200).map(({ body }) => body);
  expect(served.length).toBeGreaterThan(0);
  expect(await runs()).toBe(before + 1);
  expect(await scrape('at the same time', { tags: { b: 1 } })).toMatchObject({ status: 200, body: served[0] });
});

test('answers 409 while a request with the key is in progress, and executes the next one after that request is aborted', async () => {
  const { organization_id: organizationId, organization_user_id: userId } = (await scrape('some other')).body;
  const session = await database.startSession();
  session.startTransaction();
  const use = { organizationId, userId, route: 'post /scrape_sitemap', key: 'under way' };
  await database
    .collection('idempotencyKeys')
    .insertOne({ ...use, fingerprint: 'x', answer: null, expiresAt: new Date(Date.now() + 60_000) }, { session });
  const answer = await scrape('under way');
  expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining('in progress') } });
  expect(answer.headers.get('retry-after')).toBe('1');
  await session.abortTransaction();
  await session.endSession();
  expect((await scrape('under way')).status).toBe(200);
});

test('leaves the key of a refused request free', async () => {
  const rita = await service.user('rita');
  const parent = (await scrape('refused first', {}, rita)).body;
  await rita.settled(parent.id);
  const resync = (key: string, file_id: number) => rita.post('/resync_file', { file_id }, withKey(key));
  expect((await resync('refused', 2 ** 40)).status).toBe(404);
  expect((await resync('refused', parent.id)).status).toBe(200);
});

test('scopes keys to a user and an operation for 24 hours', async () => {
  const otto = await service.user('otto');
  const [mine, others] = [await scrape('shared'), await scrape('shared', {}, otto)];
  expect(others.status).toBe(200);
  expect(others.body.id).not.toBe(mine.body.id);
  const remove = await user.post('/delete_files_v2', { filters: { ids: [2 ** 40] } }, withKey('shared'));
  expect(remove).toMatchObject({ status: 200, body: { success: true } });

  const keys = database.collection('idempotencyKeys');
  const selector = { key: 'shared', route: 'post /delete_files_v2' };
  const row = await keys.findOne(selector);
  const life = row?.['expiresAt'].getTime() - Date.now();
  expect(Math.round(life / 3_600_000)).toBe(24);
  await keys.updateOne(selector, { $set: { expiresAt: new Date(Date.now() - 1) } });
  const before = await runs();
  const later = await user.post('/delete_files_v2', { filters: { ids: [2 ** 41] } }, withKey('shared'));
  expect(later.status).toBe(200);
  expect(await runs()).toBe(before + 1);
  const index = (await keys.indexes()).find(({ key }) => 'expiresAt' in key);
  expect(index).toMatchObject({ expireAfterSeconds: 0 });
});

test('stores answers encrypted', async () => {
  const { body } = await scrape('sealed', { tags: { word: 'xylophone' } }, await service.user('sealed'));
  expect(body.tags).toEqual({ word: 'xylophone' });
  const row = await database.collection('idempotencyKeys').findOne({ key: 'sealed' });
  expect(row?.['answer']).toEqual({
    keyId: 'k1',
    nonce: expect.any(String),
    ciphertext: expect.any(String),
  });
  const clear = Buffer.from(row?.['answer'].ciphertext, 'base64').toString('latin1') + JSON.stringify(row);
  expect(clear).not.toContain('xylophone');
});

describe('the idempotency key', () => {
  test.each([['x'.repeat(256)], ['']])('is refused if it is too long or empty: %#', async (key) => {
    expect(await scrape(key)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['header', 'idempotency-key'] }] },
    });
  });

  test('may have 255 characters', async () => {
    expect((await scrape('x'.repeat(255))).status).toBe(200);
  });
});
