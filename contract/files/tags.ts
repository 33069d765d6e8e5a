import type { TagValue } from './records.js';

/** Keys that the public contract reserves. */
export const RESERVED_TAG_KEYS: readonly string[] = [
  'db_embedding_id',
  'organization_id',
  'user_id',
  'organization_user_file_id',
  'chunk_number',
];

/** A stored tag. Tags are pairs, so that keys may contain dots and `$`. */
export interface StoredTag {
  key: string;
  value: TagValue;
}

/**
 * Escapes a key for a pair. The first `=` of a pair ends the key, so different keys never result in the same pair.
 * Values are compared as text: the number 1 and the string "1" result in the same pair.
 */
const keyInPair = (key: string): string => key.replaceAll('%', '%25').replaceAll('=', '%3D');

/**
 * Returns `key=value` for each value of each tag, as used in the index of files and in vector payloads. A list results
 * in one pair per member.
 */
export function tagPairs(tags: readonly { key: string; value: TagValue }[]): string[] {
  return tags.flatMap(({ key, value }) => {
    const values: readonly (string | number | boolean)[] = typeof value === 'object' ? value : [value];
    return values.map((member) => `${keyInPair(key)}=${String(member)}`);
  });
}

export const storedTags = (tags: Readonly<Record<string, TagValue>>): StoredTag[] =>
  Object.entries(tags).map(([key, value]) => ({ key, value }));

/** Returns tags as an object, as the API returns them. */
export const tagObject = (tags: readonly StoredTag[]): Record<string, TagValue> =>
  Object.fromEntries(tags.map(({ key, value }) => [key, value]));

/** Adds new tags and replaces the values of existing ones. */
export function upsertTags(tags: readonly StoredTag[], newTags: readonly StoredTag[]): StoredTag[] {
  const newByKey = new Map(newTags.map((tag) => [tag.key, tag]));
  const existingKeys = new Set(tags.map(({ key }) => key));
  return [...tags.map((tag) => newByKey.get(tag.key) ?? tag), ...newTags.filter(({ key }) => !existingKeys.has(key))];
}

/** Removes tags. @param keys keys of the tags to remove; 'all' removes every tag */
export const withoutTags = (tags: readonly StoredTag[], keys: readonly string[] | 'all'): StoredTag[] =>
  keys === 'all' ? [] : tags.filter(({ key }) => !keys.includes(key));

/** Returns whether two lists contain the same tags in the same order. */
export const sameTags = (a: readonly StoredTag[], b: readonly StoredTag[]): boolean =>
  JSON.stringify(a.map(({ key, value }) => [key, value])) === JSON.stringify(b.map(({ key, value }) => [key, value]));

/** Returns the tags of a file: its own, which take precedence, and those of its data source. */
export const fileTags = (file: {
  readonly tags: readonly StoredTag[];
  readonly sourceTags?: readonly StoredTag[];
}): StoredTag[] => upsertTags(file.sourceTags ?? [], file.tags);
