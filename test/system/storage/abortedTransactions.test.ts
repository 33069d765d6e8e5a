/**
 * Every method that takes part in the transaction of its caller. A write outside of the transaction would remain after
 * the transaction fails: a file without a run, or a run without its file.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose, { type ClientSession, type Connection } from 'mongoose';

import { loadConfig, storeSettings } from '../../../config/config.js';
import { DEFAULT_INGEST_OPTIONS } from '../../../contract/files/ingestOptions.js';
import { storedTags } from '../../../contract/files/tags.js';
import { itemEnd } from '../../../contract/runs/ledger.js';
import { connectStore, type Store } from '../../../store/connect.js';
import { fileModel } from '../../../store/models/files.js';
import { connectSource } from '../../support/dataSources.js';
import { testEngines } from '../../support/engines.js';
import { everyRow } from '../../support/everyRow.js';
import { seedFiles } from '../../support/seedFiles.js';
import type { TestService } from '../../support/service.js';

type LastOf<A extends readonly unknown[]> = Required<A> extends [...infer _First, infer Last] ? Last : never;
/** Names of the store's methods whose last parameter is a session: a new one has to be added below. */
type InTransaction = {
  [M in keyof Store]: {
    [K in keyof Store[M]]: Store[M][K] extends (...args: infer A) => unknown
      ? [LastOf<A>] extends [ClientSession | null | undefined]
        ? [LastOf<A>] extends [never]
          ? never
          : `${M & string}.${K & string}`
        : never
      : never;
  }[keyof Store[M]];
}[keyof Store];
/** Methods that only read. */
type Reading = 'files.retryable';
/** Calls of these methods with other arguments, and methods whose session is not the last parameter. */
type Others = 'dataSources.revoke' | 'schedules.markContainer, disabled';
type Call = (session: ClientSession) => Promise<unknown>;

const ADA = { organizationId: 1, userId: 7, customerId: 'ada' };
const TAGS = storedTags({ team: 'red' });
const [READY, FAILED, SYNCING, COLD, IDLE, KEPT] = [601, 602, 603, 604, 605, 606];
const RUN = 71;
const LATER = new Date('2100-01-01');

let dataDir: string;
let connection: Connection;
let store: Store;
let lastRun = 1_000;

beforeAll(async () => {
  const engines = testEngines();
  dataDir = await mkdtemp(path.join(tmpdir(), 'allotrope-aborted-'));
  const mongodbUri = new URL(engines.mongodbUri);
  mongodbUri.pathname = `/aborted-${randomUUID().slice(0, 8)}`;
  const env = {
    ...{ DATA_DIR: dataDir, API_KEY: randomBytes(16).toString('hex'), MONGODB_URI: mongodbUri.href },
    ...{ SECRET_KEY: `k1:${randomBytes(32).toString('base64')}`, QDRANT_URL: engines.qdrantUrl },
    ...{ EMBEDDING_MODEL_PATH: engines.modelPath, EMBEDDING_TOKENIZER_PATH: engines.tokenizerPath },
    TEMPORAL_ADDRESS: engines.temporalAddress,
  };
  connection = await mongoose.createConnection(mongodbUri.href).asPromise();
  store = await connectStore(storeSettings(loadConfig(env)));
  const service = { env, store } as unknown as TestService;
  await seedFiles(service, ADA, [
    { id: READY },
    { id: FAILED, fields: { syncStatus: 'SYNC_ERROR', runId: RUN } },
    { id: SYNCING, fields: { syncStatus: 'SYNCING', runId: RUN } },
    { id: COLD },
    { id: IDLE },
  ]);
});
afterAll(async () => {
  await connection.dropDatabase();
  await Promise.all([connection.close(), store.close()]);
  await rm(dataDir, { recursive: true, force: true });
});

/** Returns all rows, as text by collection. Omits the counters of ids: an aborted transaction does not reset them. */
async function dump(): Promise<Record<string, string>> {
  const collections = await connection.db!.listCollections().toArray();
  const named = collections.map(({ name }) => name).filter((name) => name !== 'sequences');
  const texts = await Promise.all(
    named.toSorted().map(async (name) => {
      const rows = await connection.collection(name).find().sort({ _id: 1 }).toArray();
      return [name, JSON.stringify(rows)] as const;
    }),
  );
  return Object.fromEntries(texts.filter(([, text]) => text !== '[]'));
}

/** Prepares the rows that the methods change. @returns a call of each method */
async function prepare(): Promise<Record<Exclude<InTransaction, Reading> | Others, Call>> {
  const { attempts, connections, dataSources, files, idempotency, ledger, moves, organizations, originals } = store;
  const { quarantine, runs, schedules, selections, users, webhooks, whiteLabels, transaction } = store;
  const source = await connectSource({ store }, ADA, { externalId: 'BOX|one', type: 'BOX' });
  await store.dataSources.mergeMetadata(ADA, source._id, { deletions_held: 12 });
  const other = await connectSource({ store }, ADA, { externalId: 'BOX|two', type: 'BOX' });
  const attempt = (_id: number) => ({
    ...{ _id, ...ADA, service: 'BOX', clientId: 'c', redirectUri: 'r', facts: {}, options: {}, actions: {} },
    ...{ knownSourceId: null, expiresAt: LATER },
  });
  const secrets = { verifier: 'v', clientSecret: null };
  for (const id of [1, 2])
    await transaction((session) => attempts.begin(attempt(id) as never, `state ${id}`, secrets, session));
  const received = await Promise.all(
    [1, 2].map((nth) =>
      originals.receive(
        ADA,
        (async function* content() {
          yield await Promise.resolve(Buffer.from(`content ${nth}`));
        })(),
      ),
    ),
  );
  await transaction((session) => originals.accept(received[1]!, FAILED, session));
  await users.ensure(1, 'eve');
  await users.ensure(1, 'bob');
  const gone = await users.ensure(1, 'gone');
  await transaction((session) => users.markDeleted(1, ['gone'], session));
  await transaction((session) => schedules.markSource({ ...ADA, customerId: 'bob' }, 900, session));
  await connection.collection<{ _id: number }>('quarantined_files').insertMany([
    {
      ...{ _id: KEPT, ...ADA, dataSourceId: 40, parentId: 50, state: 'kept', runId: 1, missedBy: 1 },
      ...{ quarantinedAt: new Date(), keptUntil: LATER, copy: null, file: {} },
    } as never,
  ]);
  await transaction((session) =>
    whiteLabels.put(1, [{ data_source_type: 'BOX', credentials: { client_id: 'a', redirect_uri: 'b' } }], session),
  );
  const newRun = (runId: number) => ({
    ...({ kind: 'updateTags', workflowId: `tags:${runId}`, owner: ADA, fileId: null, requestId: 'r' } as const),
    ...{ dataSourceId: source._id },
  });
  await transaction((session) => runs.accept(RUN, newRun(RUN) as never, session));
  const again = () => ({ runId: (lastRun += 1), workflowId: 'again', requestId: 'again' });
  const listed = () => ({ runId: (lastRun += 1), requestId: 'r', dataSourceId: source._id });
  const chosen = { externalIds: ['a'], tags: {}, ingest: DEFAULT_INGEST_OPTIONS };
  const request = {
    ...{ source: 'BOX', externalFileId: 'new', externalUrl: null, name: null, parentId: null, isContainer: false },
    ...{ tags: {}, options: DEFAULT_INGEST_OPTIONS, sourceOptions: null, enableAutoSync: null, requestId: 'r' },
    ...{ runId: RUN, workflowOf: () => 'w' },
  };
  const byId = async (id: number) => (await files.byIds(ADA, [id]))[0]!;
  const [idle, syncing] = [await byId(IDLE), await byId(SYNCING)];
  const { organizationId } = await organizations.create('other');
  const use = { organizationId: 1, userId: 7, route: 'route', key: 'key' };
  const item = {
    fileId: null,
    externalId: 'x',
    name: null,
    end: itemEnd('failed', 'fetch', 'timed_out'),
    message: null,
  };
  const account = { type: 'BOX', account: 'three', metadata: {}, credentials: 'c', dataSourceTags: {} } as const;
  const client = { client_id: 'other', redirect_uri: 'b' };
  const connectionOf = (externalId: string) =>
    ({ type: 'BOX', externalId, credentials: 'c', metadata: {}, tags: TAGS, enableAutoSync: null }) as const;
  const original = { id: received[0]!.id, sha256: 'x', size: 1 } as never;
  return {
    'attempts.begin': (session) => attempts.begin(attempt(3) as never, 'state 3', secrets, session),
    'attempts.beginConnected': (session) =>
      attempts.beginConnected({ ...attempt(4), dataSourceId: source._id } as never, session),
    'attempts.changeState': (session) => attempts.changeState(1, ['waiting'], 'failed', {}, session),
    'attempts.recordReturn': (session) => attempts.recordReturn(2, 'code', session),
    'connections.accept': (session) =>
      connections.accept(ADA, { ...account, listItems: true, syncFiles: false, requestId: 'r' }, session),
    'connections.list': (session) => connections.list(ADA, listed(), session),
    'connections.select': (session) => connections.select(ADA, listed(), chosen, session),
    'dataSources.approveDeletions': (session) => dataSources.approveDeletions(source._id, session),
    'dataSources.changeTags': (session) => dataSources.changeTags(ADA, source._id, () => TAGS, session),
    'dataSources.connect': (session) => dataSources.connect(ADA, connectionOf('BOX|four'), session),
    'dataSources.queueListing': (session) => dataSources.queueListing(ADA, source._id, 5, session),
    'dataSources.recordCancellation': (session) =>
      dataSources.recordCancellation(ADA, source._id, null as never, session),
    'dataSources.recordSelection': (session) => dataSources.recordSelection(ADA, source._id, null as never, session),
    'dataSources.revoke': (session) => dataSources.revoke(ADA, other._id, session),
    'dataSources.storeOptions': (session) => dataSources.storeOptions(ADA, source._id, { a: 1 } as never, session),
    'files.accept': (session) => files.accept(ADA, request as never, session),
    'files.changeTags': (session) => files.changeTags(ADA, READY, () => TAGS, session),
    'files.queueAgain': (session) =>
      files.queueAgain(ADA, idle, { ...again(), options: DEFAULT_INGEST_OPTIONS }, session),
    'files.retry': (session) => files.retry(ADA, [FAILED], true, again(), session),
    'files.setOriginal': (session) =>
      files.setOriginal(RUN, syncing._id, { original, name: 'n', statistics: null } as never, session),
    'idempotency.claim': (session) => idempotency.claim(use, 'f', session),
    'idempotency.saveAnswer': (session) => idempotency.saveAnswer(use, 'answer', session),
    'ledger.addItems': (session) => ledger.addItems({ ...ADA, _id: RUN }, [item], session),
    'ledger.recordOutcomes': (session) => ledger.recordOutcomes([syncing], 999, session),
    'moves.modify': (session) =>
      moves.modify(
        { ...ADA, requestId: 'r' },
        { ids: [COLD] },
        { enabled: true, days: 3 } as never,
        { afterId: 0, limit: 10 },
        session,
      ),
    'organizations.update': (session) =>
      organizations.update(organizationId, { userLimits: { max_files: 1 }, connectorSettings: {} }, session),
    'originals.accept': (session) => originals.accept(received[0]!, READY, session),
    'originals.release': (session) => originals.release({ ...ADA, fileId: FAILED }, received[1]!.id, session),
    'quarantine.claimForRestore': (session) => quarantine.claimForRestore(ADA, {}, RUN, session),
    'quarantine.expire': (session) => quarantine.expire(ADA, { dataSourceId: 40 }, session),
    'runs.accept': (session) => runs.accept(801, newRun(801) as never, session),
    'runs.acceptMany': (session) => runs.acceptMany(new Map([[802, newRun(802) as never]]), session),
    'schedules.markContainer': (session) => schedules.markContainer(ADA, READY, true, session),
    'schedules.markContainer, disabled': (session) => schedules.markContainer(ADA, READY, false, session),
    'schedules.markOrganization': (session) => schedules.markOrganization(1, session),
    'schedules.markSource': (session) => schedules.markSource(ADA, source._id, session),
    'schedules.markUsers': (session) => schedules.markUsers(1, ['bob'], session),
    'selections.save': (session) => selections.save(ADA, other._id, { ...chosen, externalIds: ['b'] }, session),
    'users.markDeleted': (session) => users.markDeleted(1, ['eve'], session),
    'users.markErased': (session) => users.markErased(gone, session),
    'users.update': (session) => users.update(1, ['bob'], { customLimits: { max_files: 2 } }, session),
    'webhooks.add': (session) => webhooks.add(1, 'https://receiver.example/', 'key', session),
    'whiteLabels.change': (session) => whiteLabels.change(1, { data_source_type: 'BOX', credentials: client }, session),
    'whiteLabels.put': (session) => whiteLabels.put(1, [{ data_source_type: 'GMAIL', credentials: client }], session),
  };
}

test('a method that takes part in a transaction leaves nothing if the transaction fails', async () => {
  const calls = Object.entries(await prepare());
  const aborted = new Error('aborted');
  let before = await dump();
  await everyRow(
    calls,
    ([name]) => name,
    async ([, call]) => {
      try {
        const failing = store.transaction(async (session) => {
          await call(session!);
          throw aborted;
        });
        await expect(failing).rejects.toBe(aborted);
        expect(await dump()).toEqual(before);
        // The same call changes something if the transaction succeeds.
        await store.transaction((session) => call(session!));
        const after = await dump();
        expect(after).not.toEqual(before);
        before = after;
      } catch (error) {
        before = await dump();
        throw error;
      }
    },
  );
  expect(await fileModel(connection).countDocuments()).toBe(6);
});
