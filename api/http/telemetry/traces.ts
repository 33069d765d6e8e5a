import type { RequestHandler } from 'express';

import type { Tracing } from '../../../observability/spans.js';
import { routeOf } from './metrics.js';
import { requestTenant } from './loggedRequest.js';

/** Creates a span for each request, with the spans of its work below it. Records only the template of the path. */
export function traceRequests(tracing: Tracing): RequestHandler {
  return (request, response, next) => {
    const { method } = request;
    const span = tracing.begin({
      name: method,
      kind: 'server',
      ids: { request: String(response.locals['requestId']) },
      attributes: { 'http.request.method': method },
    });
    response.once('close', () => {
      const route = routeOf(response);
      const { organizationId, userId } = requestTenant(response);
      span.rename(`${method} ${route}`);
      span.note(
        {
          ...(organizationId !== undefined && { organization: organizationId }),
          ...(userId !== undefined && { user: userId }),
        },
        { 'http.route': route, ...(response.writableFinished && { 'http.response.status_code': response.statusCode }) },
      );
      if (response.statusCode >= 500) span.end({ kind: String(response.statusCode) });
      else span.end();
    });
    span.within(next);
  };
}
