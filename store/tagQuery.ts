import type { TagCondition, TagTree } from '../contract/files/fileFilters.js';
import type { TagValue } from '../contract/files/records.js';
import { tagPairs } from '../contract/files/tags.js';

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

/** The pairs of a query of which any will do; undefined for any other query. */
const anyOf = (query: TagQuery): string[] | undefined =>
  'tagPairs' in query && '$in' in query.tagPairs ? query.tagPairs.$in : undefined;

/** Converts a tag tree. Empty ANDs and ORs are dropped at every level, because MongoDB refuses them. */
export function tagTreeQuery(tree: TagTree | TagCondition): TagQuery | undefined {
  if ('key' in tree) return tagCondition(tree);
  const members = ('AND' in tree ? tree.AND : tree.OR).map(tagTreeQuery).filter((part) => part !== undefined);
  const [only] = members;
  if (members.length <= 1) return only;
  if ('AND' in tree) return { $and: members };
  // One list of pairs is one look into the index.
  const lists = members.map(anyOf);
  return lists.every((list) => list !== undefined) ? { tagPairs: { $in: lists.flat() } } : { $or: members };
}

/** The lists of pairs of which every match has one each: by any of them an index narrows. */
export function requiredPairs(query: TagQuery): string[][] {
  if ('$and' in query) return query.$and.flatMap(requiredPairs);
  const pairs = anyOf(query);
  return pairs ? [pairs] : [];
}
