import { LRUCache } from 'lru-cache';

import { Fault } from '../../contract/failures.js';
import { orAborted } from '../../egress/deadline.js';
import type { Egress } from '../../egress/types.js';
import { withSentence } from './refusal.js';
import { parseRobots, productTokenOf, type RobotsRules } from './robotsRules.js';
import { shownUrl, statusFault } from '../statusFault.js';
import type { WebSettings } from './webSettings.js';

/** Whether a page may be fetched. */
export interface Robots {
  /**
   * Returns the required delay between requests to the page's host, in milliseconds. Throws a Fault robots_disallowed
   * if the page is forbidden. If robots.txt could not be read, throws the Fault of that request: nothing may be fetched
   * for now.
   */
  admit(url: string, signal: AbortSignal): Promise<number>;
}

const DAY_MS = 86_400_000;
/** Failures are cached only briefly, so that a single error does not block a site for a day. */
const FAILURE_MS = 60_000;
/** RFC 9309, 2.5: at least 500 KiB are parsed. */
const MAX_BYTES = 512_000;
/** A longer delay makes a crawl impossible, so it counts as a refusal. */
const MAX_CRAWL_DELAY_SECONDS = 300;

const NO_RULES: RobotsRules = { allows: () => true, crawlDelaySeconds: null };

type Outcome =
  | { readonly rules: RobotsRules; readonly fault?: never }
  | { readonly fault: Fault; readonly rules?: never };

/** Reads robots.txt once per origin and caches it for at most a day. */
export function createRobots(egress: Egress, settings: WebSettings, now: () => number): Robots {
  const token = productTokenOf(settings.userAgent);
  const cache = new LRUCache<string, { readonly outcome: Promise<Outcome>; expires: number }>({ max: 1000 });

  const outcomeFor = (origin: string): Promise<Outcome> => {
    const cached = cache.get(origin);
    if (cached !== undefined && cached.expires > now()) return cached.outcome;
    // All waiting callers share the request, so it has no caller's signal; its own time limit applies.
    const outcome = read(egress, origin, token, settings, now);
    const entry = { outcome, expires: now() + DAY_MS };
    cache.set(origin, entry);
    outcome.then(
      ({ fault }) => {
        if (fault) entry.expires = now() + FAILURE_MS;
      },
      () => cache.delete(origin),
    );
    return outcome;
  };

  return {
    async admit(url, signal) {
      if (!settings.obeyRobots) return 0;
      const { origin, pathname, search } = new URL(url);
      const { rules, fault } = await orAborted(outcomeFor(origin), signal);
      if (fault) throw fault;
      if (!rules.allows(pathname + search)) {
        throw new Fault(
          'robots_disallowed',
          `The page ${shownUrl(url)} is forbidden by ${origin}/robots.txt. Ask the site's operator to allow "${token}" there, or exclude the page.`,
        );
      }
      const delay = rules.crawlDelaySeconds ?? 0;
      if (delay > MAX_CRAWL_DELAY_SECONDS) {
        throw new Fault(
          'robots_disallowed',
          `${origin}/robots.txt asks for ${String(delay)} s between two requests, too long to crawl the site. Ask its operator for a Crawl-delay of ${String(MAX_CRAWL_DELAY_SECONDS)} s at most.`,
        );
      }
      return delay * 1000;
    },
  };
}

async function read(
  egress: Egress,
  origin: string,
  token: string,
  settings: WebSettings,
  now: () => number,
): Promise<Outcome> {
  const url = `${origin}/robots.txt`;
  try {
    const answer = await egress.request({
      url,
      headers: { accept: 'text/plain, */*;q=0.1' },
      // Only its beginning is read, so its length does not matter.
      maxBytes: Number.MAX_SAFE_INTEGER,
      totalTimeoutMs: settings.pageTimeoutMs,
    });
    const fault = statusFault('The file', { url, status: answer.status, headers: answer.headers }, now());
    if (fault === null) return { rules: parseRobots(await beginning(answer.body), token) };
    await answer.discard();
    return answer.status >= 500 ? { fault: unreadable(url, fault) } : { rules: NO_RULES };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // RFC 9309, 2.3.1.2: after five redirects the file may be treated as missing.
    return error.kind === 'too_many_redirects' ? { rules: NO_RULES } : { fault: unreadable(url, error) };
  }
}

/** Returns a Fault of the same kind as its cause, because the kind determines whether a retry can help. */
function unreadable(url: string, fault: Fault): Fault {
  return withSentence(fault, `Without ${url} no page of the site may be fetched.`);
}

async function beginning(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    parts.push(part);
    length += part.length;
    if (length >= MAX_BYTES) break;
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}
