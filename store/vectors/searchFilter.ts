import type { Schemas } from '@qdrant/js-client-rest';

import type { TagCondition, TagTree } from '../../contract/files/fileFilters.js';
import type { MediaType } from '../../contract/files/mediaTypes.js';
import type { TagValue } from '../../contract/files/records.js';
import { tagPairs } from '../../contract/files/tags.js';

type Condition = Schemas['Condition'];

/** Filter of the searched chunks. Fields are combined with AND; an absent or empty list does not filter. */
export interface ChunkFilter {
  readonly fileIds?: readonly number[];
  readonly parentFileIds?: readonly number[];
  /** Whether the descendants of the named files and parents are included. */
  readonly includeAllChildren?: boolean;
  readonly tagTree?: TagTree;
  readonly fileTypesAtSource?: readonly string[];
  /** TEXT includes everything except images; the others match exactly. */
  readonly media: MediaType;
}

const anyOf = (key: string, values: readonly (string | number)[]): Condition =>
  // The client types `any` as a list of strings or a list of numbers. All values of one call have the same type.
  ({ key, match: { any: [...values] as string[] } });

/** Matches no point: a condition with an empty list of values cannot be met. */
const MATCHES_NOTHING: Condition = { has_id: [] };

const pairsOf = ({ key, value }: TagCondition): string[] => tagPairs([{ key, value: value as TagValue }]);

/** Returns the condition that a tag has one of the pairs. */
const hasAny = (pairs: readonly string[]): Condition => (pairs.length === 0 ? MATCHES_NOTHING : anyOf('tags', pairs));

/** Converts a tag tree. Empty ANDs and ORs are dropped at every level. */
function tagCondition(tree: TagTree | TagCondition): Condition | undefined {
  if ('key' in tree) {
    const condition = hasAny(pairsOf(tree));
    return tree.negate === true ? { must_not: [condition] } : condition;
  }
  const members = 'AND' in tree ? tree.AND : tree.OR;
  const plain = members.filter((member): member is TagCondition => 'key' in member && member.negate !== true);
  // Merge an OR of plain conditions into one list, so that Qdrant reads the index once.
  if ('OR' in tree && plain.length > 1 && plain.length === members.length) return hasAny(plain.flatMap(pairsOf));
  const parts = members.map(tagCondition).filter((part) => part !== undefined);
  if (parts.length <= 1) return parts[0];
  return 'AND' in tree ? { must: parts } : { should: parts };
}

/** Returns the condition for the named files and, with all children, their descendants. */
function matchSubtrees(ids: readonly number[], allChildren: boolean): Condition {
  const isFile = anyOf('file_id', ids);
  return allChildren ? { should: [isFile, anyOf('ancestors', ids)] } : isFile;
}

/** Returns the conditions of a filter, all on indexed payload fields. The tenant's conditions are not included. */
export function filterConditions(filter: ChunkFilter): Condition[] {
  const { fileIds = [], parentFileIds = [], includeAllChildren = false, tagTree, fileTypesAtSource = [] } = filter;
  const tags = tagTree && tagCondition(tagTree);
  const isImage = { key: 'media_type', match: { value: 'IMAGE' } };
  return [
    ...(fileIds.length > 0 ? [matchSubtrees(fileIds, includeAllChildren)] : []),
    ...(parentFileIds.length > 0 ? [anyOf(includeAllChildren ? 'ancestors' : 'parent_id', parentFileIds)] : []),
    ...(tags ? [tags] : []),
    ...(fileTypesAtSource.length > 0 ? [anyOf('file_type_at_source', fileTypesAtSource)] : []),
    filter.media === 'TEXT' ? { must_not: [isImage] } : { key: 'media_type', match: { value: filter.media } },
  ];
}
