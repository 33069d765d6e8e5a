/** Tests of dry runs of crawls and sitemaps, with a site in memory: which pages they count, read and skip. */
import { describe, expect, jest, test } from '@jest/globals';

import { dryCrawl } from '../../api/dryRuns/crawl.js';
import { createDryRunLimiter, withDeadline } from '../../api/dryRuns/deadline.js';
import { createSampleReader } from '../../api/dryRuns/sampleReader.js';
import { drySitemap } from '../../api/dryRuns/sitemap.js';
import { webScrape } from '../../api/web/webScrape.js';
import { Fault } from '../../contract/failures.js';
import { everyRow } from '../support/everyRow.js';

const SITE = 'https://site.example';
const at = (...names: string[]) => names.map((name) => (name.includes('://') ? name : `${SITE}/${name}`));
/** The links of each page. The start page has links to a forbidden page, to another host, and to itself. */
const LINKS: Readonly<Record<string, readonly string[]>> = {
  [`${SITE}/`]: at('a', 'b', 'forbidden', 'https://www.site.example/w', '', 'a'),
  [`${SITE}/a`]: at('c', 'b', 'forbidden'),
  [`${SITE}/b`]: at('a'),
  [`${SITE}/c`]: at('d'),
};

interface Setup {
  /** Pages that cannot be read. */
  readonly broken?: readonly string[];
  readonly maxFiles?: number;
  readonly maxPages?: number;
  readonly samplePages?: number;
  /** Where the start page redirects to. */
  readonly finalUrl?: string;
}

/** Returns the dependencies of a dry run, and the pages that it reads. */
function depsOf({ broken = [], maxFiles, maxPages = 100, samplePages = 10, finalUrl }: Setup) {
  const read: string[] = [];
  const deps = {
    samples: {
      page(url: string) {
        read.push(url);
        if (broken.includes(url)) return Promise.reject(new Fault('not_found', 'gone'));
        const target = url === `${SITE}/` ? (finalUrl ?? url) : url;
        return Promise.resolve({ bytes: 1, tokens: 1, texts: ['t'], links: LINKS[url] ?? [], finalUrl: target });
      },
    },
    sitemaps: { mayFetch: (url: string) => Promise.resolve(!url.endsWith('forbidden')) },
    settings: { maxPagesPerScrape: maxPages, embeddingPrices: {}, dryRun: { samplePages, timeoutMs: 60_000 } },
    store: {
      limits: { get: () => Promise.resolve({ max_files_per_upload: maxFiles ?? null }) },
      runRates: { rateOf: () => Promise.resolve(null) },
      vectorCache: { countCached: () => Promise.resolve(0) },
    },
    embedder: { spaceOf: () => ({ name: 'space' }) },
    dryRuns: createDryRunLimiter(),
  };
  return { deps, read };
}
const CALLER = { organizationId: 1, userId: 2, customerId: 'ann' };
const NEVER = new AbortController().signal;

describe('a dry run of a crawl', () => {
  async function crawl(scrape: object, setup: Setup = {}, discovery: AbortSignal = NEVER) {
    const { deps, read } = depsOf(setup);
    const request = {
      url: `${SITE}/`,
      scrape: { recursionDepth: 3, maxPagesToScrape: 100, urlPathsToInclude: [], ...scrape },
      ingest: {},
    };
    const { samplePages } = deps.settings.dryRun;
    const deadline = { discovery, total: NEVER };
    const found = await dryCrawl(CALLER, request as never, deadline, samplePages, deps as never);
    return { files: found.files, complete: found.complete, skipped: found.skipped, failed: found.sample.failed, read };
  }

  test('counts each page once, up to the recursion depth, and each forbidden page', () =>
    everyRow(
      [
        [0, at('')],
        [1, at('', 'a', 'b')],
        [2, at('', 'a', 'b', 'c')],
        [3, at('', 'a', 'b', 'c', 'd')],
      ] as [number, string[]][],
      String,
      async ([recursionDepth, pages]) => {
        const { files, complete, skipped, read } = await crawl({ recursionDepth });
        expect([files, complete, read]).toEqual([pages.length, true, pages]);
        expect(skipped).toEqual(recursionDepth === 0 ? {} : { robots_disallowed: 1 });
      },
    ));

  test('reads no more pages than its sample; is complete only if unread pages cannot lead to more pages', async () => {
    const shallow = await crawl({ recursionDepth: 1 }, { samplePages: 1 });
    expect([shallow.files, shallow.complete, shallow.read]).toEqual([3, true, at('')]);
    const deep = await crawl({ recursionDepth: 2 }, { samplePages: 2 });
    expect([deep.files, deep.complete, deep.read.length]).toEqual([4, false, 2]);
  });

  test('ends at the lowest maximum number of pages, and counts pages above the limit of the user as skipped', async () => {
    const found = async (scrape: object, setup: Setup) => {
      const { files, complete, skipped } = await crawl({ recursionDepth: 1, ...scrape }, setup);
      return [files, complete, skipped];
    };
    expect(await found({ maxPagesToScrape: 2 }, {})).toEqual([2, true, {}]);
    expect(await found({}, { maxPages: 2 })).toEqual([2, true, {}]);
    expect(await found({}, { maxFiles: 2 })).toEqual([2, true, { over_limit: 2 }]);
    // A limit above the requested number has no effect.
    expect(await found({ maxPagesToScrape: 2 }, { maxFiles: 9 })).toEqual([2, true, {}]);
  });

  test('follows only links to requested paths on the host of the start page or of its redirect', async () => {
    expect((await crawl({ urlPathsToInclude: ['/a'] })).read).toEqual(at('', 'a'));
    const moved = await crawl({ recursionDepth: 1 }, { finalUrl: 'https://www.site.example/' });
    expect(moved.read).toEqual(at('', 'a', 'b', 'https://www.site.example/w'));
  });

  test('continues after a page that cannot be read, and counts it as failed', async () => {
    const found = await crawl({ recursionDepth: 2 }, { broken: at('b') });
    expect(found).toMatchObject({ files: 4, complete: true, failed: 1, read: at('', 'a', 'b', 'c') });
  });

  test('reads no page after the time limit of discovery, and is then incomplete', async () => {
    expect(await crawl({}, {}, AbortSignal.abort())).toMatchObject({ files: 1, complete: false, read: [] });
  });

  test('in a request with several crawls reads an equal share of the sample; each must have dry_run', async () => {
    const { deps, read } = depsOf({ samplePages: 5 });
    const run = (...elements: object[]) => {
      const context = { mayCall: () => true, redirectUriSchemes: [] };
      const body: unknown = webScrape.body!.validate(elements, { context }).value;
      return webScrape.handle({ caller: CALLER, body, deps } as never) as Promise<{ files: number }[]>;
    };
    const dry = { url: `${SITE}/`, dry_run: true };
    expect((await run(dry, { ...dry, recursion_depth: 0 })).map(({ files }) => files)).toEqual([4, 1]);
    expect(read).toEqual(expect.arrayContaining(at('', 'a')));
    expect(read).toHaveLength(3);
    await expect(run(dry, { url: `${SITE}/` })).rejects.toMatchObject({
      ...{ status: 422, detail: [{ loc: ['body', 1, 'dry_run'] }] },
    });
  });
});

describe('a dry run of a sitemap', () => {
  const SITEMAP = `${SITE}/sitemap.xml`;
  const NAMES = ['a', 'forbidden', 'b', 'c', 'd', 'e'];
  async function estimate(
    scrape: object,
    setup: Setup = {},
    discover?: (signal: AbortSignal) => AsyncIterable<object>,
  ) {
    const { deps, read } = depsOf(setup);
    const asked: unknown[] = [];
    async function* entries(url: string, _signal: AbortSignal, _onProblem: () => void, usePremiumProxies: boolean) {
      asked.push(url, usePremiumProxies);
      for (const name of [SITEMAP, ...at(...NAMES)]) yield await Promise.resolve({ url: name });
    }
    const sitemaps = {
      ...deps.sitemaps,
      discover: discover ? (_url: string, signal: AbortSignal) => discover(signal) : entries,
    };
    const request = {
      url: SITEMAP,
      scrape: {
        ...{ maxPagesToScrape: null, urlPathsToInclude: [], urlPathsToExclude: [], urlsToScrape: [] },
        ...{ usePremiumProxies: true, ...scrape },
      },
      ingest: {},
    };
    const deadline = { discovery: NEVER, total: NEVER };
    const found = await drySitemap(CALLER, request as never, deadline, { ...deps, sitemaps } as never);
    return { files: found.files, complete: found.complete, skipped: found.skipped, read, asked };
  }

  test('counts the pages that the scrape would fetch, and reads a sample of them', async () => {
    const found = await estimate({}, { samplePages: 2 });
    const { read, ...rest } = found;
    expect(rest).toEqual({ files: 5, complete: true, skipped: { robots_disallowed: 1 }, asked: [SITEMAP, true] });
    expect(read).toEqual(at('b', 'd'));
    expect(await estimate({ urlPathsToExclude: ['/b'] })).toMatchObject({ files: 4 });
  });

  test('ends at the lowest maximum number of pages, and counts pages above the limit of the user as skipped', async () => {
    const found = async (scrape: object, setup: Setup = {}) => {
      const { files, skipped } = await estimate(scrape, setup);
      return [files, skipped];
    };
    const skipped = { robots_disallowed: 1 };
    expect(await found({ maxPagesToScrape: 3 })).toEqual([2, skipped]);
    expect(await found({ maxPagesToScrape: 9 }, { maxPages: 3 })).toEqual([2, skipped]);
    expect(await found({}, { maxFiles: 3 })).toEqual([2, { ...skipped, over_limit: 3 }]);
  });

  test('is refused with the cause if the sitemap cannot be read', async () => {
    async function* broken() {
      yield await Promise.reject<object>(new Fault('not_found', 'There is no sitemap.'));
    }
    await expect(estimate({}, {}, broken)).rejects.toMatchObject({ status: 400, detail: 'There is no sitemap.' });
  });
});

test('a sample of an item is its plain text, or its marked-up text if the request chooses that', async () => {
  const processed: unknown[] = [];
  const documents = {
    process(input: { bytes: Buffer; contentType: string }, { prefix }: { prefix: string | null }) {
      processed.push([input.bytes.toString(), input.contentType, prefix]);
      return Promise.resolve({ text: 'text', cuts: [{ start: 0, end: 4, tokens: 1 }], prefix: '' });
    },
  };
  const account = {
    open: (id: string) =>
      Promise.resolve({
        ...{ url: `https://source.example/${id}`, name: null, bytes: Buffer.from('# T'), contentType: 'text/markdown' },
        plain: { bytes: Buffer.from('T'), contentType: 'text/plain' },
      }),
  };
  const read = (ingest: object) =>
    createSampleReader({} as never, documents as never).item(
      account as never,
      { externalId: '7', name: 'listed name' },
      { prependFilenameToChunks: true, ...ingest } as never,
      NEVER,
    );
  expect(await read({})).toEqual({ bytes: 1, tokens: 1, texts: ['text'] });
  await read({ parsedTextFormat: 'MARKDOWN' });
  expect(processed).toEqual([
    ['T', 'text/plain', 'listed name'],
    ['# T', 'text/markdown', 'listed name'],
  ]);
});

test('discovery may take half of the time of a dry run, so that the other half is left for its sample', async () => {
  const timeout = jest.spyOn(AbortSignal, 'timeout');
  const deps = { settings: { dryRun: { timeoutMs: 60_000 } }, dryRuns: createDryRunLimiter() };
  const signals = await withDeadline(CALLER, deps as never, (deadline) => Promise.resolve(deadline));
  const signalOf = (ms: number) => timeout.mock.results[timeout.mock.calls.findIndex(([limit]) => limit === ms)]?.value;
  expect([signals.discovery === signalOf(30_000), signals.total === signalOf(60_000)]).toEqual([true, true]);
  timeout.mockRestore();
});
