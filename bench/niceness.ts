/**
 * `npm run bench:niceness`: speed of an ingest with vectors, and of requests during it, by the priority of the worker.
 *
 * Each case starts its own service and ingests pages with vectors. Meanwhile one caller sends POST /upload_text and
 * another one searches. With `--loops=8`, eight busy loops at niceness 0 run at the same time.
 *
 * Arguments with their defaults: `--pages=600 --loops=0 --iterations=1 --cases=1,2,3`.
 */
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import type { TestUser } from '../test/support/client.js';
import { CHUNKING, percentile } from './measures.js';
import { cpuNow, cpuSince, perRole } from './processes.js';
import { ingest, startBenchService } from './service.js';
import { startBenchSite } from './site.js';

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '600' },
    loops: { type: 'string', default: '0' },
    iterations: { type: 'string', default: '1' },
    cases: { type: 'string', default: '1,2,3' },
  },
});
const [pages, loops, iterations] = [Number(values.pages), Number(values.loops), Number(values.iterations)];
/** Time after which a busy loop ends by itself. */
const LOOP_MS = 900_000;
/** Pause between two calls of a caller. */
const PAUSE_MS = 50;
const TIMEOUT_MS = 1_800_000;

/** The last case is the default. Embedding processes get the sum of both niceness values. */
const CASES = [
  { WORKER_NICENESS: '10', COMPUTE_NICENESS: '5' },
  { WORKER_NICENESS: '0', COMPUTE_NICENESS: '0' },
  { WORKER_NICENESS: '0', COMPUTE_NICENESS: '5' },
] as const;

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

/**
 * Starts busy loops and returns their process ids. Each loop has a session of its own, like an unrelated program,
 * because Linux may divide processor time by session (autogroup).
 */
function startLoops(): number[] {
  if (loops === 0) return [];
  const loop = `setsid ${process.execPath} -e 'const end = Date.now() + ${LOOP_MS}; while (Date.now() < end);' > /dev/null 2>&1 &`;
  const script = Array.from({ length: loops }, () => `${loop} echo $!`).join('\n');
  return execFileSync('sh', ['-c', script]).toString().trim().split('\n').map(Number);
}

/** Repeats a call until the work has ended. Returns the latency of each call in ms. */
async function latencies(work: Promise<unknown>, call: (nth: number) => Promise<unknown>): Promise<number[]> {
  const ended = new AbortController();
  work.then(
    () => ended.abort(),
    () => ended.abort(),
  );
  const callMs: number[] = [];
  for (let nth = 0; !ended.signal.aborted; nth += 1) {
    const startedAt = performance.now();
    await call(nth);
    callMs.push(performance.now() - startedAt);
    await sleep(PAUSE_MS);
  }
  return callMs;
}

/** Returns the p50, the p99 and the number of latencies. */
const summaryOf = (ms: readonly number[]): string =>
  `${percentile(ms, 50).toFixed(0)} / ${percentile(ms, 99).toFixed(0)} ms (${ms.length})`;

async function measure(settings: (typeof CASES)[number]): Promise<void> {
  const site = await startBenchSite();
  const service = await startBenchService({ siteHost: '127.0.0.1', profileDir: null, settings, printLine });
  let busy: number[] = [];
  try {
    const [owner, poster] = await Promise.all([service.user(), service.user()]);
    const search = (user: TestUser) => user.search({ query: 'How long does a refund take?', k: 5 });
    // Load the models before the measurement.
    await ingest(owner, 8, { url: site.sitemap(8, 0), ...CHUNKING });
    await search(owner);
    busy = startLoops();
    const before = cpuNow();
    const work = ingest(owner, pages, { url: site.sitemap(pages, 8), ...CHUNKING }, TIMEOUT_MS);
    const [{ ms }, posts, searches] = await Promise.all([
      work,
      latencies(work, (nth) =>
        poster.post('/upload_text', { contents: `Note ${nth}.`, skip_embedding_generation: true }),
      ),
      latencies(work, () => search(owner)),
    ]);
    const cpu = perRole(cpuSince(before), 1_000, 1);
    printLine(
      `worker ${settings.WORKER_NICENESS}, embedding +${settings.COMPUTE_NICENESS}, ${loops} loops: ` +
        `${((1_000 * pages) / ms).toFixed(1)} pages/s; p50 / p99 of POST ${summaryOf(posts)}, of search ${summaryOf(searches)}; CPU s ${cpu}`,
    );
  } finally {
    for (const pid of busy) process.kill(pid, 'SIGKILL');
    await service.stop();
    site.stop();
  }
}

const wanted = values.cases.split(',').map(Number);
const chosen = CASES.filter((_, index) => wanted.includes(index + 1));
for (let iteration = 0; iteration < iterations; iteration += 1) for (const settings of chosen) await measure(settings);
