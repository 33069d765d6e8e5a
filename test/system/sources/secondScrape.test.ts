import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { type HeldSite, startHeldSite } from '../../emulators/heldSite.js';
import { startService, type TestService } from '../../support/service.js';
import type { TestUser } from '../../support/client.js';
import { waitFor } from '../../support/waitFor.js';

/**
 * Number of unanswered pages: fewer than the concurrent requests to one host, so that other pages are still requested.
 */
const PAGES = 6;

let service: TestService;
let user: TestUser;
let site: HeldSite;

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', REAP_INTERVAL_S: '1' });
  user = await service.user('twice');
  site = await startHeldSite(PAGES);
});
afterAll(async () => {
  await service.close();
  await site.close();
});

const sitemapsRead = (): number => site.requests.filter((path) => path === '/sitemap.xml').length;
const pageRequests = (): string[] => site.requests.filter((path) => path.startsWith('/pages/'));

test('runs repeated scrapes of a sitemap one after another under the same parent, each with its own options', async () => {
  const url = site.url('/sitemap.xml');
  const first = await user.scrape({ url, chunk_size: 100, skip_embedding_generation: true, tags: { turn: 1 } });
  // The first run now waits for its unanswered pages.
  await waitFor(pageRequests, (paths) => new Set(paths).size === PAGES);

  const second = await user.scrape({
    url,
    chunk_size: 40,
    chunk_overlap: 5,
    max_pages_to_scrape: 3,
    tags: { turn: 2 },
  });
  const third = await user.scrape({
    url,
    store_file_only: true,
    url_paths_to_include: ['/pages/5'],
    tags: { turn: 3 },
  });
  expect([second.id, third.id]).toEqual([first.id, first.id]);
  expect(new Set([first, second, third].map((one) => one.request_id)).size).toBe(3);
  expect(second).toMatchObject({ sync_status: 'QUEUED_FOR_SYNC', chunk_size: 40, chunk_overlap: 5, tags: { turn: 2 } });

  // Waits longer than the retry delay of the second run, which must not start while the first is running.
  await sleep(3_500);
  expect(sitemapsRead()).toBe(1);
  expect(pageRequests()).toHaveLength(PAGES);
  expect((await user.file(first.id)).sync_status).toBe('QUEUED_FOR_SYNC');

  site.release();
  const parent = await user.settled(first.id);
  expect(parent).toMatchObject({ sync_status: 'READY', tags: { turn: 3 }, request_id: third.request_id });
  expect(parent.file_metadata).toMatchObject({ pages_total: 1, pages_ready: 1, pages_failed: 0, pages_aborted: 0 });
  expect(sitemapsRead()).toBe(3);

  const pages = (await user.children(first.id)) as FileRecord[];
  const shape = async ({ id, sync_status, tags, request_id, chunk_size }: FileRecord) => {
    const { results } = await user.chunks({ ids: [id] }, { include_vectors: true });
    const vectors = results.filter((chunk) => chunk.embedding !== null).length;
    return { sync_status, tags, request_id, chunk_size, chunks: results.length > 1, vectors: vectors > 0 };
  };
  const byFirst = { tags: { turn: 1 }, request_id: first.request_id, chunk_size: 100, chunks: true, vectors: false };
  const bySecond = { tags: { turn: 2 }, request_id: second.request_id, chunk_size: 40, chunks: true, vectors: true };
  const byThird = { tags: { turn: 3 }, request_id: third.request_id, chunk_size: 1500, chunks: false, vectors: false };
  expect(await Promise.all(pages.map(shape))).toEqual(
    [bySecond, bySecond, bySecond, byFirst, byFirst, byThird].map((one) => ({ sync_status: 'READY', ...one })),
  );
});
