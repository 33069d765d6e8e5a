import { Fault } from '../../contract/failures.js';
import { seconds } from '../../egress/deadline.js';
import type { Egress } from '../../egress/types.js';
import { createSitemapParser, type SitemapItem } from './sitemapParser.js';
import { unpackedText } from '../unpackedText.js';
import { shownUrl, statusFault } from '../statusFault.js';
import type { WebSettings } from './webSettings.js';

/** What to do if the sitemap itself is not served: the usual sentences are about one of its pages. */
const SENTENCES = {
  404: 'does not exist. Open its address in a browser, or look for the line "Sitemap:" in the robots.txt of the site. A site without a sitemap is ingested by POST /web_scrape.',
  410: 'is gone for good. Ask for its new address, or ingest the site by POST /web_scrape.',
};

/** What one sitemap file holds. */
export interface SitemapFile {
  /** Where redirects ended; relative addresses start here. */
  readonly url: string;
  readonly isIndex: boolean;
  readonly items: readonly SitemapItem[];
  /** Why the items are not all of the file's; null when they are. */
  readonly fault: Fault | null;
}

/** A sitemap may be fifty megabytes where a page is one: it is given the time of several. */
const TIME_OF_PAGES = 4;

/**
 * Fetches and reads one sitemap file, parsing while bytes arrive. A truncated or too large file gives the items
 * before the cut; with none it throws. The items, 50,000 at most, are held, so that no connection waits on the reader.
 */
export async function readSitemapFile(
  egress: Egress,
  settings: WebSettings,
  now: () => number,
  url: string,
  signal: AbortSignal,
): Promise<SitemapFile> {
  const totalTimeoutMs = settings.pageTimeoutMs * TIME_OF_PAGES;
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
          `The sitemap ${shownUrl(url)} was not complete after ${seconds(totalTimeoutMs)}. Try again later, or split it.`,
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
      `The sitemap ${shownUrl(url)} is larger than the ${settings.sitemapMaxBytes.toLocaleString('en')} bytes that are read at most (setting SITEMAP_MAX_BYTES). Split it and name the parts in a sitemap index.`,
    );
  }
}
