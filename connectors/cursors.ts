/**
 * Cursors: the position at which a listing or a change feed continues. The database stores them as text between two
 * calls.
 *
 * A connector declares the shape of its cursor once, and wraps its list in `withCursor` or its feed in `changeFeed`.
 * The type is inferred from the shape. The shape is checked on reading, because an older version of the service may
 * have written the text. Joi infers no types, so it is not used.
 */
import { createHash } from 'node:crypto';

import { Fault } from '../contract/failures.js';
import type { ChangeFeed } from './connector.js';
import type { OAuthGrant } from './oauthSpec.js';
import type { AccountClient } from './accountClient.js';
import type { ChangePage, ItemPage } from './sourceItem.js';
import { isObject } from './json.js';

/** Checks the shape of a value. */
export type Check<T> = (value: unknown) => value is T;
export type Checked<C> = C extends Check<infer T> ? T : never;

export const string: Check<string> = (value) => typeof value === 'string';
export const nonEmpty: Check<string> = (value): value is string => string(value) && value !== '';
export const boolean: Check<boolean> = (value) => typeof value === 'boolean';
export const number: Check<number> = (value): value is number => Number.isFinite(value);
/** Checks for an integer of at least 0. */
export const count: Check<number> = (value): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
export const oneOf =
  <T extends string>(...values: readonly T[]): Check<T> =>
  (value): value is T =>
    (values as readonly unknown[]).includes(value);
export const nullable =
  <T>(check: Check<T>): Check<T | null> =>
  (value) =>
    value === null || check(value);
/** For a field that an older version did not write. */
export const optional =
  <T>(check: Check<T>): Check<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || check(value);
export const listOf =
  <T>(check: Check<T>): Check<readonly T[]> =>
  (value): value is readonly T[] =>
    Array.isArray(value) && value.every(check);
export const pairOf =
  <A, B>(first: Check<A>, second: Check<B>): Check<readonly [A, B]> =>
  (value): value is readonly [A, B] =>
    Array.isArray(value) && value.length === 2 && first(value[0]) && second(value[1]);
export const recordOf =
  <T>(check: Check<T>): Check<Readonly<Record<string, T>>> =>
  (value): value is Readonly<Record<string, T>> =>
    isObject(value) && Object.values(value).every(check);
/** Checks for a query with at least one of the given parameters, and no others. */
export const queryOf =
  (names: readonly string[], value: Check<string> = string): Check<Readonly<Record<string, string>>> =>
  (query): query is Readonly<Record<string, string>> =>
    recordOf(value)(query) && Object.keys(query).length > 0 && Object.keys(query).every((name) => names.includes(name));
export const shapeOf =
  <C extends Readonly<Record<string, Check<unknown>>>>(checks: C): Check<{ readonly [K in keyof C]: Checked<C[K]> }> =>
  (value): value is { readonly [K in keyof C]: Checked<C[K]> } =>
    isObject(value) && Object.entries(checks).every(([name, check]) => check(value[name]));
export const eitherOf =
  <A, B>(first: Check<A>, second: Check<B>): Check<A | B> =>
  (value): value is A | B =>
    first(value) || second(value);

const stale = (): Fault =>
  new Fault('stale_cursor', 'The stored cursor is damaged, or an older version wrote it. Everything is listed again.');

/**
 * Writes a cursor as text. Call it only for a cursor inside another cursor, and in folderWalk.ts, whose cursors are
 * text from the first page on: `withCursor`, `changeFeed` and `callerCursor` write all others.
 */
export const writeCursor = (cursor: unknown): string => JSON.stringify(cursor);

/**
 * Reads what `writeCursor` wrote. @throws Fault stale_cursor for text of another shape: the caller lists everything
 * again
 */
export function readCursor<T>(shape: Check<T>, text: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw stale();
  }
  if (!shape(value)) throw stale();
  return value;
}

/** A page of a list whose cursor has a shape. */
export type PageAt<T> = Omit<ItemPage, 'next'> & { readonly next: T | null };

const sealPage = <T>({ next, ...page }: PageAt<T>): ItemPage => ({
  ...page,
  next: next === null ? null : writeCursor(next),
});

/** Converts a list with a typed cursor to one with a text cursor. The cursor is null for the first page. */
export const withCursor =
  <T, Client, Request>(
    shape: Check<T>,
    list: (client: Client, request: Request, cursor: NoInfer<T> | null) => Promise<PageAt<NoInfer<T>>>,
  ) =>
  async (client: Client, request: Request, cursor: string | null): Promise<ItemPage> =>
    sealPage(await list(client, request, cursor === null ? null : readCursor(shape, cursor)));

/** Like withCursor, for a list without further arguments, such as the list of root items. */
export const withRootsCursor =
  <T, Client>(shape: Check<T>, list: (client: Client, cursor: NoInfer<T> | null) => Promise<PageAt<NoInfer<T>>>) =>
  async (client: Client, cursor: string | null): Promise<ItemPage> =>
    sealPage(await list(client, cursor === null ? null : readCursor(shape, cursor)));

/** A change feed with a typed change token. */
interface TypedFeed<T, Credentials> {
  now(client: AccountClient<Credentials>): Promise<T>;
  prepare?(client: AccountClient<Credentials>, cursor: T): Promise<{ readonly next: T; readonly more: boolean }>;
  since(client: AccountClient<Credentials>, cursor: T): Promise<Omit<ChangePage, 'next'> & { readonly next: T }>;
}

const prepareOf = <T, Credentials>(
  shape: Check<T>,
  prepare: TypedFeed<T, Credentials>['prepare'],
): Pick<ChangeFeed<Credentials>, 'prepare'> =>
  prepare === undefined
    ? {}
    : {
        async prepare(client, text) {
          const { next, more } = await prepare(client, readCursor(shape, text));
          return { next: writeCursor(next), more };
        },
      };

/** Converts a change feed with a typed change token to one with a text token. */
export const changeFeed = <T, Credentials = OAuthGrant>(
  shape: Check<T>,
  feed: TypedFeed<NoInfer<T>, Credentials>,
): ChangeFeed<Credentials> => ({
  now: async (client) => writeCursor(await feed.now(client)),
  ...prepareOf(shape, feed.prepare?.bind(feed)),
  async since(client, text) {
    const { next, ...page } = await feed.since(client, readCursor(shape, text));
    return { ...page, next: writeCursor(next) };
  },
});

/** Encodes and parses cursors that callers of the API return to us. They have no checksum. */
export const callerCursor = <T>(shape: Check<T>) => ({
  write: (cursor: T | null): string | null =>
    cursor === null ? null : Buffer.from(writeCursor(cursor)).toString('base64url'),
  /** @throws Fault bad_response for text of another shape */
  read(text: string): T {
    try {
      return readCursor(shape, Buffer.from(text, 'base64url').toString());
    } catch {
      throw new Fault(
        'bad_response',
        'The next_cursor was not returned by this operation. Omit it to list from the beginning.',
      );
    }
  },
});

const CHECKSUM_LENGTH = 8;
const checksumOf = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, CHECKSUM_LENGTH);

/** Adds a checksum to a cursor that leaves its connector. */
export const sealCursor = (text: string): string => checksumOf(text) + text;
/**
 * Returns the cursor without its checksum. The checksum detects a cursor that was damaged while it was stored. Some
 * cursors are a key or token of the source, in which a connector cannot recognize damage. An object store would
 * continue at another key, and the sync would delete the skipped objects.
 * @throws Fault stale_cursor for a damaged cursor
 */
export function openCursor(sealed: string): string {
  const text = sealed.slice(CHECKSUM_LENGTH);
  if (sealCursor(text) !== sealed) throw stale();
  return text;
}
