import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { FILE_ORDERS, type FileOrder, ORDER_DIRECTIONS } from '../../../contract/files/fileFilters.js';
import type { ChunkRecord, FileRecord } from '../../../contract/files/records.js';
import type { FileDoc } from '../../../store/models/files.js';
import type { Tenant } from '../../../store/users/accept.js';
import { sitemapOf, startSampleSite } from '../../emulators/site.js';
import type { Listed, TestUser } from '../../support/client.js';
import { withDatabase } from '../../support/mongo.js';
import { seedFiles, type SeededFile } from '../../support/seedFiles.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughRows } from '../../support/thorough.js';
import { waitFor } from '../../support/waitFor.js';

const FIRST = 7_000_000;
const COUNT = 23;
const day = (number: number): Date => new Date(Date.UTC(2026, 1, number));

/**
 * Returns a file for lists: many files share the value of a sort field, some have none, and no field is in id order.
 */
const seedOf = (number: number): SeededFile => ({
  id: FIRST + number,
  texts: [`one of ${number}. `, `two of ${number}. `],
  tags: { third: number % 3 === 0 },
  fields: {
    name: number % 5 === 4 ? null : `name ${number % 3}`,
    createdAt: day(9 - (number % 4)),
    updatedAt: day(1 + (number % 3)),
    lastSync: number % 4 === 0 ? null : day(number % 2 === 0 ? 3 : 2),
    statistics:
      number % 6 === 5
        ? null
        : {
            ...{ fileFormat: 'HTML', fileSize: 100 - (number % 4), numCharacters: 1, numTokens: 1 },
            ...{ numEmbeddings: 0, mimeType: null },
          },
  },
});

/** Fields that filters and totals use. */
const LISTED: readonly (keyof FileDoc)[] = [
  ...(['source', 'name', 'tags', 'tagPairs', 'externalFileId', 'externalUrl', 'syncStatus', 'parentId'] as const),
  ...(['dataSourceId', 'options', 'requestId', 'uploadId', 'fileTypeAtSource', 'lastSync', 'isContainer'] as const),
  ...(['syncErrorMessage', 'numChunks', 'generation', 'statistics', 'vectorSpace'] as const),
];

let service: TestService;
let users = 0;

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }, { worker: false });
});
afterAll(async () => service.close());

async function seedUser(): Promise<{ user: TestUser; owner: Tenant & { customerId: string }; base: number }> {
  const customerId = `steady-${(users += 1)}`;
  const user = await service.user(customerId);
  const owner = await service.store.users.ensure(1, customerId);
  const base = users * 1_000;
  await add(
    owner,
    base,
    Array.from({ length: COUNT }, (_, number) => number),
  );
  return { user, owner, base };
}
async function add(owner: Tenant & { customerId: string }, base: number, numbers: readonly number[]): Promise<void> {
  await seedFiles(
    service,
    owner,
    numbers.map((number) => ({ ...seedOf(number), id: FIRST + base + number })),
  );
}

type Body = Record<string, unknown>;
const filesOf = async (user: TestUser, body: Body): Promise<FileRecord[]> => {
  const answer = await user.post<Listed<FileRecord>>('/user_files_v2', body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.results;
};
const chunksOf = async (user: TestUser, body: Body): Promise<string[]> => {
  const answer = await user.post<Listed<ChunkRecord>>('/list_chunks_and_embeddings', body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.results.map((chunk) => `${chunk.user_file_id}:${chunk.chunk_index}`);
};

/** Reads all pages, up to the first page with fewer rows than its limit. */
async function inPages<T>(readPage: (pagination: Body) => Promise<T[]>): Promise<T[]> {
  const rows: T[] = [];
  const limit = 5;
  for (let offset = 0; ; offset += limit) {
    const page = await readPage({ limit, offset });
    rows.push(...page);
    if (page.length < limit) return rows;
  }
}

const VALUES: Record<FileOrder, (file: FileRecord) => string | number | null> = {
  created_at: (file) => file.created_at,
  updated_at: (file) => file.updated_at,
  name: (file) => file.name,
  last_sync: (file) => file.last_sync,
  file_size: (file) => file.file_statistics?.file_size ?? null,
  id: (file) => file.id,
};
/** Sorts by value, missing values first, ties by id. */
function inOrder(files: readonly FileRecord[], order: FileOrder): number[] {
  const value = VALUES[order];
  const rank = (a: string | number | null, b: string | number | null): number => {
    if (a === b) return 0;
    if (a === null || b === null) return a === null ? -1 : 1;
    return a < b ? -1 : 1;
  };
  return files.toSorted((a, b) => rank(value(a), value(b)) || a.id - b.id).map(({ id }) => id);
}

const EVERY = FILE_ORDERS.flatMap((order) => ORDER_DIRECTIONS.map((direction) => [order, direction] as const));
/** An order with missing and equal values in each direction. */
const SOME = [
  ['name', 'desc'],
  ['last_sync', 'asc'],
] as const;

describe('pages of a list', () => {
  let user: TestUser;
  let allFiles: FileRecord[];
  beforeAll(async () => {
    ({ user } = await seedUser());
    allFiles = await filesOf(user, { pagination: { limit: 100 } });
    expect(allFiles).toHaveLength(COUNT);
  });

  test.each(EVERY)(
    'contain every row once in order %s %s; ties are in id order of the same direction',
    async (order, direction) => {
      const sort = { order_by: order, order_dir: direction };
      const up = inOrder(allFiles, order);
      const expected = direction === 'asc' ? up : up.toReversed();
      const files = await inPages((pagination) => filesOf(user, { ...sort, pagination }));
      expect(files.map(({ id }) => id)).toEqual(expected);
      const chunks = await inPages((pagination) => chunksOf(user, { filters: {}, ...sort, pagination }));
      expect(chunks).toEqual(expected.flatMap((id) => [`${id}:0`, `${id}:1`]));
    },
  );

  const filtered = [...SOME, ...thoroughRows(EVERY.filter((row) => !SOME.some((one) => isDeepStrictEqual(one, row))))];
  test.each(filtered)('contain every row that matches a filter once in order %s %s', async (order, direction) => {
    const sort = { order_by: order, order_dir: direction, filters: { tags: { third: true } } };
    const up = inOrder(
      allFiles.filter(({ tags }) => tags?.['third'] === true),
      order,
    );
    const expected = direction === 'asc' ? up : up.toReversed();
    expect(expected.length).toBeGreaterThan(5);
    const files = await inPages((pagination) => filesOf(user, { ...sort, pagination }));
    expect(files.map(({ id }) => id)).toEqual(expected);
    const chunks = await inPages((pagination) => chunksOf(user, { ...sort, pagination }));
    expect(chunks).toEqual(expected.flatMap((id) => [`${id}:0`, `${id}:1`]));
  });
});

describe('rows added between two pages', () => {
  test.each(['id', 'created_at'] as const)('are last in order %s, and do not shift other rows', async (order) => {
    const { user, owner, base } = await seedUser();
    const idsBefore = inOrder(await filesOf(user, { pagination: { limit: 100 } }), order);
    const fresh = [28, 32];
    let pageCount = 0;
    const files = await inPages(async (pagination) => {
      // Both new rows have the latest creation time, so their order depends on the ids.
      if ((pageCount += 1) === 2) await add(owner, base, fresh);
      return filesOf(user, { order_by: order, order_dir: 'asc', pagination });
    });
    expect(files.map(({ id }) => id)).toEqual([...idsBefore, ...fresh.map((number) => FIRST + base + number)]);
  });

  test('are read once with starting_id, even if earlier rows are deleted', async () => {
    const { user, owner, base } = await seedUser();
    const received: number[] = [];
    for (let last = FIRST + base - 1; ;) {
      const pagination = { limit: 4, offset: 0, starting_id: last };
      const page = await filesOf(user, { order_by: 'id', order_dir: 'asc', pagination });
      received.push(...page.map(({ id }) => id));
      if (page.length < 4) break;
      last = page.at(-1)?.id ?? 0;
      if (received.length === 8) {
        await add(owner, base, [40]);
        await service.store.files.takeOver(owner, 9_999, 'delete-files:9999', received.slice(0, 3));
        await service.store.files.remove(owner, 9_999, received.slice(0, 3), false);
      }
    }
    expect(received).toEqual([
      ...Array.from({ length: COUNT }, (_, number) => FIRST + base + number),
      FIRST + base + 40,
    ]);
  });
});

// Totals are cached until the updatedAt of a file changes, so every change that a list can show must update it.
test('updates updated_at with every change of a file that a list can show', async () => {
  const site = await startSampleSite(4);
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, ['/pages/0.html', '/pages/1.html', '/missing.html']));
  await service.startWorker();
  const user = await service.user('wanda');
  let isComplete = false;
  const changes: { readonly fields: string[]; readonly moved: boolean }[] = [];
  await withDatabase(service, async (connection) => {
    const stream = connection.collection<FileDoc>('files').watch();
    stream.on('change', (change) => {
      if (change.operationType !== 'update') return;
      const { updatedFields = {}, removedFields = [] } = change.updateDescription;
      isComplete ||= 'lastOfTheTest' in updatedFields;
      const fields = [...Object.keys(updatedFields), ...(removedFields as string[])].map((path) => path.split('.')[0]);
      changes.push({
        fields: LISTED.filter((field) => fields.includes(field)),
        moved: fields.includes('updatedAt'),
      });
    });
    const parent = await user.settled((await user.scrape({ url: site.url('/sitemap.xml') })).id);
    const [page] = (await user.children(parent.id)).filter(({ sync_status }) => sync_status === 'READY');
    const id = page?.id ?? 0;
    const tags = { organization_user_file_id: id, tags: { team: 'red' } };
    expect(await user.post('/create_user_file_tags', tags)).toMatchObject({ status: 200 });
    expect(await user.post('/resync_file', { file_id: id })).toMatchObject({ status: 200 });
    await user.settled(id);
    await user.settled((await user.scrape({ url: site.url('/sitemap.xml'), tags: { again: 'yes' } })).id);
    const keepRecord = { filters: { ids: [id] }, preserve_file_record: true };
    expect(await user.post('/delete_files_v2', keepRecord)).toMatchObject({ status: 200 });
    await waitFor(
      () => user.file(id),
      (file) => file.file_contents_deleted,
    );
    // The stream is delayed: when it has delivered this change, it has delivered all.
    await connection.collection('files').updateOne({ _id: id as never }, { $set: { lastOfTheTest: true } });
    await waitFor(() => isComplete, Boolean);
    await stream.close();
  });
  const listed = changes.filter(({ fields }) => fields.length > 0);
  expect(listed.length).toBeGreaterThan(10);
  expect(listed.filter(({ moved }) => !moved)).toEqual([]);
  const seen = new Set(listed.flatMap(({ fields }) => fields));
  for (const field of ['syncStatus', 'lastSync', 'numChunks', 'tagPairs', 'generation', 'syncErrorMessage'] as const)
    expect(seen).toContain(field);
  await site.close();
});
