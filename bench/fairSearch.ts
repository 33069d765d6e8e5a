/**
 * `npm run bench:fair-search`: searches of one organization while callers of another send long queries in a loop.
 * Phases with and without long queries alternate, so that both run under the same conditions. `-- --quick` takes fewer
 * searches.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { connectStore } from '../store/connect.js';
import { loadConfig, storeSettings } from '../config/config.js';
import type { FileRecord } from '../contract/files/records.js';
import { apiClient, testUser, type TestUser } from '../test/support/client.js';
import { percentile } from './measures.js';
import { cpuNow, cpuSince } from './processes.js';
import { environment, table } from './report.js';
import { startBenchService } from './service.js';
import { writeReport } from './writeReport.js';

const quick = process.argv.includes('--quick');
const RESULTS = fileURLToPath(new URL('fairSearch.md', import.meta.url));
const ITERATIONS = quick ? 2 : 4;
const SEARCHES = quick ? 50 : 150;
const WARM_UP = 50;
/** Pause between two searches, like that of a person instead of a load test. */
const PAUSE_MS = 20;
const TEXTS = 40;
const WORDS =
  'a refund of the payment takes five working days unless the bank of the customer asks for more papers'.split(' ');
const printLine = (line: string): void => console.log(`· ${line}`);

interface Load {
  readonly name: string;
  readonly characters: number;
  /** Number of callers that send such queries in a loop. */
  readonly callers: number;
  /** Maximum ratio of the p95 of searches to that in phases without this load; null: no target. */
  readonly target: number | null;
}
const LOADS: readonly Load[] = [
  { name: '8,000 characters, one caller', characters: 8_000, callers: 1, target: 2 },
  { name: '32,000 characters, one caller', characters: 32_000, callers: 1, target: 3 },
  { name: '32,000 characters, 32 callers', characters: 32_000, callers: 32, target: null },
];

const words = (characters: number, from: number): string => {
  let text = '';
  for (let at = from; text.length < characters; at += 7) text += `${WORDS[at % WORDS.length]} `;
  return text.slice(0, characters);
};

async function upload(user: TestUser): Promise<void> {
  const accepted: FileRecord[] = [];
  for (let index = 0; index < TEXTS; index += 1) {
    const contents = `Case ${index}: ${words(400, index)}`;
    const { status, body } = await user.post<FileRecord>('/upload_text', { contents });
    if (status !== 200) throw new Error(`the upload was answered ${status}`);
    accepted.push(body);
  }
  for (const { id } of accepted) await user.settled(id, 600_000);
}

/** Sends distinct queries one after the other. @returns the duration of each in ms */
async function searchTimes(user: TestUser, count: number, seed: number): Promise<number[]> {
  const times: number[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const from = performance.now();
    const found = await user.search({ query: `${seed} ${nth} ${words(40, nth)}`, k: 5 });
    times.push(performance.now() - from);
    if (found.length !== 5) throw new Error(`${found.length} chunks were found instead of 5`);
    await sleep(PAUSE_MS);
  }
  return times;
}

/** Sends long queries in loops. @returns a function that stops them and returns the number of answered queries */
function begin(user: TestUser, { characters, callers }: Load): () => Promise<number> {
  let isOver = false;
  let answered = 0;
  const loop = async (caller: number): Promise<void> => {
    for (let nth = 0; !isOver; nth += 1) {
      const { status } = await user.post('/embeddings', { query: words(characters, caller + 31 * nth), k: 5 });
      if (status !== 200) throw new Error(`a long query was answered ${status}`);
      answered += 1;
    }
  };
  const loops = Promise.all(Array.from({ length: callers }, (_, caller) => loop(caller)));
  loops.catch(() => undefined);
  return async () => {
    isOver = true;
    await loops;
    return answered;
  };
}

const startedAt = new Date();
const SECRET_KEY = `k1:${Buffer.alloc(32, 1).toString('base64')}`;
const service = await startBenchService({
  ...{ siteHost: '127.0.0.1:9', profileDir: null, printLine },
  settings: { SECRET_KEY },
});
const idle: number[] = [];
const loaded = LOADS.map((): number[] => []);
const answered = LOADS.map(() => 0);
const apiCpu = { idle: 0, idleSearches: 0 };
try {
  const store = await connectStore(
    storeSettings(
      loadConfig({
        ...{
          MONGODB_URI: service.mongodbUri,
          QDRANT_URL: service.qdrantUrl,
          SECRET_KEY,
        },
      }),
    ),
  );
  const { apiKey } = await store.organizations.create('other');
  await store.close();
  const [victim, attacker] = [await service.user(), await testUser(service.url, apiKey, 'attacker')];
  await Promise.all([upload(victim), upload(attacker)]);
  printLine('both organizations have their files');
  await searchTimes(victim, WARM_UP, 0);
  for (let iteration = 1; iteration <= ITERATIONS; iteration += 1)
    for (const [index, load] of LOADS.entries()) {
      const before = cpuNow();
      idle.push(...(await searchTimes(victim, SEARCHES, 10 * iteration + index)));
      apiCpu.idle += cpuSince(before)['api'] ?? 0;
      apiCpu.idleSearches += SEARCHES;
      const stop = begin(attacker, load);
      await sleep(500);
      const times = await searchTimes(victim, SEARCHES, 100 + 10 * iteration + index);
      loaded[index]?.push(...times);
      answered[index] = (answered[index] ?? 0) + (await stop());
      printLine(
        `iteration ${iteration}, ${load.name}: p95 ${percentile(times, 95).toFixed(1)} ms, idle so far ${percentile(idle, 95).toFixed(1)} ms`,
      );
    }
  const health = await apiClient(service.url).get('/health');
  if (health.status !== 200) throw new Error('the API is not healthy');
} finally {
  await service.stop();
}
const row = (name: string, times: readonly number[], load: Load | null, count: number | null): string[] => {
  const ratio = percentile(times, 95) / percentile(idle, 95);
  const target = load?.target ?? null;
  return [
    name,
    ...[50, 95, 99].map((hundredth) => percentile(times, hundredth).toFixed(1)),
    load === null ? '' : `${ratio.toFixed(2)}×`,
    target === null ? '' : `≤ ${target}×`,
    target === null ? '' : ratio <= target ? 'yes' : 'MISSED',
    count === null ? '' : String(count),
  ];
};
const text = [
  '# Fair search',
  '',
  `${startedAt.toISOString()} · \`npm run bench:fair-search${quick ? ' -- --quick' : ''}\`, ${((Date.now() - startedAt.getTime()) / 60_000).toFixed(1)} minutes · ${environment()}`,
  '',
  `Short queries of one organization in sequence, while a user of another organization sends long queries in a loop: ` +
    `${SEARCHES} searches per row in each of ${ITERATIONS} iterations, and an idle phase of ${SEARCHES} before each. Processor time of the API for a search without long queries: ` +
    `${(apiCpu.idle / apiCpu.idleSearches).toFixed(1)} ms.`,
  '',
  table(
    ['measure', 'p50, ms', 'p95, ms', 'p99, ms', 'p95 compared with idle', 'target', 'met', 'long queries answered'],
    [
      row('idle', idle, null, null),
      ...LOADS.map((load, index) => row(load.name, loaded[index] ?? [], load, answered[index] ?? 0)),
    ],
  ),
  '',
].join('\n');
await writeReport(RESULTS, text);
console.log(`\n${text}`);
process.exit(0);
