/** What a source that accounts are connected to declares and does. Facts in, items and bytes out; errors are Faults. */
import type { FileFormat } from '../contract/fileFormats.js';
import type { TagValue } from '../contract/records.js';
import type { SourceType } from '../contract/sources.js';
import type { Typed, TypeWishes } from '../contract/typesAtSource.js';
import type { ErrorClass } from './errorClasses.js';

/** Something that an account holds: a folder, a page, a file. With a type at its source, it becomes a file where that is asked for. */
export interface SourceItem extends Typed {
  /** Unique in its account, and the same whenever it is listed. */
  readonly externalId: string;
  /** What it lies in; null for what lies in nothing. */
  readonly parentExternalId: string | null;
  /** The outermost thing it lies in; null for that itself. */
  readonly rootExternalId: string | null;
  readonly name: string;
  /** In the words of the contract: SPACE, FOLDER, PAGE… */
  readonly itemType: string;
  /** Where a person opens it. */
  readonly externalUrl: string | null;
  readonly fileFormat: FileFormat | null;
  /** Whether a caller can have it synced: itself, or what lies in it. */
  readonly isSelectable: boolean;
  /** Whether anything can lie in it. */
  readonly isExpandable: boolean;
  /** Whether it becomes a file; else only what lies in it does. */
  readonly hasContent: boolean;
  /** It is attached to something, and becomes a file also where `sync_attachments` asks for such. */
  readonly isAttachment?: true;
  /** ISO 8601. */
  readonly createdAt: string | null;
  /** Another one whenever its content is another: a revision, an ETag, a hash. Null where its listing does not tell. */
  readonly version: string | null;
  /** Of sources that tell by places alone what is gone: where it lies, with slashes between what it lies in. */
  readonly place?: string;
  /** Of what becomes no file: why, in a sentence that says what to do. Whoever selects what it lies in is told. */
  readonly skipReason?: string;
  /** What its source says of it by itself, as tags of its file; those that a caller gives win. */
  readonly tags?: Readonly<Record<string, TagValue>>;
}

/** Something that is there, and no item: whoever selects what it lies in is told why it becomes no file. */
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
  /** Items of it that the account may not look into: what lies in them is not known. */
  readonly refused?: readonly string[];
  /** Of outermost things: what lies in them is told of by these pages as well, and need not be walked. */
  readonly isDeep?: true;
  /** What lies there beside its items. */
  readonly skipped?: readonly SkippedItem[];
  /** There is more than the source would tell of: then nothing may be deleted for being absent. */
  readonly isPartial?: true;
}

/** An outermost container, as a caller sees it who looks at the source just now. */
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
  /** It is not there any more, and neither is what lay in it. */
  | { readonly gone: string };

export interface ChangePage {
  readonly changes: readonly Change[];
  /** Places of items: what was there, or at places below, is not any more, save what is told by the same page. */
  readonly goneAt?: readonly string[];
  /** Where the next page goes on, or the next pass begins, in the source's own words. */
  readonly next: string;
  /** Whether there is more of this pass. */
  readonly more: boolean;
  /** What lies in what is told is told of as well, and need not be walked. */
  readonly isDeep?: true;
  /**
   * The outermost items that the feed tells of, by the first page of a pass: what lies in others is listed whole by each
   * pass, and gone where it is not found. Unset: it tells of all.
   */
  readonly coveredRoots?: readonly string[];
}

/** For sources that tell by themselves what happened. */
export interface ChangeFeed<Credentials> {
  /** The point of now: a pass from it tells all that happens after. Throws a Fault stale_cursor where this account is told of nothing. */
  now(client: AccountClient<Credentials>): Promise<string>;
  /** A page of what happened since a point. Throws a Fault stale_cursor where the source does not know the point any more. */
  since(client: AccountClient<Credentials>, point: string): Promise<ChangePage>;
}

/**
 * What an operation of its own asks a source just now: the answer is in that operation's words.
 * @param query as its operation has checked it
 */
export type LiveRead<Credentials> = (
  client: AccountClient<Credentials>,
  query: Readonly<Record<string, unknown>>,
) => Promise<unknown>;

/** What a person's consent brought: what connectors of sources with OAuth take as their credentials. */
export interface OAuthGrant {
  readonly accessToken: string;
  /** What the connection was made with, or its token's answer told: a tenant, a subdomain, an instance. No secrets. */
  readonly facts: Readonly<Record<string, string>>;
}

/** A fact that stands in addresses: a part of what an answer to a request for tokens has at a key. */
export interface TokenResponseField {
  readonly key: string;
  /** Its first group is the fact; an answer that is otherwise is no grant, for our token would go elsewhere. */
  readonly pattern: RegExp;
  /** Where no answer has told: before there is one, and of tokens that were handed to us. */
  readonly otherwise: string;
}

/** How a source lets its users consent. Its addresses `authorize` and `token`, with `revokes` also `revoke`, stand in its row; `{name}` in them is a fact. */
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
  /** Where the client's credentials stand in a request for tokens. */
  readonly clientAuth: 'post' | 'basic';
  readonly bodyFormat: 'form' | 'json';
  /** What else requests for tokens carry as headers. */
  readonly tokenHeaders?: Readonly<Record<string, string>>;
  /** What else the address of consent carries. */
  readonly authorizeParameters: Readonly<Record<string, string>>;
  /** Whether each refresh ends the refresh token that it used. */
  readonly rotates: boolean;
  /** Facts of the answer to a request for tokens that are kept with the connection: fact by where it stands, `team.id`, or by what stands there. */
  readonly tokenResponseFields?: Readonly<Record<string, string | TokenResponseField>>;
  /** The part of that answer the tokens stand in, where it is not the whole. */
  readonly tokensIn?: string;
  /**
   * How the source is asked, at its address `revoke`, to end a grant: the token stands in a form (RFC 7009), or is that of
   * the request itself. Unset: it can't be asked.
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

/** How content is read, beside the item that it is of. */
export interface OpenOptions {
  /** The format that documents are given out in which their source keeps in a form of its own, where it can; null: the connector's choice. */
  readonly saveAs: string | null;
}

/** The content of an item. */
export interface ItemContent {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** As the record calls its format; null: what its reader finds it to be. */
  readonly format: string | null;
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
   * The same as `get` where the answer is a list, with the headers that say how it goes on.
   * @param within the part of the answer that the list is; unset: all of it
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

/** A limit that a source sets to an OAuth client: the accounts that were connected by it share it. */
export interface SharedLimit {
  /** Requests that these accounts have under way at most, from all processes. */
  readonly requestsAtOnce: number;
  /** Which accounts of the client share it; null: this one shares it with none that is known. Unset: all of them. */
  groupOf?(grant: OAuthGrant): string | null;
  /** Whether a refusal that asks to wait is of this limit, and not of the account's own. */
  isMet(refusal: Refusal): boolean;
}

/** What people are told of a source beside what follows from its row and from what its connector does: docs/sources.md has it. */
export interface SourceAbout {
  /** What its items are. */
  readonly listed: string;
  /** What of these becomes a file, and what does not. */
  readonly ingested: string;
  /** By what its listing shows that content is as it was, and need not be fetched; null: by nothing. */
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
  /** Of sources whose row says `oauth`: their credentials are an OAuthGrant. */
  readonly oauth?: OAuthSpec;
  /** Of sources with OAuth that say when a limit of the client is met. */
  readonly sharedLimit?: SharedLimit;
  /**
   * Of sources whose addresses have `{name}` in them: what stands there, found to be such a name. Unset: with OAuth, the facts
   * of the grant.
   */
  facts?(credentials: Credentials): Readonly<Record<string, string>>;
  /** Of sources whose accounts bring files of others: which one an item's file is from, by its id alone. */
  sourceOf?(externalId: string): SourceType;
  /** What each request carries to say who asks. */
  headers(credentials: Credentials): Readonly<Record<string, string>>;
  /** What a refusal means where that is not what its status says in errorClasses.ts; null: it is. */
  classify?(refusal: Refusal): ErrorClass | null;
  /** Of sources that refuse with a success: the word for it in an answer's JSON; null where that is no refusal. */
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
   * A page of an item itself and of all that lies below it. Throws a Fault not_found where there is no such item.
   * @param typeFilter what is to become files: other things may be left out where listing them costs requests; unset: nothing may
   */
  listDescendants(
    client: AccountClient<Credentials>,
    externalId: string,
    cursor: string | null,
    typeFilter?: TypeWishes,
  ): Promise<ItemPage>;
  /** Of sources that tell what happened since a point. */
  readonly changes?: ChangeFeed<Credentials>;
  /** What operations of its own ask the source just now, by name. */
  readonly reads?: Readonly<Record<string, LiveRead<Credentials>>>;
  /** The content of one item. */
  open(client: AccountClient<Credentials>, externalId: string, options: OpenOptions): Promise<ItemContent>;
}
