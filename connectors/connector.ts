/** What a source that accounts are connected to declares and does. Facts in, items and bytes out; errors are Faults. */
import type { LiveReadName, LiveReads } from '../contract/sources/liveReads.js';
import type { FileFormat, ServiceFormat } from '../contract/files/fileFormats.js';
import type { TagValue } from '../contract/files/records.js';
import type { SourceType } from '../contract/sources/sources.js';
import type { Typed, TypeFilter } from '../contract/sources/typesAtSource.js';
import type { ErrorClass } from './errorClasses.js';

/** Something that an account holds: a folder, a page, a file. With a type at its source, it becomes a file where that is asked for. */
export interface SourceItem extends Typed {
  /** Unique in its account, and the same whenever it is listed. */
  readonly externalId: string;
  /** Its parent; null for a root item. */
  readonly parentExternalId: string | null;
  /** Its root item; null for a root item. */
  readonly rootExternalId: string | null;
  readonly name: string;
  /** In the words of the contract: SPACE, FOLDER, PAGE… */
  readonly itemType: string;
  /** Where a person opens it. */
  readonly externalUrl: string | null;
  readonly fileFormat: FileFormat | null;
  /** Whether a caller can select it, for itself or its contents. */
  readonly isSelectable: boolean;
  /** Whether it is a container. */
  readonly isExpandable: boolean;
  /** Whether it becomes a file; otherwise only its contents do. */
  readonly hasContent: boolean;
  /** It is attached to something, and becomes a file also where `sync_attachments` asks for such. */
  readonly isAttachment?: true;
  /** ISO 8601. */
  readonly createdAt: string | null;
  /** Another one whenever its content is another: a revision, an ETag, a hash. Null where its listing does not tell. */
  readonly version: string | null;
  /** For sources that report deletions by path: its path, with slashes between the names. */
  readonly place?: string;
  /** For an item that becomes no file: the reason, in a sentence that says what to do. It is reported when its container is selected. */
  readonly skipReason?: string;
  /** Metadata of the source, as tags of the file; a caller's tags of the same name win. */
  readonly tags?: Readonly<Record<string, TagValue>>;
}

/** An entry that is not an item: the reason is reported when its container is selected. */
export interface SkippedItem extends Typed {
  readonly externalId: string;
  readonly name: string;
  /** A sentence that says what to do. */
  readonly reason: string;
}

export interface ItemPage {
  readonly items: readonly SourceItem[];
  /** Where the next page begins, in the source's own words; null after the last one. */
  readonly next: string | null;
  /** Containers that the account may not list: their contents are unknown. */
  readonly refused?: readonly string[];
  /** For root items: these pages include their descendants, which need no walk. */
  readonly isDeep?: true;
  /** Entries that are not items. */
  readonly skipped?: readonly SkippedItem[];
  /** The source has more than it lists: absence is then no proof of deletion. */
  readonly isPartial?: true;
}

/** A root container, as the source lists it at the time of the call. */
export interface Container {
  /** As the source itself calls it. */
  readonly id: number;
  /** The externalId of its item. */
  readonly name: string;
  readonly url: string | null;
}

export interface ContainerPage {
  readonly containers: readonly Container[];
  /** The number of the next page; null after the last one. */
  readonly next: number | null;
}

/** What happened to one item. */
export type Change =
  | { readonly item: SourceItem }
  /** It was deleted, with its contents. */
  | { readonly gone: string };

export interface ChangePage {
  readonly changes: readonly Change[];
  /** Paths that no longer exist, with everything below them, except items in the same page. */
  readonly deletedPaths?: readonly string[];
  /** Cursor of the next page, or of the next sync, in the source's format. */
  readonly next: string;
  /** Whether there is more of this pass. */
  readonly more: boolean;
  /** The page includes the descendants of its items, which need no walk. */
  readonly isDeep?: true;
  /**
   * The root items that the feed covers, in the first page of a sync: other roots are listed completely in each
   * sync, and items that are not found are deleted. Unset: it covers all.
   */
  readonly coveredRoots?: readonly string[];
}

/** For sources that tell by themselves what happened. */
export interface ChangeFeed<Credentials> {
  /** Returns the current cursor: a sync from it gets all later changes. Throws a Fault stale_cursor if the account has no feed. */
  now(client: AccountClient<Credentials>): Promise<string>;
  /** Returns a page of changes since a cursor. Throws a Fault stale_cursor if the source no longer accepts the cursor. */
  since(client: AccountClient<Credentials>, point: string): Promise<ChangePage>;
}

/**
 * A direct query of a source; the result has the format of the operation that makes it.
 * @param query as validated by its operation
 */
export type LiveRead<Credentials, Read extends LiveReads[LiveReadName]> = (
  client: AccountClient<Credentials>,
  query: Read['query'],
) => Promise<Read['answer']>;

/** What a person's consent brought: what connectors of sources with OAuth take as their credentials. */
export interface OAuthGrant {
  readonly accessToken: string;
  /** What the connection was made with, or its token's answer told: a tenant, a subdomain, an instance. No secrets. */
  readonly facts: Readonly<Record<string, string>>;
}

/** A fact that becomes part of addresses: a part of a field of the token response. */
export interface TokenResponseField {
  readonly key: string;
  /** Its first group is the fact; another value is refused, because our token would be sent elsewhere. */
  readonly pattern: RegExp;
  /** Where no answer has told: before there is one, and of tokens that were handed to us. */
  readonly otherwise: string;
}

/** How users grant access to a source. Its addresses `authorize` and `token`, with `revokes` also `revoke`, are in its row; `{name}` in them is a fact. */
export interface OAuthSpec {
  /**
   * It is OAuth 1.0a: its row has an address `request` as well, scopes are parameters of the address of consent
   * (`notes_access=1`), tokens live until they are taken back, and the client has a secret.
   */
  readonly isOAuth1?: true;
  /** Asked for where the caller names none. */
  readonly scopes: readonly string[];
  readonly scopeSeparator: ' ' | ',';
  /** The query parameter that carries them; null where scopes are chosen elsewhere. */
  readonly scopeParameter: string | null;
  /**
   * Scopes that an answer may name in other words, or cover by wider ones: any of these stands for them. None: no answer
   * names it.
   */
  readonly scopeAliases?: Readonly<Record<string, readonly string[]>>;
  readonly pkce: boolean;
  /** Where a token request has the client's credentials. */
  readonly clientAuth: 'post' | 'basic';
  readonly bodyFormat: 'form' | 'json';
  /** What else requests for tokens carry as headers. */
  readonly tokenHeaders?: Readonly<Record<string, string>>;
  /** What else the address of consent carries. */
  readonly authorizeParameters: Readonly<Record<string, string>>;
  /** Whether each refresh ends the refresh token that it used. */
  readonly rotates: boolean;
  /** Facts from the token response that are stored with the connection: by path, `team.id`, or by a pattern of the value. */
  readonly tokenResponseFields?: Readonly<Record<string, string | TokenResponseField>>;
  /** The part of the token response with the tokens, if it is not the whole. */
  readonly tokensIn?: string;
  /**
   * How a grant is revoked at the address `revoke`: the token is a form field (RFC 7009), or the bearer token
   * of the request. Unset: the source has no revocation.
   */
  readonly revokes?: 'form' | 'bearer';
}

/** Whose account it is. */
export interface Identity {
  /** The same for the same account, whatever credentials lead to it. */
  readonly account: string;
  /** What else a caller may know of it. No secrets. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Options for opening content, in addition to its item. */
export interface OpenOptions {
  /** The format that documents are given out in which their source keeps in a form of its own, where it can; null: the connector's choice. */
  readonly saveAs: string | null;
}

/** The content of an item. */
export interface ItemContent {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** As the record calls its format; null: what its reader finds it to be. */
  readonly format: FileFormat | ServiceFormat | null;
  readonly mimeType: string;
  /** The same without its markup, for whom that is not asked for by `parsed_text_format`; unset: as it is. */
  readonly plain?: { readonly bytes: Uint8Array; readonly contentType: string; readonly mimeType: string };
  /** What it is called by now; null where its listing alone knows. */
  readonly name: string | null;
  /** Where a person opens it; also the base of relative links. */
  readonly url: string;
  /** Facts for file_metadata. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** What is attached to it becomes files only where `sync_attachments` asks for that; unset: it always does. */
  readonly attachmentsOnRequest?: boolean;
}

/** The answer of a source that is not a success. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed where it is JSON; else the text. */
  readonly body: unknown;
}

/** A request that a connector made up by itself, for instance because it is signed. */
export interface SourceRequest {
  readonly url: string;
  /** Unset: GET. */
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the content of an item is asked for: bounded and timed as such. */
  readonly isContent: boolean;
  /** Refusals that its connector deals with itself: they are answers. */
  readonly takes: (refusal: Refusal) => boolean;
}

export interface SourceAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** What a call may need besides its path. */
export interface CallOptions {
  /** Which of the source's addresses; unset: `api`. */
  readonly at?: string;
  /** Put on, or put in place of, what every request carries. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What is posted goes as a form of texts; unset: as JSON. */
  readonly asForm?: boolean;
}

/** Calls a source for one account until its signal aborts: with the account's headers, within its limits, and with Faults for errors. */
export interface SourceClient {
  /** Ends each request that is under way. */
  readonly signal: AbortSignal;
  /** Where the source is, by the parts of its row. */
  readonly urls: Readonly<Record<string, string>>;
  /**
   * The JSON at a path below one of the source's addresses. Throws a Fault.
   * @param path its parts, not encoded: what a caller named stays one part
   */
  get(
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** The same, asked for by a POST. @param body unset: an empty object; some methods without arguments want null */
  post(path: readonly string[], body: unknown, options?: CallOptions): Promise<Readonly<Record<string, unknown>>>;
  /**
   * Like `get` for a list, with the headers that contain the next page.
   * @param within the field of the answer with the list; unset: the answer is the list
   */
  list(
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    within?: string,
  ): Promise<{ readonly values: readonly unknown[]; readonly headers: Readonly<Record<string, string>> }>;
  /** The content of an item. Redirects are followed, without credentials. Throws a Fault. */
  content(
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<SourceAnswer>;
  /** The answer to a request, in the same turn and with the same Faults. `headers` of the connector are not put on. */
  send(request: SourceRequest): Promise<SourceAnswer>;
}

/** What each function of a connector gets first: the client of an account, for the length of one call. */
export interface AccountClient<Credentials = unknown> extends SourceClient {
  readonly credentials: Credentials;
}

/** The client of an account whose user gave consent. */
export type GrantClient = AccountClient<OAuthGrant>;

/** A limit that a source sets to an OAuth client: the accounts that were connected by it share it. */
export interface SharedLimit {
  /** Requests that these accounts have under way at most, from all processes. */
  readonly requestsAtOnce: number;
  /** Which accounts of the client share it; null: this one shares it with none that is known. Unset: all of them. */
  groupOf?(grant: OAuthGrant): string | null;
  /** Whether a refusal that asks to wait is of this limit, and not of the account's own. */
  isMet(refusal: Refusal): boolean;
}

/** Documentation of a source, in addition to the facts of its row and connector: it is part of docs/sources.md. */
export interface SourceAbout {
  /** What its items are. */
  readonly listed: string;
  /** What of these becomes a file, and what does not. */
  readonly ingested: string;
  /** The field of a listing that shows unchanged content, which is not fetched again; null: none. */
  readonly unchangedBy: string | null;
  /** What else counts as deleted, or is noticed in another way, than that an item is there no more. */
  readonly deletions?: string;
  /** What it does not give out, or not to everybody, and how much of something is read. */
  readonly limits: string;
}

/** @template Credentials what its user hands us, as JSON */
export interface Connector<Credentials> {
  /** In a few words, without a point at the end. */
  readonly about: SourceAbout;
  /** For sources with `oauth` in their row: their credentials are an OAuthGrant. */
  readonly oauth?: OAuthSpec;
  /** Of sources with OAuth that say when a limit of the client is met. */
  readonly sharedLimit?: SharedLimit;
  /**
   * For sources with `{name}` in their addresses: the validated values. Unset: with OAuth, the facts
   * of the grant.
   */
  facts?(credentials: Credentials): Readonly<Record<string, string>>;
  /** Of sources whose accounts bring files of others: which one an item's file is from, by its id alone. */
  sourceOf?(externalId: string): SourceType;
  /** What each request carries to say who asks. */
  headers(credentials: Credentials): Readonly<Record<string, string>>;
  /** What a refusal means where that is not what its status says in errorClasses.ts; null: it is. */
  classify?(refusal: Refusal): ErrorClass | null;
  /** For sources that report errors with status 200: returns the error code in the answer; null without an error. */
  refusalIn?(body: unknown): string | null;
  /** How long a refusal asks to wait, where the usual headers do not say it. */
  waitMs?(refusal: Refusal, now: number): number | null;
  /** How long an answer that is a success asks to rest before the next request of the account; 0 for not at all. */
  restMs?(headers: Refusal['headers']): number;
  /** Asks whose account the credentials lead to. Throws a Fault where they lead nowhere. */
  identify(client: AccountClient<Credentials>): Promise<Identity>;
  /** A page of the outermost things there are. */
  listRoots(client: AccountClient<Credentials>, cursor: string | null): Promise<ItemPage>;
  /** A page of the outermost containers by its number, for sources whose operations list them so. */
  listContainers?(
    client: AccountClient<Credentials>,
    page: { readonly number: number; readonly size: number },
  ): Promise<ContainerPage>;
  /**
   * Returns a page of an item and its descendants. Throws a Fault not_found if the item does not exist.
   * @param typeFilter types that become files: other items may be skipped if listing them costs requests; unset: none is
   */
  listDescendants(
    client: AccountClient<Credentials>,
    externalId: string,
    cursor: string | null,
    typeFilter?: TypeFilter,
  ): Promise<ItemPage>;
  /** Of sources that tell what happened since a point. */
  readonly changes?: ChangeFeed<Credentials>;
  /** Direct queries of the source, by name. */
  readonly reads?: { readonly [Name in LiveReadName]?: LiveRead<Credentials, LiveReads[Name]> };
  /** The content of one item. */
  open(client: AccountClient<Credentials>, externalId: string, options: OpenOptions): Promise<ItemContent>;
}
