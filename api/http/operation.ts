import type Joi from 'joi';

import type { Tenant } from '../../store/users/accept.js';
import type { ApiDeps } from '../deps.js';
import type { Infer } from '../schemas/inferred.js';
import type { OpsSession } from './opsSessions.js';
import type { ReceivedFile } from './receiveFile.js';
import type { ReceiveContent } from './requestContents.js';

/**
 * Who may call: `operator` takes an API key, or a browser that was signed in with one; whoever is neither comes in as null.
 * `user` acts for an end user (access token, or API key with customer-id); `reader` the same for what changes
 * nothing; `key` takes an API key only; `either` an API key for its whole organization, or whatever names one of its users; `issuing` takes an API key and always the customer-id; `open` anyone.
 *
 * A token says itself whose data it opens. Whether that user still lives is looked up while a `reader`'s handler runs
 * already, and nothing of it is answered before.
 */
export type AuthScheme = 'user' | 'reader' | 'key' | 'either' | 'issuing' | 'operator' | 'open';

/** Who calls an operation that acts for an end user. */
export interface UserCaller {
  readonly organizationId: number;
  readonly userId: number;
  readonly customerId: string;
}
/** Who calls a key-only operation. */
export interface KeyCaller {
  readonly organizationId: number;
}

/** Who looks at the page of operators. */
export interface OperatorCaller extends KeyCaller {
  /** Null: an API key came with the request itself. */
  readonly session: OpsSession | null;
}
/** Who calls for a whole organization, or for one of its users. */
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

/** The names that a path has in braces. */
type ParamOf<Path extends string> = string extends Path
  ? string
  : Path extends `${string}{${infer Name}}${infer Rest}`
    ? Name | ParamOf<Rest>
    : never;

export interface Call<Auth extends AuthScheme, Body = unknown, Query = unknown, Param extends string = string> {
  readonly caller: Callers[Auth];
  /** Validated; {} where the operation has no body. */
  readonly body: Body;
  /** Fields of the body that were sent with a value: what else it has, are defaults. */
  readonly given: ReadonlySet<string>;
  /** Validated; {} where the operation has no query. */
  readonly query: Query;
  readonly params: Readonly<Record<Param, string>>;
  /** Of an operation that takes a file; null elsewhere. */
  readonly file: ReceivedFile | null;
  readonly receive: ReceiveContent;
  readonly requestId: string;
  /** Aborted when the request is over: its answer is sent, or its caller has disconnected. Pass it to slow work. */
  readonly signal: AbortSignal;
  /** The caller's IP address; behind proxies of TRUST_PROXY the one that they forward. */
  readonly peer: string;
  readonly deps: ApiDeps;
}

/** One operation of the interface: what it takes, who may call it, what it answers. It never sees Express. */
export interface Operation<
  Auth extends AuthScheme = AuthScheme,
  Body extends Joi.Schema = Joi.Schema,
  Query extends Joi.Schema = Joi.Schema,
  Path extends string = string,
> {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: Path;
  readonly auth: Auth;
  readonly summary: string;
  readonly body?: Body;
  readonly query?: Query;
  /** The body is a form with one file, stored while it arrives. A file that the handler does not accept is deleted. */
  readonly takesFile?: true;
  /** The body comes from a form of a page of ours. */
  readonly takesForm?: true;
  /** A browser may send it from pages of ours alone. */
  readonly fromOwnPages?: true;
  /** The body carries contents, and may be as long as those. */
  readonly takesContents?: true;
  /** Those are chunks with their vectors: many objects and numbers. */
  readonly takesChunks?: true;
  /**
   * The request creates something, so it accepts an Idempotency-Key. Its handler calls `receive` for contents, then
   * writes by `deps.unit` only, and answers from what that returns: with a key, the answer is stored in the same
   * transaction, which is committed after the handler has returned.
   */
  readonly createsWork?: true;
  /** Of a GET: the request changes records, as those of other methods do. */
  readonly changesRecords?: true;
  /** The request searches: of one user at most MAX_CONCURRENT_SEARCHES run at the same time. */
  readonly searches?: true;
  /** What a 200 holds; the OpenAPI document is made from it. */
  readonly answer: Joi.Schema;
  /** What a 200 holds where the request only asks what its work would take. */
  readonly dryAnswer?: Joi.Schema;
  /** Answers a plain value for JSON, or a ListAnswer to be streamed. */
  handle(call: Call<Auth, Infer<Body>, Infer<Query>, ParamOf<Path>>): Promise<unknown>;
}

/** Declares an operation; its handler's body, query and params are typed by their schemas and its path. */
export function operation<
  Auth extends AuthScheme,
  Path extends string,
  Body extends Joi.Schema = Joi.Schema,
  Query extends Joi.Schema = Joi.Schema,
>(definition: Operation<Auth, Body, Query, Path>): Operation {
  // The mount calls each handler with the caller of its scheme and with what its own schemas let through.
  return definition as unknown as Operation;
}

/** An answer whose `results` are written as they are read, so that a page of any size takes bounded memory. */
export class ListAnswer {
  /** Null: the older form, a bare array. */
  readonly count: number | Promise<number> | null;
  readonly results: AsyncIterable<readonly unknown[]>;

  constructor(count: number | Promise<number> | null, results: AsyncIterable<readonly unknown[]>) {
    // Whoever throws first, it has somebody who listens.
    if (count instanceof Promise) count.catch(() => undefined);
    this.count = count;
    this.results = results;
  }
}

/** An answer that is a stored content, not JSON: at hand, or to be read on the way. */
export class FileAnswer {
  readonly content: Uint8Array | AsyncIterable<Uint8Array>;
  readonly contentType: string;

  constructor(content: Uint8Array | AsyncIterable<Uint8Array>, contentType: string) {
    this.content = content;
    this.contentType = contentType;
  }
}

/** An answer that a person looks at: a page of ours. */
export class PageAnswer {
  readonly status: number;
  readonly html: string;
  /** Beside, or in place of, those that every page has. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, html: string, headers: Readonly<Record<string, string>> = {}) {
    this.status = status;
    this.html = html;
    this.headers = headers;
  }
}

/** Server-sent events, for as long as their reader is there. */
export class EventsAnswer {
  /** @param gone aborted when the reader has left */
  readonly open: (gone: AbortSignal) => AsyncIterable<string>;

  constructor(open: (gone: AbortSignal) => AsyncIterable<string>) {
    this.open = open;
  }
}

/** An answer that leads a person's browser to another page of ours. */
export class RedirectAnswer {
  /** A path. */
  readonly to: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(to: string, headers: Readonly<Record<string, string>> = {}) {
    this.to = to;
    this.headers = headers;
  }
}
