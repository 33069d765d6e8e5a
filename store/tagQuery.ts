import type { TagCondition, TagTree } from '../contract/files/fileFilters.js';
import type { TagValue } from '../contract/files/records.js';
import { tagPairs } from '../contract/files/tags.js';

/** A part of a MongoDB query on records with `tagPairs`. */
export type TagQuery =
  | { tagPairs: { $in: string[] } | { $nin: string[] } }
  | { $and: TagQuery[] }
  | { $or: TagQuery[] };

/**
 * Matches records that have the tag with this value or, for a list, with one of its values. Negated: matches all other
 * records, including those without the tag.
 */
export function tagCondition({ key, value, negate = false }: TagCondition): TagQuery {
  const pairs = tagPairs([{ key, value: value as TagValue }]);
  return { tagPairs: negate ? { $nin: pairs } : { $in: pairs } };
}

/** Returns the pairs of a query that matches any of them; undefined for other queries. */
const anyOf = (query: TagQuery): string[] | undefined =>
  'tagPairs' in query && '$in' in query.tagPairs ? query.tagPairs.$in : undefined;

/** Converts a tag tree. Empty ANDs and ORs are dropped at every level, because MongoDB rejects them. */
export function tagTreeQuery(tree: TagTree | TagCondition): TagQuery | undefined {
  if ('key' in tree) return tagCondition(tree);
  const members = ('AND' in tree ? tree.AND : tree.OR).map(tagTreeQuery).filter((part) => part !== undefined);
  const [onlyMember] = members;
  if (members.length <= 1) return onlyMember;
  if ('AND' in tree) return { $and: members };
  // Merge the lists, so that MongoDB reads the index once.
  const lists = members.map(anyOf);
  return lists.every((list) => list !== undefined) ? { tagPairs: { $in: lists.flat() } } : { $or: members };
}

/**
 * Returns lists of pairs such that every match has at least one pair of each list. So a read of the tagPairs index with
 * any one of the lists finds all matches.
 */
export function requiredPairs(query: TagQuery): string[][] {
  if ('$and' in query) return query.$and.flatMap(requiredPairs);
  const pairs = anyOf(query);
  return pairs ? [pairs] : [];
}
