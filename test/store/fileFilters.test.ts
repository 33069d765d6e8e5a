import { expect, test } from '@jest/globals';

import type { FileFilters } from '../../contract/files/fileFilters.js';
import { SOURCE_TYPES } from '../../contract/sources/sources.js';
import { fileQuery } from '../../store/files/filter.js';
import { everyRow } from '../support/everyRow.js';

// This suite tests the query condition of each file filter, including the bounds of date ranges. Suites that store
// files have few files exactly at such a bound.

/** Bound of the date ranges. */
const AT = new Date('2026-01-01T00:00:00Z');
const TENANT = { organizationId: 1, userId: 2 };
type Row = readonly [value: unknown, condition: object | null];

/** Values of each filter, with the expected condition. The compiler reports a missing filter. */
const CONDITIONS: Readonly<Record<keyof FileFilters, readonly Row[]>> = {
  sources: [[['TEXT'], { source: { $in: ['TEXT'] } }], ...([[[], null]] as const)],
  name: [
    ['a.b(', { name: /a\.b\(/i }],
    ['', null],
  ],
  tags: [[{}, null]],
  tagTree: [[{ AND: [] }, null]],
  ids: [
    [[3], { _id: { $in: [3] } }],
    [[], null],
  ],
  externalFileIds: [[[], null]],
  externalUrls: [[['u'], { externalUrl: { $in: ['u'] } }]],
  syncStatuses: [[['READY'], { syncStatus: { $in: ['READY'] } }]],
  parentFileIds: [[[3], { parentId: { $in: [3] } }]],
  // Adds no condition: FileQueries.expand adds the descendants to parentFileIds before the query.
  includeAllChildren: [[true, null]],
  dataSourceIds: [[[5], { dataSourceId: { $in: [5] } }]],
  embeddingModels: [[['OPENAI'], { 'options.embeddingModel': { $in: ['OPENAI'] } }]],
  rootFilesOnly: [
    [true, { parentId: null }],
    [false, null],
  ],
  nonSyncedOnly: [
    [true, { lastSync: null }],
    [false, null],
  ],
  requestIds: [[['r'], { requestId: { $in: ['r'] } }]],
  uploadIds: [[['u'], { uploadId: { $in: ['u'] } }]],
  syncErrorMessage: [
    ['', { syncErrorMessage: null }],
    ['why?', { syncErrorMessage: /why\?/i }],
  ],
  includeContainers: [
    [false, { isContainer: false }],
    [true, null],
  ],
  fileTypesAtSource: [[['TICKET'], { fileTypeAtSource: { $in: ['TICKET'] } }]],
  createdFrom: [[AT, { createdAt: { $gte: AT } }]],
  createdBefore: [[AT, { createdAt: { $lt: AT } }]],
};

test('every filter of files adds its condition to the tenant, and an empty one adds none', () =>
  everyRow(
    Object.entries(CONDITIONS).flatMap(([name, rows]) => rows.map((row) => [name, ...row] as const)),
    ([name, value]) => `${name} ${JSON.stringify(value)}`,
    ([name, value, condition]) => {
      const query = { ...TENANT, ...(condition && { $and: [condition] }) };
      expect(fileQuery(TENANT, { [name]: value })).toEqual(query);
      // A page that starts after id 7 excludes this id.
      const and = [{ _id: { $gt: 7 } }, ...(condition ? [condition] : [])];
      const paged = fileQuery(TENANT, { [name]: value }, 7).$and as object[];
      expect(paged).toHaveLength(and.length);
      expect(paged).toEqual(expect.arrayContaining(and));
    },
  ));

test('external ids without a source match files of all sources, through the index of source and external id', () => {
  const { $and } = fileQuery(TENANT, { externalFileIds: ['x'] });
  expect($and).toEqual([{ source: { $in: [...SOURCE_TYPES] } }, { externalFileId: { $in: ['x'] } }]);
});
