import type { TagCondition, TagTree } from '../contract/fileFilters.js';
import type { TagValue } from '../contract/records.js';
import { tagPairs } from '../contract/tags.js';

/** A part of a MongoDB query on records that keep `tagPairs`. */
export type TagQuery =
  | { tagPairs: { $in: string[] } | { $nin: string[] } }
  | { $and: TagQuery[] }
  | { $or: TagQuery[] };

/** The tag has the value, or one of a list of values; negated: none of them. */
export function tagCondition({ key, value, negate = false }: TagCondition): TagQuery {
  const pairs = tagPairs([{ key, value: value as TagValue }]);
  return { tagPairs: negate ? { $nin: pairs } : { $in: pairs } };
}

/** ANDs and ORs of nothing ask for nothing: they are left out, wherever they stand. MongoDB refuses empty ones. */
export function tagTreeQuery(tree: TagTree | TagCondition): TagQuery | undefined {
  if ('key' in tree) return tagCondition(tree);
  const members = ('AND' in tree ? tree.AND : tree.OR).map(tagTreeQuery).filter((part) => part !== undefined);
  if (members.length === 0) return undefined;
  return 'AND' in tree ? { $and: members } : { $or: members };
}
