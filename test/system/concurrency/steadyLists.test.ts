import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { FILE_ORDERS, type FileOrder, ORDER_DIRECTIONS } from '../../../contract/files/fileFilters.js';
import type { ChunkRecord, FileRecord } from '../../../contract/files/records.js';
import type { Tenant } from '../../../store/users/accept.js';
import type { Listed, TestUser } from '../../support/client.js';
import { seedFiles, type SeededFile } from '../../support/seedFiles.js';
import { startService, type TestService } from '../../support/service.js';

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

let service: TestService;
let users = 0;

beforeAll(async () => {
  service = await startService({}, { worker: false });
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

  test.each(EVERY)('contain every row that matches a filter once in order %s %s', async (order, direction) => {
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
