import type { FetchedPage } from '../types.js';
import type { Egress } from '../../egress/types.js';
import { checkType, sniffType } from './contentType.js';
import type { Robots } from './robots.js';
import { statusFault } from './statusFault.js';
import type { WebSettings } from './webSettings.js';

export interface PageFetcher {
  readonly egress: Egress;
  readonly robots: Robots;
  readonly settings: WebSettings;
  readonly now: () => number;
}

/** Fetches one page over plain HTTP. Status and type are judged by the headers; the body of a refused page is not read. */
export async function fetchPage(
  { egress, robots, settings, now }: PageFetcher,
  url: string,
  signal: AbortSignal,
): Promise<FetchedPage> {
  const answer = await egress.request({
    url,
    signal,
    headers: { accept: 'text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.8, */*;q=0.1' },
    maxBytes: settings.maxPageBytes,
    totalTimeoutMs: settings.pageTimeoutMs,
    // A redirect may lead to a page, or a site, that is closed to us.
    onRedirect: async (next) => void (await robots.admit(next, signal)),
  });
  const { headers } = answer;
  let type: string | null;
  try {
    const fault = statusFault('The page', answer, now());
    if (fault) throw fault;
    type = checkType(answer.url, headers['content-type']);
  } catch (error) {
    await answer.discard();
    throw error;
  }
  const bytes = await answer.bytes();
  return {
    bytes,
    contentType: type === null ? sniffType(answer.url, bytes) : (headers['content-type'] ?? null),
    finalUrl: answer.url,
    etag: headers['etag'] ?? null,
    lastModified: headers['last-modified'] ?? null,
    fetchedWith: 'http',
  };
}
