import { type Express, json, type Request, type RequestHandler, type Response } from 'express';

import type { ApiDeps } from '../deps.js';
import { authenticate } from './authenticate.js';
import { invalid } from './errors.js';
import { answerOnce, idempotencyKeyOf } from './idempotency.js';
import { type Call, FileAnswer, type KeyCaller, ListAnswer, type Operation, type UserCaller } from './operation.js';
import { streamList } from './stream.js';
import { validate } from './validate.js';

/** OpenAPI's {name} is Express's :name. */
export const expressPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** Lets a caller's request through. @throws HttpError 429 */
type Admission = (caller: UserCaller | KeyCaller | null) => void;

/** The single adapter between operations and Express: authenticate → admit → read the body → validate → handle → JSON. */
export function mount(app: Express, operation: Operation, deps: ApiDeps, admit: Admission): void {
  const { method, path, auth, body, query, handle } = operation;
  // A stranger's body is never read, so that a bad credential is 401 whatever else is wrong.
  const identify: RequestHandler = async (request, response, next) => {
    const caller = await authenticate(auth, request.headers, deps);
    admit(caller);
    response.locals['caller'] = caller;
    next();
  };
  const read: RequestHandler[] = body ? [json({ limit: deps.settings.maxJsonBytes, strict: false }), requireJson] : [];
  app[method](expressPath(path), identify, ...read, async (request: Request, response: Response) => {
    const call: Call<typeof auth, unknown> = {
      caller: response.locals['caller'] as UserCaller & KeyCaller,
      // No body at all is one without fields: lists need none, and what others miss is named.
      body: body ? validate(body, request.body === undefined ? {} : request.body, 'body') : {},
      query: query ? validate(query, request.query, 'query') : {},
      params: request.params as Record<string, string>,
      requestId: String(response.locals['requestId']),
      deps,
    };
    const key = operation.createsWork ? idempotencyKeyOf(request.headers) : null;
    if (key !== null) {
      const { json: text, replayed } = await answerOnce(operation, key, call);
      if (replayed) response.setHeader('idempotent-replayed', 'true');
      response.status(200).type('application/json').send(text);
      return;
    }
    const answer = await handle(call);
    if (answer instanceof ListAnswer) await streamList(answer, response);
    else if (answer instanceof FileAnswer) sendFile(answer, response);
    else response.status(200).json(answer);
  });
}

/** Foreign content from our own origin: never shown, run or guessed at by a browser. */
function sendFile({ bytes, contentType }: FileAnswer, response: Response): void {
  response.status(200).set({
    'content-type': contentType,
    'content-disposition': 'attachment',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  });
  response.end(bytes);
}

/** A body of another type was not read by the JSON parser: say so, rather than that every field is missing. */
const requireJson: RequestHandler = (request, _response, next) => {
  const sent = Number(request.headers['content-length'] ?? 0) > 0 || request.headers['transfer-encoding'] !== undefined;
  if (request.body === undefined && sent)
    throw invalid(['body'], 'Send JSON with content-type: application/json', 'json_invalid');
  next();
};
