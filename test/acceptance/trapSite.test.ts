import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../contract/records.js';
import { samplePage, sitemapOf } from '../emulators/site.js';
import { BROKEN_SITEMAPS, startTrapSite, TRAPS, type TrapSite } from '../emulators/trapSite.js';
import { startService, type TestService } from '../support/service.js';
import type { TestUser } from '../support/client.js';

let site: TrapSite;
let service: TestService;
let user: TestUser;
let parent: FileRecord;
/** By address. */
let pages: ReadonlyMap<string | null, FileRecord>;
/** Chunks by file. */
const texts = new Map<number, string>();

/** What the traps' scrape asked the other site for. */
let askedOfForeign: readonly string[];
const requestsOf = (path: string): number => site.requests.filter((one) => one === path).length;

beforeAll(async () => {
  site = await startTrapSite();
  service = await startService({
    // The two sites by name and port: all else on loopback is as forbidden as it is in earnest.
    ALLOWED_PRIVATE_HOSTS: `${site.host},${site.foreign.host}`,
    HEADERS_TIMEOUT_MS: '2000',
    BODY_TIMEOUT_MS: '1500',
    PAGE_TIMEOUT_MS: '4000',
    PARSE_TIMEOUT_MS: '30000',
    RETRY_DELAYS_S: '0.2,0.4',
  });
  user = await service.user('trapper');
  const accepted = await user.scrape({ url: site.url('/sitemap.xml'), skip_embedding_generation: true });
  parent = await user.settled(accepted.id, 150_000);
  askedOfForeign = [...site.foreign.requests];
  pages = new Map((await user.children(parent.id)).map((file) => [file.external_url, file]));
  for (const { user_file_id: id, source_content: text } of (await user.chunks({ parent_file_ids: [parent.id] }))
    .results)
    texts.set(id, `${texts.get(id) ?? ''}${text}\n`);
}, 180_000);

afterAll(async () => {
  await service.close();
  await site.close();
});

describe('a trap costs its own page at most', () => {
  test.each(TRAPS.map((trap) => [trap.name, trap.outcome] as const))('%s', (name, outcome) => {
    const page = pages.get(site.url(`/traps/${name}`));
    if ('sentence' in outcome) {
      expect(page).toMatchObject({ sync_status: 'SYNC_ERROR', file_statistics: null });
      expect(page?.sync_error_message).toMatch(outcome.sentence);
      // A sentence: it names what, ends, and shows no insides.
      expect(page?.sync_error_message).toMatch(/^[^{}]{20,600}[.)]$/s);
      expect(texts.has(page?.id ?? 0)).toBe(false);
    } else {
      expect(page).toMatchObject({ sync_status: 'READY', sync_error_message: null });
      const text = texts.get(page?.id ?? 0) ?? '';
      for (const words of outcome.words) expect(text).toContain(words);
      for (const words of outcome.without ?? []) expect(text).not.toContain(words);
    }
    if (outcome.requests !== undefined) expect(requestsOf(`/traps/${name}`)).toBe(outcome.requests);
  });

  test('all ordinary pages are READY with their own words', () => {
    const missing = site.ordinary.filter((url) => pages.get(url)?.sync_status !== 'READY');
    expect(missing).toEqual([]);
    site.ordinary.forEach((url, number) => {
      expect(texts.get(pages.get(url)?.id ?? 0)).toContain(`Fact ${number}.1.4 about`);
    });
  });

  test('the counts on the parent add up, and are those of the records', () => {
    const failed = TRAPS.filter(({ outcome }) => 'sentence' in outcome).length;
    const total = site.ordinary.length + TRAPS.length;
    expect(total).toBeGreaterThan(350);
    expect(pages.size).toBe(total);
    expect(parent).toMatchObject({ sync_status: 'READY', sync_error_message: null });
    expect(parent.file_metadata).toMatchObject({
      pages_total: total,
      pages_ready: total - failed,
      pages_failed: failed,
      pages_aborted: 0,
    });
  });

  test('the worker lived through it: no page was under way when one died', async () => {
    const tenant = { organizationId: parent.organization_id, userId: parent.organization_user_id ?? 0 };
    const ids = [...pages.values()].map((file) => file.id);
    const stored = await service.store.files.byIds(tenant, ids);
    expect(stored.filter((file) => file.unfinishedStarts > 1)).toEqual([]);
  });

  test('an ordinary scrape after it, of the same service, works', async () => {
    // The guard lets two sites through only: the second becomes the next one.
    const { foreign } = site;
    const paths = [0, 1, 2].map((number) => `/next/${number}.html`);
    paths.forEach((path, number) => foreign.pages.set(path, samplePage(number, 1)));
    foreign.pages.set('/sitemap.xml', sitemapOf(foreign.origin, paths));
    const accepted = await user.scrape({ url: foreign.url('/sitemap.xml') });
    const after = await user.settled(accepted.id);
    expect(after.file_metadata).toMatchObject({ pages_total: 3, pages_ready: 3, pages_failed: 0 });
    const [first] = await user.search({ query: 'Who counted orchards?', k: 1, parent_file_ids: [after.id] });
    expect(first?.source_url).toBe(foreign.url('/next/0.html'));
  });
});

describe('sitemaps', () => {
  test.each(Object.entries(BROKEN_SITEMAPS))('%s is named on the parent with what is wrong', (path, sentence) => {
    const problems = parent.file_metadata?.['sitemap_problems'] as { url: string; message: string }[];
    expect(problems.find(({ url }) => url === site.url(path))?.message).toMatch(sentence);
  });

  test('nothing else is', () => {
    expect(parent.file_metadata?.['sitemap_problems']).toHaveLength(Object.keys(BROKEN_SITEMAPS).length);
  });

  test('each file is read once, however often it is named', () => {
    const read = site.requests.filter((path) => path.startsWith('/sitemap'));
    expect(read.filter((path, index) => read.indexOf(path) !== index)).toEqual([]);
  });

  test('what other hosts hold is not asked for, save where a page redirects there', () => {
    expect(new Set(askedOfForeign)).toEqual(new Set(['/robots.txt', '/open']));
  });
});
