import { expect, test } from '@jest/globals';
import fc from 'fast-check';

import type { TagCondition, TagTree } from '../../contract/files/fileFilters.js';
import type { TagValue } from '../../contract/files/records.js';
import { storedTags, tagPairs } from '../../contract/files/tags.js';
import { requiredPairs, type TagQuery, tagTreeQuery } from '../../store/tagQuery.js';
import { filterConditions } from '../../store/vectors/searchFilter.js';
import { everyRow } from '../support/everyRow.js';

// Tests that trees of tag conditions have the same result in MongoDB, in Qdrant and in a direct evaluation.
type Tree = TagTree | TagCondition;
type Tags = Readonly<Record<string, TagValue>>;
type Verdict = boolean | undefined;

const valuesOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

/** Evaluates a tree on a file's tags; undefined: the tree has no condition. */
function evaluate(tree: Tree, tags: Tags): Verdict {
  if ('key' in tree) {
    const fileValues = tree.key in tags ? valuesOf(tags[tree.key]) : [];
    const holds = valuesOf(tree.value).some((value) => fileValues.includes(value));
    return tree.negate === true ? !holds : holds;
  }
  const parts = ('AND' in tree ? tree.AND : tree.OR)
    .map((member) => evaluate(member, tags))
    .filter((verdict) => verdict !== undefined);
  if (parts.length === 0) return undefined;
  return 'AND' in tree ? parts.every(Boolean) : parts.some(Boolean);
}

function inMongo(query: TagQuery | undefined, pairs: readonly string[]): Verdict {
  if (query === undefined) return undefined;
  if ('$and' in query) return query.$and.every((member) => inMongo(member, pairs));
  if ('$or' in query) return query.$or.some((member) => inMongo(member, pairs));
  return '$in' in query.tagPairs
    ? query.tagPairs.$in.some((pair) => pairs.includes(pair))
    : !query.tagPairs.$nin.some((pair) => pairs.includes(pair));
}

interface Condition {
  readonly must?: Condition[];
  readonly must_not?: Condition[];
  readonly should?: Condition[];
  readonly has_id?: unknown[];
  readonly key?: string;
  readonly match?: { any?: unknown[]; value?: unknown };
}
type Payload = Readonly<Record<string, unknown>>;

/** Evaluates a Qdrant filter: https://qdrant.tech/documentation/concepts/filtering/ */
function inQdrant(condition: Condition, payload: Payload): boolean {
  const { must = [], must_not: mustNot = [], should = [], key, match, has_id: ids } = condition;
  if (ids) return ids.includes(payload['id']);
  if (key !== undefined) {
    const pointValues = valuesOf(payload[key] ?? []).flat();
    return match?.any ? match.any.some((value) => pointValues.includes(value)) : pointValues.includes(match?.value);
  }
  return (
    must.every((member) => inQdrant(member, payload)) &&
    !mustNot.some((member) => inQdrant(member, payload)) &&
    (should.length === 0 || should.some((member) => inQdrant(member, payload)))
  );
}
const holdsFor = (filter: Parameters<typeof filterConditions>[0], payload: Payload): boolean =>
  (filterConditions(filter) as Condition[]).every((member) => inQdrant(member, { media_type: 'TEXT', ...payload }));

const key = fc.constantFrom('a', 'b');
const value = fc.oneof(
  fc.constantFrom('x', 'y', 1, true),
  fc.uniqueArray(fc.constantFrom('x', 'y', 'z'), { maxLength: 2 }),
);
const condition = fc
  .record({ key, value, negate: fc.constantFrom(undefined, false, true) })
  .map(({ negate, ...pair }) => (negate === undefined ? pair : { ...pair, negate }) as unknown as TagCondition);
const { tree } = fc.letrec<{ tree: TagTree; member: Tree }>((tie) => ({
  member: fc.oneof({ depthSize: 'small', withCrossShrink: true }, condition, tie('tree')),
  tree: fc
    .tuple(fc.boolean(), fc.array(tie('member'), { maxLength: 3 }))
    .map(([isAnd, members]) => (isAnd ? { AND: members } : { OR: members }) as TagTree),
}));
const tagsOfFile = fc.dictionary(key, value as fc.Arbitrary<TagValue>, { noNullPrototype: true });

test('a tree of conditions has the same result in both stores as in a direct evaluation', () => {
  fc.assert(
    fc.property(tree, tagsOfFile, (filter, tags) => {
      const pairs = tagPairs(storedTags(tags));
      const expected = evaluate(filter, tags);
      expect(inMongo(tagTreeQuery(filter), pairs)).toBe(expected);
      expect(holdsFor({ media: 'TEXT', tagTree: filter }, { tags: pairs })).toBe(expected ?? true);
    }),
    { numRuns: 300 },
  );
});

test('every file that matches has at least one of the tag pairs by which the index is searched', () => {
  fc.assert(
    fc.property(tree, tagsOfFile, (filter, tags) => {
      const query = tagTreeQuery(filter);
      const pairs = tagPairs(storedTags(tags));
      if (query === undefined || inMongo(query, pairs) !== true) return;
      for (const list of requiredPairs(query)) expect(list.some((pair) => pairs.includes(pair))).toBe(true);
    }),
    { numRuns: 200 },
  );
});

/** Filters of a search, and whether they match a chunk of file 7, whose parent is 5 and whose ancestors are 5 and 3. */
const CHUNK = { file_id: 7, parent_id: 5, ancestors: [5, 3], file_type_at_source: 'PAGE', tags: [] };
const FILTERS: [filter: Partial<Parameters<typeof filterConditions>[0]>, isMatch: boolean][] = [
  [{}, true],
  [{ fileIds: [], parentFileIds: [], fileTypesAtSource: [] }, true],
  [{ fileIds: [7, 8] }, true],
  [{ fileIds: [5] }, false],
  [{ fileIds: [5], includeAllChildren: true }, true],
  [{ fileIds: [7], includeAllChildren: true }, true],
  [{ fileIds: [8], includeAllChildren: true }, false],
  [{ parentFileIds: [5] }, true],
  [{ parentFileIds: [3] }, false],
  [{ parentFileIds: [3], includeAllChildren: true }, true],
  [{ parentFileIds: [7], includeAllChildren: true }, false],
  [{ fileTypesAtSource: ['PAGE'] }, true],
  [{ fileTypesAtSource: ['TICKET'] }, false],
  [{ fileIds: [7], parentFileIds: [9] }, false],
  [{ media: 'IMAGE' }, false],
];

test('all conditions of a filter must hold, and an empty list matches every chunk', async () => {
  await everyRow(FILTERS, JSON.stringify, ([filter, isMatch]) => {
    expect(holdsFor({ media: 'TEXT', ...filter }, CHUNK)).toBe(isMatch);
  });
  expect(holdsFor({ media: 'TEXT' }, { ...CHUNK, media_type: 'IMAGE' })).toBe(false);
  expect(holdsFor({ media: 'IMAGE' }, { ...CHUNK, media_type: 'IMAGE' })).toBe(true);
  expect(holdsFor({ media: 'AUDIO' as never }, { ...CHUNK, media_type: 'IMAGE' })).toBe(false);
});
