/** Tests of the input of estimates, with stores and pages in memory: the counted files, and the read samples. */
import { expect, test } from '@jest/globals';

import { createSampleReader } from '../../api/dryRuns/sampleReader.js';
import { estimateReembed } from '../../api/files/estimateReembed.js';

const CALLER = { organizationId: 1, userId: 2, customerId: 'ann' };
const TENANT = { organizationId: 1, userId: 2 };

const FILE = {
  ...{ _id: 1, isContainer: false, syncErrorMessage: null, syncStatus: 'READY', embeddingStorageStatus: 'HOT_STORAGE' },
  ...{ vectorSpace: 'old', numChunks: 3, hasText: true, statistics: { numTokens: 100 } },
  options: { embeddingModel: 'OPENAI', chunkOverlap: 10 },
};

/** Estimates the embedding of files in the space `new`. All chunks but the first of each file have cached vectors. */
async function estimate(files: readonly Partial<typeof FILE>[], price: number | null = 2) {
  const asked: unknown[] = [];
  const rows = files.map((file, nth) => ({ ...FILE, _id: nth + 1, ...file }));
  const store = {
    files: {
      async *candidates(tenant: object, filters: object) {
        asked.push([tenant, filters]);
        for (const row of rows) yield await Promise.resolve(row);
      },
      byIds: (tenant: object, ids: number[]) => (
        asked.push([tenant, [...ids]]),
        Promise.resolve(rows.filter(({ _id }) => ids.includes(_id)))
      ),
    },
    chunks: {
      async *page(_tenant: object, contents: AsyncIterable<typeof FILE>, offset: number, limit: number) {
        const texts: { text: string }[] = [];
        for await (const { _id, numChunks } of contents)
          for (let nth = 0; nth < numChunks; nth += 1) texts.push({ text: `${_id}.${nth}` });
        const part = texts.slice(offset, offset + limit);
        for (let from = 0; from < part.length; from += 1_000) yield part.slice(from, from + 1_000);
      },
    },
    vectorCache: {
      countCached: (organizationId: number, space: string, texts: string[]) => (
        asked.push([organizationId, space]),
        Promise.resolve(texts.filter((text) => !text.endsWith('.0')).length)
      ),
    },
  };
  const deps = {
    ...{ store, embedder: { spaceOf: () => ({ name: 'new' }) } },
    settings: { embeddingPrices: price === null ? {} : { OPENAI: price } },
  };
  const request = { filters: { ids: [7] }, model: 'OPENAI' } as const;
  return { asked, result: await estimateReembed(CALLER, request, deps as never) };
}

test('an estimate counts the files to embed, their tokens with overlaps, and the skipped files by reason', async () => {
  const { asked, result } = await estimate([
    ...[{}, { syncStatus: 'SYNCING' }, { numChunks: 2 }, { isContainer: true }],
    ...[{ vectorSpace: 'new' }, { isContainer: true }, { embeddingStorageStatus: 'COLD_STORAGE' }],
  ]);
  expect(result).toEqual({
    ...{ files: 2, chunks: 5, tokens: 120 + 110, knownChunks: 3, price: (230 / 1_000_000) * 2 },
    skipped: { syncing: 1, container: 2, already_embedded: 1, cold_storage: 1 },
  });
  expect(asked).toEqual([
    [TENANT, { ids: [7] }],
    [TENANT, [1, 3]],
    [1, 'new'],
  ]);
  expect((await estimate([{}], null)).result.price).toBeNull();
});

test('an estimate counts the chunks with cached vectors; with more than 5,000 chunks, the number is null', async () => {
  expect((await estimate([{ numChunks: 2_000 }, { numChunks: 3_000 }])).result.knownChunks).toBe(4_998);
  const { result } = await estimate([{ numChunks: 2_000 }, { numChunks: 3_001 }]);
  expect([result.knownChunks, result.chunks, result.files]).toEqual([null, 5_001, 2]);
});

/** Reads a sample of a page that was redirected to www.b.test. */
async function readPage(hosts: readonly string[] | null, ingest: object = {}) {
  const calls: Record<string, unknown>[] = [];
  const state = { isClosed: false };
  const web = {
    fetchPage(request: object) {
      calls.push({ ...request, signal: null });
      return Promise.resolve({
        bytes: Buffer.from('12345'),
        contentType: 'text/html',
        finalUrl: 'http://www.b.test/x',
      });
    },
  };
  const documents = {
    links: (_input: object, wanted: object) => (calls.push({ wanted }), Promise.resolve({ urls: ['http://b.test/y'] })),
    process(input: { html: object; baseUrl: string }, chunking: object) {
      calls.push({ html: input.html, baseUrl: input.baseUrl, chunking });
      const text = {
        slice: (from: number, to: number) => 'abcdef'.slice(from, to),
        close: () => (state.isClosed = true),
      };
      const cuts = [
        { start: 0, end: 4, tokens: 3 },
        { start: 2, end: 6, tokens: 2 },
      ];
      return Promise.resolve({ text, cuts, prefix: '> ' });
    },
  };
  const options = { ...{ htmlTagsToSkip: ['nav'], cssClassesToSkip: ['ad'], cssSelectorsToSkip: ['#f'] } };
  const page = await createSampleReader(web as never, documents as never).page(
    'http://b.test/',
    { ...options, usePremiumProxies: true } as never,
    { chunkSize: 9, chunkOverlap: 1, prependFilenameToChunks: false, ...ingest } as never,
    hosts,
    new AbortController().signal,
  );
  return { page, calls, state };
}

test('a sample of a page uses the options of the run, and has links to the given and the final host', async () => {
  const { page, calls, state } = await readPage(['b.test']);
  expect(page).toEqual({
    ...{ bytes: 5, tokens: 5, texts: ['> abcd', '> cdef'], links: ['http://b.test/y'] },
    finalUrl: 'http://www.b.test/x',
  });
  expect(calls).toMatchObject([
    { url: 'http://b.test/', usePremiumProxies: true, known: null },
    { wanted: { follow: { hosts: ['b.test', 'www.b.test'] }, withText: false } },
    {
      html: { tags: ['nav'], classes: ['ad'], selectors: ['#f'] },
      baseUrl: 'http://www.b.test/x',
      chunking: { chunkSize: 9, chunkOverlap: 1, prefix: null },
    },
  ]);
  expect(state.isClosed).toBe(true);
  const named = await readPage(null, { prependFilenameToChunks: true });
  expect([named.page.links, named.calls.at(-1)]).toMatchObject([[], { chunking: { prefix: 'http://b.test/' } }]);
  for (const option of ['storeFileOnly', 'skipFileProcessing'])
    expect((await readPage(null, { [option]: true })).page).toMatchObject({ bytes: 5, tokens: 0, texts: [] });
});
