import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { DAY_MS, DEFAULT_HOT_DAYS } from '../../contract/coldStorage.js';
import { createLog } from '../../observability/log.js';
import { runMigrations, SCHEMA_VERSION } from '../../store/migrations/run.js';
import { upgradePoints } from '../../worker/upgradePoints.js';
import { connectSource, withDatabase } from '../support/dataSources.js';
import { seedFiles } from '../support/seedFiles.js';
import { startService, type TestService } from '../support/service.js';
import { collectionsOf, qdrantOf, storedPoints } from '../support/storedPoints.js';
import type { FileDoc } from '../../store/files/model.js';

/** Points and records as versions before wrote them, and what this one makes of them. */

const NEW_FIELDS = ['ancestors', 'file_type_at_source', 'media_type'];
let service: TestService;
let base = 9_100_000;

beforeAll(async () => {
  service = await startService({}, { worker: false });
});
afterAll(() => service.close());

const forgetVersion = () =>
  withDatabase(service, (connection) => connection.collection<{ _id: string }>('meta').deleteOne({ _id: 'points' }));
const statistics = (fileFormat: string) => ({
  fileFormat,
  fileSize: 1,
  numCharacters: 1,
  numTokens: 1,
  numEmbeddings: 1,
  mimeType: null,
});

/** Three levels of files of one user, their points without the new fields and their indexes. */
async function olderDeployment(): Promise<number> {
  base += 100;
  const owner = await service.store.users.ensure(1, `older-${base}`);
  const texts = ['one', 'two'];
  const below = (fields: Partial<FileDoc>) => ({ parentId: base + 2, hasText: true, ...fields });
  await seedFiles(service, owner, [
    { id: base + 1, fields: { isContainer: true } },
    { id: base + 2, fields: { parentId: base + 1, isContainer: true } },
    { id: base + 3, texts, fields: below({ statistics: statistics('PDF') }) },
    { id: base + 4, texts, fields: below({ statistics: statistics('JPG'), hasText: false }) },
    {
      id: base + 5,
      texts,
      fields: { hasText: true, statistics: statistics('MP3'), fileTypeAtSource: 'TICKET' },
    },
  ]);
  const client = qdrantOf(service);
  for (const name of await collectionsOf(service)) {
    const filter = { must: [{ key: 'file_id', range: { gte: base } }] };
    await client.deletePayload(name, { keys: NEW_FIELDS, filter, wait: true });
    for (const field of NEW_FIELDS) await client.deletePayloadIndex(name, field, { wait: true });
  }
  await forgetVersion();
  return base;
}
const newFieldsOf = async (fileId: number) =>
  (await storedPoints(service, fileId)).map(({ payload }) => NEW_FIELDS.map((field) => payload[field] ?? null));
/** Of a point as it was written before. Setting null takes a field away, so that null and absent are one. */
const NOTHING = [null, null, null];
const indexed = async () => {
  const [name = ''] = await collectionsOf(service);
  const { payload_schema: schema } = await qdrantOf(service).getCollection(name);
  return NEW_FIELDS.filter((field) => field in schema);
};

test('points and collections of the version before get what they lack, all else stays', async () => {
  const first = await olderDeployment();
  const before = await storedPoints(service, first + 3);
  expect(await indexed()).toEqual([]);
  expect(await newFieldsOf(first + 3)).toEqual([0, 1].map(() => NOTHING));
  await service.store.upgradePoints();
  expect(await indexed()).toEqual(NEW_FIELDS);
  const above = [first + 2, first + 1];
  expect(await newFieldsOf(first + 3)).toEqual([0, 1].map(() => [above, null, 'TEXT']));
  expect(await newFieldsOf(first + 4)).toEqual([0, 1].map(() => [above, null, 'IMAGE']));
  expect(await newFieldsOf(first + 5)).toEqual([0, 1].map(() => [[], 'TICKET', 'AUDIO']));
  const after = await storedPoints(service, first + 3);
  const without = ({ payload, ...rest }: (typeof after)[number]) => ({
    ...rest,
    payload: Object.fromEntries(Object.entries(payload).filter(([name]) => !NEW_FIELDS.includes(name))),
  });
  expect(after.map(without)).toEqual(before.map(without));
});

test('a point that was written since keeps what it says, and what was done is not done again', async () => {
  const first = await olderDeployment();
  const client = qdrantOf(service);
  const [name = ''] = await collectionsOf(service);
  const newer = {
    must: [
      { key: 'file_id', match: { value: first + 3 } },
      { key: 'chunk_index', match: { value: 1 } },
    ],
  };
  await client.setPayload(name, { payload: { ancestors: [7], media_type: 'VIDEO' }, filter: newer, wait: true });
  await Promise.all([service.store.upgradePoints(), service.store.upgradePoints()]);
  expect(await newFieldsOf(first + 3)).toEqual([
    [[first + 2, first + 1], null, 'TEXT'],
    [[7], null, 'VIDEO'],
  ]);
  await client.deletePayload(name, { keys: NEW_FIELDS, filter: newer, wait: true });
  await service.store.upgradePoints();
  expect((await newFieldsOf(first + 3))[1]).toEqual(NOTHING);
});

test('one that is stopped halfway is done by the next worker', async () => {
  const first = await olderDeployment();
  await service.store.upgradePoints(AbortSignal.abort());
  expect((await newFieldsOf(first + 3))[0]).toEqual(NOTHING);
  await service.store.upgradePoints();
  expect((await newFieldsOf(first + 3))[0]).toEqual([[first + 2, first + 1], null, 'TEXT']);
});

test('a worker tries until Qdrant is there, and no longer than it runs', async () => {
  const log = createLog({ level: 'silent', name: 'test' });
  let tries = 0;
  const awayTwice = async () => {
    tries += 1;
    if (tries < 3) throw new Error('Qdrant of the test is away');
  };
  await upgradePoints({ upgradePoints: awayTwice }, log, new AbortController().signal, 1);
  expect(tries).toBe(3);
  const stopping = new AbortController();
  const away = async () => {
    stopping.abort();
    throw new Error('Qdrant of the test is away');
  };
  await upgradePoints({ upgradePoints: away }, log, stopping.signal, 1_000_000);
});

test('of version 2, files with cold storage begin their days now; those that have begun, and the others, stay', async () => {
  const owner = await service.store.users.ensure(1, 'before-cold-storage');
  const begun = new Date('2026-01-02T03:04:05.678Z');
  const cold = (days: number | null, coolsAt: Date | null): Partial<FileDoc> => ({
    ...{ supportsColdStorage: true, hotStorageTimeToLive: days, coolsAt },
  });
  const ids = [1, 2, 3, 4].map((number) => 9_900_000 + number) as [number, number, number, number];
  await seedFiles(service, owner, [
    { id: ids[0], fields: cold(2, null) },
    { id: ids[1], fields: cold(null, null) },
    { id: ids[2], fields: cold(2, begun) },
    { id: ids[3], fields: { supportsColdStorage: false, coolsAt: null } },
  ]);
  const readFiles = async () => new Map((await service.store.files.byIds(owner, ids)).map((file) => [file._id, file]));
  const before = await readFiles();
  const from = Date.now();
  for (let start = 0; start < 2; start += 1)
    await withDatabase(service, async (connection) => {
      const meta = connection.collection<{ _id: string }>('meta');
      if (start === 0) await meta.updateOne({ _id: 'schema' }, { $set: { version: 2 }, $unset: { target: 1 } });
      await runMigrations(connection, 0);
      expect(await meta.findOne({ _id: 'schema' })).toMatchObject({ version: SCHEMA_VERSION });
    });
  const to = Date.now();
  const after = await readFiles();
  for (const [id, days] of [
    [ids[0], 2],
    [ids[1], DEFAULT_HOT_DAYS],
  ] as const) {
    const coolsAt = after.get(id)?.coolsAt?.getTime() ?? 0;
    expect(coolsAt).toBeGreaterThanOrEqual(from + days * DAY_MS);
    expect(coolsAt).toBeLessThanOrEqual(to + days * DAY_MS);
    expect({ ...after.get(id), coolsAt: null }).toEqual(before.get(id));
  }
  for (const id of [ids[2], ids[3]]) expect(after.get(id)).toEqual(before.get(id));
});

test('of version 3, files of accounts say whose their external ids are, with all that came out of them; the others stay', async () => {
  const owner = await service.store.users.ensure(1, 'before-accounts');
  const ids = Array.from({ length: 6 }, (_, number) => 9_910_000 + number);
  const [mail = 0, attached = 0, inside = 0, page = 0, sent = 0, below = 0] = ids;
  await seedFiles(service, owner, [
    { id: mail, fields: { dataSourceId: 77, source: 'GMAIL' } },
    { id: attached, fields: { parentId: mail, source: 'EML' } },
    { id: inside, fields: { parentId: attached, source: 'TEXT' } },
    { id: page },
    { id: sent, fields: { source: 'EML' } },
    { id: below, fields: { parentId: sent, source: 'TEXT' } },
  ]);
  await withDatabase(service, async (connection) => {
    const files = connection.collection<FileDoc>('files');
    const old = 'organizationId_1_userId_1_source_1_externalFileId_1';
    await files.updateMany({ _id: { $in: ids } }, { $unset: { accountId: 1 } });
    await files.createIndexes([
      { key: { organizationId: 1, userId: 1, source: 1, externalFileId: 1 }, name: old, unique: true },
    ]);
    for (let start = 0; start < 2; start += 1) {
      await connection
        .collection<{ _id: string }>('meta')
        .updateOne({ _id: 'schema' }, { $set: { version: 3 }, $unset: { target: 1 } });
      await runMigrations(connection, 0);
    }
    const rows = await files.find({ _id: { $in: ids } }).toArray();
    expect(new Map(rows.map(({ _id, accountId }) => [_id, accountId]))).toEqual(
      new Map([
        ...[mail, attached, inside].map((id) => [id, 77] as const),
        ...[page, sent, below].map((id) => [id, undefined] as const),
      ]),
    );
    expect((await files.indexes()).map(({ name }) => name)).not.toContain(old);
  });
});

test('of version 4, what may be synced by itself gets its row, and files of accounts count as selected', async () => {
  const { store } = service;
  const asker = await store.users.ensure(1, 'selected before');
  const source = await connectSource(service, asker, { externalId: 'GOOGLE_DRIVE|before' });
  const [scrape, quiet, file, page] = [1, 2, 3, 4].map((number) => 9_800_000 + number) as [
    number,
    number,
    number,
    number,
  ];
  await seedFiles(service, asker, [
    { id: scrape, fields: { isContainer: true, enableAutoSync: true } },
    { id: quiet, fields: { isContainer: true, enableAutoSync: false } },
    { id: file, fields: { dataSourceId: source._id, externalFileId: 'picked' } },
    { id: page, fields: { parentId: scrape } },
  ]);
  await withDatabase(service, async (connection) => {
    const rows = connection.collection<{ _id: string }>('schedules');
    await rows.deleteMany({ userId: asker.userId });
    for (let start = 0; start < 2; start += 1) {
      await connection
        .collection<{ _id: string }>('meta')
        .updateOne({ _id: 'schema' }, { $set: { version: 4 }, $unset: { target: 1 } });
      await runMigrations(connection, 0);
      const found = await rows.find({ userId: asker.userId }).sort({ _id: 1 }).toArray();
      const row = { organizationId: 1, customerId: 'selected before', marked: true, version: 1, applied: null };
      expect(found).toEqual([
        {
          ...row,
          _id: `auto-scrape:${scrape}`,
          userId: asker.userId,
          fileId: scrape,
          dataSourceId: null,
          claimedUntil: null,
        },
        {
          ...row,
          _id: `auto-sync:${source._id}`,
          userId: asker.userId,
          fileId: null,
          dataSourceId: source._id,
          claimedUntil: null,
        },
      ]);
      expect(await store.selections.nextGroup(source._id, [])).toMatchObject({ externalIds: ['picked'], tags: {} });
    }
  });
});

test('of version 1, the index that kept the names of deleted users goes', async () => {
  await withDatabase(service, async (connection) => {
    const users = connection.collection('users');
    const old = 'organizationId_1_customerId_1';
    await users.createIndexes([{ key: { organizationId: 1, customerId: 1 }, name: old }]);
    await connection.collection<{ _id: string }>('meta').updateOne({ _id: 'schema' }, { $set: { version: 1 } });
    await runMigrations(connection, 0);
    expect((await users.indexes()).map(({ name }) => name)).not.toContain(old);
  });
});

test('records of a newer version are refused, and left as they are', async () => {
  await withDatabase(service, async (connection) => {
    const meta = connection.collection<{ _id: string }>('meta');
    await meta.updateOne({ _id: 'schema' }, { $set: { version: SCHEMA_VERSION + 1 } });
    await expect(runMigrations(connection, 0)).rejects.toThrow('newer version of Allotrope');
    expect(await meta.findOne({ _id: 'schema' })).toMatchObject({ version: SCHEMA_VERSION + 1 });
    await meta.updateOne({ _id: 'schema' }, { $set: { version: SCHEMA_VERSION } });
  });
});
