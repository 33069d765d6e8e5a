/** Readers for untrusted JSON. */

/** A JSON object, such as an answer or a part of one. */
export type Json = Readonly<Record<string, unknown>>;

type FieldName<T> = T extends T ? keyof T : never;
/**
 * An untrusted object whose fields have the names of the vendor's published types, so that a misspelt field does not
 * compile. The values are unknown, because an answer may contain anything.
 */
export type Answer<T> = { readonly [Name in FieldName<T>]?: unknown };

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** Returns the value if it is an object, else an empty one. */
export const asObject = (value: unknown): Json => (isObject(value) ? value : {});
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
/** Returns the value as an answer of a vendor's type; an empty one for other values. */
export const asAnswer = <T>(value: unknown): Answer<T> => asObject(value) as Answer<T>;
/** Returns the objects of a list; entries of other types are dropped. */
export const asObjects = (value: unknown): readonly Json[] => asList(value).filter(isObject);
/** Returns the objects of a list as answers of a vendor's type; entries of other types are dropped. */
export const asAnswers = <T>(value: unknown): readonly Answer<T>[] => asObjects(value) as readonly Answer<T>[];
/** Returns a non-empty string, or null. */
export const asText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
/** Returns a string without surrounding white space; '' for anything else. */
export const asTrimmed = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** Longest name that is stored, in characters. */
const MAX_NAME = 1_000;
const MAX_LINK = 2_048;

/** Returns a non-empty name, shortened to MAX_NAME, or null. */
export const asName = (value: unknown): string | null => asText(value)?.slice(0, MAX_NAME) ?? null;
/** Returns a date as ISO 8601, or null. */
export function asTimestamp(value: unknown): string | null {
  const at = Date.parse(asText(value) ?? '');
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}
/** Returns a URL that a browser can open, or null. */
export const asLink = (value: unknown): string | null => {
  const link = asText(value);
  return link !== null && link.length <= MAX_LINK && /^https?:\/\//.test(link) ? link : null;
};

/** Drops the entries that are null or undefined. */
export const omitNull = <T>(entries: Readonly<Record<string, T>>): Readonly<Record<string, NonNullable<T>>> =>
  Object.fromEntries(
    Object.entries(entries).filter(
      (entry): entry is [string, NonNullable<T>] => entry[1] !== null && entry[1] !== undefined,
    ),
  );
