import { expect, test } from '@jest/globals';

import type { FeedAnswer, FeedEntry, FeedRequest, FetchedPage, PageRequest } from '../../connectors/types.js';
import type { FeedEntryOptions } from '../../contract/runs/feeds.js';
import { FAULTS, Fault, type FaultKind } from '../../contract/failures.js';
import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import { createFeedContents } from '../../worker/feedContent.js';
import { everyRow } from '../support/everyRow.js';

// Tests of the source of a feed entry's text, and of the requests for the feed. Feeds and pages are fake functions.
const FEED = 'https://site.example/feed.xml';
const PAGE = 'https://site.example/1';
const NEVER = new AbortController().signal;
/** Returns a signal that is never aborted. A caller that retries endlessly, and so checks it again and again, fails. */
function checkedSignal(): AbortSignal {
  const { signal } = new AbortController();
  let checks = 0;
  signal.throwIfAborted = () => {
    checks += 1;
    if (checks > 100) throw new Error('the caller retries endlessly');
  };
  return signal;
}

const entryOf = (fields: Partial<FeedEntry> = {}): FeedEntry => ({
  ...{ id: 'one', url: PAGE, title: 'A & <B>', publishedAt: '2026-01-02T03:04:05.000Z' },
  ...{ content: null, summary: 'in short' },
  ...fields,
});
const options: FeedEntryOptions = {
  ...(DEFAULT_INGEST_OPTIONS as unknown as FeedEntryOptions),
  ...{ feedUrl: FEED, entryId: 'one', pageUrl: PAGE },
  ...{ htmlTagsToSkip: ['nav'], cssClassesToSkip: [], cssSelectorsToSkip: [] },
  ...{ downloadCssAndMedia: false, usePremiumProxies: true },
};
const page: FetchedPage = {
  ...{ bytes: Buffer.from('<p>the page</p>'), contentType: 'text/html', finalUrl: PAGE },
  ...{ etag: 'e', lastModified: null, fetchedWith: 'http' },
};
const answerOf = (entries: readonly FeedEntry[], movedTo: string | null = null): FeedAnswer => ({
  feed: { title: null, entries, validators: { etag: null, lastModified: null } },
  movedTo,
});

interface FakeSources {
  readonly entries?: readonly FeedEntry[];
  readonly readFeed?: (request: FeedRequest) => Promise<FeedAnswer>;
  readonly fetchPage?: (request: PageRequest) => Promise<FetchedPage | null>;
}
function createContents({ entries = [entryOf()], readFeed, fetchPage }: FakeSources = {}) {
  const requests = { feeds: [] as FeedRequest[], pages: [] as PageRequest[] };
  const contents = createFeedContents(
    {
      readFeed: (request) => {
        requests.feeds.push(request);
        return readFeed?.(request) ?? Promise.resolve(answerOf(entries));
      },
    },
    {
      fetchPage: (request) => {
        requests.pages.push(request);
        return fetchPage?.(request) ?? Promise.resolve(page);
      },
    },
  );
  const open = async (
    own: Partial<FeedEntryOptions> = {},
    { known = null as never, login = null as string | null, signal = NEVER } = {},
  ) =>
    contents.open(
      {
        ...{ source: 'RSS_FEED', externalFileId: 'one', externalUrl: null, known },
        sourceOptions: { ...options, ...own },
        credentials: () => Promise.resolve(login),
      },
      signal,
    );
  const read = (fields: Partial<FeedRequest> = {}) =>
    contents.read({ url: FEED, credentials: null, known: null, signal: NEVER, ...fields });
  return { requests, open, read };
}
const textOf = (opened: { bytes: Uint8Array } | null): string => Buffer.from(opened!.bytes).toString();

test('rejects with a retryable fault of the page; after any other fault uses the summary, or rejects if there is none', async () => {
  const kinds = Object.keys(FAULTS) as FaultKind[];
  await everyRow(kinds, String, async (kind) => {
    const fault = new Fault(kind, 'the page cannot be read');
    const fetchPage = () => Promise.reject(fault);
    const opened = createContents({ fetchPage }).open();
    if (FAULTS[kind].retryable) await expect(opened).rejects.toBe(fault);
    else expect(await opened).toMatchObject({ fileMetadata: { content_from: 'summary' }, format: 'HTML' });
    await expect(createContents({ fetchPage, entries: [entryOf({ summary: null })] }).open()).rejects.toBe(fault);
  });
  const defect = new TypeError('an internal defect');
  await expect(createContents({ fetchPage: () => Promise.reject(defect) }).open()).rejects.toBe(defect);
});

test('takes the text from the feed, else from the page, else from the summary, and records which', async () => {
  const whole = createContents({ entries: [entryOf({ content: '<p>whole</p>' })] });
  const ofFeed = await whole.open();
  expect(textOf(ofFeed)).toContain('<p>whole</p>');
  expect(textOf(ofFeed)).toContain('<title>A &amp; &lt;B></title>');
  expect(ofFeed).toMatchObject({
    ...{
      fileMetadata: { content_from: 'feed', published: '2026-01-02T03:04:05.000Z' },
      url: PAGE,
      recordedFormat: 'RSS_FEED',
    },
    html: { tags: ['nav'] },
  });
  expect(whole.requests.pages).toEqual([]);
  const short = createContents();
  const fromPage = await short.open();
  expect(textOf(fromPage)).toBe('<p>the page</p>');
  expect(fromPage).toMatchObject({
    fileMetadata: { content_from: 'page', published: '2026-01-02T03:04:05.000Z', fetched_with: 'http' },
    validators: { etag: 'e', lastModified: null },
    recordedFormat: 'RSS_FEED',
  });
  expect(short.requests.pages).toMatchObject([
    { url: PAGE, usePremiumProxies: true, downloadCssAndMedia: false, known: null },
  ]);
  const bare = createContents({ entries: [entryOf({ url: null, publishedAt: null, title: null })] });
  const summary = await bare.open({ pageUrl: null });
  expect(textOf(summary)).toContain('in short');
  expect(textOf(summary)).not.toContain('<h1>');
  expect(summary).toMatchObject({ fileMetadata: { content_from: 'summary' }, url: FEED });
  expect(summary!.fileMetadata).not.toHaveProperty('published');
  expect(bare.requests.pages).toEqual([]);
});

test('sends validators with the request for a page, and returns null for an unchanged page', async () => {
  const { open, requests } = createContents({ fetchPage: () => Promise.resolve(null) });
  const known = { etag: 'e', lastModified: 'l' } as never;
  expect(await open({}, { known })).toBeNull();
  expect(requests.pages).toMatchObject([{ known }]);
});

test('an entry that is no longer in its feed keeps its stored text; without stored text it fails as gone', async () => {
  const known = { etag: null, lastModified: null } as never;
  for (const sources of [
    { entries: [entryOf({ id: 'other' })] },
    { readFeed: () => Promise.reject(new Fault('gone', 'the feed is gone')) },
  ]) {
    expect(await createContents(sources).open({}, { known })).toBeNull();
    await expect(createContents(sources).open()).rejects.toMatchObject({
      kind: 'gone',
      message: /no longer in its feed/,
    });
  }
  const fault = new Fault('not_found', 'for now');
  await expect(createContents({ readFeed: () => Promise.reject(fault) }).open({}, { known })).rejects.toBe(fault);
});

test('reads a feed once for all entries with the same login, and reuses a feed that a sync has read', async () => {
  const { open, requests } = createContents({ entries: [entryOf(), entryOf({ id: 'two' })] });
  await Promise.all([open(), open({ entryId: 'two' }), open()]);
  expect(requests.feeds).toHaveLength(1);
  await open({}, { login: 'ada' });
  await open({}, { login: 'bob' });
  expect(requests.feeds.map(({ credentials }) => credentials)).toEqual([null, 'ada', 'bob']);
  await open({ feedUrl: 'https://other.example/feed' });
  expect(requests.feeds).toHaveLength(4);
  const fresh = createContents();
  await fresh.read({ credentials: 'ada' });
  await fresh.open({}, { login: 'ada' });
  expect(fresh.requests.feeds).toHaveLength(1);
});

test('reads entries of a moved feed at its new address', async () => {
  const to = 'https://new.example/feed';
  const { open, read, requests } = createContents({ readFeed: () => Promise.resolve(answerOf([entryOf()], to)) });
  await read();
  await open({ feedUrl: to });
  expect(requests.feeds).toHaveLength(1);
});

test('reads a moved feed once for entries that have its old address', async () => {
  const to = 'https://new.example/feed';
  const { open, requests } = createContents({ readFeed: () => Promise.resolve(answerOf([entryOf()], to)) });
  await open();
  await open();
  expect(requests.feeds).toHaveLength(1);
});

test('an unchanged answer keeps the cached feed', async () => {
  let reads = 0;
  const { open, read, requests } = createContents({
    readFeed: () => Promise.resolve((reads += 1) === 2 ? { feed: null, movedTo: null } : answerOf([entryOf()])),
  });
  await read();
  expect((await read({ known: { etag: 'x', lastModified: null } })).feed).toBeNull();
  await open();
  expect(requests.feeds).toHaveLength(2);
});

test('if a caller aborts its read of a feed, one waiting caller reads it again; a failed read is not cached', async () => {
  let reads = 0;
  const first = new AbortController();
  const { open, requests } = createContents({
    readFeed: async () => {
      if ((reads += 1) > 1) return answerOf([entryOf()]);
      first.abort(new Error('aborted'));
      throw first.signal.reason;
    },
  });
  const waiting = [{ signal: checkedSignal() }, { signal: checkedSignal() }];
  const results = await Promise.allSettled([
    open({}, { signal: first.signal }),
    ...waiting.map((caller) => open({}, caller)),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(requests.feeds).toHaveLength(2);
});

test('a read that fails is not repeated for the callers that wait for it', async () => {
  const fault = new Fault('unreachable', 'the site does not answer');
  const { open, requests } = createContents({ readFeed: () => Promise.reject(fault) });
  const results = await Promise.allSettled([open(), open(), open()]);
  expect(results).toEqual(results.map(() => ({ status: 'rejected', reason: fault })));
  expect(requests.feeds).toHaveLength(1);
  await expect(open()).rejects.toBe(fault);
  expect(requests.feeds).toHaveLength(2);
});

test('a caller that waits for a read of another caller stops waiting when it is aborted', async () => {
  const waiting = new AbortController();
  let end = (): void => undefined;
  const { open } = createContents({
    readFeed: () => new Promise((resolve) => (end = () => resolve(answerOf([entryOf()])))),
  });
  const read = open();
  const aborted = open({}, { signal: waiting.signal });
  setImmediate(() => waiting.abort(new Error('no longer needed')));
  await expect(aborted).rejects.toThrow('no longer needed');
  end();
  expect(await read).not.toBeNull();
});

test('a feed that failed once is read again for the next entry, and then from the cache', async () => {
  let reads = 0;
  const { open, requests } = createContents({
    readFeed: () =>
      (reads += 1) === 1
        ? Promise.reject(new Fault('unreachable', 'the site does not answer'))
        : Promise.resolve(answerOf([entryOf(), entryOf({ id: 'two' })])),
  });
  await expect(open()).rejects.toThrow('the site does not answer');
  expect(await open()).not.toBeNull();
  expect(await open({ entryId: 'two' })).not.toBeNull();
  expect(requests.feeds).toHaveLength(2);
});

test('a feed that lacks an entry is read again for that entry, because the entry may be new', async () => {
  let reads = 0;
  const { open, requests } = createContents({
    readFeed: () => Promise.resolve(answerOf((reads += 1) === 1 ? [entryOf()] : [entryOf(), entryOf({ id: 'two' })])),
  });
  await open();
  expect(await open({ entryId: 'two' })).not.toBeNull();
  expect(requests.feeds).toHaveLength(2);
});
