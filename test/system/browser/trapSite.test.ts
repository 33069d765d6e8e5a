import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/records.js';
import { samplePage, sitemapOf } from '../../emulators/site.js';
import { BROKEN_SITEMAPS, ORDINARY_IN_SLOW, startTrapSite, TRAPS, type TrapSite } from '../../emulators/trapSite.js';
import { SLOWNESS_LIMITS, SLOWNESS_TRAPS } from '../../emulators/traps/slowness.js';
import type { Trap } from '../../emulators/traps/trap.js';
import { startService, type TestService } from '../../support/service.js';
import type { TestUser } from '../../support/client.js';
import { everyRow } from '../../support/everyRow.js';

let site: TrapSite;
let service: TestService;
/** Another, whose time limits are short: under those of `service` the slow traps would take minutes. */
let hasty: TestService;
let user: TestUser;
let parent: FileRecord;
/** Of the scrape of the slow traps. */
let slowParent: FileRecord;
/** By address. */
const pages = new Map<string | null, FileRecord>();
const slowPages = new Map<string | null, FileRecord>();
/** Chunks by page. */
const texts = new Map<FileRecord, string>();

/** What the traps' scrape asked the other site for. */
let askedOfForeign: readonly string[];
const requestsOf = (path: string): number => site.requests.filter((one) => one === path).length;

const SETTLED_MS = 300_000;

/** Scrapes a sitemap of the site and keeps what came of it. */
async function scrape(by: TestUser, sitemap: string, into: Map<string | null, FileRecord>): Promise<FileRecord> {
  const accepted = await by.scrape({ url: site.url(sitemap), skip_embedding_generation: true });
  const settled = await by.settled(accepted.id, SETTLED_MS);
  const children = await by.children(settled.id);
  for (const file of children) into.set(file.external_url, file);
  const byId = new Map(children.map((file) => [file.id, file]));
  const { results } = await by.chunks({ parent_file_ids: [settled.id] });
  for (const { user_file_id: id, source_content: text } of results) {
    const page = byId.get(id);
    if (page) texts.set(page, `${texts.get(page) ?? ''}${text}\n`);
  }
  return settled;
}

beforeAll(async () => {
  site = await startTrapSite();
  const settings = {
    // The two sites by name and port: all else on loopback is as forbidden as it is in earnest.
    ALLOWED_PRIVATE_HOSTS: `${site.host},${site.foreign.host}`,
    PARSE_TIMEOUT_MS: '30000',
    RETRY_DELAYS_S: '0.2,0.4',
  };
  service = await startService(settings);
  hasty = await startService({ ...settings, ...SLOWNESS_LIMITS });
  user = await service.user('trapper');
  const slowUser = await hasty.user('trapper');
  [parent, slowParent] = await Promise.all([
    scrape(user, '/sitemap.xml', pages),
    scrape(slowUser, '/slow.xml', slowPages),
  ]);
  askedOfForeign = [...site.foreign.requests];
}, 2 * SETTLED_MS);

afterAll(async () => {
  await Promise.all([service.close(), hasty.close()]);
  await site.close();
});

function expectOutcome({ name, outcome }: Trap, page: FileRecord | undefined): void {
  const text = page === undefined ? undefined : texts.get(page);
  if ('sentence' in outcome) {
    expect(page).toMatchObject({ sync_status: 'SYNC_ERROR', file_statistics: null });
    expect(page?.sync_error_message).toMatch(outcome.sentence);
    // A sentence: it names what, ends, and shows no insides.
    expect(page?.sync_error_message).toMatch(/^[^{}]{20,600}[.)]$/s);
    expect(text).toBeUndefined();
  } else {
    expect(page).toMatchObject({ sync_status: 'READY', sync_error_message: null });
    for (const words of outcome.words) expect(text).toContain(words);
    for (const words of outcome.without ?? []) expect(text).not.toContain(words);
  }
  if (outcome.requests !== undefined) expect(requestsOf(`/traps/${name}`)).toBe(outcome.requests);
}

const failing = (traps: readonly Trap[]): number => traps.filter(({ outcome }) => 'sentence' in outcome).length;

describe('a trap costs its own page at most', () => {
  const eachOf = (traps: readonly Trap[], found: ReadonlyMap<string | null, FileRecord>) =>
    everyRow(
      traps,
      ({ name }) => name,
      (trap) => expectOutcome(trap, found.get(site.url(`/traps/${trap.name}`))),
    );

  test('and each has its own outcome', () => eachOf(TRAPS, pages));

  test('and each slow one has its own outcome', () => eachOf(SLOWNESS_TRAPS, slowPages));

  test('all ordinary pages are READY with their own words', () => {
    const missing = site.ordinary.filter((url) => pages.get(url)?.sync_status !== 'READY');
    expect(missing).toEqual([]);
    site.ordinary.forEach((url, number) => {
      const page = pages.get(url);
      expect(page && texts.get(page)).toContain(`Fact ${number}.1.4 about`);
    });
  });

  test('the counts on the parent add up, and are those of the records', () => {
    const failed = failing(TRAPS);
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
    expect(slowParent).toMatchObject({ sync_status: 'READY', sync_error_message: null });
    expect(slowParent.file_metadata).toMatchObject({
      pages_total: ORDINARY_IN_SLOW + SLOWNESS_TRAPS.length,
      pages_ready: ORDINARY_IN_SLOW + SLOWNESS_TRAPS.length - failing(SLOWNESS_TRAPS),
      pages_failed: failing(SLOWNESS_TRAPS),
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
  test('that are broken are named on the parent with what is wrong', () =>
    everyRow(
      Object.entries(BROKEN_SITEMAPS),
      ([path]) => path,
      ([path, sentence]) => {
        const problems = parent.file_metadata?.['sitemap_problems'] as { url: string; message: string }[];
        expect(problems.find(({ url }) => url === site.url(path))?.message).toMatch(sentence);
      },
    ));

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
