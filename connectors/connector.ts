/**
 * The interface of a connector: how the service identifies an account of a source, lists its items and reads them. All
 * errors are Faults.
 */
import type { FileFormat, ServiceFormat } from '../contract/files/fileFormats.js';
import type { LiveReadName, LiveReads } from '../contract/sources/liveReads.js';
import type { SourceType } from '../contract/sources/sources.js';
import type { TypeFilter } from '../contract/sources/typesAtSource.js';
import type { AccountClient, Refusal } from './accountClient.js';
import type { ErrorClass } from './errorClasses.js';
import type { SourceCacheLimits } from './sourceCache.js';
import type { OAuthGrant, OAuthSpec } from './oauthSpec.js';
import type { ChangePage, ContainerPage, ItemPage } from './sourceItem.js';

/** A cursor of a change feed that is being prepared. */
export interface PreparedCursor {
  readonly next: string;
  /** Whether `next` must be prepared further. */
  readonly more: boolean;
}

/** For sources with a feed of changes. */
export interface ChangeFeed<Credentials> {
  /**
   * Returns the current cursor: a sync from it gets all later changes. With `prepare`, the cursor must be prepared
   * first. Throws a Fault stale_cursor if the account has no feed.
   */
  now(client: AccountClient<Credentials>): Promise<string>;
  /**
   * For sources that return the current cursor only at the end of a complete listing: reads one page of it, so that the
   * caller can store its position. Call it until `more` is false. Throws a Fault stale_cursor as `now` does.
   */
  prepare?(client: AccountClient<Credentials>, cursor: string): Promise<PreparedCursor>;
  /**
   * Returns a page of changes since a cursor. Throws a Fault stale_cursor if the source no longer accepts the cursor.
   */
  since(client: AccountClient<Credentials>, cursor: string): Promise<ChangePage>;
}

/**
 * A direct query of a source, for one operation of the API.
 * @param query as the operation validated it
 * @returns the result in the operation's response format
 */
export type LiveRead<Credentials, Read extends LiveReads[LiveReadName]> = (
  client: AccountClient<Credentials>,
  query: Read['query'],
) => Promise<Read['answer']>;

/** The account that credentials belong to. */
export interface Identity {
  /** Id of the account. It does not depend on the credentials. */
  readonly account: string;
  /**
   * Id that an older version of this service gave the account. An existing data source with this id is updated instead
   * of creating a second one. Absent: the id has not changed.
   */
  readonly formerAccount?: string;
  /** Further fields of data_source_metadata. No secrets. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Options for opening content, in addition to its item. */
export interface OpenOptions {
  /**
   * The export format of documents that the source stores in a format of its own, if it offers a choice; null: the
   * connector's default.
   */
  readonly saveAs: string | null;
  /**
   * The version that the listing gave the item; null: unknown. Content that was read before may be returned only if it
   * has this version.
   */
  readonly version: string | null;
}

/** The content of an item. */
export interface ItemContent {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** The format that the file's record states; null: the format that the parser detects. */
  readonly format: FileFormat | ServiceFormat | null;
  readonly mimeType: string;
  /**
   * The content without markup, used unless `parsed_text_format` requests markup; unset: the content has only one form.
   */
  readonly plain?: { readonly bytes: Uint8Array; readonly contentType: string; readonly mimeType: string };
  /** Its current name; null if only a listing contains it. */
  readonly name: string | null;
  /** Address for a browser; also the base of relative links. */
  readonly url: string;
  /** Fields for file_metadata. */
  readonly fileMetadata: Readonly<Record<string, unknown>>;
  /** Whether its attachments become files only with `sync_attachments`; unset: they always do. */
  readonly attachmentsOnRequest?: boolean;
}

/** A rate limit that several accounts connected with one OAuth client share. */
export interface SharedLimit {
  /** Maximum number of concurrent requests of these accounts, over all processes. */
  readonly requestsAtOnce: number;
  /**
   * Returns the group of accounts that share the limit; null: no other account is known to share it. Unset: all
   * accounts of the client share it.
   */
  groupOf?(grant: OAuthGrant): string | null;
  /** Whether a refusal that asks to wait comes from this limit, not from the account's own. */
  appliesTo(refusal: Refusal): boolean;
}

/**
 * Documentation of a source for docs/sources.md, in addition to what its connector and its row in
 * contract/sources/connectedSources.ts state.
 */
export interface SourceAbout {
  /** The items that are listed. */
  readonly listed: string;
  /** Which items become files, and which do not. */
  readonly ingested: string;
  /**
   * The fields of a listed item that a sync compares with those of the last sync. If they are equal, the content is
   * not fetched again. Null: listings have no such field.
   */
  readonly unchangedBy: string | null;
  /** How deletions are detected, if not by an item that a listing no longer contains. */
  readonly deletions?: string;
  /** Whether the change feed reports no deletions of items at the source, so that `deletions` alone describes them. */
  readonly feedOmitsDeletions?: true;
  /** Limits of reading, and content that the source does not provide, or only to some accounts. */
  readonly limits: string;
}

/** @template Credentials the credentials that a user enters, as JSON */
export interface Connector<Credentials> {
  /** Short phrases without a full stop. */
  readonly about: SourceAbout;
  /** Limits of the cache that its calls share. Unset: the defaults. */
  readonly cache?: SourceCacheLimits;
  /** For sources with `oauth` in their row: their credentials are an OAuthGrant. */
  readonly oauth?: OAuthSpec;
  /** For sources with OAuth that report when a limit of the client is reached. */
  readonly sharedLimit?: SharedLimit;
  /**
   * For sources with placeholders such as `{name}` in their URLs: returns their validated values. Unset: with OAuth,
   * the parameters of the grant.
   */
  urlParameters?(credentials: Credentials): Readonly<Record<string, string>>;
  /** For sources whose accounts contain files of other sources: returns the source of an item's file from its id. */
  sourceOf?(externalId: string): SourceType;
  /** Returns the headers that authenticate each request. */
  headers(credentials: Credentials): Readonly<Record<string, string>>;
  /** Returns the class of a refusal if it differs from that of its status (errorClasses.ts); null if it does not. */
  classify?(refusal: Refusal): ErrorClass | null;
  /** For sources that report errors with status 200: returns the error code in the answer; null without an error. */
  refusalIn?(body: unknown): string | null;
  /** Returns the milliseconds that a refusal asks to wait, if the standard headers do not contain them. */
  waitMs?(refusal: Refusal, now: number): number | null;
  /** Returns the milliseconds to wait after a successful answer before the account's next request; 0: none. */
  restMs?(headers: Refusal['headers']): number;
  /** Returns the account that the credentials belong to. Throws a Fault if they are not valid. */
  identify(client: AccountClient<Credentials>): Promise<Identity>;
  /** Returns a page of root items. */
  listRoots(client: AccountClient<Credentials>, cursor: string | null): Promise<ItemPage>;
  /** Returns a page of root containers by its number, for operations that list them directly. */
  listContainers?(
    client: AccountClient<Credentials>,
    page: { readonly number: number; readonly size: number },
  ): Promise<ContainerPage>;
  /**
   * Returns a page of an item and its descendants. Throws a Fault not_found if the item does not exist.
   * @param typeFilter types that become files; items of other types may be skipped if listing them costs requests.
   * Unset: no item is skipped
   */
  listDescendants(
    client: AccountClient<Credentials>,
    externalId: string,
    cursor: string | null,
    typeFilter?: TypeFilter,
  ): Promise<ItemPage>;
  /** For sources with a feed of changes. */
  readonly changes?: ChangeFeed<Credentials>;
  /**
   * For sources whose full listing may omit existing items: checks items at the source, and returns the ids of those
   * that are not gone. Only the others are deleted. An item is gone if the source reports that it does not exist, is in
   * the trash or is not shared with the account. An item that the source refuses for another reason is not gone. A
   * Fault that concerns the account or the source must be thrown.
   */
  findExisting?(client: AccountClient<Credentials>, externalIds: readonly string[]): Promise<readonly string[]>;
  /** Direct queries of the source, by name. */
  readonly reads?: { readonly [Name in LiveReadName]?: LiveRead<Credentials, LiveReads[Name]> };
  /** Returns the content of one item. */
  open(client: AccountClient<Credentials>, externalId: string, options: OpenOptions): Promise<ItemContent>;
}
