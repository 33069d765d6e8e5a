import type { Readable } from 'node:stream';

import type { EgressRequest } from './types.js';

/** One request of an exchange; a redirect creates the next one. */
export interface Step {
  readonly url: string;
  readonly method: NonNullable<EgressRequest['method']>;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | Readable | null;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Headers that are sent to another origin. This is an allowlist because a provider's
 * token may travel under any name.
 */
const SAFE_ACROSS_ORIGINS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'if-modified-since',
  'if-none-match',
  'range',
  'user-agent',
]);

/** Returns the request that follows a redirect; null if the response is not a redirect. Does not check the URL. */
export function redirected(step: Step, status: number, location: string | undefined): Step | null {
  if (!REDIRECTS.has(status) || location === undefined) return null;
  const url = URL.canParse(location, step.url) ? new URL(location, step.url) : null;
  // Return an invalid address as it is: the caller reports it.
  if (url === null) return { ...step, url: location };
  url.hash = '';

  const asGet =
    (status === 303 && step.method !== 'HEAD') || ((status === 301 || status === 302) && step.method === 'POST');
  const keeps = (name: string): boolean =>
    (url.origin === new URL(step.url).origin || SAFE_ACROSS_ORIGINS.has(name)) &&
    !(asGet && name.startsWith('content-'));
  return {
    url: url.href,
    method: asGet ? 'GET' : step.method,
    headers: Object.fromEntries(Object.entries(step.headers).filter(([name]) => keeps(name))),
    body: asGet ? null : step.body,
  };
}
