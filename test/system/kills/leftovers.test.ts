import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { samplePage, type Site, sitemapOf, startSite } from '../../emulators/site.js';
import { readStoredState } from '../../support/storedState.js';
import { startService, type TestService } from '../../support/service.js';
import type { TestUser } from '../../support/client.js';

let service: TestService;
let site: Site;
let user: TestUser;

beforeAll(async () => {
  site = await startSite();
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    MAX_TEXT_CHARACTERS: '200000',
    CONTENT_ROW_BYTES: '0',
  });
  user = await service.user('lena');
});
afterAll(async () => {
  await service.close();
  await site.close();
});

const contents = async (): Promise<string[]> =>
  (await readdir(path.join(service.env['DATA_DIR'] ?? '', 'files'), { recursive: true }).catch(() => [])).filter(
    (name) => name.endsWith('.raw'),
  );

test('keeps nothing but the record of a page that was fetched and could not be read', async () => {
  site.pages.set('/long.html', `<p>${'many words '.repeat(30_000)}</p>`);
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, ['/long.html']));
  const { id } = await user.scrape({ url: site.url('/sitemap.xml') });
  await user.settled(id);
  const [page] = await user.children(id);
  expect(page).toMatchObject({ sync_status: 'SYNC_ERROR' });
  expect(page?.sync_error_message).toContain('MAX_TEXT_CHARACTERS');
  expect(await contents()).toEqual([]);
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});

test('keeps nothing but the record of a page whose run is cancelled while it is read or embedded', async () => {
  site.pages.set('/slow.html', samplePage(7, 150));
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, ['/slow.html']));
  const { id } = await user.scrape({ url: site.url('/sitemap.xml'), chunk_size: 100 });
  while ((await contents()).length === 0) await sleep(10);
  expect((await user.post('/cancel_sync', { file_id: id })).status).toBe(200);
  expect(await user.settled(id)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
  expect(await contents()).toEqual([]);
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});
