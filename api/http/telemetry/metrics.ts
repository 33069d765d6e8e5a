import type { RequestHandler, Response } from 'express';

import type { Metrics } from '../../../observability/metrics.js';

/** Value of the label `route` for requests that match no operation. */
const OTHER = 'other';

/** Records the path template of a request, under which it is counted. */
export const setRoute = (response: Response, path: string): void => void (response.locals['route'] = path);

/** Returns the path template of a request. */
export function routeOf(response: Response): string {
  const route: unknown = response.locals['route'];
  return typeof route === 'string' ? route : OTHER;
}

/** Counts and times each request by its path template. */
export function countRequests(metrics: Pick<Metrics, 'answered'>): RequestHandler {
  return (request, response, next) => {
    const startedAt = performance.now();
    response.once('close', () => {
      metrics.answered({
        method: request.method,
        route: routeOf(response),
        status: response.writableFinished ? response.statusCode : null,
        seconds: (performance.now() - startedAt) / 1000,
      });
    });
    next();
  };
}
