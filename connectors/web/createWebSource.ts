import { Fault } from '../../contract/failures.js';
import { normaliseUrl } from '../../contract/urls.js';
import type { Egress } from '../../egress/types.js';
import type { FetchedPage, PageRequest, WebSource } from '../types.js';
import { HTML_TYPES, mediaType } from './contentType.js';
import { discover } from './discover.js';
import { downloadFile } from './downloadFile.js';
import { isEmptyShell } from './emptyShell.js';
import { fetchPage, withoutValidators } from './fetchPage.js';
import { createHostLimiter, sleepUntilAborted, type HostLimiter, type Sleep } from '../hostLimiter.js';
import { throughPremiumProxies, type SiteRoute } from './premiumRoute.js';
import { isRefusal, withSentence } from './refusal.js';
import { createRobots } from './robots.js';
import { readSitemapFile } from './sitemapFile.js';
import { shownUrl } from '../statusFault.js';
import type { WebSettings } from './webSettings.js';

export interface WebSourceOptions {
  readonly egress: Egress;
  readonly settings: WebSettings;
  /** Slots per host; unset: settings.requestsPerHost within this process. */
  readonly limiter?: HostLimiter;
  /** Receives notices for the operator, once each: for example about a missing browser. */
  readonly onNotice?: (sentence: string) => void;
  /** Whether pages may be rendered in a browser. Unset: they may. */
  readonly renders?: boolean;
  readonly now?: () => number;
  readonly sleep?: Sleep;
}

/** Creates the source for sitemaps and web pages. */
export function createWebSource({
  egress,
  settings,
  onNotice = () => undefined,
  renders = true,
  now = Date.now,
  sleep = sleepUntilAborted,
  limiter = createHostLimiter(settings.requestsPerHost, now, sleep),
}: WebSourceOptions): WebSource {
  const direct: SiteRoute = { egress, robots: createRobots(egress, settings, now) };
  const second = throughPremiumProxies(egress);
  const premium: SiteRoute | null = second && { egress: second, robots: createRobots(second, settings, now) };
  // The browser library is large, so it is loaded with the first page that needs it.
  const load = async () => {
    const { createBrowserPool } = await import('./browserPool.js');
    const { renderPage } = await import('./renderPage.js');
    const { createChromiumInstaller } = await import('./installChromium.js');
    const { chromiumPath, installChromium, browserMaxPages: maxPages } = settings;
    const installer = installChromium ? createChromiumInstaller() : null;
    return { pool: createBrowserPool({ chromiumPath, installer, maxPages, now, onNotice }), renderPage };
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

  async function render(route: SiteRoute, url: string, signal: AbortSignal): Promise<FetchedPage | null> {
    if (!renders) return null;
    rendering ??= load();
    const { pool, renderPage } = await rendering;
    const page = await pool.use(signal, (browser) =>
      renderPage({ egress: route.egress, settings, now }, browser, url, signal),
    );
    // The browser followed redirects and scripts itself; robots.txt must permit the final page too.
    if (page !== null && page.finalUrl !== url) await route.robots.admit(page.finalUrl, signal);
    return page;
  }

  async function fetchBy(route: SiteRoute, url: string, request: PageRequest): Promise<FetchedPage | null> {
    const { downloadCssAndMedia, known, signal } = request;
    const minIntervalMs = await route.robots.admit(url, signal);
    return inTurn(url, minIntervalMs, signal, async () => {
      const rendered = downloadCssAndMedia ? await render(route, url, signal) : null;
      if (rendered !== null) return rendered;
      const plain = await fetchPage({ ...route, settings, now }, url, known, signal);
      if (plain === null || !isHtml(plain) || !isEmptyShell(plain.bytes)) return plain;
      const filled = downloadCssAndMedia ? null : await render(route, plain.finalUrl, signal);
      return filled ?? withoutValidators(plain);
    });
  }

  /** Tries the default route, then the premium proxies if the site refused it and the request permits them. */
  async function byAnyRoute<T>(mayUsePremium: boolean, work: (route: SiteRoute) => Promise<T>): Promise<T> {
    try {
      return await work(direct);
    } catch (error) {
      if (!mayUsePremium || !isRefusal(error)) throw error;
      if (premium === null) {
        throw withSentence(
          error,
          'use_premium_proxies was requested, but no premium proxies are configured. Set PREMIUM_PROXY_URLS.',
        );
      }
    }
    return work(premium).catch((error: unknown) => {
      throw isRefusal(error) ? withSentence(error, 'It was tried through a premium proxy too.') : error;
    });
  }

  return {
    discover: (sitemapUrl, signal, onProblem = () => undefined, usePremiumProxies = false) =>
      // robots.txt is not checked: sitemaps are published for crawlers, and a user named this one.
      discover(
        {
          settings,
          onProblem,
          readFile: (url) =>
            byAnyRoute(usePremiumProxies, (route) =>
              inTurn(url, 0, signal, () => readSitemapFile(route.egress, settings, now, url, signal)),
            ),
        },
        sitemapUrl,
      ),

    async fetchPage(request) {
      request.signal.throwIfAborted();
      const url = normaliseUrl(request.url);
      if (url === null)
        throw new Fault(
          'address_refused',
          `"${shownUrl(request.url)}" is not the address of a page. Give one that starts with http:// or https:// and contains no password.`,
        );
      return byAnyRoute(request.usePremiumProxies, async (route) => {
        const page = await fetchBy(route, url, request);
        if (page === null || route === direct) return page;
        return { ...page, fetchedWith: page.fetchedWith === 'browser' ? 'browser_premium_proxy' : 'premium_proxy' };
      });
    },

    // robots.txt does not apply to a file that a user uploads by its URL.
    download: (url, signal, take) =>
      inTurn(url, 0, signal, () => downloadFile({ egress, settings, now }, url, signal, take)),

    async mayFetch(url, signal) {
      return direct.robots.admit(url, signal).then(
        () => true,
        (error: unknown) => {
          if (!(error instanceof Fault)) throw error;
          return error.kind !== 'robots_disallowed';
        },
      );
    },

    async close() {
      await (await rendering)?.pool.close();
      await limiter.close?.();
    },
  };
}

const isHtml = ({ contentType }: FetchedPage): boolean => HTML_TYPES.has(mediaType(contentType ?? undefined) ?? '');
