import { Fault } from '../../contract/failures.js';
import { seconds } from '../../egress/deadline.js';
import type { Egress } from '../../egress/types.js';
import { createSitemapParser, type SitemapItem } from './sitemapParser.js';
import { unpackedText } from '../unpackedText.js';
import { shownUrl, statusFault } from '../statusFault.js';
import type { WebSettings } from './webSettings.js';

/** Error texts for the sitemap itself; the default ones are about its pages. */
const SENTENCES = {
  404: 'does not exist. Open its address in a browser, or look for the line "Sitemap:" in the robots.txt of the site. A site without a sitemap is ingested by POST /web_scrape.',
  410: 'was removed permanently. Ask for its new address, or ingest the site by POST /web_scrape.',
};

/** The contents of one sitemap file. */
export interface SitemapFile {
  /** URL after redirects, the base of relative URLs. */
  readonly url: string;
  readonly isIndex: boolean;
  readonly items: readonly SitemapItem[];
  /** Why the items are incomplete; null if they are complete. */
  readonly fault: Fault | null;
}

/** Time limit of a sitemap file as a multiple of a page's, because a sitemap may be larger (50 MB by default). */
const PAGE_TIMEOUTS = 4;

/**
 * Fetches and parses one sitemap file as its bytes arrive. A truncated or too large file yields the items before the
 * cut, or throws if there are none. All items (at most 50,000) are read before the first one is used, so that the
 * connection does not wait for the consumer.
 */
export async function readSitemapFile(
  egress: Egress,
  settings: WebSettings,
  now: () => number,
  url: string,
  signal: AbortSignal,
): Promise<SitemapFile> {
  const totalTimeoutMs = settings.pageTimeoutMs * PAGE_TIMEOUTS;
  const answer = await egress.request({
    url,
    signal,
    headers: { accept: 'application/xml, text/xml, text/plain;q=0.9, */*;q=0.5' },
    maxBytes: settings.sitemapMaxBytes,
    totalTimeoutMs,
  });
  const refused = statusFault('The sitemap', answer, now(), SENTENCES);
  if (refused) {
    await answer.discard();
    throw refused;
  }

  const parser = createSitemapParser(answer.url);
  const fault = await parseBody().then(
    () => null,
    (error: unknown) => explained(error),
  );
  if (fault !== null && parser.items.length === 0) throw fault;
  return { url: answer.url, isIndex: parser.isIndex(), items: parser.items, fault };

  async function parseBody(): Promise<void> {
    let total = 0;
    const count = (bytes: number): void => {
      total += bytes;
      if (total > settings.sitemapMaxBytes) throw tooLarge();
    };
    for await (const text of unpackedText(answer.body, answer.headers['content-type'], count)) parser.write(text);
    parser.end();
  }

  function explained(error: unknown): Fault {
    signal.throwIfAborted();
    if (error instanceof Fault) {
      if (error.kind === 'too_large' && parser.items.length === 0) return tooLarge();
      if (error.kind === 'timed_out')
        return new Fault(
          'timed_out',
          `The sitemap ${shownUrl(url)} did not arrive completely within ${seconds(totalTimeoutMs)}. Try again later, or split it.`,
          { cause: error },
        );
      return error;
    }
    return new Fault(
      'broken_content',
      `The sitemap ${shownUrl(url)} is compressed, and its compressed data is damaged. Create it again.`,
      { cause: error },
    );
  }

  function tooLarge(): Fault {
    return new Fault(
      'too_large',
      `The sitemap ${shownUrl(url)} is larger than ${settings.sitemapMaxBytes.toLocaleString('en')} bytes (setting SITEMAP_MAX_BYTES). Split it and name the parts in a sitemap index.`,
    );
  }
}
