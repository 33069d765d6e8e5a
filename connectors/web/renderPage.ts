import { errors, type Browser, type BrowserContext, type Page, type Request } from 'playwright-core';

import { Fault } from '../../contract/failures.js';
import { normaliseUrl } from '../../contract/urls.js';
import { seconds } from '../../egress/deadline.js';
import { onAbort } from '../../egress/onAbort.js';
import type { Egress } from '../../egress/types.js';
import type { FetchedPage } from '../types.js';
import { HTML_TYPES, mediaType } from './contentType.js';
import { shownUrl, statusFault } from '../statusFault.js';
import type { WebSettings } from './webSettings.js';

export interface PageRenderer {
  readonly egress: Egress;
  readonly settings: WebSettings;
  readonly now: () => number;
}

/** Maximum time for a loaded page to finish its requests before its current state is taken. */
const SETTLE_MS = 5000;

/**
 * Renders one page with its scripts, styles, images and fonts, and returns the resulting document. All its requests
 * pass a guarded proxy of its own, which also limits their total size. Returns null if the answer is not HTML, or if
 * the browser failed to load the page. The caller then fetches the page over plain HTTP, which succeeds or gives a
 * better error.
 */
export async function renderPage(
  { egress, settings, now }: PageRenderer,
  browser: Browser,
  url: string,
  signal: AbortSignal,
  tries = 2,
): Promise<FetchedPage | null> {
  const deadline = Date.now() + settings.pageTimeoutMs;
  const remainingMs = (): number => Math.max(1, deadline - Date.now());
  const tooSlow = () =>
    new Fault(
      'timed_out',
      `The page ${shownUrl(url)} was not loaded by the browser within ${seconds(settings.pageTimeoutMs)}. Try again later.`,
    );

  const proxy = await egress.openProxy({ maxBytes: settings.maxPageBytes });
  let context: BrowserContext | undefined;
  // Closing the context aborts all pending calls in it.
  const stop = (): void => void context?.close().catch(() => undefined);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, settings.pageTimeoutMs);
  const stopListening = onAbort(signal, stop);

  try {
    context = await browser.newContext({
      proxy: { server: proxy.url },
      userAgent: settings.userAgent,
      serviceWorkers: 'block',
      acceptDownloads: false,
    });
    signal.throwIfAborted();
    const page = await context.newPage();
    const transferError = watchTransfer(page);
    const navigation = page.goto(url, { waitUntil: 'domcontentloaded', timeout: remainingMs() });
    navigation.catch(() => undefined);
    const response = await Promise.race([navigation, transferError]);
    if (response instanceof Error && response.message === NAVIGATION_ABORTED && tries > 1)
      return await renderPage({ egress, settings, now }, browser, url, signal, tries - 1);
    if (response === null || response instanceof Error) return null;
    const headers = await response.allHeaders();
    const refused = statusFault('The page', { url, status: response.status(), headers }, now());
    if (refused) throw refused;
    if (!HTML_TYPES.has(mediaType(headers['content-type']) ?? '')) return null;
    // A truncated document must not be stored as complete.
    if ((await Promise.race([response.finished(), transferError])) !== null) return null;

    await settle(page, remainingMs);
    const finalUrl = normaliseUrl(page.url());
    const bytes = Buffer.from(await page.content());
    if (finalUrl === null) return null;
    if (bytes.length > settings.maxPageBytes) {
      throw new Fault(
        'too_large',
        `The page ${shownUrl(url)} is larger than ${settings.maxPageBytes.toLocaleString('en')} bytes after rendering (setting MAX_PAGE_BYTES). Split it.`,
      );
    }
    return {
      bytes,
      contentType: 'text/html; charset=utf-8',
      finalUrl,
      // The document's validators do not cover the data that its scripts fetched.
      etag: null,
      lastModified: null,
      fetchedWith: 'browser',
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Fault) throw error;
    if (isLate || error instanceof errors.TimeoutError) throw tooSlow();
    return null;
  } finally {
    clearTimeout(timer);
    stopListening();
    await context?.close().catch(() => undefined);
    await proxy.close();
  }
}

/**
 * Chromium's error if the document's own script navigates to another page before loading ends. This is rare. No event
 * of the other document follows, and another attempt succeeds.
 */
const NAVIGATION_ABORTED = 'net::ERR_ABORTED';

/** Resolves with the error if the document's transfer fails: in this case, `goto` neither resolves nor rejects. */
function watchTransfer(page: Page): Promise<Error> {
  let first: Request | undefined;
  page.on('request', (request) => {
    first ??= request;
  });
  return new Promise((resolve) => {
    page.on('requestfailed', (request) => {
      let origin = request;
      for (let before = origin.redirectedFrom(); before !== null; before = origin.redirectedFrom()) origin = before;
      if (origin === first) resolve(new Error(request.failure()?.errorText ?? 'broken off'));
    });
  });
}

/** Waits until the page's requests end, or until the time limit: then the page is used in its current state. */
async function settle(page: Page, remainingMs: () => number): Promise<void> {
  await page
    .waitForLoadState('networkidle', { timeout: Math.min(SETTLE_MS, remainingMs()) })
    .catch((error: unknown) => {
      if (!(error instanceof errors.TimeoutError)) throw error;
    });
}
