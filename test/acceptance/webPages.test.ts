import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../contract/files/records.js';
import { linkedPage } from '../emulators/linkedSite.js';
import { type Site, startSampleSite, startSite } from '../emulators/site.js';
import { type SharedService, sharedService } from '../support/sharedService.js';
import type { Listed, TestUser } from '../support/client.js';

let service: SharedService;
let user: TestUser;
let site: Site;
let pages: FileRecord[];

beforeAll(async () => {
  site = await startSampleSite(3, 1);
  service = await sharedService();
  user = await service.user('paula');
  const parent = await user.scrape({ url: site.url('/sitemap.xml'), store_file_only: true });
  await user.settled(parent.id);
  pages = await user.children(parent.id);
});
afterAll(async () => {
  await service.close();
  await site.close();
});

describe('POST /user_webpages', () => {
  const list = async (body: Record<string, unknown>) => {
    const answer = await user.post<Listed<FileRecord>>('/user_webpages', body);
    expect(answer.status).toBe(200);
    return answer.body;
  };

  test('lists scraped pages without their parent, the latest change first', async () => {
    const { results, count } = await list({});
    expect(count).toBe(3);
    const changed = results.map((page) => page.updated_at);
    expect(changed).toEqual(changed.toSorted().toReversed());
    expect(results.toSorted((a, b) => a.id - b.id)).toEqual(pages.toSorted((a, b) => a.id - b.id));
  });
  test('filters by ids; null and [] match all pages', async () => {
    const ids = [pages[1]!.id, pages[2]!.id, 2 ** 40];
    const listed = (await list({ filters: { ids } })).results.map(({ id }) => id);
    expect(new Set(listed)).toEqual(new Set(ids.slice(0, 2)));
    expect(listed).toHaveLength(2);
    for (const unfiltered of [null, []]) expect((await list({ filters: { ids: unfiltered } })).count).toBe(3);
  });
  test.each(['created_at', 'updated_at', 'id'] as const)(
    'orders by %s in both directions, and counts before paging',
    async (order_by) => {
      const up = (await list({ order_by, order_dir: 'asc' })).results.map(({ id }) => id);
      const down = (await list({ order_by, order_dir: 'desc' })).results.map(({ id }) => id);
      expect(up).toEqual(down.toReversed());
      const { results, count } = await list({ order_by, order_dir: 'asc', pagination: { limit: 1, offset: 1 } });
      expect([count, results.map(({ id }) => id)]).toEqual([3, [up[1]]]);
    },
  );
  test('answers an unsupported order with 422', async () => {
    expect(await user.post('/user_webpages', { order_by: 'name' })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'order_by'], type: 'enum' }] },
    });
  });
});

interface Links {
  urls: string[];
  html_content: string;
  error_message: string | null;
}

describe.each([
  ['GET /fetch_urls', (url: string) => user.get<Links>(`/fetch_urls?url=${encodeURIComponent(url)}`)],
  ['POST /fetch_webpage', (url: string) => user.post<Links>('/fetch_webpage', { url })],
] as const)('%s', (_name, read) => {
  test('returns the links of a page to any host, and its HTML', async () => {
    const html = linkedPage('live', ['/a', 'b?x=1', 'https://elsewhere.invalid/c#d', '/paper.pdf']);
    site.pages.set('/live/', html);
    const { status, body } = await read(site.url('/live/'));
    expect(status).toBe(200);
    expect(body).toEqual({
      urls: [site.url('/a'), site.url('/live/b?x=1'), 'https://elsewhere.invalid/c', site.url('/paper.pdf')],
      html_content: html,
      error_message: null,
    });
  });
  test('reports why a page cannot be read', async () => {
    const { status, body } = await read(site.url('/nowhere'));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      urls: [],
      html_content: '',
      error_message: expect.stringContaining('does not exist'),
    });
    const guarded = await read('http://169.254.169.254/latest/meta-data');
    expect(guarded).toMatchObject({ status: 422, body: { detail: [{ loc: [expect.any(String), 'url'] }] } });
  });
  test('respects robots.txt', async () => {
    const closed = await startSite({ '/robots.txt': 'User-agent: *\nDisallow: /closed', '/closed': 'never read' });
    const { body } = await read(closed.url('/closed'));
    expect([body.html_content, body.error_message]).toEqual(['', expect.stringContaining('robots.txt')]);
    expect(closed.requests).toEqual(['/robots.txt']);
    await closed.close();
  });
  test('refuses URLs that are not http or https, or contain credentials', async () => {
    for (const url of ['', 'ftp://a.example/', 'javascript:alert(1)', 'http://a:b@c.example/'])
      expect([url, (await read(url)).status]).toEqual([url, 422]);
  });
});
