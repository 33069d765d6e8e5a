/**
 * Tests of the first pages of a scrape, which are compared with each other to find repeated blocks: how many stay in
 * memory until the ingest of their files, and for how long.
 */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';

import type { ActivityDeps } from '../../activities/deps.js';
import { createFileSlots } from '../../activities/ingest/fileSlots.js';
import { processingFor } from '../../activities/ingest/prepare/processing.js';
import { compareFirstPages } from '../../activities/ingest/site/compareFirstPages.js';
import type { FileDoc } from '../../store/models/files.js';
import { recorder } from '../support/recorder.js';
import { waitFor } from '../support/waitFor.js';

const ADA = { organizationId: 1, userId: 7 };
const RUN = { _id: 3, ...ADA, fileId: 2, kind: 'scrapeSitemap', request: { scrape: {}, ingest: {} } };
const IDS = [1, 2, 3, 4, 5, 6];
const LARGE = 6_000_000;
const FILE = {
  ...{ ...ADA, source: 'WEB_SCRAPE', generation: 0, sourceOptions: {}, tagPairs: [], parentId: 2, rawHash: null },
  ...{ fileMetadata: {}, statistics: null, processedAs: null },
  options: { embeddingModel: 'OPENAI', skipEmbeddingGeneration: true },
};
const HELLO_HASH = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';

let elapse: () => void;
beforeEach(() => {
  const time = new AbortController();
  elapse = () => time.abort();
  jest.spyOn(AbortSignal, 'timeout').mockReturnValue(time.signal);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const pageOf = (bytes: Uint8Array) => ({ bytes, contentType: 'text/html', url: 'http://site.test/', html: {} });

function open(files: readonly object[], fetchPage: (url: string) => Promise<unknown>) {
  const rows = files.map((file, at) => ({
    ...FILE,
    _id: IDS[at],
    externalFileId: `http://site.test/${IDS[at]}`,
    ...file,
  }));
  const recorded = recorder({ 'siteBlocks.find': null, 'files.byIds': rows, 'contents.get': Buffer.from('stored') });
  const read: string[] = [];
  const deps = {
    store: recorded.stores,
    settings: { siteSamplePages: IDS.length, fileConcurrency: IDS.length, ocr: {} },
    log: { error: () => undefined },
    sources: { open: ({ externalFileId }: { externalFileId: string }) => fetchPage(externalFileId) },
    documents: {
      process: ({ bytes }: { bytes: Uint8Array }) => {
        read.push(Buffer.from(bytes.subarray(0, 6)).toString());
        return Promise.resolve({ text: '', blocks: ['block'] });
      },
    },
  } as unknown as ActivityDeps;
  const compare = () => compareFirstPages(RUN as never, IDS, deps, createFileSlots(100), new AbortController().signal);
  return { ...recorded, compare, read, deps, rows: rows as unknown as FileDoc[] };
}

/** Compares pages that arrive only when the test calls their functions in `arrivals`, after the time limit. */
async function withLatePages() {
  const arrivals: (() => void)[] = [];
  const { compare, rows } = open(
    IDS.map(() => ({})),
    () => new Promise((resolve) => void arrivals.push(() => resolve(pageOf(Buffer.alloc(LARGE))))),
  );
  const comparing = compare();
  await waitFor(
    () => arrivals.length,
    (count) => count === IDS.length,
  );
  elapse();
  const take = await comparing;
  return { arrivals, rows, take };
}

test('pages that arrive after the comparison count towards the memory limit', async () => {
  const { arrivals, rows, take } = await withLatePages();
  for (const arrive of arrivals) arrive();
  await new Promise(setImmediate);
  const taken = await Promise.all(rows.map((file) => take(file, false)));
  expect(taken.map((page) => page !== null)).toEqual([true, true, false, false, false, false]);
});

test('a late page that its file already waits for is passed to it, whatever its size', async () => {
  const { arrivals, rows, take } = await withLatePages();
  const taking = rows.map((file) => take(file, false));
  for (const arrive of arrivals) arrive();
  expect((await Promise.all(taking)).every((page) => page !== null)).toBe(true);
});

test('the blocks of a fetched page are read from the fetched content, even if the page is unchanged', async () => {
  const unchanged = { ...FILE, generation: 1, rawHash: HELLO_HASH };
  const { processedAs } = processingFor(unchanged as never, null, { settings: { ocr: {} } } as never);
  const { compare, of, read } = open(
    IDS.map((id) => (id === 1 ? {} : { ...unchanged, processedAs })),
    (url) => Promise.resolve(url.endsWith('/6') ? null : pageOf(Buffer.from('hello'))),
  );
  await compare();
  expect(read.toSorted()).toEqual([...Array.from({ length: 5 }, () => 'hello'), 'stored']);
  // Only the page that the source reported as current is read from the store.
  expect(of('contents.get')).toEqual([[expect.objectContaining({ fileId: 6 })]]);
});
