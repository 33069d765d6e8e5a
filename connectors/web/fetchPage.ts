import type { FetchedPage, Validators } from '../types.js';
import type { Egress } from '../../egress/types.js';
import { conditions, validatorsOf } from '../conditional.js';
import { checkType, sniffType } from './contentType.js';
import type { Robots } from './robots.js';
import { statusFault } from '../statusFault.js';
import type { WebSettings } from './webSettings.js';

export interface PageFetcher {
  readonly egress: Egress;
  readonly robots: Robots;
  readonly settings: WebSettings;
  readonly now: () => number;
}

/**
 * Fetches one page over plain HTTP. Status and type are checked by the headers; the body of a refused page is not
 * read.
 * @returns null if the server answers that the known copy is current
 */
export async function fetchPage(
  { egress, robots, settings, now }: PageFetcher,
  url: string,
  validators: Validators | null,
  signal: AbortSignal,
): Promise<FetchedPage | null> {
  const answer = await egress.request({
    url,
    signal,
    headers: {
      accept: 'text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.8, */*;q=0.1',
      ...conditions(validators),
    },
    maxBytes: settings.maxPageBytes,
    totalTimeoutMs: settings.pageTimeoutMs,
    // A redirect may point to a page or site that robots.txt forbids.
    onRedirect: async (next) => void (await robots.admit(next, signal)),
  });
  const { headers } = answer;
  if (answer.status === 304 && validators) {
    await answer.discard();
    return null;
  }
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
    ...validatorsOf(headers),
    fetchedWith: 'http',
  };
}

/**
 * Removes the validators of a page whose text is rendered by scripts. An unchanged document does not mean that the
 * data of its scripts is unchanged, so conditional requests are not possible. Each sync fetches the whole page, and the
 * ingest compares the hash of its content.
 */
export function withoutValidators(page: FetchedPage): FetchedPage {
  return { ...page, etag: null, lastModified: null };
}
