import type { TagValue } from './records.js';

/** Keys that the service itself uses in vector payloads. */
export const RESERVED_TAG_KEYS: readonly string[] = [
  'db_embedding_id',
  'organization_id',
  'user_id',
  'organization_user_file_id',
  'chunk_number',
];

/** `key=value` for each value of each tag: one spelling for the index of files and the payload of vectors. Lists give one pair a member. */
export function tagPairs(tags: readonly { key: string; value: TagValue }[]): string[] {
  return tags.flatMap(({ key, value }) => {
    const values: readonly (string | number | boolean)[] = typeof value === 'object' ? value : [value];
    return values.map((member) => `${key}=${String(member)}`);
  });
}
