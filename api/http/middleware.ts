import { randomUUID } from 'node:crypto';
import type { ErrorRequestHandler, RequestHandler } from 'express';

import type { Log } from '../../observability/log.js';
import { HttpError } from './errors.js';

/** Each request gets an id, answered in x-request-id and written in every log line about it. */
export function requestIds(log: Log): RequestHandler {
  return (request, response, next) => {
    const requestId = randomUUID();
    response.locals['requestId'] = requestId;
    response.setHeader('x-request-id', requestId);
    const begun = performance.now();
    response.on('finish', () => {
      log.info(
        {
          requestId,
          method: request.method,
          path: request.path,
          status: response.statusCode,
          ms: Math.round(performance.now() - begun),
        },
        'request',
      );
    });
    next();
  };
}

/** Lets browsers of the allowed origins call, with the headers that clients send. */
export function cors(origins: readonly string[]): RequestHandler {
  const any = origins.includes('*');
  return (request, response, next) => {
    const { origin } = request.headers;
    if (origin !== undefined && (any || origins.includes(origin))) {
      response.setHeader('access-control-allow-origin', any ? '*' : origin);
      response.setHeader('access-control-expose-headers', 'x-request-id, retry-after');
      if (!any) response.vary('origin');
      if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) {
        response.setHeader('access-control-allow-methods', 'GET, POST, DELETE');
        response.setHeader('access-control-allow-headers', 'authorization, content-type, customer-id, idempotency-key');
        response.setHeader('access-control-max-age', '600');
        response.status(200).json({});
        return;
      }
    }
    next();
  };
}

/** What Express's body parser says of a body it can't read. */
function bodyFault(error: unknown): HttpError | null {
  const type = typeof error === 'object' && error !== null && 'type' in error ? error.type : null;
  const status =
    typeof error === 'object' && error !== null && 'status' in error && typeof error.status === 'number'
      ? error.status
      : 0;
  if (type === 'entity.too.large')
    return new HttpError(413, 'The request is larger than this server accepts (setting MAX_JSON_BYTES).');
  if (type === 'entity.parse.failed')
    return new HttpError(422, [{ loc: ['body'], msg: 'The body is not valid JSON', type: 'json_invalid' }]);
  // Bad percent-encoding, charset, content encoding, a body cut short: the caller's fault, whatever its kind.
  if (status >= 400 && status < 500)
    return new HttpError(status === 404 ? 400 : status, 'The request could not be read.');
  return null;
}

/** The last word on every error: the contract's shapes, no internals. */
export function errorHandler(log: Log): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const requestId = String(response.locals['requestId']);
    const known = error instanceof HttpError ? error : bodyFault(error);
    if (!known)
      log.error({ requestId, method: request.method, path: request.path, err: error }, 'a request failed at a defect');
    if (response.headersSent) {
      // Half an answer must not look like a whole one.
      response.destroy();
      return next();
    }
    if (known) response.status(known.status).json({ detail: known.detail });
    else
      response
        .status(500)
        .json({ detail: `The service met a fault of its own. Its log names the cause under request id ${requestId}.` });
  };
}
