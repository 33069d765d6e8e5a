import type { TagValue } from './records.js';

/** Keys that the service itself uses in vector payloads. */
export const RESERVED_TAG_KEYS: readonly string[] = [
  'db_embedding_id',
  'organization_id',
  'user_id',
  'organization_user_file_id',
  'chunk_number',
];

/** A tag as stored: pairs, so that keys with dots or `$` are safe. */
export interface StoredTag {
  key: string;
  value: TagValue;
}

/** A key in a pair: the first `=` of a pair always ends it, so that two different tags never make the same pair. */
const keyInPair = (key: string): string => key.replaceAll('%', '%25').replaceAll('=', '%3D');

/** `key=value` for each value of each tag: one spelling for the index of files and the payload of vectors. Lists give one pair a member. */
export function tagPairs(tags: readonly { key: string; value: TagValue }[]): string[] {
  return tags.flatMap(({ key, value }) => {
    const values: readonly (string | number | boolean)[] = typeof value === 'object' ? value : [value];
    return values.map((member) => `${keyInPair(key)}=${String(member)}`);
  });
}

export const storedTags = (tags: Readonly<Record<string, TagValue>>): StoredTag[] =>
  Object.entries(tags).map(([key, value]) => ({ key, value }));

/** Tags as the interface answers them. */
export const tagObject = (tags: readonly StoredTag[]): Record<string, TagValue> =>
  Object.fromEntries(tags.map(({ key, value }) => [key, value]));

/** New keys are added, the value of a known one is replaced whole, the others stay. */
export function upsertTags(tags: readonly StoredTag[], fresh: readonly StoredTag[]): StoredTag[] {
  const given = new Map(fresh.map((tag) => [tag.key, tag]));
  const known = new Set(tags.map(({ key }) => key));
  return [...tags.map((tag) => given.get(tag.key) ?? tag), ...fresh.filter(({ key }) => !known.has(key))];
}

/** @param keys which to take away; 'all' for every one */
export const withoutTags = (tags: readonly StoredTag[], keys: readonly string[] | 'all'): StoredTag[] =>
  keys === 'all' ? [] : tags.filter(({ key }) => !keys.includes(key));

/** Whether two lists of tags say the same, in the same order. */
export const sameTags = (a: readonly StoredTag[], b: readonly StoredTag[]): boolean =>
  JSON.stringify(a.map(({ key, value }) => [key, value])) === JSON.stringify(b.map(({ key, value }) => [key, value]));

/** The tags that a file has: those of its data source, and its own, which win. */
export const fileTags = (file: {
  readonly tags: readonly StoredTag[];
  readonly sourceTags?: readonly StoredTag[];
}): StoredTag[] => upsertTags(file.sourceTags ?? [], file.tags);
