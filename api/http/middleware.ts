import { randomUUID } from 'node:crypto';
import type { ErrorRequestHandler, RequestHandler } from 'express';

import type { Log } from '../../observability/log.js';
import { HttpError } from './errors.js';
import { storeAnswer, storeFailureOf } from './answers/storeAnswers.js';
import { shownPath, requestTenant as callerOf } from './telemetry/loggedRequest.js';
import { IGNORED_FIELDS_HEADER, ignoredFieldsOf } from './unknownFields/ignoredFields.js';
import { PREFERENCE_APPLIED_HEADER, PREFER_HEADER } from './unknownFields/prefer.js';

/**
 * Assigns each request an id, which is returned in x-request-id and added to its log lines. Logs each request when its
 * response closes, also if the caller has disconnected.
 * `pino-http` is not used: it would need serializers to remove headers and secrets in paths from its log lines.
 */
export function requestIds(log: Log): RequestHandler {
  return (request, response, next) => {
    const requestId = randomUUID();
    response.locals['requestId'] = requestId;
    response.setHeader('x-request-id', requestId);
    const startedAt = performance.now();
    // Not 'finish', which is not emitted if the caller disconnects. Without a complete response the status is null.
    response.once('close', () => {
      const ignoredFields = ignoredFieldsOf(response);
      log.info(
        {
          requestId,
          ...callerOf(response),
          method: request.method,
          path: shownPath(request, response),
          status: response.writableFinished ? response.statusCode : null,
          ms: Math.round(performance.now() - startedAt),
          ...(ignoredFields.length > 0 && { ignoredFields }),
        },
        'request',
      );
    });
    next();
  };
}

/**
 * Headers of every response; pages and stored contents replace or extend them. Responses contain a tenant's data, some
 * of them tokens.
 */
export const safeHeaders: RequestHandler = (_request, response, next) => {
  response.setHeader('cache-control', 'no-store');
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('x-frame-options', 'DENY');
  next();
};

/** Rejects requests without a Host header, which HTTP/1.1 requires. Node would reject them with a bare status. */
export const requireHost: RequestHandler = (request, _response, next) => {
  if (request.httpVersion === '1.1' && request.headers.host === undefined)
    throw new HttpError(400, 'Send the header host, which HTTP/1.1 requires.');
  next();
};

/** Headers of answers that scripts of other origins may read. */
const EXPOSED_HEADERS = [
  ...['x-request-id', 'retry-after', 'idempotent-replayed'],
  ...[PREFERENCE_APPLIED_HEADER, IGNORED_FIELDS_HEADER, 'www-authenticate'],
].join(', ');
/** Headers that scripts of other origins may send. */
const ALLOWED_HEADERS = [
  'authorization',
  'content-type',
  'customer-id',
  'idempotency-key',
  'last-event-id',
  'mcp-protocol-version',
  PREFER_HEADER,
].join(', ');

/**
 * Allows CORS requests of the configured origins with the headers that clients send. The `cors` package responds to
 * every preflight, regardless of the origin, and without a body.
 */
export function cors(origins: readonly string[]): RequestHandler {
  const allowsAll = origins.includes('*');
  return (request, response, next) => {
    const { origin } = request.headers;
    if (origin !== undefined && (allowsAll || origins.includes(origin))) {
      response.setHeader('access-control-allow-origin', allowsAll ? '*' : origin);
      response.setHeader('access-control-expose-headers', EXPOSED_HEADERS);
      if (!allowsAll) response.vary('origin');
      if (request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) {
        response.setHeader('access-control-allow-methods', 'GET, POST, DELETE');
        response.setHeader('access-control-allow-headers', ALLOWED_HEADERS);
        response.setHeader('access-control-max-age', '600');
        response.status(200).json({});
        return;
      }
    }
    next();
  };
}

/** Messages for requests that Express and its body parser cannot read, by the `type` of the error. */
const UNREADABLE: Readonly<Record<string, HttpError>> = {
  'entity.too.large': new HttpError(
    413,
    'The request is larger than this server accepts (setting MAX_JSON_BYTES; MAX_CONTENTS_BYTES where contents are sent).',
  ),
  'charset.unsupported': new HttpError(415, 'Send the body as UTF-8.'),
  'encoding.unsupported': new HttpError(
    415,
    'Send the body uncompressed, or with content-encoding gzip, deflate or br.',
  ),
  'request.aborted': new HttpError(400, 'The request ended before its body was complete.'),
  'request.size.invalid': new HttpError(400, 'The length of the body differs from content-length.'),
};

/** Returns the client error reported by Express, or null. */
function requestFault(error: unknown): HttpError | null {
  if (error instanceof HttpError) return error;
  if (typeof error !== 'object' || error === null) return null;
  const unreadable = 'type' in error && typeof error.type === 'string' ? UNREADABLE[error.type] : undefined;
  if (unreadable) return unreadable;
  if (error instanceof URIError) return new HttpError(400, 'The path is not a validly encoded URL path.');
  // For example, a body that cannot be decompressed. Express's body parser sets `expose`. Errors of an HTTP client that
  // a handler uses also have a status, but do not mean that this request is invalid.
  const { status, expose } = error as { status?: unknown; expose?: unknown };
  return expose === true && typeof status === 'number' && status >= 400 && status < 500
    ? new HttpError(400, 'The request could not be read.')
    : null;
}

/** Responds to every error in the format of the contract, without internals: client errors, failing stores, bugs. */
export function errorHandler(log: Log): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    const requestId = String(response.locals['requestId']);
    const context = {
      requestId,
      ...callerOf(response),
      method: request.method,
      path: shownPath(request, response),
      err: error,
    };
    const fault = requestFault(error);
    const failure = fault ? null : storeFailureOf(error);
    const httpError = failure ? storeAnswer(failure) : fault;
    if (failure) log.warn({ ...context, store: failure.store, kind: failure.kind }, 'a store failed a request');
    else if (!httpError) log.error(context, 'a request failed with an internal error');
    if (response.headersSent) {
      // A partial response must not look complete.
      response.destroy();
      return next();
    }
    const retryAfter = httpError?.retryAfterSeconds ?? null;
    if (retryAfter !== null) response.setHeader('retry-after', retryAfter);
    if (httpError) response.status(httpError.status).json({ detail: httpError.detail });
    else
      response.status(500).json({ detail: `Internal error. See the log of the service for request id ${requestId}.` });
  };
}
