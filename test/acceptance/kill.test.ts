import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { samplePage, type Site, sitemapOf, startSite } from '../emulators/site.js';
import { startProcess } from '../support/processes.js';
import { startService, type TestService } from '../support/service.js';
import type { TestUser } from '../support/client.js';

const PAGES = 60;
let site: Site;
let service: TestService;

/** Pages that take a moment each, so that a kill meets them under way. */
async function slowSite(): Promise<Site> {
  const made = await startSite();
  const paths = Array.from({ length: PAGES }, (_, number) => `/pages/${number}.html`);
  paths.forEach((path, number) => made.pages.set(path, { body: samplePage(number, 3), delayMs: 40 }));
  made.pages.set('/sitemap.xml', sitemapOf(made.origin, paths));
  return made;
}

/** Every chunk with its vector, by page, as a reader sees it. */
async function everything(user: TestUser, parentId: number) {
  const names = new Map((await user.children(parentId)).map((file) => [file.id, file.external_url]));
  const { results, count } = await user.chunks({ parent_file_ids: [parentId] }, { include_vectors: true });
  return {
    count,
    chunks: results.map((chunk) => ({
      page: names.get(chunk.user_file_id),
      index: chunk.chunk_index,
      text: chunk.source_content,
      vector: chunk.embedding,
    })),
  };
}

beforeAll(async () => {
  site = await slowSite();
  service = await startService(
    { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', BATCH_CONCURRENCY: '2', LOG_LEVEL: 'silent' },
    { worker: false },
  );
}, 120_000);
afterAll(async () => {
  await service.close();
  await site.close();
});

test('a worker killed in the middle of an ingest leaves the same chunks as an undisturbed run', async () => {
  const body = { url: site.url('/sitemap.xml'), chunk_size: 100 };
  const calm = await service.user('calm');
  const killed = await service.user('killed');

  let worker = await startProcess('worker/main', service.env);
  const undisturbed = await calm.scrape(body);
  await calm.settled(undisturbed.id, 90_000);
  site.requests.length = 0;

  const disturbed = await killed.scrape(body);
  for (const done of [5, 25]) {
    const ready = async () =>
      (
        await killed.post<{ count: number }>('/user_files_v2', {
          filters: { parent_file_ids: [disturbed.id], sync_statuses: ['READY'] },
        })
      ).body.count;
    while ((await ready()) < done) await sleep(20);
    await worker.kill();
    expect(await ready()).toBeLessThan(PAGES);
    worker = await startProcess('worker/main', service.env);
  }
  const parent = await killed.settled(disturbed.id, 120_000);
  await worker.stop();

  expect(parent.sync_status).toBe('READY');
  expect(parent.file_metadata).toMatchObject({ pages_total: PAGES, pages_ready: PAGES, pages_failed: 0 });
  const [expected, actual] = [await everything(calm, undisturbed.id), await everything(killed, disturbed.id)];
  expect(actual.count).toBe(expected.count);
  expect(actual.chunks).toEqual(expected.chunks);
  expect(expected.chunks.every((chunk) => chunk.vector?.length === 384)).toBe(true);
  // What was finished before a kill is not fetched again.
  const fetches = new Map<string, number>();
  for (const path of site.requests) fetches.set(path, (fetches.get(path) ?? 0) + 1);
  expect(Math.max(...fetches.values())).toBeLessThanOrEqual(3);

  // No row and no point is left but those that readers see.
  const owner = parent.organization_user_id ?? 0;
  expect(await service.store.chunks.countAll({ organizationId: 1, userId: owner })).toBe(actual.count);
  expect(await service.store.vectors.countAll({ organizationId: 1, userId: owner })).toBe(actual.count);
}, 280_000);
