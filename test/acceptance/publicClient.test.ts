import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Carbon, CarbonError } from 'carbon-typescript-sdk';

import { type Site, startSampleSite } from '../emulators/site.js';
import { startService, type TestService } from '../support/service.js';

/** The published client of the hosted service, unchanged: only its base path is ours. */
let service: TestService;
let site: Site;

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
  site = await startSampleSite(3, 1);
  site.pages.set('/pages/0.html', '<main><h1>Otters</h1><p>Otters juggle pebbles on the river bank.</p></main>');
}, 60_000);
afterAll(async () => {
  await service.close();
  await site.close();
});

const clientOf = (credentials: { apiKey?: string; customerId?: string; accessToken?: string }) =>
  new Carbon({ basePath: service.url, ...credentials });

async function filesOf(client: Carbon, parentId: number) {
  const listed = await client.files.queryUserFiles({
    // Deprecated in the client's own words, and the law of interface.md.
    // oxlint-disable-next-line typescript/no-deprecated
    filters: { parent_file_ids: [parentId] },
    order_by: 'name',
    order_dir: 'asc',
    pagination: { limit: 20, offset: 0 },
  });
  return listed.data;
}

async function atRest(client: Carbon, id: number) {
  const deadline = Date.now() + 45_000;
  for (;;) {
    const { data } = await client.files.queryUserFiles({ filters: { ids: [id] } });
    const [file] = data.results;
    if (file && !['QUEUED_FOR_SYNC', 'SYNCING'].includes(file.sync_status)) return file;
    if (Date.now() > deadline) throw new Error(`file ${id} is still ${file?.sync_status}`);
    await sleep(100);
  }
}

test('token, sitemap, READY, list, search, resync and delete, driven by the published client', async () => {
  const issuing = clientOf({ apiKey: service.apiKey, customerId: 'una' });
  const { data: tokens } = await issuing.auth.getAccessToken();
  const client = clientOf({ accessToken: tokens.access_token });

  const { data: offered } = await client.utilities.processSitemap({ url: site.url('/sitemap.xml') });
  expect((offered as { urls: string[] }).urls).toHaveLength(3);

  const { data: accepted } = await client.utilities.scrapeSitemap({
    url: site.url('/sitemap.xml'),
    tags: { shelf: 'rivers' },
    chunk_size: 200,
  });
  const parent = accepted as { id: number; sync_status: string };
  expect(parent.sync_status).toBe('QUEUED_FOR_SYNC');
  expect((await atRest(client, parent.id)).sync_status).toBe('READY');

  const { results: pages, count } = await filesOf(client, parent.id);
  expect(count).toBe(3);
  expect(pages.map((page) => [page.sync_status, page.source, page.chunk_size, page.tags])).toEqual(
    Array.from({ length: 3 }, () => ['READY', 'WEB_SCRAPE', 200, { shelf: 'rivers' }]),
  );
  const otters = pages.find((page) => page.external_url === site.url('/pages/0.html'));

  const { data: chunks } = await client.embeddings.list({
    filters: { ids: [otters?.id ?? 0] },
    include_vectors: true,
  });
  expect(chunks.results[0]?.source_content).toContain('juggle');
  expect(chunks.results[0]?.embedding?.length).toBeGreaterThan(0);

  const { data: found } = await client.embeddings.getDocuments({
    query: 'Which animals play with stones?',
    k: 1,
    tags_v2: { AND: [{ key: 'shelf', value: 'rivers' }] },
  });
  expect(found.documents[0]).toMatchObject({ file_id: otters?.id, content: expect.stringContaining('Otters') });

  site.pages.set('/pages/0.html', '<main><h1>Otters</h1><p>Otters now sleep all day long.</p></main>');
  const { data: queued } = await client.files.resync({ file_id: otters?.id ?? 0, chunk_size: 100 });
  expect([queued.sync_status, queued.chunk_size]).toEqual(['QUEUED_FOR_SYNC', 100]);
  expect((await atRest(client, queued.id)).sync_status).toBe('READY');
  const { data: again } = await client.embeddings.getDocuments({ query: 'sleep', k: 1, file_ids: [queued.id] });
  expect(again.documents[0]?.content).toContain('sleep all day');

  const { data: deleted } = await client.files.deleteV2({
    filters: { ids: [parent.id, ...pages.map((page) => page.id)] },
  });
  expect(deleted).toEqual({ success: true });
  const deadline = Date.now() + 30_000;
  while ((await filesOf(client, parent.id)).count > 0 && Date.now() < deadline) await sleep(100);
  expect((await filesOf(client, parent.id)).count).toBe(0);
}, 120_000);

test('what is refused arrives as the client reads it', async () => {
  const fault = async (call: Promise<unknown>): Promise<CarbonError> => {
    const reason: unknown = await call.then(
      () => null,
      (error: unknown) => error,
    );
    expect(reason).toBeInstanceOf(CarbonError);
    return reason as CarbonError;
  };
  const client = clientOf({ apiKey: service.apiKey, customerId: 'una' });
  expect(await fault(client.files.resync({ file_id: 999_999_999 }))).toMatchObject({
    status: 404,
    responseBody: { detail: expect.any(String) },
  });
  expect(await fault(client.embeddings.getDocuments({ query: '', k: 0 }))).toMatchObject({
    status: 422,
    responseBody: {
      detail: [expect.objectContaining({ loc: ['body', 'query'] }), expect.objectContaining({ loc: ['body', 'k'] })],
    },
  });
  expect(await fault(clientOf({ accessToken: 'old' }).files.queryUserFiles({}))).toMatchObject({ status: 401 });
  // Without a key the client sends no credentials to what takes keys only.
  expect(await fault(clientOf({ accessToken: 'any' }).users.list({}))).toMatchObject({ status: 401 });
});
