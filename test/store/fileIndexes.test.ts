import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose, { type Model } from 'mongoose';

import { FILE_ORDERS, type FileFilters } from '../../contract/files/fileFilters.js';
import type { FileRequest } from '../../store/files/acceptance/request.js';
import { fileQuery } from '../../store/files/filter.js';
import { type FileDoc, fileModel } from '../../store/models/files.js';
import { FILTER_INDEXES, ORDER_FIELDS, ORDER_INDEXES } from '../../store/models/fileIndexes.js';
import { planReading, readInOrder } from '../../store/files/plan.js';
import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import { seedLists } from '../../bench/seedLists.js';
import { everyRow } from '../support/everyRow.js';
import { startService, type TestService } from '../support/service.js';

const tenant = { organizationId: 1, userId: 1 };
const FIRST = 1_000_000;
let service: TestService;
let connection: mongoose.Connection;

interface Stage {
  readonly stage: string;
  readonly indexBounds?: Readonly<Record<string, readonly string[]>>;
  readonly inputStage?: Stage;
  readonly inputStages?: readonly Stage[];
}
interface Explained {
  readonly queryPlanner: { readonly winningPlan: Stage & { readonly queryPlan?: Stage } };
}

beforeAll(async () => {
  service = await startService({}, { worker: false });
  connection = await mongoose.createConnection(service.env['MONGODB_URI'] ?? '').asPromise();
  const blank = new (fileModel(connection))().toObject({ minimize: false });
  await seedLists(connection, tenant, blank, 5_000);
  await connection.collection<FileDoc>('files').updateMany(
    { _id: { $mod: [100, 3] } },
    {
      $set: {
        uploadId: 'up',
        fileTypeAtSource: 'TICKET',
        source: 'ZENDESK',
        'options.embeddingModel': 'SOLAR_1_MINI',
      },
    },
  );
});
afterAll(async () => {
  await connection.close();
  await service.close();
});

/** Returns the winning plan, which MongoDB's newer executor nests one level deeper. */
const planOf = ({ winningPlan }: Explained['queryPlanner']): Stage => winningPlan.queryPlan ?? winningPlan;

const stages = (plan: Stage): Stage[] => [
  plan,
  ...[...(plan.inputStages ?? []), ...(plan.inputStage ? [plan.inputStage] : [])].flatMap(stages),
];
const find = (filters: FileFilters) => connection.collection('files').find(fileQuery(tenant, filters) as never);

/** Filters, and the indexed field that must restrict the scan. */
const FILTERS: readonly (readonly [string, FileFilters])[] = [
  ['_id', { ids: [FIRST, FIRST + 1] }],
  ['source', { sources: ['ZENDESK'] }],
  ['externalFileId', { externalFileIds: ['https://bench.example/0/0.html'] }],
  ['externalUrl', { externalUrls: ['https://bench.example/0/0.html'] }],
  ['syncStatus', { syncStatuses: ['SYNC_ABORTED'] }],
  ['parentId', { parentFileIds: [FIRST] }],
  ['parentId', { rootFilesOnly: true }],
  ['dataSourceId', { dataSourceIds: [1, 2] }],
  ['options.embeddingModel', { embeddingModels: ['SOLAR_1_MINI'] }],
  ['requestId', { requestIds: ['request-1'] }],
  ['uploadId', { uploadIds: ['up'] }],
  ['fileTypeAtSource', { fileTypesAtSource: ['TICKET'] }],
  ['tagPairs', { tags: { team: 'team-7' } }],
  ['tagPairs', { tagTree: { AND: [{ key: 'team', value: ['team-7', 'team-8'] }] } }],
  ['lastSync', { nonSyncedOnly: true, syncStatuses: ['SYNC_ABORTED'] }],
];

describe('bounds of the index scan', () => {
  test.each(FILTERS)('%s is bounded for %j', async (field, filters) => {
    const { queryPlanner } = (await find(filters).explain()) as unknown as Explained;
    const scans = stages(planOf(queryPlanner));
    expect(scans.map(({ stage }) => stage)).not.toContain('COLLSCAN');
    const bounds = scans.flatMap(({ indexBounds }) => (indexBounds ? [indexBounds] : []));
    const fields = field === 'lastSync' ? ['lastSync', 'syncStatus'] : [field];
    const narrowed = bounds.some((bound) =>
      fields.some((name) => bound[name] && !bound[name].includes('[MinKey, MaxKey]')),
    );
    expect({ bounds, narrowed }).toMatchObject({ narrowed: true });
  });
});

test.each(FILE_ORDERS)('order by %s uses an index, without a sort', async (order) => {
  const explained = await find({})
    .sort({ [ORDER_FIELDS[order]]: 1, _id: 1 })
    .skip(1_000)
    .limit(20)
    .explain();
  const plan = stages(planOf((explained as unknown as Explained).queryPlanner));
  expect(plan.map(({ stage }) => stage)).not.toContain('SORT');
});

/**
 * Filters, the files that match them, and the maximum number of documents that counting may read. Default: 1, the file
 * that was changed last, whose time of change tells the cache whether a stored sum is valid.
 */
const BY_KEYS: readonly (readonly [FileFilters, (file: FileDoc) => boolean, number?])[] = [
  [{}, () => true],
  [{ syncStatuses: ['READY'] }, ({ syncStatus }) => syncStatus === 'READY'],
  [{ sources: ['ZENDESK'] }, ({ source }) => source === 'ZENDESK', 50],
  [{ embeddingModels: ['OPENAI'] }, ({ options }) => options.embeddingModel === 'OPENAI'],
  [{ embeddingModels: ['SOLAR_1_MINI'] }, ({ options }) => options.embeddingModel === 'SOLAR_1_MINI'],
  [{ includeContainers: false }, ({ isContainer }) => !isContainer],
  [
    { embeddingModels: ['OPENAI'], includeContainers: false },
    ({ options, isContainer }) => options.embeddingModel === 'OPENAI' && !isContainer,
    5,
  ],
];
test('counts files and chunks, and reads few documents: most filters are counted from index keys', async () => {
  const { files } = service.store;
  const allFiles = (await connection
    .collection<FileDoc>('files')
    .find(tenant as never)
    .toArray()) as FileDoc[];
  const db = connection.db!;
  await everyRow(
    BY_KEYS,
    ([filters]) => JSON.stringify(filters),
    async ([filters, matches, mayRead = 1]) => {
      const from = new Date();
      await db.command({ profile: 2, filter: { ns: `${db.databaseName}.files` } });
      const counted = [await files.count(tenant, filters, 0), await files.countChunks(tenant, filters, 0)];
      await db.command({ profile: 0 });
      const matching = allFiles.filter(matches);
      expect(counted).toEqual([matching.length, matching.reduce((sum, { numChunks }) => sum + numChunks, 0)]);
      const read = await db
        .collection<{ ts: Date; docsExamined?: number }>('system.profile')
        .find({ ts: { $gte: from } })
        .toArray();
      expect(read.length).toBeGreaterThan(0);
      expect(Math.max(...read.map(({ docsExamined = 0 }) => docsExamined))).toBeLessThanOrEqual(mayRead);
    },
  );
});

/** Number of indexes, besides that of the id, to which a new page adds an entry. Each entry is a separate write. */
const ENTRIES = 12;

test('an ordinary new page adds an entry to exactly 12 indexes, not counting that of its id', async () => {
  const entries = async (): Promise<Readonly<Record<string, number>>> =>
    (await connection.db!.command({ validate: 'files' }))['keysPerIndex'] as Record<string, number>;
  const entriesBefore = await entries();
  const url = 'https://new.example/page.html';
  const page: FileRequest = {
    ...{
      source: 'WEB_SCRAPE' as const,
      externalFileId: url,
      externalUrl: url,
      name: url,
      parentId: FIRST,
      isContainer: false,
    },
    ...{ tags: {}, options: DEFAULT_INGEST_OPTIONS, sourceOptions: {}, enableAutoSync: null },
    ...{ requestId: 'new', runId: 1, workflowOf: () => 'new' },
  };
  expect(await service.store.files.acceptMany({ ...tenant, userId: 2, customerId: 'new' }, [page])).toBe(1);
  const added = Object.entries(await entries()).filter(
    ([name, keys]) => name !== '_id_' && keys > (entriesBefore[name] ?? 0),
  );
  expect(added.map(([name]) => name).toSorted()).toHaveLength(ENTRIES);
});

describe('plan of a list page', () => {
  const filters = { syncStatuses: ['SYNC_ABORTED'] } as FileFilters;
  const files = () => fileModel(connection);

  test('reads few files by the index of their filter, and all files by the index of the order', async () => {
    expect(await planReading(files(), tenant, filters, 0, 'name')).toEqual({
      index: FILTER_INDEXES.status,
      otherwise: null,
    });
    expect(await planReading(files(), tenant, {}, 0, 'name')).toEqual({ index: ORDER_INDEXES.name, otherwise: null });
  });

  test('uses the filter that matches the fewest files', async () => {
    const withTags = { ...filters, parentFileIds: [FIRST + 1_000], tags: { half: true } };
    expect(await planReading(files(), tenant, withTags, 0, 'id')).toEqual({
      index: FILTER_INDEXES.status,
      otherwise: null,
    });
    const withUrl = { ...filters, externalUrls: ['https://bench.example/0/0.html'] };
    expect(await planReading(files(), tenant, withUrl, 0, 'id')).toEqual({
      index: FILTER_INDEXES.externalUrl,
      otherwise: null,
    });
  });

  test.each([
    ['asc', FIRST + 4_000],
    ['desc', FIRST],
  ] as const)(
    '%s: returns the same page if the index of the order takes too long and the index of the filter replaces it',
    async (orderDir, parent) => {
      const reading = {
        query: fileQuery(tenant, { parentFileIds: [parent] }),
        projection: { _id: 1 },
        listing: { orderBy: 'created_at', orderDir },
        ...{ offset: 3, limit: 500, batchSize: 100 },
      } as const;
      const plan = {
        index: ORDER_INDEXES.created_at,
        otherwise: { index: FILTER_INDEXES.parent, query: { ...tenant, parentId: parent } },
      };
      const ids = async (timeLimit?: () => number): Promise<number[]> => {
        const pageIds: number[] = [];
        for await (const { _id } of readInOrder(files(), plan, reading, timeLimit)) pageIds.push(_id);
        return pageIds;
      };
      const childIds = Array.from({ length: 999 }, (_, index) => parent + 1 + index);
      const expected = (orderDir === 'asc' ? childIds : childIds.toReversed()).slice(3, 503);
      expect(await ids(() => 60_000)).toEqual(expected);
      // A scan of thousands of files takes longer than a millisecond.
      expect(await ids(() => 1)).toEqual(expected);
    },
  );

  test('yields no row twice if the index of the order takes too long after the first rows', async () => {
    const parent = FIRST + 4_000;
    const plan = {
      index: ORDER_INDEXES.created_at,
      otherwise: { index: FILTER_INDEXES.parent, query: { ...tenant, parentId: parent } },
    };
    const reading = {
      query: fileQuery(tenant, { parentFileIds: [parent] }),
      projection: { _id: 1 },
      listing: { orderBy: 'created_at', orderDir: 'asc' },
      ...{ offset: 0, limit: 300, batchSize: 100 },
    } as const;
    const interrupted = interruptScans(files(), 120);
    const pageIds: number[] = [];
    for await (const { _id } of readInOrder(interrupted, plan, reading)) pageIds.push(_id);
    expect(pageIds).toEqual(Array.from({ length: 300 }, (_, index) => parent + 1 + index));
  });
});

/** Returns a model whose queries with a time limit fail after `rows` rows, as MongoDB does when the time is over. */
function interruptScans(model: Model<FileDoc>, rows: number): Model<FileDoc> {
  const findInterrupted = (...args: Parameters<typeof model.find>): unknown => {
    const query = model.find(...args);
    const openCursor = query.cursor.bind(query);
    async function* readRows(): AsyncGenerator {
      let count = 0;
      for await (const row of openCursor({ batchSize: 100 })) {
        // MaxTimeMSExpired: https://www.mongodb.com/docs/manual/reference/error-codes/
        if (count++ === rows) throw Object.assign(new Error('operation exceeded time limit'), { code: 50 });
        yield row;
      }
    }
    return args[2]?.maxTimeMS === undefined ? query : Object.assign(query, { cursor: readRows });
  };
  return new Proxy(model, {
    get: (target, name) => (name === 'find' ? findInterrupted : (Reflect.get(target, name) as unknown)),
  });
}
