import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type Joi from 'joi';

import { EXTENSIONS } from '../../../api/extensions.js';
import { scrapeSitemap } from '../../../api/web/scrapeSitemap.js';
import { findChromium } from '../../../connectors/web/findChromium.js';
import type { PageOptions } from '../../../contract/files/ingestOptions.js';
import type { ChunkRecord, FileRecord } from '../../../contract/files/records.js';
import { countTokens } from '../../../documents/chunking/countTokens.js';
import { FIELD_PAGES, MARKED, startFieldSite } from '../../emulators/fieldSite.js';
import { type Page, type Site, sitemapOf, startSite } from '../../emulators/site.js';
import { startService, type TestService } from '../../support/service.js';
import type { Listed, TestUser } from '../../support/client.js';
import { storedPoints } from '../../support/storedPoints.js';
import { thoroughRows } from '../../support/thorough.js';

/** The observable results of a scrape. */
interface ScrapeResult {
  readonly site: Site;
  readonly accepted: FileRecord;
  readonly parent: FileRecord;
  readonly children: readonly FileRecord[];
  readonly chunks: readonly ChunkRecord[];
  /** Paths of the requested pages. */
  readonly requests: readonly string[];
  readonly text: string;
}

interface Row {
  /** The field under test, with the other fields that its effect needs. */
  readonly body: (site: Site) => Record<string, unknown>;
  /** Body of the scrape without the field. Unset: an empty body. */
  readonly comparedBody?: Record<string, unknown>;
  /** Checks the effect of the field. The second argument is the result of the same site without the field. */
  readonly effect: (result: ScrapeResult, plain: ScrapeResult) => void | Promise<void>;
}

let service: TestService;
let user: TestUser;
let plain: ScrapeResult;
const sites: Site[] = [];

async function scrape(body: (site: Site) => Record<string, unknown>): Promise<ScrapeResult> {
  const site = await startFieldSite();
  sites.push(site);
  const accepted = await user.scrape({ url: site.url('/sitemap.xml'), ...body(site) });
  const parent = await user.settled(accepted.id);
  const children = await user.children(parent.id);
  expect([parent, ...children].map((file) => [file.sync_status, file.sync_error_message])).toEqual(
    [parent, ...children].map(() => ['READY', null]),
  );
  const { results: chunks } = await user.chunks({ parent_file_ids: [parent.id] }, { include_vectors: true });
  const requests = site.requests.filter((path) => path.endsWith('.html')).sort();
  return {
    site,
    accepted,
    parent,
    children,
    chunks,
    requests,
    text: chunks.map((one) => one.source_content).join('\n'),
  };
}

const tenant = (file: FileRecord) => ({ organizationId: file.organization_id, userId: file.organization_user_id ?? 0 });
const embedded = (result: ScrapeResult) => result.chunks.filter((chunk) => chunk.embedding !== null).length;
/** Expects only the words of one kind to be missing. */
const skips = (kind: keyof typeof MARKED) => (result: ScrapeResult) => {
  for (const [name, words] of Object.entries(MARKED))
    expect([name, result.text.includes(words)]).toEqual([name, name !== kind]);
};
const search = async (result: ScrapeResult, more: Record<string, unknown> = {}) =>
  (await user.search({ query: 'harbour', k: 5, parent_file_ids: [result.parent.id], ...more })).length;
/** Expects the field in the records of the parent and of its pages. */
const recorded = (part: Partial<FileRecord>) => (result: ScrapeResult, without: ScrapeResult) => {
  for (const file of [result.accepted, result.parent, ...result.children]) expect(file).toMatchObject(part);
  for (const file of [without.accepted, ...without.children]) expect(file).not.toMatchObject(part);
};

const ROWS: Readonly<Record<string, Row>> = {
  url: {
    body: (site) => ({ url: site.url('/other.xml') }),
    effect({ site, parent, requests }) {
      expect(parent.external_url).toBe(site.url('/other.xml'));
      expect(requests).toEqual(['/b/3.html']);
      expect(site.requests).not.toContain('/sitemap.xml');
    },
  },
  tags: {
    body: () => ({ tags: { team: 'docs', level: 3 } }),
    async effect(result, without) {
      recorded({ tags: { team: 'docs', level: 3 } })(result, without);
      const { results } = await user.chunks({ tags: { team: 'docs' } });
      expect(new Set(results.map((chunk) => chunk.user_file_id))).toEqual(
        new Set(result.children.map((file) => file.id)),
      );
    },
  },
  max_pages_to_scrape: {
    body: () => ({ max_pages_to_scrape: 2 }),
    effect: ({ requests }) => expect(requests).toEqual(FIELD_PAGES.slice(0, 2)),
  },
  chunk_size: {
    body: () => ({ chunk_size: 40 }),
    effect(result, without) {
      recorded({ chunk_size: 40 })(result, without);
      expect(result.chunks.length).toBeGreaterThan(2 * without.chunks.length);
      for (const chunk of result.chunks) expect(countTokens(chunk.source_content)).toBeLessThanOrEqual(40);
    },
  },
  chunk_overlap: {
    body: () => ({ chunk_size: 60, chunk_overlap: 30 }),
    comparedBody: { chunk_size: 60, chunk_overlap: 0 },
    effect(result, without) {
      recorded({ chunk_overlap: 30 })(result, without);
      const times = (words: string, { text }: ScrapeResult) => text.split(words).length - 1;
      const lines = Array.from({ length: 12 }, (_, line) => `Line ${line} of page 1 `);
      expect(lines.map((line) => times(line, without))).toEqual(lines.map(() => 1));
      expect(lines.filter((line) => times(line, result) > 1).length).toBeGreaterThan(2);
    },
  },
  skip_embedding_generation: {
    body: () => ({ skip_embedding_generation: true }),
    async effect(result, without) {
      recorded({ skip_embedding_generation: true })(result, without);
      expect([result.text, embedded(result), await search(result)]).toEqual([without.text, 0, 0]);
    },
  },
  enable_auto_sync: {
    body: () => ({ enable_auto_sync: true }),
    effect: recorded({ enable_auto_sync: true }),
  },
  generate_sparse_vectors: {
    body: () => ({ generate_sparse_vectors: true }),
    async effect(result, without) {
      recorded({ generate_sparse_vectors: true })(result, without);
      const points = async ({ children: files }: ScrapeResult) =>
        (await Promise.all(files.map((file) => storedPoints(service, file.id)))).flat();
      const [own, others] = [await points(result), await points(without)];
      expect(own).toHaveLength(result.chunks.length);
      expect(own.every(({ sparse }) => (sparse?.indices.length ?? 0) > 10)).toBe(true);
      expect(others.map(({ sparse }) => sparse)).toEqual(without.chunks.map(() => null));
      // Only searches use sparse vectors: listed chunks have no field for them.
      expect(result.chunks.map((chunk) => Object.keys(chunk))).toEqual(
        without.chunks.map((chunk) => Object.keys(chunk)),
      );
    },
  },
  prepend_filename_to_chunks: {
    body: () => ({ prepend_filename_to_chunks: true, chunk_size: 60 }),
    effect({ chunks, children }, without) {
      const nameOf = new Map(children.map((file) => [file.id, file.name ?? 'no such file']));
      const isNamed = (chunk: ChunkRecord) => chunk.source_content.startsWith(nameOf.get(chunk.user_file_id) ?? '?');
      expect(chunks.length).toBeGreaterThan(2 * children.length);
      expect(chunks.filter((chunk) => !isNamed(chunk))).toEqual([]);
      expect(without.text).not.toContain('http://');
    },
  },
  html_tags_to_skip: { body: () => ({ html_tags_to_skip: ['blockquote'] }), effect: skips('tag') },
  css_classes_to_skip: { body: () => ({ css_classes_to_skip: ['advert'] }), effect: skips('class') },
  css_selectors_to_skip: {
    body: () => ({ css_selectors_to_skip: ['main > p[data-kind="note"]'] }),
    effect: skips('selector'),
  },
  embedding_model: {
    body: () => ({ embedding_model: 'COHERE_MULTILINGUAL_V3' }),
    async effect(result, without) {
      for (const file of [result.accepted, ...result.children])
        expect(Object.keys(file.embedding_properties ?? {})).toEqual(['COHERE_MULTILINGUAL_V3']);
      for (const file of [without.accepted, ...without.children])
        expect(Object.keys(file.embedding_properties ?? {})).toEqual(['OPENAI']);
      expect(await search(result, { embedding_model: 'COHERE_MULTILINGUAL_V3' })).toBeGreaterThan(0);
      expect(await search(result, { embedding_model: 'OPENAI' })).toBe(0);
    },
  },
  url_paths_to_include: {
    body: () => ({ url_paths_to_include: ['/a/'] }),
    effect: ({ requests }) => expect(requests).toEqual(['/a/0.html', '/a/1.html']),
  },
  url_paths_to_exclude: {
    body: () => ({ url_paths_to_exclude: ['/a/'] }),
    effect: ({ requests }) => expect(requests).toEqual(['/b/2.html', '/b/3.html']),
  },
  urls_to_scrape: {
    body: (site) => ({ urls_to_scrape: [site.url('/b/2.html'), site.url('/not/in/the/sitemap.html')] }),
    effect: ({ requests }) => expect(requests).toEqual(['/b/2.html']),
  },
  download_css_and_media: {
    body: () => ({ download_css_and_media: true }),
    effect(result, without) {
      const media = ({ site }: ScrapeResult) => new Set(site.requests.filter((path) => path.startsWith('/media/')));
      expect(media(result)).toEqual(new Set(['/media/site.css', '/media/picture.png']));
      expect(media(without)).toEqual(new Set());
      for (const file of result.children) expect(file.file_metadata).toMatchObject({ fetched_with: 'browser' });
      for (const file of without.children) expect(file.file_metadata).toMatchObject({ fetched_with: 'http' });
    },
  },
  generate_chunks_only: {
    body: () => ({ generate_chunks_only: true, skip_embedding_generation: false }),
    async effect(result, without) {
      expect([result.text, embedded(result), await search(result)]).toEqual([without.text, 0, 0]);
    },
  },
  store_file_only: {
    body: () => ({ store_file_only: true }),
    effect: ({ requests, chunks }) => expect([requests, chunks]).toEqual([[...FIELD_PAGES].sort(), []]),
  },
  // The effect on a site that refuses requests is tested with the connector; this site refuses none.
  use_premium_proxies: {
    body: () => ({ use_premium_proxies: true }),
    async effect(result, without) {
      const kept = async ({ children: files }: ScrapeResult) =>
        (
          await service.store.files.byIds(
            tenant(result.parent),
            files.map((file) => file.id),
          )
        ).map((file) => (file.sourceOptions as PageOptions).usePremiumProxies);
      expect(await kept(result)).toEqual(result.children.map(() => true));
      expect(await kept(without)).toEqual(without.children.map(() => false));
    },
  },
};

/**
 * Fields that share a scrape, because each scrape takes processor time. No field of a group changes what the row of
 * another one checks.
 */
const TOGETHER: readonly (readonly string[])[] = [
  ['tags', 'enable_auto_sync', 'generate_sparse_vectors', 'use_premium_proxies'],
  ['url', 'prepend_filename_to_chunks'],
  ['chunk_size', 'embedding_model'],
  ['html_tags_to_skip', 'url_paths_to_exclude'],
  ['css_classes_to_skip', 'urls_to_scrape'],
  ['css_selectors_to_skip', 'max_pages_to_scrape'],
  ['download_css_and_media', 'url_paths_to_include'],
];
/** Results by group. */
const results = new Map<readonly string[], Promise<ScrapeResult>>();

/** Returns the result of the scrape with a field and the other fields of its group. */
function resultOf(field: string): Promise<ScrapeResult> {
  const group = TOGETHER.find((fields) => fields.includes(field)) ?? [field];
  const known = results.get(group);
  if (known) return known;
  const result = scrape((site) => Object.fromEntries(group.flatMap((name) => Object.entries(ROWS[name]!.body(site)))));
  results.set(group, result);
  return result;
}

beforeAll(async () => {
  if (findChromium(null) === null)
    throw new Error('These tests need Chromium: apt-get install -y chromium-headless-shell');
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
  user = await service.user('fielder');
  plain = await scrape(() => ({}));
});
afterAll(async () => {
  await service.close();
  await Promise.all(sites.map((site) => site.close()));
});

describe('the fields of scrape_sitemap', () => {
  test('each have a row in this table', () => {
    const schema = (scrapeSitemap.body as Joi.Schema).describe() as { keys: Record<string, unknown> };
    // Other suites test the extensions dryRun and maxTokens.
    const contractFields = Object.keys(schema.keys).filter(
      (name) => !(`scrape_sitemap.${name}` in EXTENSIONS.requestFields),
    );
    expect(Object.keys(ROWS).sort()).toEqual(contractFields.sort());
    expect(Object.keys(ROWS)).toHaveLength(20);
  });

  test('are optional: without them, all pages are stored whole and with vectors', async () => {
    expect(plain.requests).toEqual([...FIELD_PAGES].sort());
    for (const words of Object.values(MARKED)) expect(plain.text).toContain(words);
    expect(embedded(plain)).toBe(plain.chunks.length);
    expect(await search(plain)).toBeGreaterThan(0);
  });

  test.each(Object.keys(ROWS))('%s has its effect', async (field) => {
    const row = ROWS[field] as Row;
    const comparedBody = row.comparedBody;
    const without = comparedBody ? await scrape(() => comparedBody) : plain;
    expect(Object.keys(row.body(plain.site))).toContain(field);
    await row.effect(await resultOf(field), without);
  });
});

const FLAGS = ['skip_embedding_generation', 'generate_chunks_only', 'store_file_only'] as const;
type Flags = Readonly<Record<(typeof FLAGS)[number], boolean>>;
const ALL_FLAGS = { skip_embedding_generation: true, generate_chunks_only: true, store_file_only: true };
/** Combinations of flags. Those of at most one flag use the scrapes of the other tests. */
const COMBINATIONS: readonly (readonly [string, () => Promise<ScrapeResult>, Partial<Flags>])[] = [
  ['no flag', async () => plain, {}],
  ...FLAGS.map((flag) => [flag, () => resultOf(flag), { [flag]: true }] as const),
  ['all flags', () => scrape(() => ALL_FLAGS), ALL_FLAGS],
  ...thoroughRows(
    FLAGS.map((left) => {
      const flags = { ...ALL_FLAGS, [left]: false };
      return [`all flags except ${left}`, () => scrape(() => flags), flags] as const;
    }),
  ),
];

describe('the flags that limit the processing of a page have their effects together', () => {
  test.each(COMBINATIONS)('%s', async (_name, scraped, flags) => {
    const result = await scraped();
    const { body: listed } = await user.post<Listed<FileRecord>>('/user_files_v2', {
      filters: { ids: [result.children[0]?.id] },
      include_raw_file: true,
      include_parsed_text_file: true,
    });
    const [page] = listed.results as [FileRecord];
    const vectorsOfPage = result.chunks.filter((chunk) => chunk.user_file_id === page.id && chunk.embedding !== null);
    expect(page.sync_status).toBe('READY');
    expect(page.skip_embedding_generation).toBe(flags.skip_embedding_generation ?? false);

    // skip_embedding_generation: no vectors. generate_chunks_only: no vectors, whatever the first flag is.
    // store_file_only: no chunks either.
    const stored = flags.store_file_only ?? false;
    const vectors = Object.keys(flags).length === 0;
    expect(result.chunks.length > 0).toBe(!stored);
    expect(embedded(result)).toBe(vectors ? result.chunks.length : 0);
    expect(vectorsOfPage.length > 0).toBe(vectors);
    expect(await service.store.vectors.countOf(tenant(page), [page.id])).toBe(vectorsOfPage.length);
    expect((await search(result)) > 0).toBe(vectors);
    expect(page.file_statistics).toMatchObject({ num_embeddings: vectorsOfPage.length, file_format: 'HTML' });
    expect(page.file_statistics?.num_characters !== undefined).toBe(!stored);

    const path = new URL(page.external_url ?? '').pathname;
    const body = result.site.pages.get(path);
    expect(page.file_statistics?.file_size).toBe(Buffer.byteLength(body as string));
    expect(await (await fetch(page.presigned_url ?? '')).text()).toBe(body);
    if (stored) expect(page.parsed_text_url).toBeNull();
    else expect(await (await fetch(page.parsed_text_url ?? '')).text()).toContain(`# Harbour ${path[3]}`);
  });
});

/** Scrapes one page. Returns its record with its text. */
async function scrapePage(site: Site, path: string, options: Record<string, unknown>) {
  const sitemap = `/sitemap-${site.pages.size}.xml`;
  site.pages.set(sitemap, sitemapOf(site.origin, [path]));
  const accepted = await user.scrape({ url: site.url(sitemap), generate_chunks_only: true, ...options });
  const parent = await user.settled(accepted.id);
  const [file] = await user.children(parent.id);
  if (!file) throw new Error(`the scrape of ${path} has no page: ${parent.sync_error_message ?? parent.sync_status}`);
  const { results: chunks } = await user.chunks({ ids: [file.id] });
  return { file, text: chunks.map((chunk) => chunk.source_content).join('\n') };
}

describe('a page that the browser renders', () => {
  const sentences = (about: string) => `The ${about} of the district were counted by an observer with care. `.repeat(8);
  const SUBJECTS = ['offers', 'adverts', 'notes', 'orchards'];
  /** All parts are main text. */
  const BODY = `<body>
    <main><h1>Offers</h1><p>${sentences('offers')}</p></main>
    <div class="promo wide"><h1>Adverts</h1><p>${sentences('adverts')}</p></div>
    <div data-kind="teaser"><h1>Notes</h1><p>${sentences('notes')}</p></div>
    <div><h1>Orchards</h1><p>${sentences('orchards')}</p></div>
  </body>`;
  const ROWS_OF_PAGES: readonly (readonly [string, Page, boolean])[] = [
    [
      'because it is an empty shell',
      `<html><body><div id="root"></div><script>document.body.innerHTML = ${JSON.stringify(BODY)}</script></body></html>`,
      false,
    ],
    // The original document contains the text, so the browser is used only because of the style sheet.
    ...thoroughRows([
      [
        'because its styles are requested',
        `<html><head><link rel="stylesheet" href="/style.css"></head>${BODY}</html>`,
        true,
      ] as const,
    ]),
  ];
  test.each(ROWS_OF_PAGES)(
    '%s is stored without the skipped tags, classes and selectors',
    async (_name, page, withMedia) => {
      const site = await startSite({ '/page': page, '/style.css': { type: 'text/css', body: 'body { color: #333 }' } });
      sites.push(site);
      const read = async (options: Record<string, unknown>) => {
        const { file, text } = await scrapePage(site, '/page', { download_css_and_media: withMedia, ...options });
        expect([file.sync_status, file.file_metadata?.['fetched_with']]).toEqual(['READY', 'browser']);
        return SUBJECTS.filter((about) => text.includes(`The ${about} of the district`));
      };
      // Prose outside of <main> is content too.
      expect(await read({})).toEqual(SUBJECTS);
      const [tags, classes] = [{ html_tags_to_skip: ['main'] }, { css_classes_to_skip: ['promo'] }];
      const selectors = { css_selectors_to_skip: ['[data-kind="teaser"]'] };
      expect(await read({ ...tags, ...classes, ...selectors })).toEqual(['orchards']);
    },
  );
});

test('use_premium_proxies is accepted without a proxy pool: only a refused page ends in SYNC_ERROR, naming the setting', async () => {
  const site = await startSite({ '/open': '<p>The orchards were counted.</p>', '/refused': { status: 403 } });
  sites.push(site);
  const { file: fetched } = await scrapePage(site, '/open', { use_premium_proxies: true });
  expect(fetched).toMatchObject({ sync_status: 'READY', file_metadata: { fetched_with: 'http' } });
  const { file: refused } = await scrapePage(site, '/refused', { use_premium_proxies: true });
  expect(refused.sync_status).toBe('SYNC_ERROR');
  expect(refused.sync_error_message).toMatch(/HTTP 403.*PREMIUM_PROXY_URLS/);
});
