import { expect, test } from '@jest/globals';

import type { Operation } from '../../api/http/operation.js';
import { fetchUrlsOfPage, fetchWebpage } from '../../api/web/fetchUrls.js';
import { fetchYoutubeTranscript } from '../../api/web/fetchYoutubeTranscript.js';
import { processSitemap } from '../../api/web/processSitemap.js';
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
