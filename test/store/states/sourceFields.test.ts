/** The fields that each change of a data source writes, and those that it leaves. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection, Model } from 'mongoose';

import { storedTags } from '../../../contract/files/tags.js';
import { createSequence } from '../../../store/database/sequence.js';
import { createDataSourceCommands, type DataSourceCommands } from '../../../store/dataSources/commands.js';
import { createDataSourceListings, type DataSourceListings } from '../../../store/dataSources/listings.js';
import { createDataSourceQueries } from '../../../store/dataSources/queries.js';
import { type DataSourceDoc, dataSourceModel } from '../../../store/models/dataSources.js';
import { createSecrets } from '../../../store/secrets/secrets.js';
import { everyRow } from '../../support/everyRow.js';
import { difference, NOW } from './fileFields.js';
import { ADA, AGO, dropDatabase, openDatabase, seed, STRANGERS, withoutTransaction } from './writes.js';

const RUN = 71;
const TAGS = storedTags({ team: 'red' });
const OLD: Partial<DataSourceDoc> = {
  ...{ type: 'BOX', sealedCredentials: 'sealed', refreshClaim: { id: 'c', until: AGO }, options: { o: 1 } as never },
  ...{ syncStatus: 'READY', itemsRunId: null, sourceItemsSyncedAt: AGO, deletionsApproved: false, changeToken: 't1' },
  ...{ filesSyncedAt: AGO, appliedListingAt: AGO, revokedAccess: false, lastSyncedAt: AGO, lastSyncAction: 'ADD' },
  ...{ enableAutoSync: true, metadata: { a: 1, b: 2 }, tags: TAGS, tagPairs: ['team=red'], tagsVersion: 3 },
  ...{ tagsCopied: 2, tagsStopped: true, createdAt: AGO, updatedAt: AGO },
};
const LISTING = { syncStatus: 'SYNCING', itemsRunId: RUN } as const;
const ENDED = { ...NOW, syncStatus: 'READY', itemsRunId: null };

let connection: Connection;
let sources: Model<DataSourceDoc>;
let secrets: ReturnType<typeof createSecrets>;
let commands: DataSourceCommands;
let listings: DataSourceListings;
const written: { kind: string }[] = [];
beforeAll(async () => {
  connection = await openDatabase();
  sources = dataSourceModel(connection);
  const events = {
    write: (some: readonly { kind: string }[]) => Promise.resolve(void written.push(...some)),
  } as never;
  const schedules = { markSource: () => Promise.resolve() };
  secrets = createSecrets([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
  commands = createDataSourceCommands(sources, createSequence(connection), events, secrets, schedules);
  listings = createDataSourceListings(sources, events, withoutTransaction);
});
afterAll(() => dropDatabase(connection));

type Row = readonly [
  name: string,
  fields: Partial<DataSourceDoc>,
  call: (id: number, tenant: typeof ADA) => Promise<unknown>,
  changed: object,
  events: number,
];
const end = (id: number, tenant: typeof ADA, change: object) =>
  listings.endListing(tenant, id, RUN, { status: 'READY', whole: true, metadata: { a: 5, b: null }, ...change });
const ROWS: readonly Row[] = [
  [
    'a queued listing',
    {},
    (id, tenant) => listings.queueListing(tenant, id, RUN, null),
    { ...NOW, syncStatus: 'QUEUED_FOR_SYNCING', itemsRunId: RUN },
    0,
  ],
  [
    'the start of a listing',
    { syncStatus: 'QUEUED_FOR_SYNCING', itemsRunId: RUN },
    (id, tenant) => listings.beginListing(tenant, id, RUN),
    { ...NOW, syncStatus: 'SYNCING' },
    0,
  ],
  [
    'the end of a complete listing',
    LISTING,
    (id, tenant) => end(id, tenant, { changeToken: 't2' }),
    { ...ENDED, metadata: { a: 5 }, changeToken: 't2', sourceItemsSyncedAt: 'now' },
    1,
  ],
  [
    'the end of a complete listing without a feed',
    LISTING,
    (id, tenant) => end(id, tenant, {}),
    { ...ENDED, metadata: { a: 5 }, sourceItemsSyncedAt: 'now' },
    1,
  ],
  [
    'the end of an incomplete listing',
    LISTING,
    (id, tenant) => end(id, tenant, { whole: false, metadata: {} }),
    { ...ENDED, appliedListingAt: undefined },
    0,
  ],
  [
    'the end of a failed listing',
    LISTING,
    (id, tenant) => end(id, tenant, { status: 'SYNC_ERROR', metadata: {} }),
    { ...ENDED, syncStatus: 'SYNC_ERROR', appliedListingAt: undefined },
    0,
  ],
  [
    'the withdrawal of an approval',
    { deletionsApproved: true },
    (id, tenant) => listings.withdrawApproval(tenant, id),
    { deletionsApproved: false },
    0,
  ],
  [
    'an applied listing',
    {},
    (id, tenant) => listings.markListingApplied(tenant, id, new Date(0)),
    { appliedListingAt: new Date(0) },
    0,
  ],
  [
    'metadata',
    {},
    (id, tenant) => listings.mergeMetadata(tenant, id, { a: null, c: 3 }),
    { metadata: { b: 2, c: 3 } },
    0,
  ],
  [
    'new tags',
    {},
    (id, tenant) => commands.changeTags(tenant, id, () => storedTags({ team: 'blue' }), null),
    { ...NOW, tags: storedTags({ team: 'blue' }), tagPairs: ['team=blue'], tagsVersion: 4 },
    0,
  ],
  ['copied tags', {}, (id, tenant) => commands.markTagsCopied(tenant, id, 3), { tagsCopied: 3, tagsStopped: false }, 0],
  ['synced files', {}, (id, tenant) => commands.recordFilesSynced(tenant, id), { ...NOW, filesSyncedAt: 'now' }, 0],
  [
    'a revocation',
    {},
    (id, tenant) => commands.revoke(tenant, id, null),
    {
      ...{ ...NOW, sealedCredentials: null, refreshClaim: null, revokedAccess: true, lastSyncAction: 'REVOKE' },
      lastSyncedAt: 'now',
    },
    1,
  ],
  [
    'a selection',
    {},
    (id, tenant) => commands.recordSelection(tenant, id, 'w', null),
    { ...NOW, lastSyncAction: 'UPDATE', lastSyncedAt: 'now' },
    1,
  ],
  [
    'a cancellation',
    {},
    (id, tenant) => commands.recordCancellation(tenant, id, 'w', null),
    { ...NOW, lastSyncAction: 'CANCEL', lastSyncedAt: 'now' },
    1,
  ],
];
const seedSources = (states: Readonly<Record<string, Partial<DataSourceDoc>>>) =>
  seed(
    sources,
    (id) => ({ ...new sources().toObject({ minimize: false }), ...ADA, ...OLD, externalId: `BOX|${id}` }),
    states,
  );
const read = async (id: number) => (await sources.findById(id).lean<DataSourceDoc>())!;

test('each change of a data source writes exactly its fields and events', () =>
  everyRow(
    ROWS,
    ([name]) => name,
    async ([, fields, call, changed, events]) => {
      const [id, other] = (await seedSources({ own: fields, other: fields })).values();
      const before = await read(id!);
      const otherBefore = await read(other!);
      written.length = 0;
      for (const stranger of STRANGERS) await call(id!, stranger);
      expect([await read(id!), written]).toEqual([before, []]);
      await call(id!, ADA);
      expect(difference(before, await read(id!))).toEqual(changed);
      expect([await read(other!), written.length]).toEqual([otherBefore, events]);
    },
  ));

test('an account that is connected again keeps its record, tags and options, but no change token', async () => {
  const [id] = (await seedSources({ own: { revokedAccess: true, sealedCredentials: null } })).values();
  const before = await read(id!);
  const connect = (change: object, owner = ADA) =>
    commands.connect(
      owner,
      {
        ...{ type: 'BOX', externalId: before.externalId ?? '', credentials: 'new', metadata: { b: 3 } },
        ...{ tags: storedTags({ extra: 'x' }), enableAutoSync: null, ...change },
      } as never,
      null,
    );
  const { dataSource, needsCopy } = await connect({ itemsRunId: RUN });
  expect([dataSource._id, needsCopy]).toEqual([id, true]);
  const changed = difference(before, await read(id!));
  expect(changed).toEqual({
    ...{ ...NOW, syncStatus: 'QUEUED_FOR_SYNCING', itemsRunId: RUN, changeToken: null, refreshClaim: null },
    ...{ revokedAccess: false, lastSyncedAt: 'now', metadata: { a: 1, b: 3 }, tagsVersion: 4 },
    ...{ tags: storedTags({ team: 'red', extra: 'x' }), tagPairs: ['team=red', 'extra=x'] },
    sealedCredentials: expect.any(String),
  });
  expect(changed['sealedCredentials']).not.toBe('new');
  // An earlier version of the service stored the account under another external id.
  const former = await connect({ externalId: 'BOX|renamed', formerExternalId: before.externalId });
  expect(former.dataSource._id).toBe(id);
  for (const stranger of STRANGERS) expect((await connect({}, stranger)).dataSource._id).not.toBe(id);
});

test('deletions can be approved only for a source with deletions_held, and a refusal removes that entry', async () => {
  const ids = await seedSources({ held: { metadata: { deletions_held: 3, a: 1 } }, free: {} });
  const [held, free] = ids.values();
  expect([await listings.approveDeletions(held!), await listings.approveDeletions(free!)]).toEqual([true, false]);
  const before = await read(held!);
  expect([before.deletionsApproved, (await read(free!)).deletionsApproved]).toEqual([true, false]);
  await listings.refuseDeletions(held!);
  expect(difference(before, await read(held!))).toEqual({ ...NOW, deletionsApproved: false, metadata: { a: 1 } });
});

test('findSingle prefers data sources with access, returns the only one of a type, and reports several as ambiguous', () =>
  everyRow(
    [
      [[], null],
      [['open'], 'open'],
      [['revoked'], 'revoked'],
      [['revoked', 'open'], 'open'],
      [['revoked', 'open', 'revokedToo'], 'open'],
      [['open', 'openToo'], { several: 'open' }],
      [['revoked', 'revokedToo'], { several: 'revoked' }],
      [['revoked', 'open', 'openToo'], { several: 'open' }],
      [['otherType', 'foreign', 'otherOrganization'], null],
    ] as const,
    JSON.stringify,
    async ([present, expected]) => {
      const [open, revoked] = [{ revokedAccess: false }, { revokedAccess: true }];
      const states: Readonly<Record<string, Partial<DataSourceDoc>>> = {
        ...{ open, openToo: open, revoked, revokedToo: revoked, otherType: { type: 'GMAIL' } },
        ...{ foreign: { userId: 8 }, otherOrganization: { organizationId: 2 }, unrelated: { type: 'NOTION' } },
      };
      const ids = await seedSources(Object.fromEntries([...present, 'unrelated'].map((name) => [name, states[name]!])));
      const found = await createDataSourceQueries(sources, secrets).findSingle(ADA, 'BOX');
      const name = 'source' in found ? [...ids].find(([, id]) => id === found.source?._id)?.[0] : found;
      expect(name ?? null).toEqual(expected);
    },
  ));

test('a list of data sources has those of its owner that match all filters', async () => {
  const ids = await seedSources({
    ...{ red: {}, blue: { tags: storedTags({ team: 'blue' }), tagPairs: ['team=blue'] }, mail: { type: 'GMAIL' } },
    ...{ revoked: { revokedAccess: true }, foreign: { userId: 8 }, otherOrganization: { organizationId: 2 } },
  });
  const queries = createDataSourceQueries(sources, secrets);
  const list = async (filters: object, scope: object = ADA, page: object = {}) => {
    const listing = {
      ...{ filters, orderBy: 'created_at', orderDir: 'asc', page: { limit: 9, offset: 0, startingId: 0, ...page } },
    } as never;
    const found: number[] = [];
    for await (const part of queries.list(scope as never, listing)) found.push(...part.map(({ _id }) => _id));
    expect(await queries.count(scope as never, listing)).toBe(found.length);
    return found.map((found_) => [...ids].find(([, id]) => id === found_)?.[0]).join(' ');
  };
  expect(await list({})).toBe('red blue mail revoked');
  expect(await list({}, { organizationId: 1 })).toBe('red blue mail revoked foreign');
  expect([await list({ type: 'GMAIL' }), await list({ revokedAccess: true })]).toEqual(['mail', 'revoked']);
  expect(await list({ revokedAccess: false, type: 'BOX' })).toBe('red blue');
  expect(await list({ tagTree: { key: 'team', value: 'blue' } })).toBe('blue');
  expect(await list({ ids: [ids.get('red'), ids.get('foreign')] })).toBe('red');
  expect(await list({}, ADA, { startingId: ids.get('blue') })).toBe('mail revoked');
  expect([
    await queries.find(ADA, ids.get('foreign')!),
    await queries.find(ADA, ids.get('otherOrganization')!),
  ]).toEqual([null, null]);
});

test('each connection of a source without account names is a data source of its own, with its own credentials', async () => {
  await sources.deleteMany({});
  const queries = createDataSourceQueries(sources, secrets);
  const connect = (credentials: string | null) =>
    commands.connect(
      ADA,
      { type: 'BOX', externalId: null, credentials, metadata: { a: 1 }, tags: TAGS, enableAutoSync: true } as never,
      null,
    );
  written.length = 0;
  const [first, second, open] = [await connect('key 1'), await connect('key 2'), await connect(null)];
  const created = [first, second, open].map(({ dataSource }) => dataSource);
  expect(new Set(created.map(({ _id }) => _id)).size).toBe(3);
  expect(created.map((source) => queries.credentialsOf(source))).toEqual(['key 1', 'key 2', null]);
  expect(first).toMatchObject({ needsCopy: false, dataSource: { syncStatus: 'READY', itemsRunId: null, tags: TAGS } });
  expect(written.map(({ kind }) => kind)).toEqual(['ADD', 'ADD', 'ADD']);
  // Credentials are encrypted for one record: those of the first record cannot be decrypted in the second.
  expect(() => queries.credentialsOf({ ...created[1]!, sealedCredentials: created[0]!.sealedCredentials })).toThrow();
});
