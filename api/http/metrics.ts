import type { RequestHandler, Response } from 'express';

import type { Metrics } from '../../observability/metrics.js';

/** Of all that is no operation. */
const OTHER = 'other';

/** Says which template a request's path fits; it is counted under that. */
export const takeRoute = (response: Response, path: string): void => void (response.locals['route'] = path);

/** The template that a request's path fits. */
export function routeOf(response: Response): string {
  const route: unknown = response.locals['route'];
  return typeof route === 'string' ? route : OTHER;
}

/** Counts each request with the template of its path, and times it. */
export function countRequests(metrics: Pick<Metrics, 'answered'>): RequestHandler {
  return (request, response, next) => {
    const begun = performance.now();
    response.once('close', () => {
      metrics.answered({
        method: request.method,
        route: routeOf(response),
        status: response.writableFinished ? response.statusCode : null,
        seconds: (performance.now() - begun) / 1000,
      });
    });
    next();
  };
}
