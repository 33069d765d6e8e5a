import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { ChunkRecord, FileRecord } from '../../../contract/files/records.js';
import { seedFiles, type SeededFile } from '../../support/seedFiles.js';
import { startService, type TestService } from '../../support/service.js';
import type { Listed, TestUser } from '../../support/client.js';
import { everyRow } from '../../support/everyRow.js';

const day = (number: number): Date => new Date(Date.UTC(2026, 1, number));
const sized = (fileSize: number) => ({
  fileFormat: 'HTML',
  fileSize,
  numCharacters: null,
  numTokens: null,
  numEmbeddings: null,
  mimeType: null,
});

/**
 * One user's files. Folder 1 contains folder 2 and file 3; folder 2 contains files 4 and 5; files 6 to 8 are at the top
 * level. Each file except the folders and file 8 has as many chunks as its number.
 */
const FILES: readonly SeededFile[] = [
  { id: 1, tags: { team: 'red' }, fields: { name: 'Root', isContainer: true, requestId: 'first' } },
  { id: 2, fields: { name: 'Inner', isContainer: true, parentId: 1, requestId: 'first' } },
  {
    id: 3,
    tags: { team: 'red', level: 4, 'a.b': 'dot' },
    fields: { name: 'Alpha page', parentId: 1, requestId: 'first', uploadId: 'up', externalUrl: 'https://x.example/3' },
  },
  {
    id: 4,
    tags: { team: ['blue', 'green'] },
    fields: { name: 'beta (draft)', parentId: 2, dataSourceId: 70, fileTypeAtSource: 'TICKET', source: 'ZENDESK' },
  },
  {
    id: 5,
    tags: { team: 'blue', live: true },
    model: 'COHERE_MULTILINGUAL_V3',
    fields: { name: 'gamma', parentId: 2, dataSourceId: 71, fileTypeAtSource: 'ARTICLE', source: 'INTERCOM' },
  },
  {
    id: 6,
    fields: {
      name: 'Delta Page',
      syncStatus: 'SYNC_ERROR',
      syncErrorMessage: 'The page [x] is missing. (HTTP 410)',
      source: 'PDF',
    },
  },
  { id: 7, tags: { level: '4' }, fields: { name: 'omega', syncStatus: 'SYNCING', externalUrl: 'https://x.example/7' } },
  { id: 8, fields: { name: 'never', syncStatus: 'QUEUED_FOR_SYNC', requestId: 'second', uploadId: 'other' } },
];
/** Values of the fields by which lists are ordered: each field gives another order, and has ties or nulls. */
const MOMENTS: Record<
  number,
  Pick<NonNullable<SeededFile['fields']>, 'createdAt' | 'updatedAt' | 'lastSync' | 'statistics'>
> = {
  1: { createdAt: day(1), updatedAt: day(9), lastSync: day(5), statistics: null },
  2: { createdAt: day(1), updatedAt: day(8), lastSync: day(5), statistics: null },
  3: { createdAt: day(3), updatedAt: day(7), lastSync: day(4), statistics: sized(30) },
  4: { createdAt: day(2), updatedAt: day(7), lastSync: day(6), statistics: sized(10) },
  5: { createdAt: day(5), updatedAt: day(1), lastSync: day(4), statistics: sized(20) },
  6: { createdAt: day(4), updatedAt: day(2), lastSync: day(1), statistics: sized(20) },
  7: { createdAt: day(6), updatedAt: day(3), lastSync: day(2), statistics: sized(5) },
  8: { createdAt: day(7), updatedAt: day(4), lastSync: null, statistics: null },
};
const WITH_CHUNKS = [3, 4, 5, 6, 7];

let service: TestService;
let user: TestUser;
let base: number;

beforeAll(async () => {
  service = await startService({}, { worker: false });
  user = await service.user('fiona');
  const owner = await service.store.users.ensure(1, 'fiona');
  const stranger = await service.store.users.ensure(1, 'stranger');
  base = 5_000_000;
  const withShiftedId = (seed: SeededFile, by: number): SeededFile => ({
    ...seed,
    id: seed.id + by,
    texts: WITH_CHUNKS.includes(seed.id)
      ? Array.from({ length: seed.id }, (_, index) => `file ${seed.id} chunk ${index}. `)
      : [],
    fields: {
      ...seed.fields,
      ...MOMENTS[seed.id],
      parentId: seed.fields?.parentId ? seed.fields.parentId + by : null,
    },
  });
  await seedFiles(
    service,
    owner,
    FILES.map((seed) => withShiftedId(seed, base)),
  );
  // The same files for another user: no filter may return them.
  await seedFiles(
    service,
    stranger,
    FILES.map((seed) => withShiftedId(seed, base + 100)),
  );
});
afterAll(async () => service.close());

type Body = Record<string, unknown>;
/** Lists files. Returns their numbers in order, and the count. */
async function files(body: Body): Promise<{ ids: number[]; count: number }> {
  const answer = await user.post<Listed<FileRecord>>('/user_files_v2', body);
  expect(answer).toMatchObject({ status: 200 });
  return { ids: answer.body.results.map(({ id }) => id - base), count: answer.body.count };
}
/** Lists chunks. Returns the numbers of their files in order, the chunks, and the count. */
async function chunks(body: Body): Promise<{ ids: number[]; rows: ChunkRecord[]; count: number }> {
  const answer = await user.post<Listed<ChunkRecord>>('/list_chunks_and_embeddings', body);
  expect(answer).toMatchObject({ status: 200 });
  const { results, count } = answer.body;
  return { ids: [...new Set(results.map((row) => row.user_file_id - base))], rows: results, count };
}
const page = { limit: 100 };
const total = (ids: readonly number[]): number =>
  ids.filter((id) => WITH_CHUNKS.includes(id)).reduce((sum, id) => sum + id, 0);

/** Filter, description, value, and the expected files. Ids of files are shifted by `base`. */
const CASES: readonly (readonly [filter: string, what: string, filters: () => Body, expected: readonly number[]])[] = [
  ['source', 'one', () => ({ source: 'PDF' }), [6]],
  ['source', 'a list', () => ({ source: ['ZENDESK', 'INTERCOM'] }), [4, 5]],
  ['name', 'a substring, ignoring case', () => ({ name: 'PAGE' }), [3, 6]],
  ['name', 'not a pattern', () => ({ name: '(draft)' }), [4]],
  ['tags', 'one', () => ({ tags: { team: 'red' } }), [1, 3]],
  ['tags', 'every key must match', () => ({ tags: { team: 'red', level: 4 } }), [3]],
  ['tags', 'numbers as text', () => ({ tags: { level: 4 } }), [3, 7]],
  ['tags', 'a key with a dot', () => ({ tags: { 'a.b': 'dot' } }), [3]],
  [
    'tags',
    'ignored with tags_v2',
    () => ({ tags: { team: 'red' }, tags_v2: { AND: [{ key: 'live', value: true }] } }),
    [5],
  ],
  [
    'tags_v2',
    'AND',
    () => ({
      tags_v2: {
        AND: [
          { key: 'team', value: 'blue' },
          { key: 'live', value: true },
        ],
      },
    }),
    [5],
  ],
  [
    'tags_v2',
    'OR',
    () => ({
      tags_v2: {
        OR: [
          { key: 'team', value: 'green' },
          { key: 'level', value: 4 },
        ],
      },
    }),
    [3, 4, 7],
  ],
  [
    'tags_v2',
    'a list: any member',
    () => ({ tags_v2: { AND: [{ key: 'team', value: ['red', 'green'] }] } }),
    [1, 3, 4],
  ],
  [
    'tags_v2',
    'negate',
    () => ({ tags_v2: { AND: [{ key: 'team', value: 'blue', negate: true }] } }),
    [1, 2, 3, 6, 7, 8],
  ],
  [
    'tags_v2',
    'three levels',
    () => ({
      tags_v2: {
        OR: [
          { AND: [{ key: 'team', value: 'blue' }, { OR: [{ key: 'live', value: true }] }] },
          { key: 'a.b', value: 'dot' },
        ],
      },
    }),
    [3, 5],
  ],
  ['ids', 'some', () => ({ ids: [base + 3, base + 8, base + 103] }), [3, 8]],
  ['ids', 'an empty list: all', () => ({ ids: [] }), [1, 2, 3, 4, 5, 6, 7, 8]],
  ['external_file_ids', 'some', () => ({ external_file_ids: [`external-${base + 4}`, 'external-0'] }), [4]],
  ['external_urls', 'some', () => ({ external_urls: ['https://x.example/7', 'https://x.example/3'] }), [3, 7]],
  ['sync_statuses', 'some', () => ({ sync_statuses: ['SYNC_ERROR', 'SYNCING'] }), [6, 7]],
  ['parent_file_ids', 'direct children', () => ({ parent_file_ids: [base + 1] }), [2, 3]],
  ['parent_file_ids', 'of a file without children', () => ({ parent_file_ids: [base + 6] }), []],
  [
    'include_all_children',
    'all descendants',
    () => ({ parent_file_ids: [base + 1], include_all_children: true }),
    [2, 3, 4, 5],
  ],
  [
    'include_all_children',
    'of a file without children',
    () => ({ parent_file_ids: [base + 6], include_all_children: true }),
    [],
  ],
  ['organization_user_data_source_id', 'some', () => ({ organization_user_data_source_id: [70, 72] }), [4]],
  ['embedding_generators', 'some', () => ({ embedding_generators: ['COHERE_MULTILINGUAL_V3', 'SOLAR_1_MINI'] }), [5]],
  ['root_files_only', 'true', () => ({ root_files_only: true }), [1, 6, 7, 8]],
  ['root_files_only', 'false with parents', () => ({ root_files_only: false, parent_file_ids: [base + 2] }), [4, 5]],
  ['non_synced_only', 'true', () => ({ non_synced_only: true }), [8]],
  ['request_ids', 'some', () => ({ request_ids: ['first', 'third'] }), [1, 2, 3]],
  ['upload_ids', 'some', () => ({ upload_ids: ['up'] }), [3]],
  ['sync_error_message', 'a substring, not a pattern', () => ({ sync_error_message: '[X] IS MISSING' }), [6]],
  ['sync_error_message', 'none', () => ({ sync_error_message: '' }), [1, 2, 3, 4, 5, 7, 8]],
  ['include_containers', 'false', () => ({ include_containers: false }), [3, 4, 5, 6, 7, 8]],
  ['include_containers', 'true', () => ({ include_containers: true }), [1, 2, 3, 4, 5, 6, 7, 8]],
  ['file_types_at_source', 'some', () => ({ file_types_at_source: ['TICKET', 'INCIDENT'] }), [4]],
];

/** The filters of the API. */
const ALL_FILTERS =
  'source name tags tags_v2 ids external_file_ids sync_statuses parent_file_ids organization_user_data_source_id embedding_generators root_files_only include_all_children non_synced_only request_ids upload_ids sync_error_message include_containers external_urls file_types_at_source'.split(
    ' ',
  );

test('every filter of the API has a row', () => {
  expect(ALL_FILTERS).toHaveLength(19);
  expect([...new Set(CASES.map(([filter]) => filter))].toSorted()).toEqual(ALL_FILTERS.toSorted());
});

describe('every filter returns the expected files', () => {
  const eachCase = (rule: (filters: Body, expected: readonly number[]) => Promise<void>) =>
    everyRow(
      CASES,
      ([filter, what]) => `${filter}: ${what}`,
      ([, , filters, expected]) => rule(filters(), expected),
    );

  test('in /user_files_v2', () =>
    eachCase(async (filters, expected) => {
      const found = await files({ filters, order_by: 'id', pagination: page });
      expect(found).toEqual({ ids: expected, count: expected.length });
    }));

  test('in /list_chunks_and_embeddings', () =>
    eachCase(async (filters, expected) => {
      const { ids, rows, count } = await chunks({ filters, order_by: 'id', pagination: page });
      expect(ids).toEqual(expected.filter((id) => WITH_CHUNKS.includes(id)));
      expect({ rows: rows.length, count }).toEqual({ rows: total(expected), count: total(expected) });
    }));
});

test('combines several filters by AND', async () => {
  const filters = { source: ['ZENDESK', 'INTERCOM'], tags: { team: 'blue' }, sync_statuses: ['READY'], name: 'gam' };
  expect(await files({ filters })).toEqual({ ids: [5], count: 1 });
  expect(await chunks({ filters, pagination: page })).toMatchObject({ ids: [5], count: 5 });
});

test('ignores a filter that is null', () =>
  everyRow(
    ALL_FILTERS.filter((name) => !['include_all_children', 'non_synced_only'].includes(name)),
    String,
    async (name) => {
      expect((await files({ filters: { [name]: null }, pagination: page })).count).toBe(8);
      expect((await chunks({ filters: { [name]: null }, pagination: page })).count).toBe(total(WITH_CHUNKS));
    },
  ));

/** Order, and the files in ascending order: nulls first, ties by id. Descending is the exact reverse. */
const ORDERS: readonly (readonly [string, readonly number[]])[] = [
  ['created_at', [1, 2, 4, 3, 6, 5, 7, 8]],
  ['updated_at', [5, 6, 7, 8, 3, 4, 2, 1]],
  ['name', [3, 6, 2, 1, 4, 5, 8, 7]],
  ['last_sync', [8, 6, 7, 3, 5, 1, 2, 4]],
  ['file_size', [1, 2, 8, 7, 4, 5, 6, 3]],
  ['id', [1, 2, 3, 4, 5, 6, 7, 8]],
];

describe('order_by', () => {
  const both = ORDERS.flatMap(([order_by, ascending]) =>
    (['asc', 'desc'] as const).map((order_dir) => ({ order_by, order_dir, ascending })),
  );
  test('orders files, and chunks by their files, ascending and descending', () =>
    everyRow(
      both,
      ({ order_by, order_dir }) => `${order_by} ${order_dir}`,
      async ({ order_by, order_dir, ascending }) => {
        const expected = order_dir === 'asc' ? ascending : ascending.toReversed();
        const body = { filters: {}, order_by, order_dir, pagination: page };
        expect((await files(body)).ids).toEqual(expected);
        const { ids, rows } = await chunks(body);
        expect(ids).toEqual(expected.filter((id) => WITH_CHUNKS.includes(id)));
        // Within a file, the chunks keep their own order.
        const indexes = ids.map((id) =>
          rows.filter((row) => row.user_file_id - base === id).map((row) => row.chunk_index),
        );
        expect(indexes).toEqual(ids.map((id) => Array.from({ length: id }, (_, index) => index)));
      },
    ));

  test('returns pages without gaps', () =>
    everyRow(
      ORDERS,
      ([order_by]) => order_by,
      async ([order_by, ascending]) => {
        const seen: number[] = [];
        for (let offset = 0; offset < 8; offset += 3)
          seen.push(...(await files({ order_by, pagination: { limit: 3, offset } })).ids);
        expect(seen).toEqual(ascending);
        const whole = (await chunks({ filters: {}, order_by, pagination: page })).rows;
        const parts: ChunkRecord[] = [];
        for (let offset = 0; offset < whole.length; offset += 7)
          parts.push(...(await chunks({ filters: {}, order_by, pagination: { limit: 7, offset } })).rows);
        expect(parts).toEqual(whole);
      },
    ));
});

test('orders by updated_at ascending by default', async () => {
  expect((await files({ pagination: page })).ids).toEqual(ORDERS[1]![1]);
  expect((await chunks({ filters: {}, pagination: page })).ids).toEqual([5, 6, 7, 3, 4]);
});

describe('pagination', () => {
  const filters = {};
  test('has a limit of 10 by default', async () => {
    expect((await chunks({ filters, order_by: 'id' })).rows).toHaveLength(10);
    expect((await chunks({ filters, order_by: 'id', pagination: { offset: 1 } })).rows).toHaveLength(10);
    expect(await files({ order_by: 'id', pagination: { limit: 2 } })).toEqual({ ids: [1, 2], count: 8 });
    expect((await chunks({ filters, order_by: 'id', pagination: { limit: 4 } })).rows).toHaveLength(4);
  });

  test('skips rows by offset: files, or chunks across files; the count ignores paging', async () => {
    expect(await files({ order_by: 'id', pagination: { limit: 2, offset: 7 } })).toEqual({ ids: [8], count: 8 });
    const { rows, count } = await chunks({ filters, order_by: 'id', pagination: { limit: 4, offset: 5 } });
    expect(rows.map((row) => [row.user_file_id - base, row.chunk_index])).toEqual([
      [4, 2],
      [4, 3],
      [5, 0],
      [5, 1],
    ]);
    expect(rows[0]?.source_content).toBe('file 4 chunk 2. ');
    expect(count).toBe(total(WITH_CHUNKS));
    expect(await chunks({ filters, pagination: { offset: count } })).toMatchObject({ rows: [], count });
  });

  test('excludes files up to starting_id, also from the count', async () => {
    expect(await files({ order_by: 'name', pagination: { limit: 9, starting_id: base + 5 } })).toEqual({
      ids: [6, 8, 7],
      count: 3,
    });
    const body = { filters, order_by: 'name', pagination: { ...page, starting_id: base + 5 } };
    expect(await chunks(body)).toMatchObject({ ids: [6, 7], count: 13 });
  });

  test('refuses values out of range with 422', () =>
    everyRow(
      [{ limit: 0 }, { limit: -1 }, { limit: 10_001 }, { offset: -1 }, { starting_id: -1 }, { limit: '5' }],
      (pagination) => JSON.stringify(pagination),
      async (pagination) => {
        expect((await user.post('/user_files_v2', { pagination })).status).toBe(422);
        expect((await user.post('/list_chunks_and_embeddings', { filters, pagination })).status).toBe(422);
      },
    ));
});
