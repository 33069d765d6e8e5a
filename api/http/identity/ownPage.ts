import type { Request, RequestHandler } from 'express';

import type { ApiSettings } from '../deps.js';
import { HttpError } from '../errors.js';

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);

/** Returns the origins of the process without a proxy: loopback, and the address of the connection. */
function listeningOrigins({ socket: { localAddress = '', localPort = 0 } }: Request): (string | null)[] {
  const address = localAddress.replace(/^::ffff:/, '');
  const hosts = ['localhost', '127.0.0.1', '[::1]', address.includes(':') ? `[${address}]` : address];
  return hosts.map((host) => originOf(`http://${host}:${localPort}`));
}

/**
 * Rejects browser requests from pages of other sites. The Host header is not compared, because its sender chooses it.
 * Requests without Origin and Sec-Fetch-Site pass: their clients are not browsers.
 * @throws HttpError 403
 */
export function requireOwnPage({
  publicUrl,
  publicUrlAliases,
}: Pick<ApiSettings, 'publicUrl' | 'publicUrlAliases'>): RequestHandler {
  // docker-compose.yml sets a local address; a browser on the machine may use another name for it.
  const isLocal =
    publicUrl === null || /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|$)/.test(originOf(publicUrl) ?? '');
  const configured = [...(publicUrl === null ? [] : [publicUrl]), ...publicUrlAliases].map(originOf);
  return (request, _response, next) => {
    const { origin } = request.headers;
    const site = request.headers['sec-fetch-site'];
    const ownOrigins = isLocal ? [...configured, ...listeningOrigins(request)] : configured;
    const isForeign =
      (site !== undefined && site !== 'same-origin' && site !== 'none') ||
      (origin !== undefined && !ownOrigins.includes(origin));
    if (isForeign)
      throw new HttpError(
        403,
        'This request must come from a page of this service. If it does, set PUBLIC_URL to the address in the browser.',
      );
    next();
  };
}
