/** Tests of operations that read external pages and services during a request, with pages and services in memory. */
import { expect, test } from '@jest/globals';

import type { Operation } from '../../api/http/operation.js';
import { HttpError } from '../../api/http/errors.js';
import { fetchUrlsOfPage, fetchWebpage } from '../../api/web/fetchUrls.js';
import { fetchYoutubeTranscript } from '../../api/web/fetchYoutubeTranscript.js';
import { createLivePages } from '../../api/web/livePages.js';
import { processSitemap } from '../../api/web/processSitemap.js';
import { Fault } from '../../contract/failures.js';
import { everyRow } from '../support/everyRow.js';

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
/** External sites and services that never answer. */
const deps = {
  livePages: { read: (_url: string, signal: AbortSignal) => aborted(signal) },
  sitemaps: {
    async *discover(_url: string, signal: AbortSignal) {
      yield await aborted(signal);
    },
  },
  lookups: { videoTranscripts: () => ({ transcript: (_id: string, signal: AbortSignal) => aborted(signal) }) },
  settings: { maxPagesPerScrape: 5 },
};

const OPERATIONS = [fetchUrlsOfPage, fetchWebpage, processSitemap, fetchYoutubeTranscript] as unknown as Operation[];

test('reads of external pages end when the caller disconnects', () =>
  everyRow(
    OPERATIONS,
    ({ method, path }) => `${method} ${path}`,
    async ({ handle }) => {
      const caller = new AbortController();
      const given = { url: 'https://slow.example/', id: 'x' };
      const answered = handle({ query: given, body: given, signal: caller.signal, deps } as never);
      caller.abort(new Error('disconnected'));
      await expect(answered).rejects.toThrow('disconnected');
    },
  ));

const NEVER = new AbortController().signal;
const LATE = new DOMException('late', 'TimeoutError');

test('a page is read without its CSS and media; up to 10,000 of its links are returned with its HTML', async () => {
  const asked: unknown[] = [];
  const page = { bytes: Buffer.from('<a>'), contentType: 'text/html', finalUrl: 'https://www.site.example/x' };
  const web = {
    fetchPage: ({ signal: _signal, ...request }: { signal: unknown }) => (asked.push(request), Promise.resolve(page)),
  };
  const documents = {
    links: (input: object, wanted: object) => (
      asked.push(input, wanted),
      Promise.resolve({ urls: ['u'], text: '<a>' })
    ),
  };
  const livePages = createLivePages(web as never, documents as never);
  const call = { body: { url: 'site.example' }, signal: NEVER, deps: { livePages } };
  expect(await fetchWebpage.handle(call as never)).toEqual({ urls: ['u'], html_content: '<a>', error_message: null });
  expect(asked).toEqual([
    { url: 'https://site.example/', downloadCssAndMedia: false, usePremiumProxies: false, known: null },
    // Links are relative to the address after redirects.
    expect.objectContaining({ name: page.finalUrl, baseUrl: page.finalUrl, contentType: 'text/html' }),
    { max: 10_000, follow: null, withText: true },
  ]);
});

test('a page that cannot be read, or not in time, is answered with the reason', async () => {
  const read = (error: unknown, url = 'https://site.example/') => {
    const livePages = { read: () => Promise.reject(error as Error) };
    return fetchWebpage.handle({ body: { url }, signal: NEVER, deps: { livePages } } as never);
  };
  const empty = { urls: [], html_content: '' };
  expect(await read(new Fault('not_found', 'Gone.'))).toEqual({ ...empty, error_message: 'Gone.' });
  expect(await read(LATE)).toEqual({ ...empty, error_message: expect.stringContaining('too long') });
  const defect = new TypeError('ours');
  await expect(read(defect)).rejects.toBe(defect);
  await expect(read(null, 'https://ada@site.example/')).rejects.toMatchObject({ status: 422 });
});

test('a sitemap is listed up to the maximum number of pages of a scrape, or refused if it cannot be read', async () => {
  const list = async (pages: number, error?: Error) => {
    let found = 0;
    async function* discover() {
      for (; found < pages; found += 1) yield await Promise.resolve({ url: `https://site.example/${found}` });
      if (error !== undefined) throw error;
    }
    const call = { query: { url: 'https://site.example/s.xml' }, signal: NEVER };
    const answer = await processSitemap.handle({ ...call, deps: { ...deps, sitemaps: { discover } } } as never);
    return [(answer as { urls: string[] }).urls.length, found];
  };
  expect([await list(0), await list(5), await list(9)]).toEqual([
    ...[
      [0, 0],
      [5, 4],
      [5, 4],
    ],
  ]);
  await expect(list(2, new Fault('not_found', 'No sitemap.'))).rejects.toMatchObject({ status: 400 });
  await expect(list(2, LATE)).rejects.toBeInstanceOf(HttpError);
  const defect = new TypeError('ours');
  await expect(list(2, defect)).rejects.toBe(defect);
});
