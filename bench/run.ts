/**
 * `npm run bench`: the service compared with LangChain.js and Crawlee on one generated site, one after the other in one
 * run. `-- --quick` shortens every measurement. `-- --profile` prints the functions in which the service spends its
 * time. `-- --only=posts,long` measures and prints some parts, without writing results.md.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { ensureEmbeddingModel } from '../engines/embeddingModel.js';
import { startEngines } from '../engines/start.js';
import { CHUNKING, percentile } from './measures.js';
import { measureOurs, type Ours, type Part, PARTS, type Sizes } from './ours.js';
import type { BaselineOptions } from './langchain/baseline.js';
import { ensureBaselines, type BaselineRun, runBaseline } from './baselines.js';
import { perRole, type Role, total } from './processes.js';
import { summariseProfiles } from './profile.js';
import { createReport } from './report.js';
import { startBenchService } from './service.js';
import { startBenchSite } from './site.js';

const FULL: Sizes = { pages: 1_000, iterations: 3, vectorPages: 120, firstChunks: 3, postsEach: 40, longPages: 10_000 };
const QUICK: Sizes = { pages: 500, iterations: 1, vectorPages: 24, firstChunks: 2, postsEach: 12, longPages: 0 };
const LIMIT_MS = { full: 12 * 60_000, quick: 3 * 60_000 };
/** Default number of embedding threads of a worker. */
const EMBEDDING_THREADS = 2;

const quick = process.argv.includes('--quick');
const profile = process.argv.includes('--profile');
const only = process.argv
  .find((argument) => argument.startsWith('--only='))
  ?.slice('--only='.length)
  .split(',');
const unknown = only?.find((part) => !(PARTS as readonly string[]).includes(part));
if (unknown !== undefined) throw new Error(`--only=${unknown} is unknown. Known parts: ${PARTS.join(', ')}`);
const isWanted = (part: Part): boolean => only === undefined || only.includes(part);
const form = quick ? 'quick' : 'full';
const sizes = quick ? QUICK : FULL;
const startedAt = performance.now();
const printLine = (line: string): void =>
  console.log(`· ${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${line}`);

const report = createReport(form);
let failures = 0;

/** Runs a measurement. If it fails, reports the failure and returns null, so that the others still run. */
async function attempt<T>(what: string, measure: () => Promise<T>): Promise<T | null> {
  printLine(what);
  try {
    return await measure();
  } catch (error) {
    failures += 1;
    const message = error instanceof Error ? error.message : String(error);
    printLine(`  failed: ${message}`);
    report.figure(what, `failed: ${message}`, '', false);
    return null;
  }
}

async function finish(): Promise<void> {
  if (only === undefined) await report.write();
  console.log(`\n${report.text()}`);
}

// If a measurement hangs, end the run with the results so far.
setTimeout(() => {
  report.note(`The run was stopped after ${LIMIT_MS[form] / 60_000} minutes.`);
  void finish().finally(() => process.exit(1));
}, LIMIT_MS[form]).unref();

async function measureBaselines(sitemap: (pages: number) => string, ours: Ours): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'allotrope-bench-baselines-'));
  const engines = await startEngines({
    dataDir: folder,
    need: { temporal: false, mongodb: false, qdrant: true },
    ports: 'free',
  });
  const model = await ensureEmbeddingModel(engines.venv);
  const options: BaselineOptions = {
    sitemap: sitemap(sizes.pages),
    chunkSize: CHUNKING.chunk_size,
    chunkOverlap: CHUNKING.chunk_overlap,
    tokenizer: 'gpt-tokenizer',
    outFile: path.join(folder, 'chunks.jsonl'),
    vectors: null,
  };
  const reportBaseline = (who: string, what: string, done: BaselineRun, roles: readonly Role[]): void => {
    const { pages, pagesPerSecond, peak, chunks } = done;
    const cpuMsPerPage = total(done.cpu, roles) / pages;
    report.throughput({
      who,
      what,
      pages,
      pagesPerSecond,
      cpuMsPerPage,
      peakBytes: peak.bytes,
      chunks: chunks || null,
    });
    const steps = Object.entries(done.steps).map(([step, ms]) => `${step} ${(ms / 1000).toFixed(1)} s`);
    if (steps.length > 0) report.note(`${who}, ${what}, ${pages} pages: ${steps.join(', ')}.`);
  };
  const reportRatio = (what: string, speed: number, baselineSpeed: number, target: number): void =>
    report.figure(what, `${(speed / baselineSpeed).toFixed(2)}×`, `≥ ${target}×`, speed / baselineSpeed >= target);

  const measureChunks = async (): Promise<void> => {
    for (const [name, who, what] of [
      ['langchain', 'LangChain.js', 'load, split, write lines'],
      ['crawlee', 'Crawlee', 'crawl and extract only'],
      ['crawleeAsShipped', 'Crawlee as published', 'crawl, extract, push text'],
    ] as const) {
      const speeds: number[] = [];
      for (let iteration = 1; iteration <= sizes.iterations; iteration += 1) {
        await attempt(`${who}, iteration ${iteration}`, async () => {
          const done = await runBaseline(name, options);
          reportBaseline(who, what, done, ['baseline']);
          speeds.push(done.pagesPerSecond);
        });
      }
      reportRatio(`chunks only compared with ${who}`, ours.chunksOnly, percentile(speeds, 50), 3);
    }
    await attempt('LangChain.js with its own tokenizer', async () => {
      const fewPages = { ...options, sitemap: sitemap(sizes.pages / 10), tokenizer: 'js-tiktoken' as const };
      reportBaseline('LangChain.js', 'the same with js-tiktoken', await runBaseline('langchain', fewPages), [
        'baseline',
      ]);
    });
  };

  try {
    if (isWanted('baselines')) await measureChunks();
    await attempt('LangChain.js with vectors', async () => {
      const vectors = { ...model, qdrantUrl: engines.qdrantUrl ?? '', threads: EMBEDDING_THREADS };
      const withVectors = { ...options, sitemap: sitemap(sizes.vectorPages), outFile: null, vectors };
      const done = await runBaseline('langchain', withVectors);
      reportBaseline('LangChain.js', 'with vectors', done, ['baseline', 'embedding', 'qdrant']);
      report.note(`CPU of LangChain.js with vectors, ms per page: ${perRole(done.cpu, done.pages, 2)}.`);
      reportRatio('with vectors compared with LangChain.js', ours.withVectors, done.pagesPerSecond, 1);
    });
  } finally {
    await engines.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

ensureBaselines(printLine);
const site = await startBenchSite();
const profileDir = profile ? await mkdtemp(path.join(tmpdir(), 'allotrope-bench-profile-')) : null;
try {
  printLine('starting the service');
  const service = await startBenchService({ siteHost: site.host, profileDir, printLine });
  let ours: Ours;
  try {
    ours = await measureOurs({ service, site, sizes, report, wanted: isWanted, attempt });
  } finally {
    await service.stop();
  }
  if (isWanted('baselines') || isWanted('vectorBaseline')) await measureBaselines((pages) => site.sitemap(pages), ours);
  report.note(
    `Chunks of ${CHUNKING.chunk_size} tokens with an overlap of ${CHUNKING.chunk_overlap}. Baselines receive the selector of the main text ` +
      '(`<main>`); Allotrope detects it. LangChain.js counts tokens with gpt-tokenizer unless stated otherwise, and embeds with our model and processes.',
  );
  report.note(
    'CPU per page includes API, worker, embedding and engines for Allotrope, and process, embedding and Qdrant for baselines. Memory excludes engines.',
  );
  report.note(
    "Ratios compare medians of the iterations, without Allotrope's first iteration after the start, which includes compilation.",
  );
  if (profileDir !== null) report.note('Profiles were taken, which slows the service down.');
  await finish();
  if (profileDir !== null) console.log((await summariseProfiles(profileDir)).join('\n'));
} finally {
  site.stop();
  if (profileDir !== null) await rm(profileDir, { recursive: true, force: true });
}
process.exit(failures > 0 ? 1 : 0);
