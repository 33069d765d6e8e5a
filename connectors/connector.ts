/** What a source that accounts are connected to declares and does. Facts in, items and bytes out; errors are Faults. */
import type { FileFormat, ServiceFormat } from '../contract/files/fileFormats.js';
import type { LiveReadName, LiveReads } from '../contract/sources/liveReads.js';
import type { SourceType } from '../contract/sources/sources.js';
import type { TypeFilter } from '../contract/sources/typesAtSource.js';
import type { AccountClient, Refusal } from './accountClient.js';
import type { ErrorClass } from './errorClasses.js';
import type { FactCacheLimits } from './factCache.js';
import type { OAuthGrant, OAuthSpec } from './oauthSpec.js';
import type { ChangePage, ContainerPage, ItemPage } from './sourceItem.js';

/** A cursor of a change feed that is being prepared. */
export interface PreparedPoint {
  readonly next: string;
  /** Whether `next` must be prepared further. */
  readonly more: boolean;
}

/** For sources that tell by themselves what happened. */
export interface ChangeFeed<Credentials> {
  /**
   * Returns the current cursor: a sync from it gets all later changes. With `prepare`, the cursor must be prepared first.
   * Throws a Fault stale_cursor if the account has no feed.
   */
  now(client: AccountClient<Credentials>): Promise<string>;
  /**
   * For sources that return the current cursor only at the end of a complete listing: reads one page of it, so that the
   * caller can store its position. Call it until `more` is false. Throws a Fault stale_cursor as `now` does.
   */
  prepare?(client: AccountClient<Credentials>, point: string): Promise<PreparedPoint>;
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
  /**
   * The version that the listing gave the item; null: unknown. Content that was read before may be returned only if it has
   * this version.
   */
  readonly version: string | null;
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
  /** Limits of the cache that its calls share. Unset: the usual ones. */
  readonly cache?: FactCacheLimits;
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
