/**
 * Pages of every list: together they contain each row once, in the requested order, for any page size. Rows have
 * different orders by id, creation and change, and each list has rows that it must not return.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose, { type Connection } from 'mongoose';

import type { OrderDirection, Page } from '../../contract/files/fileFilters.js';
import { createDataSourceQueries } from '../../store/dataSources/queries.js';
import { createDataSourceListings } from '../../store/dataSources/listings.js';
import { createSequence } from '../../store/database/sequence.js';
import { createFileFailures } from '../../store/files/failures.js';
import { createMissingPages } from '../../store/files/missingPages.js';
import { createFileQueries } from '../../store/files/queries.js';
import { createSumCaches } from '../../store/files/sumCache.js';
import { createItems } from '../../store/items/items.js';
import { createIndexes } from '../../store/database/driver.js';
import { dataSourceModel } from '../../store/models/dataSources.js';
import { fileModel } from '../../store/models/files.js';
import { itemModel } from '../../store/models/items.js';
import { quarantinedModel } from '../../store/models/quarantine.js';
import { runModel } from '../../store/models/runs.js';
import { userModel } from '../../store/models/users.js';
import { webhookModels } from '../../store/models/webhooks.js';
import { whiteLabelModel } from '../../store/models/whiteLabels.js';
import { createQuarantineClaims } from '../../store/quarantine/claims.js';
import { createRunList } from '../../store/runs/list.js';
import { createUserRecords } from '../../store/users/records.js';
import { createWebhooks } from '../../store/webhooks/webhooks.js';
import { createWhiteLabels } from '../../store/whiteLabels/records.js';
import { testEngines } from '../support/engines.js';
import { everyRow } from '../support/everyRow.js';

const OWNER = { organizationId: 1, userId: 7, customerId: 'ada' };
const { organizationId } = OWNER;
const SOURCE = { _id: 40, ...OWNER };
const ROWS = 5;
const FIRST = 101;
const IDS = Array.from({ length: ROWS }, (_, nth) => FIRST + nth);
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const LATER = new Date('2100-01-01');

let connection: Connection;
/** The models of the listed rows. Indexes are created only for files, whose queries name them. */
const open = () => ({
  ...{ files: fileModel(connection), users: userModel(connection), runs: runModel(connection) },
  ...{ dataSources: dataSourceModel(connection), items: itemModel(connection) },
  ...{ quarantined: quarantinedModel(connection), whiteLabels: whiteLabelModel(connection) },
  hooks: webhookModels(connection).webhooks,
});
let models: ReturnType<typeof open>;

/** Values of the nth row. No order is the order of the ids, and two rows are created at the same time. */
const createdAt = (nth: number): Date => new Date(START + ([3, 1, 4, 1, 0][nth] ?? 9) * DAY_MS);
const updatedAt = (nth: number): Date => new Date(START + ([2, 4, 0, 3, 1][nth] ?? 9) * DAY_MS);
const nameOf = (nth: number): string => ['d', 'b', 'e', 'a', 'c'][nth] ?? 'z';
const OAUTH = ['BOX', 'GMAIL', 'NOTION', 'DROPBOX', 'SLACK', 'ZENDESK'];

async function seed(): Promise<void> {
  const fileOf = new models.files().toObject({ minimize: false });
  const sourceOf = new models.dataSources().toObject({ minimize: false });
  const held = { deletions_held: 1 };
  const file = { ...fileOf, isContainer: false, source: 'BOX', dataSourceId: SOURCE._id, numChunks: 1 };
  const run = { requestId: 'r', request: {}, progress: {}, counts: {}, kind: 'syncItems', finishedAt: null };
  const kept = { state: 'kept', keptUntil: LATER, dataSourceId: SOURCE._id, file: {}, runId: 3, missedBy: 3 };
  const item = { dataSourceId: SOURCE._id, itemType: 'FILE', source: 'BOX', parentExternalId: null, listedBy: 1 };
  /** Fields of the rows by collection; the last row belongs to another organization. */
  const rows: readonly (readonly [keyof typeof models, (nth: number) => object])[] = [
    ['users', (nth) => ({ customerId: `user ${nth}`, deletedAt: null })],
    ['hooks', () => ({ deletedAt: null, status: 'ACTIVE', url: 'u' })],
    ['whiteLabels', (nth) => ({ dataSourceType: OAUTH[nth], plain: {}, secrets: {} })],
    ['dataSources', (nth) => ({ ...sourceOf, type: 'BOX', externalId: `BOX|${nth}`, metadata: held })],
    ['runs', (nth) => ({ ...run, workflowId: `w${nth}`, acceptedAt: createdAt(nth), startedAt: updatedAt(nth) })],
    ['quarantined', (nth) => ({ ...kept, parentId: nth, quarantinedAt: createdAt(nth) })],
    ['items', (nth) => ({ ...item, externalId: `item ${nth}`, name: nameOf(nth), isExpandable: nth === 1 })],
    ['files', (nth) => ({ ...file, externalFileId: `file ${nth}`, name: nameOf(nth), syncStatus: 'READY' })],
  ];
  for (const [name, fields] of rows) {
    const some = [...IDS, FIRST + ROWS].map((_id, nth) => ({
      ...{ ...OWNER, ...fields(nth), _id, createdAt: createdAt(nth), updatedAt: updatedAt(nth) },
      ...(nth === ROWS && { organizationId: 2 }),
    }));
    await models[name].collection.insertMany(some as never);
  }
  // Files only for the lists of failed files, of files with a warning and of containers with held deletions.
  for (const [from, fields] of [
    [FIRST + 100, { syncStatus: 'SYNC_ERROR', ended: { as: 'failed', cause: 'timed_out' } }],
    [FIRST + 200, { syncStatus: 'READY', fileMetadata: { warnings: [{ cause: 'low_ocr_confidence', message: '' }] } }],
    [FIRST + 300, { syncStatus: 'READY', isContainer: true, fileMetadata: held }],
  ] as const)
    await models.files.collection.insertMany(
      IDS.map((_id, nth) => ({
        ...{ ...file, ...OWNER, userId: 8, ...fields, externalFileId: `file ${from + nth}`, _id: from + nth },
        ...{ createdAt: createdAt(nth), updatedAt: updatedAt(nth) },
      })) as never,
    );
}

beforeAll(async () => {
  const options = { dbName: `pages-${randomUUID()}` };
  connection = await mongoose.createConnection(testEngines().mongodbUri, options).asPromise();
  models = open();
  await createIndexes(models.files);
  await seed();
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
});

type Found = readonly { readonly _id: number }[];
const flat = async (parts: AsyncIterable<Found | { readonly _id: number }>): Promise<Found> => {
  const all: { readonly _id: number }[] = [];
  for await (const part of parts) all.push(...('_id' in part ? [part] : part));
  return all;
};
/** Ids in ascending order of a value, and of the id for equal values. */
const by = (value: (nth: number) => number | string, from = FIRST): number[] =>
  IDS.map((_, nth) => nth)
    .toSorted((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : a - b))
    .map((nth) => from + nth);
const ids = (from = FIRST): number[] => by((nth) => nth, from);
const created = (from = FIRST): number[] => by((nth) => createdAt(nth).getTime(), from);
const updated = (from = FIRST): number[] => by((nth) => updatedAt(nth).getTime(), from);
const named = by(nameOf);

interface List {
  readonly read: (page: Page, orderDir: OrderDirection) => Promise<Found>;
  readonly expected: readonly number[];
  /** Absent: its order is fixed. */
  readonly isReversible?: true;
  /** Whether it can start after an id. */
  readonly startsAfterId?: true;
}

function lists(): Readonly<Record<string, List>> {
  const { files, runs, users, quarantined, items, dataSources, hooks } = models;
  const sequence = createSequence(connection);
  const secrets = null as never;
  const whiteLabels = createWhiteLabels(models.whiteLabels, sequence, secrets);
  const webhooks = createWebhooks(hooks, null as never, null as never, { sequence, secrets });
  const fileQueries = createFileQueries(files, createSumCaches(files, users));
  const sources = createDataSourceQueries(dataSources, secrets);
  const failures = createFileFailures(files);
  const itemQueries = createItems(items, files, sequence);
  const userRecords = createUserRecords(users, null as never);
  const listings = createDataSourceListings(dataSources, null as never, null as never);
  const both = { isReversible: true, startsAfterId: true } as const;
  const cause = (name: string, page: Page) => failures.failed({ organizationId }, { ...page, cause: name as never });
  return {
    'users by creation': {
      read: (page, orderDir) => userRecords.list(organizationId, { orderBy: 'createdAt', orderDir, page }),
      ...{ expected: created(), ...both },
    },
    'users by change': {
      read: (page, orderDir) => userRecords.list(organizationId, { orderBy: 'updatedAt', orderDir, page }),
      ...{ expected: updated(), ...both },
    },
    'webhooks by creation': {
      read: (page, orderDir) => webhooks.list(organizationId, { ids: [], orderBy: 'created_at', orderDir, page }),
      ...{ expected: created(), ...both },
    },
    'webhooks by change': {
      read: (page, orderDir) => webhooks.list(organizationId, { ids: [], orderBy: 'updated_at', orderDir, page }),
      ...{ expected: updated(), ...both },
    },
    'OAuth clients by creation': {
      read: (page, orderDir) =>
        whiteLabels.list(organizationId, { ids: [], types: [], orderBy: 'createdAt', orderDir, page }),
      ...{ expected: created(), ...both },
    },
    'OAuth clients by source': {
      read: (page, orderDir) =>
        whiteLabels.list(organizationId, { ids: [], types: [], orderBy: 'dataSourceType', orderDir, page }),
      ...{ expected: by((nth) => OAUTH[nth] ?? ''), ...both },
    },
    'data sources by creation': {
      read: (page, orderDir) =>
        flat(sources.list({ organizationId }, { filters: {}, orderBy: 'created_at', orderDir, page })),
      ...{ expected: created(), ...both },
    },
    'data sources by change': {
      read: (page, orderDir) => flat(sources.list(OWNER, { filters: {}, orderBy: 'updated_at', orderDir, page })),
      ...{ expected: updated(), ...both },
    },
    'data sources with held deletions': {
      read: async (page) => (await listings.listHeld(organizationId, page)).found,
      expected: ids(),
    },
    ...Object.fromEntries(
      (
        [
          ['created_at', created()],
          ['updated_at', updated()],
          ['name', named],
          ['id', ids()],
        ] as const
      ).map(([orderBy, expected]): [string, List] => [
        `files by ${orderBy}`,
        {
          read: (page, orderDir) => flat(fileQueries.list(OWNER, { filters: {}, orderBy, orderDir, page })),
          ...{ expected, ...both },
        },
      ]),
    ),
    'files with a cause, the latest first': {
      read: (page) => cause('timed_out', page),
      expected: updated(FIRST + 100).toReversed(),
    },
    'files with a warning, the latest first': {
      read: (page) => cause('low_ocr_confidence', page),
      expected: updated(FIRST + 200).toReversed(),
    },
    'containers with held deletions': {
      read: async (page) => (await createMissingPages(files).listHeldContainers(organizationId, page)).found,
      expected: ids(FIRST + 300),
    },
    'runs, the latest first': {
      read: (page) =>
        createRunList(runs, null as never, () => Promise.resolve(null)).list({ organizationId }, {}, page),
      expected: created().toReversed(),
    },
    'quarantined files': {
      read: async (page) => (await createQuarantineClaims(quarantined, runs).list(organizationId, {}, page)).found,
      expected: ids(),
    },
    'items by name': {
      read: async (page, orderDir) => {
        const found: { readonly _id: number }[] = [];
        const listing = { filters: {}, orderBy: 'name', orderDir, page } as const;
        for await (const part of itemQueries.list(SOURCE, listing)) found.push(...part.map(({ item }) => item));
        return found;
      },
      ...{ expected: named, ...both },
    },
    'items, folders first': {
      read: async (page) => {
        const found: { readonly _id: number }[] = [];
        const listing = { filters: {}, orderBy: 'directories_first', orderDir: 'asc', page } as const;
        for await (const part of itemQueries.list(SOURCE, listing)) found.push(...part.map(({ item }) => item));
        return found;
      },
      expected: [FIRST + 1, ...named.filter((id) => id !== FIRST + 1)],
    },
  };
}

/** Limit and offset of each page. Some pages are empty or contain all rows. */
const PAGES = [
  [2, 0],
  [2, 2],
  [2, 4],
  [2, ROWS],
  [ROWS, 0],
  [ROWS + 1, 0],
] as const;
const idsOf = (rows: Found): number[] => rows.map(({ _id }) => _id);

test('the pages of every list contain each row once, in its order, for any page size', () =>
  everyRow(
    Object.entries(lists()),
    ([name]) => name,
    async ([, { read, expected, isReversible = false, startsAfterId = false }]) => {
      expect(expected).toHaveLength(ROWS);
      for (const orderDir of isReversible ? (['asc', 'desc'] as const) : (['asc'] as const)) {
        const inOrder = orderDir === 'asc' ? expected : expected.toReversed();
        for (const [limit, offset] of PAGES)
          expect(idsOf(await read({ limit, offset, startingId: 0 }, orderDir))).toEqual(
            inOrder.slice(offset, offset + limit),
          );
      }
      if (!startsAfterId) return;
      const after = await read({ limit: ROWS, offset: 0, startingId: FIRST + 1 }, 'asc');
      expect(idsOf(after)).toEqual(expected.filter((id) => id > FIRST + 1));
    },
  ));
