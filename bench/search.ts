/**
 * `npm run bench:search`: time of a search with a tenant and a tag filter, in collections of several sizes, compared
 * with the same query through the Qdrant client alone. It also measures 50 concurrent callers.
 *
 * - `--chunks=500000`: other sizes, separated by commas.
 * - `--data=FOLDER`: keeps the data seeded for one size, to measure it again.
 * - `--seed-only`: seeds without measuring, so that the measurement can run later on an idle machine.
 * - `--unindexed`: does not wait until Qdrant has built the index, which this query does not use.
 * - `--profile=FOLDER`: writes V8 profiles of the API.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { QdrantClient } from '@qdrant/js-client-rest';
import mongoose from 'mongoose';

import { loadConfig } from '../config/config.js';
import { EMBEDDED_SPACE } from '../contract/vectors/spaces.js';
import { fileModel } from '../store/models/files.js';
import type { Tenant } from '../store/users/accept.js';
import { DENSE } from '../store/vectors/collection.js';
import { filterConditions } from '../store/vectors/searchFilter.js';
import { tenantFilter } from '../store/vectors/tenantFilter.js';
import { createVectors } from '../store/vectors/vectors.js';
import type { TestUser } from '../test/support/client.js';
import { percentile } from './measures.js';
import { cpuNow, cpuSince, pidsOf, type Role } from './processes.js';
import { environment, table } from './report.js';
import { CHUNKS_PER_FILE, randomVector, seedVectors, type SeedVectors } from './seedVectors.js';
import { startBenchService } from './service.js';
import { writeReport } from './writeReport.js';

const option = (name: string): string | undefined =>
  process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3);
const chunksOption = option('chunks');
const keptDir = option('data');
const SIZES = (chunksOption ?? '10000,100000').split(',').map(Number);
if (keptDir !== undefined && SIZES.length !== 1)
  throw new Error('--data keeps the data of one size: set --chunks=NUMBER');
const RESULTS = fileURLToPath(new URL('search.md', import.meta.url));
const ITERATIONS = 200;
/** Untimed searches of each kind before the measurement, until V8 has compiled the code of API and client. */
const WARM_UP = 200;
/** Searches of each kind whose processor time is counted. */
const CPU_ITERATIONS = 400;
const K = 10;
/** Maximum ratio of our p50 to that of the Qdrant client. */
const MAX_RATIO = 1.3;
const CALLERS = 50;
const SEARCHES_EACH = 10;
/** Seconds without indexing after which nothing is left to index. */
const SETTLED_S = 12;
/** Share of chunks of another user, which the tenant filter must exclude. */
const OTHERS_SHARE = 0.1;
const QUERY = 'How long does a refund of a payment take?';
/** The default settings of a worker. */
const { qdrant } = loadConfig({ SECRET_KEY: `k1:${randomBytes(32).toString('base64')}` });
const COLLECTION = `${qdrant.prefix}${EMBEDDED_SPACE.name}`;
const printLine = (line: string): void => console.log(`· ${line}`);

type Times = readonly number[];

/** Returns the times of functions that run alternately, so that all run under the same conditions. */
async function timeAll(works: readonly (() => Promise<unknown>)[]): Promise<Times[]> {
  const times: number[][] = works.map(() => []);
  for (let iteration = -WARM_UP; iteration < ITERATIONS; iteration += 1)
    for (const [index, work] of works.entries()) {
      const startedAt = performance.now();
      await work();
      if (iteration >= 0) times[index]?.push(performance.now() - startedAt);
    }
  return times;
}

const percentileOf = (times: Times | undefined, percent: number): number => percentile(times ?? [], percent);
const ms = (time: number): string => time.toFixed(1);

/** Measures the processor time of one search by role. It is meaningful on a busy machine too. */
async function cpuPerSearch(search: () => Promise<void>): Promise<(role: Role) => string> {
  const before = cpuNow();
  for (let iteration = 0; iteration < CPU_ITERATIONS; iteration += 1) await search();
  const spent = cpuSince(before);
  return (role) => ((spent[role] ?? 0) / CPU_ITERATIONS).toFixed(2);
}

/** The searches that are compared. */
interface Searchers {
  /** POST /embeddings with a query vector. */
  ours(): Promise<void>;
  /** POST /embeddings with a query text. */
  withText(): Promise<void>;
  /** The same query as `ours`, through the Qdrant client. */
  byClient(): Promise<void>;
}

function searchers(url: string, user: TestUser, tenant: Tenant, client: QdrantClient): Searchers {
  const { dimensions } = EMBEDDED_SPACE;
  const tags = { tenth: true };
  const checkCount = (found: readonly unknown[]): void => {
    if (found.length !== K) throw new Error(`${found.length} chunks were found instead of ${K}`);
  };
  const headers = { authorization: `Token ${user.token}`, 'content-type': 'application/json' };
  const search = async (body: object): Promise<void> => {
    // Use fetch and read the whole answer, as a caller and the Qdrant client do.
    const answer = await fetch(`${url}/embeddings`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
    checkCount(((await answer.json()) as { documents: unknown[] }).documents);
  };
  const vector = (): number[] => Array.from(randomVector(dimensions));
  return {
    ours: () => search({ query: QUERY, query_vector: vector(), k: K, tags }),
    withText: () => search({ query: QUERY, k: K, tags }),
    async byClient() {
      const must = [
        ...tenantFilter(tenant),
        { key: 'model', match: { value: 'OPENAI' } },
        ...filterConditions({ tagTree: { AND: [{ key: 'tenth', value: true }] }, media: 'TEXT' }),
      ];
      const query = { query: vector(), using: DENSE, filter: { must }, limit: K, with_payload: true };
      checkCount((await client.query(COLLECTION, query)).points);
    },
  };
}

/** Runs concurrent callers. Returns the number of failed searches, the ms of each search, and the seconds of all. */
async function manyCallers(search: () => Promise<void>): Promise<{ errors: number; times: number[]; seconds: number }> {
  const times: number[] = [];
  let errors = 0;
  const startedAt = performance.now();
  const caller = async (): Promise<void> => {
    for (let nth = 0; nth < SEARCHES_EACH; nth += 1) {
      const from = performance.now();
      await search().catch(() => (errors += 1));
      times.push(performance.now() - from);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return { errors, times, seconds: (performance.now() - startedAt) / 1000 };
}

/** Seeds, unless an earlier run has seeded the kept folder. Returns the seconds that seeding took. */
async function seededIn(chunks: number, seed: () => Promise<void>): Promise<string> {
  const markerFile = keptDir === undefined ? null : path.join(keptDir, `seeded-${chunks}`);
  if (markerFile !== null && existsSync(markerFile)) return readFile(markerFile, 'utf8');
  const from = performance.now();
  await seed();
  const seconds = ((performance.now() - from) / 1000).toFixed(0);
  if (markerFile !== null) await writeFile(markerFile, seconds);
  return seconds;
}

/**
 * Waits until the engine has finished indexing, which begins seconds after the last write. Returns the number of
 * indexed points.
 */
async function indexed(client: QdrantClient): Promise<number> {
  for (let idleSeconds = 0; ; idleSeconds += 1) {
    await sleep(1_000);
    const { status } = await client.getCollection(COLLECTION);
    if (status !== 'green') idleSeconds = 0;
    if (idleSeconds === SETTLED_S) return inIndexNow(client);
  }
}

const inIndexNow = async (client: QdrantClient): Promise<number> =>
  (await client.getCollection(COLLECTION)).indexed_vectors_count ?? 0;

/** Returns the peak memory of the engine. */
async function engineMemory(): Promise<string> {
  const status = await readFile(`/proc/${pidsOf('qdrant')[0] ?? 0}/status`, 'utf8');
  return `${(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1e6).toFixed(1)} GB`;
}

const startedAt = new Date();
const rows: string[][] = [];
const costs: string[][] = [];
const concurrent: string[][] = [];
if (keptDir !== undefined) await mkdir(keptDir, { recursive: true });
const service = await startBenchService({
  siteHost: '127.0.0.1:9',
  profileDir: option('profile') ?? null,
  ...(keptDir === undefined ? {} : { keptDir: path.resolve(keptDir) }),
  printLine,
});
try {
  const [user, other] = [await service.user(), await service.user()];
  const tenantOf = async (owner: TestUser): Promise<Tenant> => {
    const { body } = await owner.get<{ id: number; organization_id: number }>('/whoami');
    return { organizationId: body.organization_id, userId: body.id };
  };
  const tenant = await tenantOf(user);
  const connection = await mongoose.createConnection(service.mongodbUri).asPromise();
  const seed: SeedVectors = {
    connection,
    vectors: createVectors({ ...qdrant, url: service.qdrantUrl }),
    tenant,
    space: EMBEDDED_SPACE,
    blank: new (fileModel(connection))().toObject({ minimize: false }),
  };
  const client = new QdrantClient({ url: service.qdrantUrl, checkCompatibility: false });
  const { ours, withText, byClient } = searchers(service.url, user, tenant, client);
  let files = 0;
  for (const chunks of SIZES.toSorted((a, b) => a - b)) {
    const wanted = chunks / CHUNKS_PER_FILE;
    const seconds = await seededIn(chunks, async () => {
      const own = Math.round((wanted - files) * (1 - OTHERS_SHARE));
      await seedVectors(seed, 1_000_000 + files, 1_000_000 + files + own);
      await seedVectors({ ...seed, tenant: await tenantOf(other) }, 1_000_000 + files + own, 1_000_000 + wanted);
    });
    files = wanted;
    printLine(`${chunks} chunks, seeded in ${seconds} s`);
    const indexedCount = process.argv.includes('--unindexed') ? await inIndexNow(client) : await indexed(client);
    printLine(`${indexedCount} indexed`);
    if (process.argv.includes('--seed-only')) continue;
    const [ourTimes, text, clientTimes] = await timeAll([ours, withText, byClient]);
    const ratio = percentileOf(ourTimes, 50) / percentileOf(clientTimes, 50);
    rows.push([
      chunks.toLocaleString('en'),
      ...[
        ms(percentileOf(ourTimes, 50)),
        ms(percentileOf(ourTimes, 95)),
        ms(percentileOf(clientTimes, 50)),
        ms(percentileOf(clientTimes, 95)),
      ],
      ...[
        `${ratio.toFixed(2)}×`,
        `${(percentileOf(ourTimes, 95) / percentileOf(clientTimes, 95)).toFixed(2)}×`,
        ratio <= MAX_RATIO ? 'yes' : 'MISSED',
      ],
      ...[
        ms(percentileOf(text, 50)),
        ms(percentileOf(text, 95)),
        indexedCount.toLocaleString('en'),
        `${seconds} s`,
        await engineMemory(),
      ],
    ]);
    printLine(rows.at(-1)?.join(' · ') ?? '');
    const [cost, clientCost] = [await cpuPerSearch(ours), await cpuPerSearch(byClient)];
    costs.push([
      chunks.toLocaleString('en'),
      ...(['api', 'mongodb', 'qdrant', 'bench'] as const).map(cost),
      ...(['qdrant', 'bench'] as const).map(clientCost),
    ]);
    printLine(costs.at(-1)?.join(' · ') ?? '');
    const concurrentRun = await manyCallers(ours);
    concurrent.push([
      chunks.toLocaleString('en'),
      String(concurrentRun.times.length),
      String(concurrentRun.errors),
      (concurrentRun.times.length / concurrentRun.seconds).toFixed(0),
      ...[
        ms(percentileOf(concurrentRun.times, 50)),
        ms(percentileOf(concurrentRun.times, 95)),
        concurrentRun.errors === 0 ? 'yes' : 'MISSED',
      ],
    ]);
    printLine(concurrent.at(-1)?.join(' · ') ?? '');
  }
  await connection.close();
} finally {
  await service.stop();
}
const text = [
  '# Search',
  '',
  `${startedAt.toISOString()} · \`npm run bench:search${chunksOption === undefined ? '' : ` -- --chunks=${chunksOption}`}\`, ${((Date.now() - startedAt.getTime()) / 60_000).toFixed(1)} minutes · ${environment()}`,
  '',
  `POST /embeddings with a query_vector, which returns ${K} chunks of one user. The user owns 90% of all chunks. ` +
    `The search filters by a tag that 10% of the files have. One caller makes ` +
    `${ITERATIONS} searches. They alternate with the same query and filter through the Qdrant client, which returns payloads without texts. ` +
    `Vectors are random, with ${EMBEDDED_SPACE.dimensions} dimensions. Target: p50 at most ${MAX_RATIO}× the client's.`,
  '',
  table(
    [
      'chunks',
      'p50, ms',
      'p95, ms',
      'client p50',
      'client p95',
      'ratio p50',
      'ratio p95',
      'met',
      'by text p50',
      'by text p95',
      'indexed',
      'seeded in',
      'engine',
    ],
    rows,
  ),
  '',
  `Processor time per search in ms, over ${CPU_ITERATIONS} searches in sequence:`,
  '',
  table(['chunks', 'API', 'MongoDB', 'Qdrant', 'caller', 'client: Qdrant', 'client: caller'], costs),
  '',
  `${CALLERS} concurrent callers, each with ${SEARCHES_EACH} such searches, as fast as possible:`,
  '',
  table(['chunks', 'searches', 'errors', 'per second', 'p50, ms', 'p95, ms', 'met'], concurrent),
  '',
  '- *By text*: the same with a query text, which the embedded model embeds.',
  '- *Indexed*: points in an HNSW index. If the vectors of the matches of a filter have at most 100 MB, Qdrant scans ' +
    'them, with or without an index.',
  '- *Engine*: peak memory of the embedded Qdrant engine.',
  '',
].join('\n');
if (chunksOption === undefined) await writeReport(RESULTS, text);
console.log(`\n${text}`);
process.exit(0);
