import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { samplePage, sitemapOf } from '../../emulators/site.js';
import { BROKEN_SITEMAPS, ORDINARY_IN_SLOW, startTrapSite, TRAPS, type TrapSite } from '../../emulators/trapSite.js';
import { MAX_PAGE_BYTES } from '../../emulators/traps/bodies.js';
import { SLOWNESS_LIMITS, SLOWNESS_TRAPS } from '../../emulators/traps/slowness.js';
import type { Trap } from '../../emulators/traps/trap.js';
import { startService, type TestService } from '../../support/service.js';
import type { TestUser } from '../../support/client.js';
import { everyRow } from '../../support/everyRow.js';

let site: TrapSite;
let service: TestService;
/** A second service with short time limits: with the limits of `service`, the slow traps would take minutes. */
let shortTimeoutService: TestService;
let user: TestUser;
let parent: FileRecord;
/** Parent of the scrape of the slow traps. */
let slowParent: FileRecord;
/** Pages by address. */
const pages = new Map<string | null, FileRecord>();
const slowPages = new Map<string | null, FileRecord>();
/** Texts of chunks by page. */
const texts = new Map<FileRecord, string>();

/** Requests that the scrape of the traps made to the other site. */
let foreignRequests: readonly string[];
const requestsOf = (path: string): number => site.requests.filter((one) => one === path).length;

const SETTLE_MS = 300_000;

/** Scrapes a sitemap of the site and stores the resulting pages and texts. */
async function scrape(by: TestUser, sitemap: string, into: Map<string | null, FileRecord>): Promise<FileRecord> {
  const accepted = await by.scrape({ url: site.url(sitemap), skip_embedding_generation: true });
  const settled = await by.settled(accepted.id, SETTLE_MS);
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
    // The two sites by host and port: the rest of loopback is forbidden, as in production.
    ALLOWED_PRIVATE_HOSTS: `${site.host},${site.foreign.host}`,
    MAX_PAGE_BYTES: String(MAX_PAGE_BYTES),
    PARSE_TIMEOUT_MS: '30000',
    // Half of the default: the page that exceeds it does so sooner.
    PARSE_MEMORY_MB: '256',
    RETRY_DELAYS_S: '0.2,0.4',
  };
  service = await startService(settings);
  shortTimeoutService = await startService({ ...settings, ...SLOWNESS_LIMITS, RETRY_DELAYS_S: '0.2' });
  user = await service.user('trapper');
  const slowUser = await shortTimeoutService.user('trapper');
  [parent, slowParent] = await Promise.all([
    scrape(user, '/sitemap.xml', pages),
    scrape(slowUser, '/slow.xml', slowPages),
  ]);
  foreignRequests = [...site.foreign.requests];
}, 2 * SETTLE_MS);

afterAll(async () => {
  await Promise.all([service.close(), shortTimeoutService.close()]);
  await site.close();
});

function expectOutcome({ name, outcome }: Trap, page: FileRecord | undefined): void {
  const text = page === undefined ? undefined : texts.get(page);
  if ('sentence' in outcome) {
    expect(page).toMatchObject({ sync_status: 'SYNC_ERROR', file_statistics: null });
    expect(page?.sync_error_message).toMatch(outcome.sentence);
    // A complete sentence, without internals.
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

describe('a trap page', () => {
  const eachOf = (traps: readonly Trap[], found: ReadonlyMap<string | null, FileRecord>) =>
    everyRow(
      traps,
      ({ name }) => name,
      (trap) => expectOutcome(trap, found.get(site.url(`/traps/${trap.name}`))),
    );

  test('ends with the text or the error of its row', () => eachOf(TRAPS, pages));

  test('ends with the text or the error of its row if it is slow', () => eachOf(SLOWNESS_TRAPS, slowPages));

  test('leaves all ordinary pages READY with their own words', () => {
    const missing = site.ordinary.filter((url) => pages.get(url)?.sync_status !== 'READY');
    expect(missing).toEqual([]);
    site.ordinary.forEach((url, number) => {
      const page = pages.get(url);
      expect(page && texts.get(page)).toContain(`Fact ${number}.1.4 about`);
    });
  });

  test('is counted on the parent in the same way as in the records of the pages', () => {
    const failed = failing(TRAPS);
    const total = site.ordinary.length + TRAPS.length;
    expect(total).toBeGreaterThan(150);
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

  test('kills no worker: no page was started again because its first start had not ended', async () => {
    const tenant = { organizationId: parent.organization_id, userId: parent.organization_user_id ?? 0 };
    const ids = [...pages.values()].map((file) => file.id);
    const stored = await service.store.files.byIds(tenant, ids);
    expect(stored.filter((file) => file.unfinishedStarts > 1)).toEqual([]);
  });

  test('does not affect a later ordinary scrape of the same service', async () => {
    // The egress guard allows two sites only: the second one serves the next scrape.
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
  test('are reported on the parent with the fault if they are broken', () =>
    everyRow(
      Object.entries(BROKEN_SITEMAPS),
      ([path]) => path,
      ([path, sentence]) => {
        const problems = parent.file_metadata?.['sitemap_problems'] as { url: string; message: string }[];
        expect(problems.find(({ url }) => url === site.url(path))?.message).toMatch(sentence);
      },
    ));

  test('are not reported on the parent if they are valid', () => {
    expect(parent.file_metadata?.['sitemap_problems']).toHaveLength(Object.keys(BROKEN_SITEMAPS).length);
  });

  test('are read once each, however often they are listed', () => {
    const read = site.requests.filter((path) => path.startsWith('/sitemap'));
    expect(read.filter((path, index) => read.indexOf(path) !== index)).toEqual([]);
  });

  test('cause no request to another host; only a page that redirects there does', () => {
    expect(new Set(foreignRequests)).toEqual(new Set(['/robots.txt', '/open']));
  });
});
