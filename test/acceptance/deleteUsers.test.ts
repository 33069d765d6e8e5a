import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { type HeldSite, startHeldSite } from '../emulators/heldSite.js';
import { type Site, startSampleSite } from '../emulators/site.js';
import { readStoredState } from '../support/storedState.js';
import { type ApiClient, apiClient } from '../support/client.js';
import { connectSource } from '../support/dataSources.js';
import { startService, type TestService } from '../support/service.js';
import { waitFor } from '../support/waitFor.js';

let service: TestService;
let site: Site;
let heldSite: HeldSite;
let organization: ApiClient;

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
  site = await startSampleSite(2, 1);
  heldSite = await startHeldSite(4);
  organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
});
afterAll(async () => {
  heldSite.release();
  await service.close();
  await Promise.all([site.close(), heldSite.close()]);
});

interface Listed {
  users: { id: number; deleted_at: string | null }[];
}
const idOf = async (name: string): Promise<number> =>
  (await organization.post<{ id: number }>('/user', { customer_id: name })).body.id;
const deleteUsers = (...customer_ids: string[]) => organization.post('/delete_users', { customer_ids });

/** Waits until no run is in progress. */
async function untilIdle(): Promise<void> {
  const { runs } = service.store;
  await waitFor(
    async () => {
      const later = new Date(Date.now() + 60_000);
      return [...(await runs.listUnstarted(later, 1)), ...(await runs.listActiveStartedUntil(later, 1))];
    },
    (inProgress) => inProgress.length === 0,
  );
}

test('deletes a user with all data, even during a scrape, and does not touch other users', async () => {
  const [deletedUser, otherUser] = [await service.user('gone'), await service.user('stays')];
  for (const user of [deletedUser, otherUser])
    await user.settled((await user.scrape({ url: site.url('/sitemap.xml') })).id);
  const userId = await idOf('gone');
  const tenant = { organizationId: 1, userId };
  const account = await connectSource(service, { ...tenant, customerId: 'gone' }, { tags: { a: 'b' } });
  await deletedUser.scrape({ url: heldSite.url('/sitemap.xml') });
  while (!heldSite.requests.includes('/pages/3.html')) await sleep(20);

  expect((await deleteUsers('gone')).body).toEqual({ success: true });
  // The user cannot authenticate any longer, although the erasure is still running.
  expect((await deletedUser.get('/whoami')).status).toBe(401);
  // The service starts a search while it checks whether the user still exists. It must return the 401 of this check,
  // not results or validation errors.
  for (const question of [
    { query: 'x', k: 1 },
    { k: 'x' },
    { query: 'x', k: 1, rerank: { model: 'COHERE_RERANK_MULTILINGUAL_V3' } },
  ])
    expect(await deletedUser.post('/embeddings', question)).toMatchObject({
      status: 401,
      body: { detail: expect.any(String) },
    });
  expect((await deletedUser.post('/user_files_v2', {})).status).toBe(401);
  expect((await organization.post('/user', { customer_id: 'gone' })).status).toBe(404);
  expect((await organization.post<Listed>('/list_users', {})).body.users.map((user) => user.id)).not.toContain(userId);
  heldSite.release();
  await untilIdle();

  const stores = await readStoredState(service.env);
  expect(stores.content('gone')).toEqual({ files: [], segments: [], points: [], contents: [] });
  expect(stores.findInconsistencies()).toEqual([]);
  expect(stores.content('stays').files).toHaveLength(3);
  expect(stores.content('stays').points).not.toEqual([]);
  expect(await service.store.vectors.countAll(tenant)).toBe(0);
  expect(await service.store.dataSources.find(tenant, account._id)).toBeNull();
  const { users } = (await organization.post<Listed>('/list_users', { filters: { carbon_user_ids: [userId] } })).body;
  expect(users).toEqual([
    expect.objectContaining({ id: userId, organization_supplied_user_id: 'gone', deleted_at: expect.any(String) }),
  ]);
});

test('a new user may take the name of a deleted one, and has no data', async () => {
  const oldUser = await service.user('phoenix');
  const oldId = await idOf('phoenix');
  await oldUser.settled((await oldUser.scrape({ url: site.url('/sitemap.xml') })).id);
  await deleteUsers('phoenix');
  const newUser = await service.user('phoenix');
  expect(await idOf('phoenix')).not.toBe(oldId);
  const newScrape = await newUser.settled((await newUser.scrape({ url: site.url('/sitemap.xml') })).id);
  await untilIdle();
  expect((await oldUser.get('/whoami')).status).toBe(401);
  // The erasure of the old user deletes nothing of the new one.
  expect(await newUser.children(newScrape.id)).toHaveLength(2);
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});

test('skips unknown names and users of other organizations', async () => {
  const otherOrganization = await service.store.organizations.create('other');
  const foreign = await service.user('foreign', otherOrganization.apiKey);
  expect((await deleteUsers('unknown', 'foreign')).body).toEqual({ success: true });
  await untilIdle();
  expect((await foreign.get('/whoami')).status).toBe(200);
});

test('a run that waits in the outbox is not started after its user is deleted', async () => {
  const user = await service.user('waiting');
  const userId = await idOf('waiting');
  await service.stopWorker();
  await user.scrape({ url: site.url('/sitemap.xml') });
  await deleteUsers('waiting');
  await service.startWorker();
  await untilIdle();
  const requestCount = site.requests.length;
  const stores = await readStoredState(service.env);
  expect(stores.content('waiting').files).toEqual([]);
  expect(stores.findInconsistencies()).toEqual([]);
  await sleep(1_500);
  expect(site.requests).toHaveLength(requestCount);
  expect(await service.store.files.ids({ organizationId: 1, userId }, {}, 1)).toEqual([]);
});

test('customer_ids must be an array of strings', async () => {
  for (const [body, loc] of [
    [{}, ['body', 'customer_ids']],
    [{ customer_ids: 'gone' }, ['body', 'customer_ids']],
    [{ customer_ids: [1] }, ['body', 'customer_ids', 0]],
  ] as const) {
    const answer = await organization.post<{ detail: { loc: unknown }[] }>('/delete_users', body);
    expect({ status: answer.status, loc: answer.body.detail[0]?.loc }).toEqual({ status: 422, loc });
  }
});

test('a recount stores sums over all users in the record of the organization', async () => {
  const { apiKey } = await service.store.organizations.create('counted');
  const counted = apiClient(service.url, { authorization: `Bearer ${apiKey}` });
  for (const name of ['one', 'two']) {
    const user = await service.user(name, apiKey);
    await user.settled((await user.scrape({ url: site.url('/sitemap.xml') })).id);
  }
  const record = async () => (await counted.get<Record<string, unknown>>('/organization')).body;
  expect(await record()).toMatchObject({ file_statistics_aggregated_at: null, aggregate_num_files_by_source: {} });
  expect((await counted.post('/organization/statistics', undefined)).body).toEqual({ success: true });
  await untilIdle();
  const sums = await record();
  expect(sums['file_statistics_aggregated_at']).not.toBeNull();
  expect(sums).toMatchObject({
    aggregate_num_files_by_source: { WEB_SCRAPE: 4 },
    aggregate_num_files_by_file_format: { HTML: 4 },
  });
  const userRecord = (await counted.post<Record<string, unknown>>('/user', { customer_id: 'one' })).body;
  expect(sums['aggregate_num_characters']).toEqual({ WEB_SCRAPE: 2 * Number(userRecord['num_characters_synced']) });
});
