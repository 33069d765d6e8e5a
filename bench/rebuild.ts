/**
 * `npm run bench:rebuild`: chunks per second of `npm run cli -- vectors rebuild` compared with the ingest of the same
 * chunks. In each iteration a new user scrapes pages, the vector collections of the embedded model are deleted, and the
 * command rebuilds the user's vectors. It embeds every chunk again, because the vector cache is deleted too.
 * `-- --quick` takes fewer pages and writes no results.
 */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { QdrantClient } from '@qdrant/js-client-rest';
import mongoose from 'mongoose';

import { EMBEDDED_SPACE } from '../contract/vectors/spaces.js';
import type { RunDoc } from '../store/models/runs.js';
import { clearVectorCache } from '../test/support/storedState.js';
import { cli } from '../test/support/cli.js';
import { CHUNKING, percentile } from './measures.js';
import { environment, table } from './report.js';
import { type BenchService, ingest, startBenchService, until } from './service.js';
import { type BenchSite, startBenchSite } from './site.js';
import { writeReport } from './writeReport.js';

const quick = process.argv.includes('--quick');
const ITERATIONS = quick ? 1 : 3;
const PAGES = quick ? 20 : 100;
const WARM_UP_PAGES = 5;
const TIMEOUT_MS = 1_800_000;
/** A rebuild fetches and parses no page, so it should not be slower than an ingest. */
const TARGET_RATIO = 1;
const SECRET_KEY = `k1:${randomBytes(32).toString('base64')}`;
const RESULTS = fileURLToPath(new URL('rebuild.md', import.meta.url));
const printLine = (line: string): void => console.log(`· ${line}`);

interface Iteration {
  readonly files: number;
  readonly chunks: number;
  /** Chunks per second, from the acceptance of the run to its end. */
  readonly ingest: number;
  readonly rebuild: number;
  /** Seconds of the whole command, which polls once per second. */
  readonly command: number;
}

/** Waits until the newest run of a kind has ended. Returns the seconds from its acceptance to its end. */
async function secondsOf(mongodbUri: string, kind: RunDoc['kind']): Promise<number> {
  const connection = await mongoose.createConnection(mongodbUri).asPromise();
  const newest = (): Promise<RunDoc | null> =>
    connection.collection<RunDoc>('runs').findOne({ kind }, { sort: { acceptedAt: -1 } });
  try {
    await until(`the end of ${kind}`, TIMEOUT_MS, async () => (await newest())?.outcome === 'finished');
    const run = await newest();
    return ((run?.finishedAt?.getTime() ?? Number.NaN) - (run?.acceptedAt.getTime() ?? Number.NaN)) / 1000;
  } finally {
    await connection.close();
  }
}

/** Deletes a service's vector collections of the embedded model, and its cache of vectors. */
async function deleteVectors({ qdrantUrl }: BenchService, env: NodeJS.ProcessEnv): Promise<void> {
  const client = new QdrantClient({ url: qdrantUrl, checkCompatibility: false });
  const { collections } = await client.getCollections();
  for (const { name } of collections) if (name.endsWith(EMBEDDED_SPACE.name)) await client.deleteCollection(name);
  await clearVectorCache(env);
}

async function runIteration(service: BenchService, site: BenchSite, from: number, pages: number): Promise<Iteration> {
  const { mongodbUri, qdrantUrl } = service;
  const env = { SECRET_KEY, MONGODB_URI: mongodbUri, QDRANT_URL: qdrantUrl };
  const user = await service.user();
  const { parent } = await ingest(user, pages, { url: site.sitemap(pages, from), ...CHUNKING }, TIMEOUT_MS);
  const ingestSeconds = await secondsOf(mongodbUri, 'scrapeSitemap');
  await deleteVectors(service, env);
  const startedAt = performance.now();
  const customer = parent.organization_supplied_user_id;
  const args = ['vectors', 'rebuild', '--org', String(parent.organization_id), '--customer', customer, '--json'];
  const { code, stderr, json } = await cli(env, ...args);
  const command = (performance.now() - startedAt) / 1000;
  if (code !== 0) throw new Error(`vectors rebuild ended with code ${code}: ${stderr}`);
  const { rebuilt, chunks } = json<{ rebuilt: number; chunks: number }>();
  if (rebuilt !== pages) throw new Error(`${rebuilt} of ${pages} files were rebuilt`);
  const rebuildSeconds = await secondsOf(mongodbUri, 'reembedFiles');
  const iteration = { files: pages, chunks, ingest: chunks / ingestSeconds, rebuild: chunks / rebuildSeconds, command };
  printLine(`${chunks} chunks: ingest ${iteration.ingest.toFixed(1)}/s, rebuild ${iteration.rebuild.toFixed(1)}/s`);
  return iteration;
}

const startedAt = new Date();
const site = await startBenchSite();
const iterations: Iteration[] = [];
try {
  const service = await startBenchService({
    siteHost: site.host,
    profileDir: null,
    settings: { SECRET_KEY },
    printLine,
  });
  try {
    await runIteration(service, site, 1_000_000, WARM_UP_PAGES);
    for (let nth = 0; nth < ITERATIONS; nth += 1)
      iterations.push(await runIteration(service, site, nth * PAGES, PAGES));
  } finally {
    await service.stop();
  }
} finally {
  site.stop();
}
const median = (figure: (iteration: Iteration) => number): number => percentile(iterations.map(figure), 50);
const ratio = median(({ rebuild, ingest: ingested }) => rebuild / ingested);
const text = [
  '# Rebuild of vectors',
  '',
  `${startedAt.toISOString()} · \`npm run bench:rebuild${quick ? ' -- --quick' : ''}\`, ${((Date.now() - startedAt.getTime()) / 60_000).toFixed(1)} minutes · ${environment()}`,
  '',
  `${PAGES} pages per iteration, median of ${ITERATIONS} iterations; the ratio is computed per iteration. Ingest: a scrape of pages on loopback, from its ` +
    'acceptance to its end. Rebuild: the same chunks after the collection and the vector cache were deleted, from the ' +
    'acceptance of the run to its end, without the start of the command. `command, s`: seconds of the whole command, including its start; it polls once per second.',
  '',
  table(
    ['what', 'chunks', 'chunks/s', 'command, s'],
    [
      ['ingest', median(({ chunks }) => chunks).toFixed(0), median((iteration) => iteration.ingest).toFixed(1), ''],
      [
        'rebuild',
        median(({ chunks }) => chunks).toFixed(0),
        median((iteration) => iteration.rebuild).toFixed(1),
        median((iteration) => iteration.command).toFixed(1),
      ],
    ],
  ),
  '',
  table(
    ['measure', 'measured', 'target', 'met'],
    [
      [
        'rebuild compared with ingest',
        `${ratio.toFixed(2)}×`,
        `≥ ${TARGET_RATIO}×`,
        ratio >= TARGET_RATIO ? 'yes' : 'MISSED',
      ],
    ],
  ),
  '',
].join('\n');
if (!quick) await writeReport(RESULTS, text);
console.log(`\n${text}`);
process.exit(0);
