/** Events of changes that a crash, or another run, interrupts: each belongs to a change that was made. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Connection, Model } from 'mongoose';

import { DEFAULT_INGEST_OPTIONS } from '../../../contract/files/ingestOptions.js';
import { itemEnd } from '../../../contract/runs/ledger.js';
import { BEING_DELETED } from '../../../contract/runs/reembed.js';
import { createEvents } from '../../../store/events/events.js';
import { createIntents, type Intents } from '../../../store/events/intents.js';
import { createFileAcceptance, type FileAcceptance } from '../../../store/files/accept.js';
import type { FileRequest } from '../../../store/files/acceptance/request.js';
import { createFileChanges, markedFiles } from '../../../store/files/changes.js';
import { createFileCommands, type FileCommands } from '../../../store/files/commands.js';
import { startFiles } from '../../../store/files/start.js';
import { createFileDeletion, type FileDeletion } from '../../../store/files/deletion.js';
import { createIndexes } from '../../../store/database/driver.js';
import { eventModels, type EventRowDoc } from '../../../store/models/events.js';
import { type FileDoc, fileModel, type SyncedContent } from '../../../store/models/files.js';
import { type UserDoc, userModel } from '../../../store/models/users.js';
import { commonFields, COST, QUEUED, RUN, SYNCING } from './fileFields.js';
import { ADA, dropDatabase, openDatabase, seed, STRANGERS, withoutTransaction } from './writes.js';

const CRASH = new Error('the worker crashed');

let connection: Connection;
let files: Model<FileDoc>;
let users: Model<UserDoc>;
let rows: Model<EventRowDoc>;
let intents: Intents;
let commands: FileCommands;
let deletion: FileDeletion;
let acceptance: FileAcceptance;
/** Whether the process crashes after the change of files, before it publishes their events. */
let isCrashing = false;
/** Runs after new ids are reserved, before the files are inserted. */
let beforeInsert: () => Promise<unknown> = () => Promise.resolve();
let lastId = 50_000;
const ended: unknown[] = [];
const items: unknown[] = [];

beforeAll(async () => {
  connection = await openDatabase();
  files = fileModel(connection);
  users = userModel(connection);
  await createIndexes(files);
  const models = eventModels(connection);
  ({ rows } = models);
  intents = createIntents(rows, markedFiles(files), 1);
  const crashing: Pick<Intents, 'withPendingEvents'> = {
    withPendingEvents: (events, change) =>
      intents.withPendingEvents(events, async (mark) => {
        const changed = await change(mark);
        if (isCrashing) throw CRASH;
        return changed;
      }),
  };
  const events = createEvents(models, null as never, intents, withoutTransaction, 1);
  const report = (status: string, count: number): void => void ended.push([status, count]);
  const changes = createFileChanges(files, withoutTransaction, events, crashing as Intents, report);
  commands = createFileCommands(files, changes);
  const ledger = {
    recordOutcomes: () => Promise.resolve(),
    addItems: (run: unknown, added: unknown) => Promise.resolve(void items.push([run, added])),
  } as never;
  deletion = createFileDeletion({
    ...{ files, users, queries: null as never, atomically: withoutTransaction, events, ledger },
  });
  acceptance = createFileAcceptance({
    ...{ files, events, intents, ledger, deleted: { filterSkipped: null, unskip: () => Promise.resolve() } as never },
    queue: {
      freeSlots: (_tenant: unknown, _run: unknown, requested: number) => Promise.resolve(requested),
      freeUploadSlots: () => Promise.resolve(0),
    },
    sequence: {
      next: async (_kind: string, count = 1) => {
        await beforeInsert();
        return (lastId += count) - count + 1;
      },
    } as never,
  });
});
beforeEach(async () => {
  isCrashing = false;
  beforeInsert = () => Promise.resolve();
  ended.length = 0;
  items.length = 0;
  await rows.deleteMany({});
});
afterAll(() => dropDatabase(connection));

/** Returns the published events of files, as `KIND id`. */
const published = async (): Promise<string[]> =>
  (await rows.find({ last: null }).sort({ writtenAt: 1 }).lean())
    .flatMap(({ events }) => events)
    .flatMap(({ kind, objectId }) => [objectId ?? []].flat().map((id) => `${kind} ${id}`));
const finished = (file: FileDoc) => ({
  ...{ runId: RUN, file, name: null, fileMetadata: {}, tagsRevision: file.tagsRevision ?? null, cost: COST },
  content: { generation: file.lastGeneration } as SyncedContent,
});
const read = (ids: Iterable<number>) =>
  files
    .find({ _id: { $in: [...ids] } })
    .sort({ _id: 1 })
    .lean<FileDoc[]>();

test('the events of the latest change survive a crash, however often the file has changed before', async () => {
  const [id] = (await seed(files, commonFields(files), { one: QUEUED })).values();
  for (let nth = 0; nth < 6; nth += 1) {
    await commands.start(RUN, [id!]);
    await commands.release(RUN, [id!]);
  }
  expect((await read([id!]))[0]!.marks).toHaveLength(4);
  await rows.deleteMany({});
  isCrashing = true;
  await expect(commands.start(RUN, [id!])).rejects.toThrow(CRASH);
  expect(await published()).toEqual([]);
  await intents.settle([id!]);
  expect(await published()).toContain(`FILE_SYNCING ${id}`);
});

test('settle() without ids publishes events that their writer left unpublished 20 s ago, but not 5 s ago', async () => {
  const [id] = (await seed(files, commonFields(files), { one: QUEUED })).values();
  isCrashing = true;
  await expect(commands.start(RUN, [id!])).rejects.toThrow(CRASH);
  const writtenAgo = (ms: number) => rows.updateMany({}, { $set: { at: new Date(Date.now() - ms) } });
  await writtenAgo(5_000);
  await intents.settle();
  expect(await published()).toEqual([]);
  await writtenAgo(20_000);
  await intents.settle();
  expect(await published()).toContain(`FILE_SYNCING ${id}`);
});

test('a batch has events, and counts, only for the files that its run still owns', async () => {
  const ids = await seed(files, commonFields(files), { own: SYNCING, taken: SYNCING });
  const [own, taken] = await read(ids.values());
  await files.updateOne({ _id: taken!._id }, { $set: { runId: 99 } });
  expect(await commands.finish([finished(own!), finished(taken!)])).toEqual([own!._id]);
  expect(await published()).toEqual([`FILE_READY ${own!._id}`]);
  expect(ended).toEqual([['READY', 1]]);
  // A repeated call, after its reply was lost, returns the file again, without a second event.
  expect(await commands.finish([finished(own!)])).toEqual([own!._id]);
  expect([await published(), ended]).toEqual([[`FILE_READY ${own!._id}`], [['READY', 1]]]);
});

test('a batch that fails its files writes no event for a file that was aborted meanwhile', async () => {
  const ids = await seed(files, commonFields(files), { own: QUEUED, ended: QUEUED });
  const [own, other] = [...ids.values()];
  const before = await read(ids.values());
  await files.updateOne({ _id: other! }, { $set: { syncStatus: 'SYNC_ABORTED' } });
  const changes = createFileChanges(files, withoutTransaction, null as never, intents, (status, count) =>
    ended.push([status, count]),
  );
  const end = { owner: { runId: RUN }, where: {}, message: 'm', set: { ended: itemEnd('failed', 'read', null) } };
  expect(await changes.changeAll('fail', before, end)).toBe(false);
  expect(await published()).toEqual([`FILE_ERROR ${own}`]);
  expect(ended).toEqual([['SYNC_ERROR', 1]]);
  expect(await changes.changeAll('fail', [], end)).toBe(true);
});

test('a file that another worker starts at the same time is returned with its stored generation', async () => {
  const ids = await seed(files, commonFields(files), {
    one: QUEUED,
    running: SYNCING,
    ofOther: { ...QUEUED, runId: 99 },
  });
  const [one, running, ofOther] = [...ids.values()];
  /** The other worker starts a file again after this one has read it. */
  const startWith = async (batch: readonly number[], startedAgain: number, areAllStarted: boolean) => {
    const changeAll = async () => {
      await files.updateMany({ _id: { $in: [one!, startedAgain] } }, { $set: SYNCING, $inc: { lastGeneration: 2 } });
      return areAllStarted;
    };
    const started = await startFiles(files, { changeAll } as never, RUN, batch);
    return started.map(({ file, generation }) => [file._id, generation, file.lastGeneration, file.syncStatus]);
  };
  await files.updateOne({ _id: one! }, { $inc: { lastGeneration: 10 } });
  // Queued when it was read, and started by the other worker.
  expect(await startWith([one!, ofOther!], running!, false)).toEqual([[one, 17, 17, 'SYNCING']]);
  await files.updateOne({ _id: one! }, { $set: QUEUED });
  expect(await startWith([one!, running!], running!, true)).toEqual([
    [one, 19, 19, 'SYNCING'],
    [running, 10, 10, 'SYNCING'],
  ]);
});

test('a container emits WEBSCRAPE_URLS_READY once per run, and ALL_UPLOADED_FILES_QUEUED if unscheduled', async () => {
  const ids = await seed(files, commonFields(files), { one: { ...SYNCING, isContainer: true } });
  const [id] = [...ids.values()];
  const discover = (isScheduled: boolean) =>
    commands.moveContainer(RUN, id!, { status: 'SYNCING', discovered: true, isScheduled });
  expect([await discover(true), await discover(true)]).toEqual([true, true]);
  expect(await published()).toEqual([`WEBSCRAPE_URLS_READY ${id}`]);
  await rows.deleteMany({});
  await discover(false);
  expect(await published()).toEqual([`WEBSCRAPE_URLS_READY ${id}`, 'ALL_UPLOADED_FILES_QUEUED r1']);
});

const OPTIONS = { ...DEFAULT_INGEST_OPTIONS, chunkSize: 9 } as never;
const request = (externalFileId: string, fields: Partial<FileRequest> = {}): FileRequest => ({
  ...{ source: 'BOX', externalFileId, externalUrl: null, name: externalFileId, parentId: null, isContainer: false },
  ...{ tags: {}, options: OPTIONS, sourceOptions: null, enableAutoSync: null, requestId: 'r2', runId: RUN },
  ...{ workflowOf: (id: number) => `workflow ${id}`, ...fields },
});

test('a file that another request inserts meanwhile joins this run, without a second FILES_CREATED', async () => {
  await files.deleteMany({});
  beforeInsert = async () => {
    beforeInsert = () => Promise.resolve();
    await acceptance.acceptMany(ADA, [request('a', { runId: 98, requestId: 'first' })]);
  };
  expect(await acceptance.acceptMany(ADA, [request('a'), request('b')])).toBe(2);
  const accepted = await files.find().sort({ externalFileId: 1 }).lean<FileDoc[]>();
  expect(accepted.map(({ externalFileId, runId, requestId }) => [externalFileId, runId, requestId])).toEqual([
    ['a', RUN, 'r2'],
    ['b', RUN, 'r2'],
  ]);
  expect((await published()).toSorted()).toEqual(accepted.map(({ _id }) => `FILES_CREATED ${_id}`).toSorted());
});

const UPLOAD = {
  ...{ uploadId: 'up', original: null, statistics: null, ocrProperties: {}, hotStorageTimeToLive: 3 },
  supportsColdStorage: true,
};

test('only an upload waits if the queue is full; an attachment or a file that a run found is queued', async () => {
  await files.deleteMany({});
  const accept = (name: string, fields: Partial<FileRequest>) => acceptance.accept(ADA, request(name, fields), null);
  const states: Record<string, Partial<FileRequest>> = {
    DELAYED: { upload: UPLOAD },
    QUEUED_FOR_SYNC: {},
    attachment: { upload: UPLOAD, parentId: 5 },
  };
  for (const [name, fields] of Object.entries(states)) {
    const { file, isNew } = await accept(name, { ...fields, fileMetadata: { a: 1 } });
    expect([isNew, file.syncStatus]).toEqual([true, name === 'DELAYED' ? 'DELAYED' : 'QUEUED_FOR_SYNC']);
    expect((await read([file._id]))[0]).toMatchObject({ name, fileMetadata: { a: 1 }, customerId: 'ada' });
  }
  expect(await published()).toHaveLength(3);
  await rows.deleteMany({});
  const again = await accept('DELAYED', { upload: { ...UPLOAD, uploadId: 'again' }, fileMetadata: { b: 2 } });
  expect([again.isNew, again.file.syncStatus, again.file.uploadId]).toEqual([false, 'DELAYED', 'again']);
  expect([again.file.fileMetadata, await published()]).toEqual([{ a: 1, b: 2 }, []]);
  for (const stranger of STRANGERS)
    expect((await acceptance.accept(stranger, request('DELAYED'), null)).isNew).toBe(true);
});

test('a delete emits events only on request, records its items, and counts the removal for its user', async () => {
  const deleting = { syncStatus: 'SYNC_ABORTED', syncErrorMessage: BEING_DELETED } as const;
  await users.deleteMany({});
  await users.collection.insertMany([
    { _id: ADA.userId, organizationId: 1, customerId: 'ada', filesRemoved: 4 },
    { _id: 8, organizationId: 1, customerId: 'ben', filesRemoved: 4 },
  ] as never);
  const ids = await seed(files, commonFields(files), { silent: deleting, loud: deleting, other: deleting });
  const [silent, loud, other] = [...ids.values()];
  for (const stranger of STRANGERS) await deletion.remove(stranger, RUN, [silent!, loud!], true);
  await deletion.remove(ADA, 99, [silent!, loud!], true);
  expect(await read(ids.values())).toHaveLength(3);
  items.length = 0;
  await users.updateMany({}, { $set: { filesRemoved: 4 } });
  await deletion.remove(ADA, RUN, [silent!], false);
  expect(await published()).toEqual([]);
  await deletion.remove(ADA, RUN, [loud!], true);
  expect(await published()).toEqual([`FILE_DELETED ${loud}`]);
  expect((await read(ids.values())).map(({ _id }) => _id)).toEqual([other]);
  const removed = { end: itemEnd('ok', 'delete', null), message: null, name: 'old' };
  expect(items).toMatchObject([silent, loud].map((fileId) => [{ _id: RUN, ...ADA }, [{ ...removed, fileId }]]));
  expect((await users.find().sort({ _id: 1 }).lean()).map(({ filesRemoved }) => filesRemoved)).toEqual([6, 4]);
  // A delete that keeps the record writes no event here: first it is not asked to, then the file is emptied already.
  await deletion.deleteContent(ADA, RUN, [other!], false);
  expect(await published()).toHaveLength(1);
  await deletion.deleteContent(ADA, RUN, [other!], true);
  expect(await published()).toHaveLength(1);
});
