import type Joi from 'joi';

import type { Tenant } from '../../store/users/accept.js';
import type { ApiDeps } from './deps.js';
import type { ApiTag } from '../schemas/apiTags.js';
import type { Infer } from '../schemas/inferred.js';
import type { OpsSession } from './identity/opsSessions.js';
import type { ReceivedFile } from './body/receiveFile.js';
import type { ReceiveContent } from './body/requestContents.js';

/**
 * Callers that an operation accepts. `operator`: API key, or browser session created with one; the caller is null for a
 * request without an authorization header and without a valid session.
 * `user`: on behalf of an end user (access token, or API key with customer-id). `reader`: like `user`, for operations
 * that change nothing. `key`: API key only. `either`: API key for its whole organization, or credentials of one of its
 * users. `issuing`: API key with customer-id. `open`: anyone.
 *
 * A token contains the id of its user. For a `reader`, the check whether that user still exists runs in parallel with
 * the handler; the response waits for it.
 */
export type AuthScheme = 'user' | 'reader' | 'key' | 'either' | 'issuing' | 'operator' | 'open';

/** Caller of an operation on behalf of an end user. */
export interface UserCaller {
  readonly organizationId: number;
  readonly userId: number;
  readonly customerId: string;
}
/** Caller of an operation with an API key. */
export interface KeyCaller {
  readonly organizationId: number;
}

/** Viewer of the operator page. */
export interface OperatorCaller extends KeyCaller {
  /** Null: the request itself contained an API key. */
  readonly session: OpsSession | null;
}
/** Caller on behalf of a whole organization or of one of its users. */
export type EitherCaller = UserCaller | KeyCaller;

interface Callers {
  user: UserCaller;
  reader: Tenant;
  issuing: UserCaller;
  key: KeyCaller;
  operator: OperatorCaller | null;
  either: EitherCaller;
  open: null;
}

/** Names of the parameters in a path. */
type ParamOf<Path extends string> = string extends Path
  ? string
  : Path extends `${string}{${infer Name}}${infer Rest}`
    ? Name | ParamOf<Rest>
    : never;

export interface Call<Auth extends AuthScheme, Body = unknown, Query = unknown, Param extends string = string> {
  readonly caller: Callers[Auth];
  /** Validated; {} if the operation has no body. */
  readonly body: Body;
  /** Names of the body fields that were sent with a value other than null. */
  readonly given: ReadonlySet<string>;
  /** Validated; {} if the operation has no query. */
  readonly query: Query;
  readonly params: Readonly<Record<Param, string>>;
  /** The uploaded file; null if the operation takes none. */
  readonly file: ReceivedFile | null;
  readonly receive: ReceiveContent;
  /** The header Last-Event-ID of a client that continues a stream; null without one. */
  readonly lastEventId: string | null;
  readonly requestId: string;
  /** Aborted when the request ends: its response is sent, or its caller has disconnected. Pass it to slow work. */
  readonly signal: AbortSignal;
  /** IP address of the caller; behind proxies in TRUST_PROXY, the forwarded one. */
  readonly peer: string;
  readonly deps: ApiDeps;
}

/** An operation of the API: its request, its callers and its response. It does not depend on Express. */
export interface Operation<
  Auth extends AuthScheme = AuthScheme,
  Body extends Joi.Schema = Joi.Schema,
  Query extends Joi.Schema = Joi.Schema,
  Path extends string = string,
> {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: Path;
  readonly auth: Auth;
  /** One line: what the operation does. */
  readonly summary: string;
  readonly body?: Body;
  readonly query?: Query;
  /** The body is a form with one file, stored while it arrives. A file that the handler does not accept is deleted. */
  readonly takesFile?: true;
  /** The body is a form from our own pages. */
  readonly takesForm?: true;
  /** Browsers may send it only from our own pages. */
  readonly fromOwnPages?: true;
  /** The body has contents, so the larger size limit applies. */
  readonly takesContents?: true;
  /** The contents are chunks with their vectors: many objects and numbers. */
  readonly takesChunks?: true;
  /**
   * The request creates something, so it accepts an Idempotency-Key. Its handler calls `receive` for contents, then
   * writes only with `deps.unit`, and builds its response from the result. With a key, the response is stored in the
   * same transaction, which is committed after the handler has returned.
   */
  readonly createsWork?: true;
  /** For a GET: the request changes records. */
  readonly changesRecords?: true;
  /** The request searches. In each API process, a user may have MAX_CONCURRENT_SEARCHES such requests in progress. */
  readonly searches?: true;
  /** Schema of a 200 response, used for the OpenAPI document. */
  readonly answer: Joi.Schema;
  /** Schema of a 200 response to a dry run. */
  readonly dryAnswer?: Joi.Schema;
  /** Returns a plain value, which is sent as JSON, or an instance of one of the …Answer classes below. */
  handle(call: Call<Auth, Infer<Body>, Infer<Query>, ParamOf<Path>>): Promise<unknown>;
}

/** The documentation of an operation in the API reference. */
export interface Documentation {
  /**
   * Id from which generated clients derive method names: that of the public contract, or a short one for an extension.
   */
  readonly operationId: string;
  readonly tag: ApiTag;
  /**
   * Paragraphs and list items (`- …`) in Markdown: what the operation does, when to use it, what happens next, and its
   * limits.
   */
  readonly description: readonly string[];
  /** One sentence: what a 200 response has, and which work continues after it. */
  readonly returns: string;
  /** The response is stored content instead of JSON. */
  readonly answersContent?: true;
  /** The response is a stream of server-sent events instead of JSON: an example of its text. */
  readonly answersEvents?: string;
  /** Operation that replaces this one: `POST /user_files_v2`. */
  readonly replacedBy?: string;
  /**
   * Sentences about error statuses, which replace the general ones; null: the status cannot occur. A status that is not
   * documented by default is added.
   */
  readonly errors?: Readonly<Partial<Record<ErrorStatus, string | null>>>;
}

/** An operation of the API reference. */
export type DocumentedOperation = Operation & Documentation;

/** Statuses of error responses. */
export type ErrorStatus = 400 | 401 | 403 | 404 | 408 | 409 | 413 | 415 | 422 | 429 | 431 | 502 | 503 | 507;

/** Declares an operation; its handler's body, query and params are typed by their schemas and its path. */
export function operation<
  Auth extends AuthScheme,
  Path extends string,
  Body extends Joi.Schema = Joi.Schema,
  Query extends Joi.Schema = Joi.Schema,
>(definition: Operation<Auth, Body, Query, Path> & Documentation): DocumentedOperation {
  // The mount calls each handler with the caller of its scheme and with validated values.
  return definition as unknown as DocumentedOperation;
}

/** Declares an operation that the API reference omits, such as a page for browsers. */
export function undocumented<
  Auth extends AuthScheme,
  Path extends string,
  Body extends Joi.Schema = Joi.Schema,
  Query extends Joi.Schema = Joi.Schema,
>(definition: Operation<Auth, Body, Query, Path>): Operation {
  return definition as unknown as Operation;
}

/** A response whose `results` are streamed, so that a page of any size needs bounded memory. */
export class ListAnswer {
  /** Number of all results. Null: the response is an array of the results, without a count. */
  readonly count: number | Promise<number> | null;
  readonly results: AsyncIterable<readonly unknown[]>;

  constructor(count: number | Promise<number> | null, results: AsyncIterable<readonly unknown[]>) {
    // Attach a handler now so that an early rejection is not unhandled.
    if (count instanceof Promise) count.catch(() => undefined);
    this.count = count;
    this.results = results;
  }
}

/** A response with stored content instead of JSON: in memory, or a stream. */
export class FileAnswer {
  readonly content: Uint8Array | AsyncIterable<Uint8Array>;
  readonly contentType: string;

  constructor(content: Uint8Array | AsyncIterable<Uint8Array>, contentType: string) {
    this.content = content;
    this.contentType = contentType;
  }
}

/** A response with an HTML page. */
export class PageAnswer {
  readonly status: number;
  readonly html: string;
  /** Headers that extend or replace those of every page. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, html: string, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.html = html;
    this.headers = headers;
  }
}

/** A response with a stream of server-sent events. */
export class EventsAnswer {
  /**
   * Opens the stream; its signal is aborted when the client has disconnected. Null: 204, after which a browser does not
   * reconnect.
   */
  readonly open: ((disconnected: AbortSignal) => AsyncIterable<string>) | null;

  constructor(open: ((disconnected: AbortSignal) => AsyncIterable<string>) | null) {
    this.open = open;
  }
}

/** A redirect to another page of ours. */
export class RedirectAnswer {
  /** Path of the page. */
  readonly to: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(to: string, headers: Readonly<Record<string, string>> = {}) {
    this.to = to;
    this.headers = headers;
  }
}
