import type { TagCondition, TagTree } from '../contract/fileFilters.js';
import type { TagValue } from '../contract/records.js';
import { tagPairs } from '../contract/tags.js';

/** A part of a MongoDB query on records that keep `tagPairs`. */
export type TagQuery =
  | { tagPairs: { $in: string[] } | { $nin: string[] } }
  | { $and: TagQuery[] }
  | { $or: TagQuery[] }
  | Record<never, never>;

/** The tag has the value, or one of a list of values; negated: none of them. */
export function tagCondition({ key, value, negate = false }: TagCondition): TagQuery {
  const pairs = tagPairs([{ key, value: value as TagValue }]);
  return { tagPairs: negate ? { $nin: pairs } : { $in: pairs } };
}

/** MongoDB takes no empty list: no condition holds for everything, no alternative for nothing. */
export function tagTreeQuery(tree: TagTree | TagCondition): TagQuery {
  if ('AND' in tree) return tree.AND.length === 0 ? {} : { $and: tree.AND.map(tagTreeQuery) };
  if ('OR' in tree) return tree.OR.length === 0 ? { tagPairs: { $in: [] } } : { $or: tree.OR.map(tagTreeQuery) };
  return tagCondition(tree);
}
