/** The three engines together: start, kill, restart, and end of the process that started them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { QdrantClient } from '@qdrant/js-client-rest';
import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import mongoose from 'mongoose';

import { type Engine, startEngine } from '../../../engines/engine.js';
import { startMongodb } from '../../../engines/mongodb.js';
import { findPort } from '../../../engines/ports.js';
import { startQdrant } from '../../../engines/qdrant.js';
import { startEngines, type RunningEngines } from '../../../engines/start.js';
import { waitFor } from '../../support/waitFor.js';

const need = { temporal: true, mongodb: true, qdrant: true };
const folders: string[] = [];
const crashes: string[] = [];
let dataDir: string;
let engines: RunningEngines;

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'allotrope-start-'));
  folders.push(folder);
  return folder;
}

beforeAll(async () => {
  dataDir = await newFolder();
  engines = await startEngines({
    dataDir,
    need,
    ports: 'free',
    onCrash: (engine, how) => crashes.push(`${engine} ${how}`),
  });
});
afterAll(async () => {
  await engines.stop();
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
});

/** Runs `work` with a connection to MongoDB. */
async function withMongo<T>(
  uri: string | undefined,
  work: (items: mongoose.mongo.Collection, client: mongoose.mongo.MongoClient) => Promise<T>,
): Promise<T> {
  const client = new mongoose.mongo.MongoClient(uri ?? '');
  try {
    return await work(client.db('test').collection('items'), client);
  } finally {
    await client.close();
  }
}

interface EngineState {
  readonly engines: readonly ({ readonly name: string; readonly pid: number } | undefined)[];
}
const readState = async () => JSON.parse(await readFile(join(dataDir, 'engines.json'), 'utf8')) as EngineState;
const pidsOf = (state: EngineState) => Object.fromEntries(state.engines.map((engine) => [engine?.name, engine?.pid]));
const isAlive = (pid: number) => existsSync(`/proc/${pid}`);

test('records addresses and process ids in engines.json', async () => {
  const { temporalAddress, temporalUiUrl, mongodbUri, qdrantUrl } = engines;
  const state = await readState();
  expect(state).toMatchObject({ temporalAddress, temporalUiUrl, mongodbUri, qdrantUrl, owner: process.pid });
  expect(pidsOf(state)).toEqual(pidsOf({ engines: [engines.temporal, engines.mongodb, engines.qdrant] }));
});

test('serves the Temporal Web UI', async () => {
  expect((await fetch(engines.temporalUiUrl ?? '')).status).toBe(200);
});

test('calls onCrash with an engine that ends right after its start; its restart() starts it again', async () => {
  let launches = 0;
  const launch = () => {
    launches += 1;
    const ended = launches === 1 ? Promise.resolve('ended with code 1') : new Promise<string>(() => {});
    return Promise.resolve({ pid: launches, logOffset: 0, ended, stop: () => Promise.resolve() });
  };
  const restarted = new Promise<number>((resolve, fail) => {
    const onCrash = (name: string, how: string, engine: Engine) => {
      expect([name, how]).toEqual(['qdrant', 'ended with code 1']);
      engine.restart().then(() => resolve(engine.pid), fail);
    };
    startEngine({ name: 'qdrant', ports: ['free'], launch, onCrash }).catch(fail);
  });
  expect(await restarted).toBe(2);
});

test('refuses a second owner of a data directory', async () => {
  await expect(startEngines({ dataDir, need, ports: 'free' })).rejects.toThrow(
    /Another process runs its engines on .*DATA_DIR/,
  );
});

test('preserves running workflows and their search attributes in Temporal after kill -9', async () => {
  const requestId = defineSearchAttributeKey('RequestId', 'KEYWORD');
  const connection = await Connection.connect({ address: engines.temporalAddress ?? '' });
  const client = new Client({ connection });
  await client.workflow.start('withoutWorker', {
    taskQueue: 'without-worker',
    workflowId: 'kept',
    typedSearchAttributes: new TypedSearchAttributes([{ key: requestId, value: 'r1' }]),
  });
  await engines.temporal?.kill('SIGKILL');
  await engines.temporal?.restart();
  const { status, typedSearchAttributes } = await client.workflow.getHandle('kept').describe();
  expect(status.name).toBe('RUNNING');
  expect(typedSearchAttributes.get(requestId)).toBe('r1');
  await connection.close();
});

test('keeps acknowledged writes in MongoDB over kill -9, and supports transactions', async () => {
  await withMongo(engines.mongodbUri, async (items, client) => {
    await items.insertOne({ name: 'before' });
    await engines.mongodb?.kill('SIGKILL');
    await engines.mongodb?.restart();
    expect(await items.countDocuments({ name: 'before' })).toBe(1);
    await client.withSession((session) =>
      session.withTransaction(() => items.insertOne({ name: 'in a transaction' }, { session })),
    );
    expect(await items.countDocuments()).toBe(2);
  });
});

test('releases an abandoned MongoDB transaction within seconds', async () => {
  await withMongo(engines.mongodbUri, async (items, client) => {
    const { insertedId: _id } = await items.insertOne({ name: 'free' });
    const abandoned = client.startSession();
    abandoned.startTransaction();
    await items.updateOne({ _id }, { $set: { name: 'locked' } }, { session: abandoned });
    // Waits for the lock; with MongoDB's default limit of a minute it would time out.
    await items.updateOne({ _id }, { $set: { name: 'ours' } }, { maxTimeMS: 30_000 });
    expect(await items.countDocuments({ name: 'ours' })).toBe(1);
    await abandoned.endSession();
  });
});

test('reports a kill -9 of Qdrant, which keeps acknowledged points and indexes, and drops an incomplete collection', async () => {
  const client = new QdrantClient({ url: engines.qdrantUrl ?? '' });
  await client.createCollection('kept', { vectors: { size: 2, distance: 'Dot' } });
  await client.createCollection('half-made', { vectors: { size: 2, distance: 'Dot' } });
  await client.createPayloadIndex('kept', { field_name: 'n', field_schema: 'integer', wait: true });
  for (let n = 0; n < 20; n++) {
    const points = Array.from({ length: 100 }, (_, i) => ({ id: n * 100 + i, vector: [n, i], payload: { n } }));
    await client.upsert('kept', { wait: true, points });
  }
  crashes.length = 0;
  process.kill(engines.qdrant?.pid ?? 0, 'SIGKILL');
  await waitFor(
    () => crashes.length,
    (count) => count > 0,
  );
  expect(crashes).toEqual(['qdrant ended by SIGKILL']);
  await rm(join(dataDir, 'qdrant', 'half-made', 'config.json'));
  await engines.qdrant?.restart();
  expect((await fetch(`${engines.qdrantUrl}/readyz`)).ok).toBe(true);
  expect(pidsOf(await readState())['qdrant']).toBe(engines.qdrant?.pid);
  expect((await client.count('kept')).count).toBe(2000);
  expect((await client.getCollection('kept')).payload_schema['n']?.points).toBe(2000);
  expect((await client.getCollections()).collections).toEqual([{ name: 'kept' }]);
  expect(existsSync(join(dataDir, 'qdrant', 'half-made'))).toBe(false);
});

test('assigns the next free ports to two engines that start at once on an occupied port, and MongoDB keeps its data', async () => {
  const folder = await newFolder();
  const port = await findPort('free');
  const { venv } = engines;
  const first = await startMongodb({ dataDir: folder, venv, port });
  await withMongo(first.uri, (items) => items.insertOne({ name: 'kept' }));
  await first.stop();

  const occupied = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
  await once(occupied, 'listening');
  const [mongodb, qdrant] = await Promise.all([
    startMongodb({ dataDir: folder, venv, port }),
    startQdrant({ dataDir: folder, venv, port }),
  ]);
  const [lower = 0, higher = 0] = [...mongodb.ports, ...qdrant.ports].toSorted((a, b) => a - b);
  expect(lower).toBe(port + 1);
  expect(higher).toBeGreaterThan(lower);
  expect([isAlive(mongodb.pid), isAlive(qdrant.pid)]).toEqual([true, true]);
  expect(await withMongo(mongodb.uri, (items) => items.countDocuments())).toBe(1);
  await Promise.all([mongodb.stop(), qdrant.stop()]);
  expect([isAlive(mongodb.pid), isAlive(qdrant.pid)]).toEqual([false, false]);
  occupied.close();
});

test('ends all engines when the process that started them is killed', async () => {
  const script = new URL('children/holdEngines.ts', import.meta.url).pathname;
  const owner = spawn(process.execPath, ['--import', 'tsx', script, await newFolder()], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(owner.stdout, 'data')) as [Buffer];
  const pids = JSON.parse(line.toString()) as number[];
  expect(pids.map(isAlive)).toEqual([true, true, true]);
  owner.kill('SIGKILL');
  await waitFor(
    () => pids.map(isAlive),
    (living) => !living.includes(true),
  );
});
