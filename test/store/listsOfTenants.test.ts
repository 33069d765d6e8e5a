import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileListing } from '../../contract/files/fileFilters.js';
import { NO_TALLY } from '../../contract/runs/ledger.js';
import { scheduleIds } from '../../contract/runs/workflowIds.js';
import { storedTags, tagPairs } from '../../contract/files/tags.js';
import type { Store } from '../../store/connect.js';
import { dataSourceModel } from '../../store/models/dataSources.js';
import { fileModel } from '../../store/models/files.js';
import { openModels } from '../../store/models/openModels.js';
import { RUN_STATES } from '../../store/runs/list.js';
import type { Tenant } from '../../store/users/accept.js';
import { withDatabase } from '../support/mongo.js';
import { everyRow } from '../support/everyRow.js';
import { seedFiles } from '../support/seedFiles.js';
import { startService, type TestService } from '../support/service.js';

type Owner = Tenant & { readonly customerId: string };

const OWNER: Owner = { organizationId: 1_001, userId: 5, customerId: 'ada' };
/** The same user id and names as OWNER: only the organization differs. */
const FOREIGN: Owner = { ...OWNER, organizationId: 1_002 };
const COLLEAGUE: Owner = { ...OWNER, userId: 6, customerId: 'bert' };
/** A tenant without data. */
const STRANGER: Owner = { organizationId: 1_003, userId: 7, customerId: 'carl' };

let service: TestService;

beforeAll(async () => {
  service = await startService({}, { worker: false, searchesStalls: false });
});
afterAll(() => service.close());

const LATER = new Date(Date.now() + 86_400_000);
const TAGS = { team: 'red' };

/**
 * Writes rows of every kind that a list can show, in each state that some list selects.
 * @param firstId the smallest id; rows of different owners have different ids
 */
async function seed(owner: Owner, firstId: number): Promise<void> {
  const { organizationId, userId } = owner;
  const at = new Date();
  const [parentId, dataSourceId, runId] = [firstId + 1, firstId, firstId];
  const common = { ...owner, createdAt: at, updatedAt: at };
  const heldDeletions = { deletions_held: 3 };
  const tags = storedTags(TAGS);
  await seedFiles(
    service,
    owner,
    [
      { fields: { isContainer: true, fileMetadata: heldDeletions } },
      { fields: { parentId, dataSourceId, statistics: { fileSize: 7 } as never }, texts: ['One.', 'Two.'], tags: TAGS },
      { fields: { syncStatus: 'SYNC_ERROR' as const, runId, ended: { as: 'failed', cause: 'timed_out' } as never } },
      { fields: { syncStatus: 'SYNC_ERROR' as const, dataSourceId, ended: { as: 'failed', cause: 'gone' } as never } },
      { fields: { syncStatus: 'RATE_LIMITED' as const, dataSourceId } },
      { fields: { fileMetadata: { warnings: [{ cause: 'low_ocr_confidence', message: 'Unsure.' }] } } },
      { fields: { embeddingStorageStatus: 'COLD_STORAGE' as const, coldCopy: { points: 2, bytes: 9 } as never } },
    ].map(({ fields, ...seededFile }, nth) => ({
      ...{ id: firstId + 1 + nth, ...seededFile },
      // Recent, so that sums are not cached.
      fields: { ...fields, createdAt: at, updatedAt: at },
    })),
  );
  await withDatabase(service, async (connection) => {
    const models = await openModels(connection);
    const blank = new (dataSourceModel(connection))().toObject({ minimize: false });
    const sources = [
      { syncStatus: 'READY', metadata: heldDeletions },
      { syncStatus: 'SYNC_ERROR' },
      { syncStatus: 'SYNCING' },
      { syncStatus: 'READY', revokedAccess: true },
    ];
    const runs = [
      { startedAt: at },
      { startedAt: at, pause: { reason: 'max_tokens', at, wanted: 1, resumedAt: null }, maxTokens: 1 },
      { startedAt: at, stall: { cause: 'no_worker', message: 'm', since: at } },
      {},
      ...['finished', 'failed', 'aborted'].map((outcome) => ({
        startedAt: at,
        finishedAt: at,
        outcome,
        tally: NO_TALLY,
      })),
    ];
    const run = {
      kind: 'scrapeSitemap',
      requestId: 'r',
      request: {},
      progress: {},
      acceptedAt: at,
      nextTryAt: at,
      counts: {},
    };
    const file = new (fileModel(connection))().toObject({ minimize: false });
    const rows: Readonly<Record<string, readonly object[]>> = {
      users: [{ ...common, _id: userId * 10_000 + organizationId, deletedAt: null }],
      dataSources: sources.map((source, nth) => ({
        ...{
          ...blank,
          revokedAccess: false,
          metadata: {},
          type: 'BOX',
          tags,
          tagPairs: tagPairs(tags),
          ...common,
          ...source,
        },
        ...{ _id: firstId + nth, externalId: `BOX|account ${firstId + nth}` },
      })),
      schedules: [
        { ...owner, _id: scheduleIds.source(firstId), dataSourceId: firstId, fileId: null, applied: 'DAILY' },
      ],
      runs: runs.map((one, nth) => ({
        ...{ ...owner, ...run, startedAt: null, finishedAt: null, outcome: null, fileId: parentId, dataSourceId },
        ...{ ...one, _id: firstId + nth, workflowId: `run:${firstId + nth}` },
      })),
      quarantined: (['leaving', 'kept', 'returning'] as const).map((state, nth) => ({
        ...{ ...owner, _id: firstId + 50 + nth, dataSourceId, parentId, state, missedBy: runId, runId },
        ...{ quarantinedAt: at, keptUntil: LATER, copy: null, file: { ...file, ...common, _id: firstId + 50 + nth } },
      })),
      // Belongs to the organization, like its webhooks and keys.
      whiteLabels:
        owner === COLLEAGUE ? [] : [{ ...common, _id: firstId, dataSourceType: 'BOX', plain: {}, secrets: {} }],
    };
    for (const [name, documents] of Object.entries(rows))
      if (documents.length > 0) await models[name as 'users'].collection.insertMany(documents as never);
    if (owner === COLLEAGUE) return;
    const key = service.store.secrets.seal({ organizationId, record: `webhook:${firstId}`, field: 'signing_key' }, 'k');
    await models.webhooks.webhooks.collection.insertOne({
      ...{ ...common, _id: firstId, url: `https://${firstId}.example/`, signingKey: key, status: 'ACTIVE', cursor: 0 },
      ...{ statusReason: '', wake: null, wokenAt: null, deletedAt: null, disabledAt: null },
    } as never);
    await models.organizations.apiKeys.collection.insertOne({
      ...{ _id: firstId, organizationId, prefix: 'p', hash: `hash ${firstId}`, createdAt: at, revokedAt: null },
    } as never);
  });
}

const PAGE = { limit: 100, offset: 0, startingId: 0 };
const ORDER = { orderBy: 'createdAt', orderDir: 'asc', page: PAGE } as const;
const DATA_SOURCES = { filters: {}, orderBy: 'created_at', orderDir: 'asc', page: PAGE } as const;
const FILES: FileListing = { filters: {}, orderBy: 'id', orderDir: 'asc', page: PAGE };

async function collect<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const members: T[] = [];
  for await (const part of parts) members.push(part);
  return members;
}

type Reader = (store: Store, owner: Owner) => Promise<unknown>;
type Readers = Readonly<Record<string, Reader>>;

/** All readers of the overview: `satisfies` fails for a missing one. */
const OVERVIEW = {
  sources: ({ overview }, { organizationId }) => overview.sources(organizationId, 100),
  runs: ({ overview }, { organizationId }) => overview.runs(organizationId, 100),
  storage: ({ overview }, { organizationId }) => overview.storage(organizationId),
  held: ({ overview }, { organizationId }) => overview.held(organizationId, 100),
  quarantine: ({ overview }, { organizationId }) => overview.quarantine(organizationId, 100),
  users: ({ overview }, { organizationId }) => overview.users(organizationId),
} satisfies Record<keyof Store['overview'], Reader>;

/** Lists, counts and sums of an organization. */
const OF_ORGANIZATION: Readers = {
  ...Object.fromEntries(Object.entries(OVERVIEW).map(([name, read]) => [`overview.${name}`, read])),
  'users.list': ({ users }, { organizationId }) => users.list(organizationId, ORDER),
  'users.count': ({ users }, { organizationId }) => users.count(organizationId, ORDER),
  'dataSources.list': ({ dataSources }, { organizationId }) =>
    collect(dataSources.list({ organizationId }, DATA_SOURCES)),
  'dataSources.count': ({ dataSources }, { organizationId }) => dataSources.count({ organizationId }, DATA_SOURCES),
  'dataSources.listHeld': ({ dataSources }, { organizationId }) => dataSources.listHeld(organizationId, PAGE),
  'files.listHeldContainers': ({ files }, { organizationId }) => files.listHeldContainers(organizationId, PAGE),
  'files.byCause': ({ files }, { organizationId }) => files.byCause({ organizationId }, 100),
  'files.byWarning': ({ files }, { organizationId }) => files.byWarning({ organizationId }),
  'files.failed': ({ files }, { organizationId }) => files.failed({ organizationId }, { ...PAGE, cause: 'timed_out' }),
  'files.totalsOfAll': ({ files }, { organizationId }) => files.totalsOfAll(organizationId),
  'vectors.countBySpace': ({ vectors }, { organizationId }) => vectors.countBySpace(organizationId),
  'runs.list': ({ runs }, { organizationId }) => runs.list({ organizationId }, {}, PAGE),
  'runs.count': ({ runs }, { organizationId }) => runs.count({ organizationId }, {}),
  ...Object.fromEntries(
    RUN_STATES.flatMap((state): [string, Reader][] => [
      [
        `runs.list ${state}`,
        ({ runs }, { organizationId }) => runs.list({ organizationId }, { states: [state] }, PAGE),
      ],
      [`runs.count ${state}`, ({ runs }, { organizationId }) => runs.count({ organizationId }, { states: [state] })],
    ]),
  ),
  'stalls.groupByCause': ({ stalls }, { organizationId }) => stalls.groupByCause(organizationId),
  'quarantine.list': ({ quarantine }, { organizationId }) => quarantine.list(organizationId, {}, PAGE),
  'quarantine.listOwnersToRestore': ({ quarantine }, { organizationId }) =>
    quarantine.listOwnersToRestore(organizationId, {}),
  'whiteLabels.list': ({ whiteLabels }, { organizationId }) =>
    whiteLabels.list(organizationId, { ...ORDER, ids: [], types: [] }),
  'whiteLabels.count': ({ whiteLabels }, { organizationId }) =>
    whiteLabels.count(organizationId, { ...ORDER, ids: [], types: [] }),
  'whiteLabels.types': ({ whiteLabels }, { organizationId }) => whiteLabels.types(organizationId),
  'webhooks.list': ({ webhooks }, { organizationId }) =>
    webhooks.list(organizationId, { ids: [], orderBy: 'created_at', orderDir: 'asc', page: PAGE }),
  'webhooks.count': ({ webhooks }, { organizationId }) => webhooks.count(organizationId, [], 0),
  'apiKeys.list': ({ apiKeys }, { organizationId }) => apiKeys.list(organizationId),
};

/** Lists, counts and sums of an end user. */
const OF_USER: Readers = {
  'files.list': ({ files }, owner) => collect(files.list(owner, FILES)),
  'files.count': ({ files }, owner) => files.count(owner, {}, 0),
  'files.countChunks': ({ files }, owner) => files.countChunks(owner, {}, 0),
  'files.contents': ({ files }, owner) => collect(files.contents(owner, FILES)),
  'files.ids': ({ files }, owner) => files.ids(owner, {}, 100),
  'files.spacesOf': ({ files }, owner) => files.spacesOf(owner, 'OPENAI'),
  'files.totals': ({ files }, owner) => files.totals(owner),
  'files.uniqueTags': ({ files }, owner) => files.uniqueTags(owner),
  'dataSources.list': ({ dataSources }, owner) => collect(dataSources.list(owner, DATA_SOURCES)),
  'dataSources.count': ({ dataSources }, owner) => dataSources.count(owner, DATA_SOURCES),
  'runs.list': ({ runs }, owner) => runs.list(owner, {}, PAGE),
  'runs.count': ({ runs }, owner) => runs.count(owner, {}),
  'schedules.listOfUser': ({ schedules }, owner) => schedules.listOfUser(owner, 100),
  'chunks.countAll': ({ chunks }, owner) => chunks.countAll(owner),
  'vectors.countAll': ({ vectors }, owner) => vectors.countAll(owner),
  'quarantine.hasFiles': ({ quarantine }, owner) => quarantine.hasFiles(owner),
};

/** Returns the result of each reader for the owner. */
async function readAll(readers: Readers, owner = OWNER): Promise<ReadonlyMap<string, unknown>> {
  const answers = await Promise.all(
    Object.entries(readers).map(async ([name, read]) => [name, await read(service.store, owner)] as const),
  );
  return new Map(answers);
}

test('lists, counts and sums include no rows of another organization or, for a user, of another user', async () => {
  await seed(OWNER, 10_100);
  const [ofOrganization, ofUser] = [await readAll(OF_ORGANIZATION), await readAll(OF_USER)];
  const [nothing, nothingOfUser] = [await readAll(OF_ORGANIZATION, STRANGER), await readAll(OF_USER, STRANGER)];
  await seed(FOREIGN, 10_200);
  const rows = async (readers: Readers, before: ReadonlyMap<string, unknown>, empty: ReadonlyMap<string, unknown>) =>
    [...(await readAll(readers))].map(([name, after]) => ({
      ...{ name, after, before: before.get(name), empty: empty.get(name) },
    }));
  const checkRow = ({ after, before, empty }: Awaited<ReturnType<typeof rows>>[number]): void => {
    // For a reader that returns no rows to the owner, the test would be meaningless.
    expect(before).not.toEqual(empty);
    expect(after).toEqual(before);
  };
  const withForeign = [
    ...(await rows(OF_ORGANIZATION, ofOrganization, nothing)),
    ...(await rows(OF_USER, ofUser, nothingOfUser)),
  ];
  await everyRow(withForeign, ({ name }) => `${name}, with another organization`, checkRow);
  await seed(COLLEAGUE, 10_300);
  await everyRow(
    await rows(OF_USER, ofUser, nothingOfUser),
    ({ name }) => `${name}, with another user of the organization`,
    checkRow,
  );
});

/** Queries about the runs of all users or of one user, which sweeps and batch planning use. */
const OF_RUNS: Readers = {
  'runs.listUnstarted': ({ runs }) => runs.listUnstarted(LATER, 100),
  'runs.listActiveStartedUntil': ({ runs }) => runs.listActiveStartedUntil(LATER, 100),
  'runs.countUsersWithOpenRuns': ({ runs }, { organizationId }) => runs.countUsersWithOpenRuns(organizationId),
  'runHistory.ofSource': ({ runHistory }) => runHistory.listOfSource(10_100, 10),
  'runRates.rateOf': ({ runRates }, owner) => runRates.rateOf(owner, 'scrapeSitemap'),
  'scheduledSyncs.findConflict': ({ scheduledSyncs }) => scheduledSyncs.findConflict({ dataSourceId: 10_100 }),
  'pauses.listPaused': ({ pauses }) => pauses.listPaused(0, 100),
  'pauses.listUnacknowledged': ({ pauses }) => pauses.listUnacknowledged(LATER, 100),
  'stalls.listStarted': ({ stalls }) => stalls.listStarted(null, LATER, 100),
  'stalls.listUnstarted': ({ stalls }) => stalls.listUnstarted(LATER, 100),
  'stalls.listStalled': ({ stalls }) => stalls.listStalled(100),
  'stalls.groups of all': ({ stalls }) => stalls.groupByCause(),
  'heldRuns.releaseHeld': ({ heldRuns }) => heldRuns.releaseHeld(),
  'uploadStreams.listWaiting': ({ uploadStreams }) => uploadStreams.listWaiting(LATER, 100),
};

/** Lists that MongoDB may sort in memory: groups, rows of a small partial index, and short lists of records. */
const SORTED = [
  ...['overview.quarantine', 'files.uniqueTags', 'files.listHeldContainers', 'webhooks.list', 'apiKeys.list'],
  ...['queued', 'running', 'paused'].map((state) => `runs.list ${state}`),
  'pauses.listPaused',
];
/**
 * Plan of the query that groups stalled runs. Readiness checks of the service run it too, so the profile of any reader
 * may contain it. It may sort in memory, because few runs are stalled.
 */
const STALLED = 'IXSCAN { organizationId: 1, stall.since: 1 }';

test('every list, count and sum uses an index, and every long list is in index order', async () => {
  const readers = Object.entries({ ...OF_ORGANIZATION, ...OF_USER, ...OF_RUNS });
  await withDatabase(service, (connection) =>
    everyRow(
      readers,
      ([name]) => name,
      async ([name, read]) => {
        const db = connection.db!;
        const from = new Date();
        await db.command({ profile: 2, filter: { planSummary: { $exists: true } } });
        await read(service.store, OWNER);
        await db.command({ profile: 0 });
        const plans = await db
          .collection<{ ts: Date; ns: string; planSummary: string; hasSortStage?: boolean }>('system.profile')
          .find({ ts: { $gte: from }, ns: { $ne: `${db.databaseName}.system.profile` } })
          .toArray();
        const isSlow = ({ planSummary, hasSortStage = false }: (typeof plans)[number]): boolean =>
          planSummary.includes('COLLSCAN') || (hasSortStage && planSummary !== STALLED && !SORTED.includes(name));
        expect(plans.filter(isSlow).map(({ ns, planSummary }) => `${ns} ${planSummary}`)).toEqual([]);
      },
    ),
  );
});

test('the overview of an organization lists items that need attention first, and counts each item once', async () => {
  const { overview } = service.store;
  const organizationId = 1_004;
  await seed({ organizationId, userId: 8, customerId: 'dora' }, 10_400);
  const account = (nth: number) => ({ id: 10_400 + nth, account: `account ${10_400 + nth}`, type: 'BOX' });
  const { counts, rows } = await overview.sources(organizationId, 100);
  expect(counts).toEqual({ revoked: 1, failed: 1, held: 1, syncing: 1, ready: 0 });
  expect(rows).toMatchObject([
    { ...account(3), state: 'revoked', why: expect.stringMatching(/^Access was revoked/), scheduled: null },
    { ...account(1), state: 'failed' },
    { ...account(0), state: 'held', why: expect.stringMatching(/^3 files are missing/), scheduled: 'DAILY' },
    { ...account(2), state: 'syncing', why: null },
  ]);
  expect((await overview.sources(organizationId, 2)).rows).toEqual(rows.slice(0, 2));

  const runs = await overview.runs(organizationId, 100);
  expect(runs).toMatchObject({ started: 3, waiting: 1, paused: 1 });
  expect(runs.rows[0]).toMatchObject({ id: 10_401, pause: { maxTokens: 1, tokensTaken: 0, wanted: 1 }, stall: null });
  expect(runs.rows.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([10_400, 10_401, 10_402]);
  expect(runs.rows.find(({ id }) => id === 10_400)).toMatchObject({ pause: null, total: 1, ready: 0, failed: 1 });

  expect(await overview.storage(organizationId)).toMatchObject({
    files: { READY: 4, SYNC_ERROR: 2, RATE_LIMITED: 1, SYNCING: 0 },
    ...{ chunks: 2, bytes: 7, coldFiles: 1, warmingFiles: 0, coldBytes: 9, coldPoints: 2 },
  });
  expect(await overview.held(organizationId, 100)).toMatchObject([
    { of: 'data_sources', id: 10_400, name: 'account 10400', missing: 3, isApproved: false },
    { of: 'files', id: 10_401, missing: 3, isApproved: false },
  ]);
  expect(await overview.quarantine(organizationId, 100)).toMatchObject({
    ...{ files: 2, groups: 1 },
    rows: [
      { of: 'data_source_id', id: 10_400, name: 'account 10400', files: 2, firstErasedAt: LATER, lastErasedAt: LATER },
    ],
  });
  expect(await overview.users(organizationId)).toBe(1);
});
