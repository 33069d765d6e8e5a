/**
 * Cursors: where a listing, or a feed of changes, continues. Rows of the database hold them as text between two calls.
 *
 * A connector states the shape of its cursor once, by `defineCursor`. The type is inferred and the shape is checked on
 * reading, because an older version of the service may have written the text. Joi infers no types, hence the checks below.
 */
import { createHash } from 'node:crypto';

import { Fault } from '../contract/failures.js';
import { isObject } from './json.js';

/** Checks the shape of a value. */
export type Check<T> = (value: unknown) => value is T;
export type Checked<C> = C extends Check<infer T> ? T : never;

export const string: Check<string> = (value) => typeof value === 'string';
export const boolean: Check<boolean> = (value) => typeof value === 'boolean';
export const number: Check<number> = (value): value is number => Number.isFinite(value);
/** An integer from zero on. */
export const count: Check<number> = (value): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
export const oneOf =
  <T extends string>(...values: readonly T[]): Check<T> =>
  (value): value is T =>
    (values as readonly unknown[]).includes(value);
export const nullable =
  <T>(check: Check<T>): Check<T | null> =>
  (value) =>
    value === null || check(value);
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
export const shapeOf =
  <C extends Readonly<Record<string, Check<unknown>>>>(checks: C): Check<{ readonly [K in keyof C]: Checked<C[K]> }> =>
  (value): value is { readonly [K in keyof C]: Checked<C[K]> } =>
    isObject(value) && Object.entries(checks).every(([name, check]) => check(value[name]));
export const either =
  <A, B>(first: Check<A>, second: Check<B>): Check<A | B> =>
  (value): value is A | B =>
    first(value) || second(value);

/** Writes and reads cursors of one shape. */
export interface CursorFormat<T> {
  readonly check: Check<T>;
  write(cursor: T): string;
  /** Null stays null: the end of a list. */
  writeNext(cursor: T | null): string | null;
  /** @throws Fault stale_cursor for text of another shape: the caller lists everything again */
  read(text: string): T;
}
export type CursorOf<F> = F extends CursorFormat<infer T> ? T : never;

const stale = (): Fault =>
  new Fault('stale_cursor', 'The stored cursor is damaged, or an older version wrote it. All is listed again.');

export function defineCursor<T>(check: Check<T>): CursorFormat<T> {
  const write = (cursor: T): string => JSON.stringify(cursor);
  return {
    check,
    write,
    writeNext: (cursor) => (cursor === null ? null : write(cursor)),
    read(text) {
      let value: unknown = null;
      try {
        value = JSON.parse(text);
      } catch {
        throw stale();
      }
      if (!check(value)) throw stale();
      return value;
    },
  };
}

const CHECKSUM_LENGTH = 8;
const checksumOf = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, CHECKSUM_LENGTH);

/** Adds a checksum to a cursor that leaves its connector. */
export const sealCursor = (text: string): string => checksumOf(text) + text;
/**
 * Returns the cursor within. Some cursors are a key or a token of the source, where damage has no shape of its own: a
 * store of objects would list from another key on, and what it passed over would be deleted.
 * @throws Fault stale_cursor for one that is not as it was sealed
 */
export function openCursor(sealed: string): string {
  const text = sealed.slice(CHECKSUM_LENGTH);
  if (sealCursor(text) !== sealed) throw stale();
  return text;
}
