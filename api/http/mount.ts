import { isIP } from 'node:net';
import { pipeline } from 'node:stream/promises';
import {
  type ErrorRequestHandler,
  type IRouter,
  type Request,
  type RequestHandler,
  type Response,
  urlencoded,
} from 'express';

import type { ApiDeps, AppDeps } from './deps.js';
import { authenticate, type Identity } from './identity/authenticate.js';
import { boundChunks } from './body/boundChunks.js';
import type { ConcurrencyLimiter } from './limits/concurrency.js';
import { HttpError, invalid, readOnly } from './errors.js';
import { answerOnce, idempotencyKeyOf } from './idempotency.js';
import { setRoute } from './telemetry/metrics.js';
import { CHUNK_LIMITS, JSON_LIMITS } from './body/json/limits.js';
import { readJson, yieldAfter } from './body/json/read.js';
import {
  type AuthScheme,
  type Call,
  FileAnswer,
  type KeyCaller,
  ListAnswer,
  type Operation,
  EventsAnswer,
  type OperatorCaller,
  PageAnswer,
  RedirectAnswer,
  type UserCaller,
} from './operation.js';
import { closeEarlyAnswered, receiveFile } from './body/receiveFile.js';
import { requireOwnPage } from './identity/ownPage.js';
import { changesRecords, fieldsOf, refuseOutdated, rulesOf, userOf } from './perform.js';
import { createRequestContents } from './body/requestContents.js';
import { sendEvents, streamList } from './answers/stream.js';
import { createUnitOfWork } from './unitOfWork.js';
import { findUnknown, NO_FIELDS } from './unknownFields/fieldTree.js';
import { collectIgnored, type IgnoredFields } from './unknownFields/ignoredFields.js';
import { PREFERENCE_APPLIED_HEADER, PREFER_HEADER, prefersStrict, STRICT } from './unknownFields/prefer.js';
import { validate } from './validate.js';

/** Limits of a form with a user's selection on a page: 2,000 fields of 500 bytes. */
const MAX_FORM_FIELDS = 2_000;
const MAX_FORM_BYTES = 1_000_000;

/** Converts OpenAPI's {name} to Express's :name. */
export const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Limits that a request must pass before it is handled. */
export interface Admission {
  /** @throws HttpError 429 above the rate limit */
  readonly rate: (caller: Identity['caller']) => void;
  readonly searches: ConcurrencyLimiter;
}

/**
 * Adds an operation to an Express router. Each request passes these steps: authenticate, check the rate limit, read the
 * body, validate, handle, respond.
 */
export function mount(on: IRouter, operation: Operation, app: AppDeps, admit: Admission): void {
  const { method, path, auth, body, query, takesFile = false, takesContents = false, takesForm = false } = operation;
  const deps: ApiDeps = { ...app, unit: createUnitOfWork(app) };
  const { maxJsonBytes, maxContentsBytes } = deps.settings;
  const rules = rulesOf(deps);
  const recordRoute: RequestHandler = (_request, response, next) => {
    setRoute(response, path);
    next();
  };
  const checkVersion: RequestHandler = (_request, _response, next) => {
    refuseOutdated(deps);
    next();
  };
  const writes = changesRecords(operation);
  // The body is read only after authentication, so invalid credentials result in 401 even if the body is invalid too.
  const identify: RequestHandler = async (request, response, next) => {
    const identity = await authenticate(auth, request.headers, deps);
    if (writes && identity.scope === 'read') throw readOnly();
    admit.rate(identity.caller);
    response.locals['identity'] = identity;
    next();
  };
  const limit = takesContents ? maxContentsBytes : maxJsonBytes;
  const readers: RequestHandler[] = takesForm
    ? [urlencoded({ extended: false, limit: Math.min(limit, MAX_FORM_BYTES), parameterLimit: MAX_FORM_FIELDS })]
    : [...readJson(limit, operation.takesChunks ? CHUNK_LIMITS : JSON_LIMITS), requireJson];
  const read = body ? [boundChunks, ...readers] : [];
  const checks: RequestHandler[] = [
    ...(writes ? [checkVersion] : []),
    ...(takesFile ? [closeEarlyAnswered] : []),
    ...(operation.fromOwnPages ? [requireOwnPage(deps.settings)] : []),
  ];
  const answer = async (request: Request, response: Response): Promise<void> => {
    const { caller, confirmed } = identityOf(response);
    const contents = createRequestContents(deps.store.originals, caller);
    const isStrict = prefersStrict(request.headers[PREFER_HEADER]);
    if (isStrict) response.setHeader(PREFERENCE_APPLIED_HEADER, STRICT);
    const ignored = collectIgnored(response, isStrict, path);
    // A missing body counts as an object without fields: lists need none, and other operations report the missing
    // fields.
    const validated = body
      ? validate(body, request.body === undefined ? {} : request.body, 'body', rules, ignored)
      : {};
    await yieldAfter(response.locals['bodyBytes']);
    const call: Call<typeof auth, unknown> = {
      caller: caller as UserCaller & KeyCaller & OperatorCaller,
      body: validated,
      given: fieldsOf(request.body),
      query: query ? validate(query, request.query, 'query', rules, ignored) : noQuery(request.query, ignored),
      params: request.params as Record<string, string>,
      file: null,
      receive: contents.receive,
      lastEventId: request.get('last-event-id') ?? null,
      requestId: String(response.locals['requestId']),
      signal: endOf(response),
      peer: peerOf(request),
      deps,
    };
    if (operation.searches) {
      const leave = admit.searches.enter(userOf(call));
      return respond({ operation, app }, call, confirmed, request, response).finally(leave);
    }
    try {
      const file = takesFile
        ? await receiveFile(request, deps.settings.maxUploadBytes, contents.receive, (unused) => ignored.note(unused))
        : null;
      await respond({ operation, app }, { ...call, file }, confirmed, request, response);
    } finally {
      await contents.discardUnaccepted();
    }
  };
  on[method](expressPath(path), recordRoute, ...checks, identify, ...read, answer, confirmFirst);
}

/** Records all parameters as ignored, because the operation takes none. */
function noQuery(query: unknown, ignored: IgnoredFields): object {
  ignored.note(
    findUnknown(NO_FIELDS, query, null).map(({ path, knownNames }) => ({ path: ['query', ...path], knownNames })),
  );
  return {};
}

/** Returns the caller's IP address: from x-forwarded-for according to TRUST_PROXY, else from the connection. */
export function peerOf({ ip = '', socket }: Request): string {
  return isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip;
}

const identityOf = (response: Response): Identity =>
  (response.locals['identity'] as Identity | undefined) ?? { caller: null, confirmed: null };

/** Returns a signal that aborts when the response closes, also after it was sent: further work is useless then. */
export function endOf(response: Response): AbortSignal {
  const end = new AbortController();
  response.once('close', () => end.abort(new HttpError(499, 'The caller disconnected before the answer was sent.')));
  return end.signal;
}

/** After an error: responds with 401 if the caller was deleted, else with the error. */
const confirmFirst: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  Promise.resolve(identityOf(response).confirmed).then(() => next(error), next);
};

async function respond(
  { operation, app }: { readonly operation: Operation; readonly app: AppDeps },
  call: Call<AuthScheme, unknown>,
  confirmed: Identity['confirmed'],
  request: Request,
  response: Response,
): Promise<void> {
  const key = operation.createsWork ? idempotencyKeyOf(request.headers) : null;
  if (key !== null) {
    const { json: text, replayed } = await answerOnce(operation, key, call, app);
    if (replayed) response.setHeader('idempotent-replayed', 'true');
    response.status(200).type('application/json').send(text);
    return;
  }
  const [answer] = await Promise.all([operation.handle(call), confirmed]);
  if (answer instanceof ListAnswer) await streamList(answer, response);
  else if (answer instanceof FileAnswer) await sendFile(answer, response);
  else if (answer instanceof EventsAnswer) await sendEvents(answer, response);
  else if (answer instanceof PageAnswer || answer instanceof RedirectAnswer) sendPage(answer, response);
  else sendJson(answer, response);
}

/** Writes JSON like Express, but without conditional request handling, since responses have no ETag. */
function sendJson(answer: unknown, response: Response): void {
  const text = JSON.stringify(answer);
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

/** Sends stored content. Its headers forbid browsers to display, execute or sniff it, since it has our origin. */
async function sendFile({ content, contentType }: FileAnswer, response: Response): Promise<void> {
  const isWhole = content instanceof Uint8Array;
  const parts = isWhole ? null : content[Symbol.asyncIterator]();
  // The first part is read before the headers are sent, so that an early error gets its own status.
  const first = await parts?.next();
  response.status(200).set({
    'cache-control': 'private',
    'content-type': contentType,
    'content-disposition': 'attachment',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  });
  if (isWhole) response.end(content);
  else if (parts && first) await sendParts(first, parts, response);
}

/** Streams the parts of a content at the reader's pace. @throws the error of reading a part */
async function sendParts(
  first: IteratorResult<Uint8Array>,
  parts: AsyncIterator<Uint8Array>,
  response: Response,
): Promise<void> {
  const readErrors: unknown[] = [];
  const read = async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for (let part = first; part.done !== true; part = await parts.next()) yield part.value;
    } catch (error) {
      readErrors.push(error);
      throw error;
    }
  };
  try {
    await pipeline(read(), response);
  } catch {
    // A client that disconnects early is not an error.
    if (readErrors.length > 0) throw readErrors[0];
    response.destroy();
  } finally {
    await parts.return?.();
  }
}

/**
 * Sends a page. Its URL can contain tokens, so the page sends no referrer. It loads nothing, and is neither cached nor
 * framed.
 */
function sendPage(answer: PageAnswer | RedirectAnswer, response: Response): void {
  response.set({
    'cache-control': 'no-store',
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    ...answer.headers,
  });
  if (answer instanceof RedirectAnswer) response.status(303).location(answer.to).end();
  else response.status(answer.status).type('html').send(answer.html);
}

/** Reports an unsupported body type, instead of missing fields. */
const requireJson: RequestHandler = (request, _response, next) => {
  const hasBody =
    Number(request.headers['content-length'] ?? 0) > 0 || request.headers['transfer-encoding'] !== undefined;
  if (request.body === undefined && hasBody)
    throw invalid(['body'], 'Send JSON with content-type: application/json', 'json_invalid');
  next();
};
