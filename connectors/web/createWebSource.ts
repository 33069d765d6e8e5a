import { setTimeout as wait } from 'node:timers/promises';

import { Fault } from '../../contract/failures.js';
import { normaliseUrl } from '../../contract/urls.js';
import type { Egress } from '../../egress/types.js';
import type { FetchedPage, WebSource } from '../types.js';
import { discover } from './discover.js';
import { fetchPage } from './fetchPage.js';
import { createHostLimiter, type HostLimiter, type Sleep } from './politeness.js';
import { createRobots } from './robots.js';
import { readSitemapFile } from './sitemapFile.js';
import { shownUrl } from './statusFault.js';
import type { WebSettings } from './webSettings.js';

export interface WebSourceOptions {
  readonly egress: Egress;
  readonly settings: WebSettings;
  /** Turns at hosts; unset: settings.requestsPerHost in this process. */
  readonly limiter?: HostLimiter;
  /** Told, a sentence at a time, what the operator should know: once that there is no browser. */
  readonly onNotice?: (sentence: string) => void;
  readonly now?: () => number;
  readonly sleep?: Sleep;
}

/** Makes the source that reads sitemaps and web pages. */
export function createWebSource({
  egress,
  settings,
  onNotice = () => undefined,
  now = Date.now,
  sleep = sleepUntilAborted,
  limiter = createHostLimiter(settings.requestsPerHost, now, sleep),
}: WebSourceOptions): WebSource {
  const robots = createRobots(egress, settings, now);
  // The browser's library is large: it is loaded with the first page that needs it.
  const load = async () => {
    const [{ createBrowserPool }, { renderPage }] = await Promise.all([
      import('./browserPool.js'),
      import('./renderPage.js'),
    ]);
    const { chromiumPath, browserMaxPages: maxPages } = settings;
    return { pool: createBrowserPool({ chromiumPath, maxPages, now, onNotice }), renderPage };
  };
  let rendering: ReturnType<typeof load> | null = null;

  async function inTurn<T>(
    url: string,
    minIntervalMs: number,
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    const leave = await limiter.enter(new URL(url).host, minIntervalMs, signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  async function render(url: string, signal: AbortSignal): Promise<FetchedPage | null> {
    rendering ??= load();
    const { pool, renderPage } = await rendering;
    const page = await pool.use(signal, (browser) => renderPage({ egress, settings, now }, browser, url, signal));
    // The browser followed redirects and scripts by itself; where it ended must be open to us too.
    if (page !== null && page.finalUrl !== url) await robots.admit(page.finalUrl, signal);
    return page;
  }

  return {
    discover: (sitemapUrl, signal, onProblem = () => undefined) =>
      // Not asked of robots.txt: a sitemap is there for crawlers, and its user named it.
      discover(
        {
          settings,
          onProblem,
          readFile: (url) => inTurn(url, 0, signal, () => readSitemapFile(egress, settings, now, url, signal)),
        },
        sitemapUrl,
      ),

    async fetchPage({ url: given, downloadCssAndMedia, known, signal }) {
      signal.throwIfAborted();
      const url = normaliseUrl(given);
      if (url === null)
        throw new Fault(
          'address_refused',
          `"${shownUrl(given)}" is not the address of a page. Give one that starts with http:// or https:// and carries no password.`,
        );
      const minIntervalMs = await robots.admit(url, signal);
      return inTurn(
        url,
        minIntervalMs,
        signal,
        async () =>
          (downloadCssAndMedia ? await render(url, signal) : null) ??
          fetchPage({ egress, robots, settings, now }, url, known, signal),
      );
    },

    async close() {
      await (await rendering)?.pool.close();
    },
  };
}

/** Rejects with the signal's own reason, which the timer's AbortError hides. */
async function sleepUntilAborted(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}
