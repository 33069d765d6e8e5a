/** Tests of dry_run, which estimates the cost of a run without embedding, storing or emitting anything. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { type GitBookEmulator, ORGANIZATION, startGitBook } from '../../emulators/gitbook.js';
import { linkedPage } from '../../emulators/linkedSite.js';
import { samplePage, type Site, sitemapOf, startSite } from '../../emulators/site.js';
import { apiClient, type TestUser } from '../../support/client.js';
import { answerFault } from '../../support/contract.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughly } from '../../support/thorough.js';
import { waitFor } from '../../support/waitFor.js';

interface Estimate {
  readonly files: number;
  readonly bytes: number | null;
  readonly chunks: number | null;
  readonly tokens: number | null;
  readonly tokens_low: number | null;
  readonly tokens_high: number | null;
  readonly price: number | null;
  readonly seconds: number | null;
  readonly seconds_by: { readonly runs: number; readonly files: number } | null;
  readonly complete: boolean;
  readonly estimated: boolean;
  readonly sample: {
    readonly files: number;
    readonly failed: number;
    readonly tokens: number;
    readonly known_chunks: number;
  };
  readonly skipped: Readonly<Record<string, number>>;
}

const SAMPLE = 4;
const TIMEOUT_S = 4;
let service: TestService;
let site: Site;
let gitbook: GitBookEmulator;

beforeAll(async () => {
  site = await startSite({ '/robots.txt': 'User-agent: *\nDisallow: /large/private/' });
  gitbook = await startGitBook({
    pier: {
      title: 'Pier',
      pages: { one: { title: 'One', text: 'Lit in 1901.' }, two: { title: 'Two', text: 'Dredged in 1902.' } },
    },
  });
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: gitbook.settings,
    EMBEDDING_PRICES: 'OPENAI=2',
    DRY_RUN_SAMPLE_PAGES: String(SAMPLE),
    DRY_RUN_TIMEOUT_S: String(TIMEOUT_S),
    CONNECTIONS_PER_HOST: '20',
  });
});
afterAll(async () => {
  await service.close();
  await Promise.all([site.close(), gitbook.close()]);
});

const DRY = { dry_run: true, chunk_size: 100 };
/** Returns those data of a user that a run would change. */
async function storedData(user: TestUser) {
  const { body } = await user.post<{ count: number }>('/user_files_v2', {});
  const { id, num_files_synced } = (await user.get<{ id: number; num_files_synced: number }>('/whoami')).body;
  const organizationId = 1;
  const runs = await Promise.all(
    (['scrapeSitemap', 'webScrape', 'syncSource'] as const).map((kind) =>
      service.store.runRates.rateOf({ organizationId, userId: id }, kind),
    ),
  );
  const activeRuns = (await service.store.runs.listActiveStartedUntil(new Date(Date.now() + 1), 100)).filter(
    ({ userId }) => userId === id,
  );
  return { files: body.count, num_files_synced, runs, known: activeRuns.length, embedded: await embedded() };
}
/** Returns the numbers of embedded and of reused texts of the organization. */
async function embedded(): Promise<unknown> {
  const organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  return (await organization.get<{ embedding_usage: unknown }>('/organization')).body.embedding_usage;
}
async function sitemap(user: TestUser, body: Record<string, unknown>): Promise<Estimate> {
  const dataBefore = await storedData(user);
  const { status, body: answer } = await user.post<Estimate>('/scrape_sitemap', { ...DRY, ...body });
  expect({ status, fault: answerFault('ours', { method: 'post', path: '/scrape_sitemap', status }, answer) }).toEqual({
    status: 200,
    fault: null,
  });
  expect(await storedData(user)).toEqual(dataBefore);
  return answer;
}
function publish(name: string, numbers: readonly number[], paragraphs = 3): string {
  const paths = numbers.map((number) => `/${name}/${number}.html`);
  paths.forEach((path, index) => site.pages.set(path, samplePage(numbers[index] ?? 0, paragraphs)));
  site.pages.set(`/${name}.xml`, sitemapOf(site.origin, paths));
  return site.url(`/${name}.xml`);
}
const range = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);
const requested = (path: string) => site.requests.filter((requestPath) => requestPath.startsWith(path)).length;

test('a small site is read completely, and the estimate equals the run', async () => {
  const user = await service.user('ada');
  const url = publish('small', range(0, 3));
  const dry = await sitemap(user, { url });
  expect(dry).toMatchObject({
    ...{ id: null, dry_run: true, embedding_model: 'OPENAI', files: 3, complete: true, estimated: false },
    ...{ sample: { files: 3, failed: 0, known_chunks: 0 }, seconds: null, seconds_by: null, skipped: {} },
  });
  expect(requested('/small/')).toBe(3);
  const { id } = await user.scrape({ url, chunk_size: 100, max_tokens: dry.tokens });
  expect(await user.settled(id)).toMatchObject({ sync_status: 'READY' });
  const pages = await user.children(id);
  const sum = (of: (page: FileRecord) => number | undefined): number =>
    pages.reduce((total, page) => total + (of(page) ?? 0), 0);
  expect({ bytes: dry.bytes, chunks: dry.chunks }).toEqual({
    bytes: sum(({ file_statistics: statistics }) => statistics?.file_size),
    chunks: sum(({ file_statistics: statistics }) => statistics?.num_embeddings),
  });
  // The run used exactly the limit: with one token less, it would have been paused.
  const [record] = await service.store.files.byIds(
    { organizationId: pages[0]?.organization_id ?? 0, userId: pages[0]?.organization_user_id ?? 0 },
    [id],
  );
  expect(await service.store.runs.find(record?.runId ?? 0)).toMatchObject({ tokensTaken: dry.tokens });
  expect(dry.price).toBeCloseTo(((dry.tokens ?? 0) / 1_000_000) * 2);
  expect([dry.tokens_low, dry.tokens_high]).toEqual([dry.tokens, dry.tokens]);

  // A second estimate counts the texts that are embedded already. It computes `seconds` from earlier runs without
  // max_tokens (a run with max_tokens may have paused), so another run is needed.
  await user.scrape({ url: publish('fast', range(10, 2)) }).then((file) => user.settled(file.id));
  // Estimates use a run only once it has ended, which is after the end of its last file.
  await waitFor(
    () => storedData(user),
    ({ runs: [scrapes] }) => scrapes !== null,
  );
  const secondEstimate = await sitemap(user, { url });
  expect(secondEstimate).toMatchObject({ sample: { known_chunks: dry.chunks }, seconds_by: { runs: 1, files: 2 } });
  expect(secondEstimate.seconds).toBeGreaterThan(0);
});

test('a large site is estimated from a sample, with a lower and an upper bound', async () => {
  const user = await service.user('bob');
  // The pages have two to six paragraphs in turn, so that their sizes differ.
  const paths = range(0, 40).map((number) => `/large/${number}.html`);
  paths.forEach((path, number) => site.pages.set(path, samplePage(100 + number, 2 + (number % 5))));
  paths.push('/large/private/1.html');
  site.pages.set('/large/20.html', { status: 500, body: 'broken' });
  site.pages.set('/large.xml', sitemapOf(site.origin, [...paths, '/elsewhere/1.html']));
  const url = site.url('/large.xml');
  const dry = await sitemap(user, { url, url_paths_to_include: ['/large/'] });
  expect(dry).toMatchObject({ files: 40, complete: true, estimated: true, skipped: { robots_disallowed: 1 } });
  expect(dry.sample.files + dry.sample.failed).toBe(SAMPLE);
  expect(requested('/large/')).toBeLessThanOrEqual(SAMPLE * 4);
  expect(requested('/large/private/')).toBe(0);
  expect(dry.tokens_low).toBeLessThanOrEqual(dry.tokens ?? 0);
  expect(dry.tokens_high).toBeGreaterThanOrEqual(dry.tokens ?? 0);
  expect(await sitemap(user, { url, max_pages_to_scrape: 10 })).toMatchObject({ files: 10, complete: true });
  expect(await sitemap(user, { url, skip_embedding_generation: true })).toMatchObject({ tokens: 0, price: 0 });
});

test('a dry run has a time limit, and respects the limits of its user', async () => {
  const user = await service.user('cleo');
  const url = publish('slow', range(200, 6));
  for (const path of range(200, 6).map((number) => `/slow/${number}.html`)) site.pages.set(path, () => undefined);
  const startedAt = Date.now();
  expect(await sitemap(user, { url })).toMatchObject({
    ...{ files: 6, complete: true, estimated: true, tokens: null, tokens_high: null, bytes: null, price: null },
    sample: { files: 0 },
  });
  // The dry run must end well before PAGE_TIMEOUT_MS (30 s), at which the requests for pages end.
  expect(Date.now() - startedAt).toBeLessThan(25_000);
  const organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  await organization.post('/update_users', { customer_ids: ['cleo'], max_files_per_upload: 2 });
  // At most two dry runs of one user at once.
  const answers = await Promise.all(range(0, 3).map(() => user.post<Estimate>('/scrape_sitemap', { url, ...DRY })));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 429]);
  for (const { status, body } of answers)
    if (status === 200) expect(body).toMatchObject({ files: 2, skipped: { over_limit: 4 } });
  // The response of this sitemap never ends; the estimate uses the part received so far.
  site.pages.set('/endless.xml', (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.write(sitemapOf(site.origin, ['/small/0.html']).replace('</urlset>', ''));
  });
  expect(await sitemap(user, { url: site.url('/endless.xml') })).toMatchObject({ complete: false });
  const missing = await user.post<{ detail: string }>('/scrape_sitemap', { url: site.url('/missing.xml'), ...DRY });
  expect(missing).toMatchObject({ status: 400, body: { detail: expect.any(String) } });
});

thoroughly(
  'a dry run of a crawl reads pages up to the sample size, and counts the pages that they link to',
  async () => {
    const user = await service.user('dora');
    site.pages.set('/start.html', linkedPage('start', ['/a.html', '/b.html', '/c.html', 'http://elsewhere.example/']));
    for (const name of ['a', 'b', 'c']) site.pages.set(`/${name}.html`, linkedPage(name, [`/${name}${name}.html`]));
    const crawl = async (options: Record<string, unknown>) => {
      const dataBefore = await storedData(user);
      const body = [{ url: site.url('/start.html'), ...DRY, ...options }];
      const { status, body: answer } = await user.post<Estimate[]>('/web_scrape', body);
      expect({ status, fault: answerFault('ours', { method: 'post', path: '/web_scrape', status }, answer) }).toEqual({
        status: 200,
        fault: null,
      });
      expect(await storedData(user)).toEqual(dataBefore);
      return answer[0];
    };
    expect(await crawl({ recursion_depth: 1 })).toMatchObject({ files: 4, complete: true, estimated: false });
    expect(await crawl({ recursion_depth: 2 })).toMatchObject({ files: 7, complete: true, estimated: true });
    // Links of pages that were not read are unknown.
    expect(await crawl({ recursion_depth: 3 })).toMatchObject({ files: 7, complete: false, tokens_high: null });
    expect(await crawl({ recursion_depth: 3, max_pages_to_scrape: 2 })).toMatchObject({ files: 2, complete: true });
    const mixed = [{ url: site.url('/start.html'), dry_run: true }, { url: site.url('/start.html') }];
    expect((await user.post('/web_scrape', mixed)).status).toBe(422);
    expect((await storedData(user)).files).toBe(0);
  },
);

test('a dry run of a sync lists the selected items at the connected source', async () => {
  const user = await service.user('emil');
  gitbook.tokens.set('gb_api_emil', ORGANIZATION);
  await user.post('/integrations/gitbook', {
    organization: ORGANIZATION,
    access_token: 'gb_api_emil',
    sync_files_on_connection: false,
    sync_source_items: false,
  });
  const { results } = (await user.post<{ results: { id: number }[] }>('/user_data_sources', {})).body;
  const data_source_id = results[0]?.id;
  const dataBefore = await storedData(user);
  const path = '/integrations/files/sync';
  const body = { data_source_id, ids: ['pier', 'no-such-space'], ...DRY };
  const { status, body: dry } = await user.post<Estimate>(path, body);
  expect({ status, fault: answerFault('ours', { method: 'post', path, status }, dry) }).toEqual({
    status: 200,
    fault: null,
  });
  expect(dry).toMatchObject({
    files: 2,
    complete: true,
    estimated: false,
    skipped: { not_found: 1 },
    sample: { files: 2 },
  });
  expect(dry.tokens).toBeGreaterThan(0);
  const spaces = await user.post<Estimate>('/integrations/gitbook/sync', {
    data_source_id,
    space_ids: ['pier'],
    ...DRY,
  });
  expect(spaces.body).toMatchObject({ files: 2, tokens: dry.tokens });
  expect(await storedData(user)).toEqual(dataBefore);
  expect(
    (await user.post<{ results: { last_sync_action: string }[] }>('/user_data_sources', {})).body.results[0],
  ).toMatchObject({ last_sync_action: 'ADD' });
  gitbook.tokens.delete('gb_api_emil');
  expect((await user.post(path, { data_source_id, ids: ['pier'], ...DRY })).status).toBe(400);
});
