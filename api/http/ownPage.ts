import type { RequestHandler } from 'express';

import { HttpError } from './errors.js';

const hostOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).host : null);

/** Refuses what a browser sends from a page of another site. Whoever says nothing of where it comes from is no browser. */
export function requireOwnPage(publicUrl: () => string): RequestHandler {
  return (request, _response, next) => {
    const { origin, host } = request.headers;
    const site = request.headers['sec-fetch-site'];
    const isForeign =
      (site !== undefined && site !== 'same-origin' && site !== 'none') ||
      (origin !== undefined && ![host, hostOf(publicUrl())].includes(hostOf(origin) ?? ''));
    if (isForeign) throw new HttpError(403, 'This is taken from pages of this service alone.');
    next();
  };
}
