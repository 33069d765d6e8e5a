import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { samplePage, type Site, sitemapOf, startSite } from '../../emulators/site.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';

/** Sites that one user scrapes before another user uploads a file. The worker runs two activities at a time. */
const SITES = 4;
const PAGES = 60;
/** Delay of each page in ms: longer than the ingest of the other user's file on a busy machine. */
const PAGE_MS = 2_000;
let service: TestService;
let site: Site;

beforeAll(async () => {
  const settings = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', ACTIVITY_CONCURRENCY: '2', WORKER_FILE_CONCURRENCY: '8' };
  service = await startService(settings);
  site = await startSite();
});
afterAll(async () => {
  await service.close();
  await site.close();
});

test('makes a text READY while most slow pages of another user still wait', async () => {
  const [scrapingUser, uploadingUser] = [await service.user('many'), await service.user('one')];
  const paths = Array.from({ length: PAGES }, (_, nth) => `/${nth}.html`);
  for (const [nth, path] of paths.entries())
    site.pages.set(path, (_request, response) => {
      response.setHeader('content-type', 'text/html');
      setTimeout(() => response.end(samplePage(nth, 1)), PAGE_MS);
    });
  const parents: FileRecord[] = [];
  for (let nth = 0; nth < SITES; nth += 1) {
    const scraped = paths.map((path) => `${path}?part=${nth}`);
    for (const [at, path] of scraped.entries()) site.pages.set(path, site.pages.get(paths[at] ?? '')!);
    site.pages.set(`/sitemap-${nth}.xml`, sitemapOf(site.origin, scraped));
    parents.push(await scrapingUser.scrape({ url: site.url(`/sitemap-${nth}.xml`), skip_embedding_generation: true }));
  }
  const count = async (): Promise<number> => {
    const filters = { sync_statuses: ['READY'], parent_file_ids: parents.map(({ id }) => id) };
    return (await scrapingUser.post<{ count: number }>('/user_files_v2', { filters, pagination: { limit: 1 } })).body
      .count;
  };
  // The scrapes are running, and most of their pages are not fetched yet.
  await waitFor(count, (ready) => ready >= SITES);
  const sent = await uploadingUser.send({ name: 'a.txt', content: 'The lamp was lit.' });
  expect(await uploadingUser.settled(sent.id)).toMatchObject({ sync_status: 'READY' });
  // With fairness keys about 50 of the 240 pages are READY, without them over 100.
  expect(await count()).toBeLessThan(0.4 * SITES * PAGES);
  for (const { id } of parents) await scrapingUser.post('/cancel_sync', { file_id: id });
  for (const { id } of parents) await scrapingUser.settled(id);
});
