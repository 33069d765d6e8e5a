/** Tests of the observation of calls to stores: observers receive whether each call failed; metrics count failures. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { QdrantClient } from '@qdrant/js-client-rest';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import { createMetrics } from '../../observability/metrics.js';
import {
  type CallEnd,
  type CallObserver,
  combineObservers,
  observe,
  type ObservedCall,
} from '../../observability/watch.js';
import { watchCommands } from '../../store/database/watchMongo.js';
import { watchedClient, watchedReader } from '../../store/vectors/watchQdrant.js';
import { testEngines } from '../support/engines.js';
import { everyRow } from '../support/everyRow.js';
import { seriesOf } from '../support/scrape.js';

let server: Server;
let status = 200;
beforeAll(async () => {
  server = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"result":{},"status":{"error":"no"}}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

type Calls = (ObservedCall & CallEnd)[];
const recorder = (): { calls: Calls; watch: CallObserver } => {
  const calls: Calls = [];
  return { calls, watch: (call) => (end) => void calls.push({ ...call, ...end }) };
};
const CALL = { system: 'qdrant', operation: 'o', target: 't' } as const;
const rejecting = () => Promise.reject(new Error('unreachable'));

test('reports a rejected promise as failed to every observer, and rethrows its error', async () => {
  const [first, second] = [recorder(), recorder()];
  const watch = combineObservers([first.watch, null, second.watch]);
  expect(await observe(watch, CALL, () => Promise.resolve(3))).toBe(3);
  await expect(observe(watch, CALL, rejecting)).rejects.toThrow('unreachable');
  const outcomes = [
    { ...CALL, failed: false },
    { ...CALL, failed: true },
  ];
  expect([first.calls, second.calls]).toEqual([outcomes, outcomes]);
  await expect(observe(combineObservers([null]), CALL, rejecting)).rejects.toThrow('unreachable');
});

test('reports a request to Qdrant as failed for each error status and without an answer', () =>
  everyRow([200, 400, 404, 429, 500, 503, null], String, async (given) => {
    const { calls, watch } = recorder();
    status = given ?? 200;
    // Port 9 is closed.
    const port = given === null ? 9 : (server.address() as AddressInfo).port;
    const url = `http://127.0.0.1:${port}`;
    const client = watchedClient(new QdrantClient({ url, checkCompatibility: false }), watch);
    const failed = given !== 200;
    const isRefused = (work: Promise<unknown>): Promise<boolean> =>
      work.then(
        () => false,
        () => true,
      );
    expect(await isRefused(client.getCollection('things'))).toBe(failed);
    const reader = watchedReader(() => (failed ? rejecting() : Promise.resolve([] as never)), watch);
    expect(await isRefused(reader('/collections/things/points/query/batch?timeout=3', {}))).toBe(failed);
    expect(await isRefused(reader('/collections/things/points', {}))).toBe(failed);
    const ofQdrant = { system: 'qdrant', target: 'things', failed };
    expect(calls).toEqual([
      { ...ofQdrant, operation: 'getCollection' },
      { ...ofQdrant, operation: 'query_batch' },
      { ...ofQdrant, operation: 'retrieve' },
    ]);
  }));

test('reports a rejected command of MongoDB as failed, and ignores commands that keep connections alive', async () => {
  const { calls, watch } = recorder();
  const options = { dbName: `watched-${process.pid}`, monitorCommands: true };
  const connection = await mongoose.createConnection(testEngines().mongodbUri, options).asPromise();
  watchCommands(connection, watch);
  await connection.db!.collection('things').countDocuments();
  await connection.db!.admin().ping();
  await connection.db!.command({ find: 'things', filter: { $no: 1 } }).catch(() => undefined);
  await connection.close();
  const ofMongo = { system: 'mongodb', target: 'things' };
  expect(calls).toEqual([
    { ...ofMongo, operation: 'aggregate', failed: false },
    { ...ofMongo, operation: 'find', failed: true },
  ]);
});

test('counts only the failures of each store', async () => {
  const metrics = createMetrics({ ofProcess: false });
  const failures = async (): Promise<(number | undefined)[]> => {
    const series = seriesOf((await metrics.scrape()).text);
    return ['mongodb', 'qdrant'].map((system) => {
      const found = Object.entries(series).filter(
        ([name]) => name.startsWith('allotrope_store_failures_total') && name.includes(`system="${system}"`),
      );
      return found.reduce((sum, [, count]) => sum + count, 0);
    });
  };
  for (const system of ['mongodb', 'qdrant'] as const) metrics.watch({ ...CALL, system })({ failed: false });
  expect(await failures()).toEqual([0, 0]);
  metrics.watch({ ...CALL, system: 'mongodb' })({ failed: true });
  expect(await failures()).toEqual([1, 0]);
  metrics.watch({ ...CALL, system: 'qdrant' })({ failed: true });
  expect(await failures()).toEqual([1, 1]);
});
