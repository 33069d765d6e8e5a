/** All measurements of the service, in an order in which none distorts the next. */
import type { TestUser } from '../test/support/client.js';
import {
  allSettled,
  cancelInTheMiddle,
  CHUNKING,
  CHUNKS_ONLY,
  firstChunk,
  firstChunkWarm,
  killWorker,
  percentile,
  postLatencies,
  rescrape,
  type Rescrape,
} from './measures.js';
import { cpuNow, cpuSince, type Peak, perRole, type Role, total, watchMemory } from './processes.js';
import type { Report } from './report.js';
import { type BenchService, ingest } from './service.js';
import type { BenchSite } from './site.js';

/** Amount of work of the bench, which has a full and a quick form. */
export interface Sizes {
  /** Pages of an ingest without vectors, and its number of iterations. */
  readonly pages: number;
  readonly iterations: number;
  /** Pages of the ingest with vectors. */
  readonly vectorPages: number;
  /** Number of measurements of the time until the first chunk of a scrape is found. */
  readonly firstChunks: number;
  /** POST requests of each caller, for their latency. */
  readonly postsEach: number;
  /** Pages of the long ingest, to compare memory; 0: skipped. */
  readonly longPages: number;
}

/** Parts that can be measured separately. */
export const PARTS = [
  'chunks',
  'long',
  'vectors',
  'first',
  'posts',
  'cancel',
  'two',
  'kill',
  'baselines',
  'vectorBaseline',
] as const;
export type Part = (typeof PARTS)[number];

export interface Ours {
  /** Pages per second: median of all iterations except the first after the start. */
  readonly chunksOnly: number;
  readonly withVectors: number;
}

/** Processes of the service itself; the engines are separate. */
const SERVICE: readonly Role[] = ['api', 'worker', 'embedding'];
const ENGINES: readonly Role[] = ['temporal', 'mongodb', 'qdrant'];
const CALLERS = 8;
const MB = 1e6;
/** Largest growth from 1,000 to 10,000 pages that counts as flat; garbage collection alone varies this much. */
const FLAT = 1.15;

const median = (values: readonly number[]): number => percentile(values, 50);
const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

export interface OursOptions {
  readonly service: BenchService;
  readonly site: BenchSite;
  readonly sizes: Sizes;
  readonly report: Report;
  /** Returns whether to measure a part. */
  readonly wanted: (part: Part) => boolean;
  /** Runs one measurement. A failure is reported, and the others continue. */
  readonly attempt: <T>(what: string, measure: () => Promise<T>) => Promise<T | null>;
}

export async function measureOurs({ service, site, sizes, report, wanted, attempt }: OursOptions): Promise<Ours> {
  const { pages, iterations, vectorPages } = sizes;
  const measure = async <T>(part: Part, what: string, work: () => Promise<T>): Promise<T | null> =>
    wanted(part) ? attempt(what, work) : null;

  const run = async (what: string, count: number, body: Record<string, unknown>, user: TestUser) => {
    const before = cpuNow();
    const [done, peak] = await watchMemory(SERVICE, () => ingest(user, count, { url: site.sitemap(count), ...body }));
    const cpu = cpuSince(before);
    const listed = await user.chunks({ parent_file_ids: [done.parent.id] }, { pagination: { limit: 1 } });
    report.throughput({
      who: 'Allotrope',
      what,
      pages: count,
      pagesPerSecond: done.pagesPerSecond,
      cpuMsPerPage: total(cpu, [...SERVICE, ...ENGINES]) / count,
      peakBytes: peak.bytes,
      chunks: listed.count,
    });
    return { ...done, cpu, peak };
  };

  const reportRescrape = (what: string, again: Rescrape, firstMs: number, count: number, hasTarget: boolean): void => {
    const ratio = firstMs / again.ms;
    report.figure(
      `unchanged re-scrape, ${count} pages ${what}`,
      `${seconds(again.ms)}: ${ratio.toFixed(1)}× faster`,
      hasTarget ? '≥ 10×' : '',
      hasTarget ? ratio >= 10 : null,
    );
    report.figure(
      `changes by the unchanged re-scrape (${again.notModified} × 304, ${again.fetchedInFull} × 200)`,
      again.differences.join(', ') || 'nothing',
      'nothing',
      again.differences.length === 0,
    );
  };

  // Chunks only, with one worker.
  const speeds: number[] = [];
  let lastPeak: Peak | null = null;
  let firstUser: { user: TestUser; ms: number } | null = null;
  for (let iteration = 0; iteration <= iterations; iteration += 1) {
    await measure('chunks', `chunks only, iteration ${iteration}`, async () => {
      const user = await service.user();
      const cold = iteration === 0;
      const done = await run(cold ? 'chunks only, first after the start' : 'chunks only', pages, CHUNKS_ONLY, user);
      firstUser = { user, ms: done.ms };
      lastPeak = done.peak;
      if (!cold) speeds.push(done.pagesPerSecond);
      if (iteration === iterations) {
        report.note(
          `Processor time per process in the last iteration of chunks only, ms per page: ${perRole(done.cpu, pages, 2)}.`,
        );
        report.note(`Memory at its peak, MB: ${perRole(done.peak.byRole, MB, 0)}.`);
      }
    });
  }
  await measure('chunks', 'unchanged re-scrape of chunks', async () => {
    if (!firstUser) throw new Error('nothing to scrape again');
    const { user, ms } = firstUser as { user: TestUser; ms: number };
    const body = { url: site.sitemap(pages), ...CHUNKS_ONLY };
    reportRescrape('of chunks only', await rescrape(service, site, user, pages, body), ms, pages, false);
  });

  const short = lastPeak as Peak | null;
  if (short !== null) {
    report.figure(
      `memory of API, worker and their children, ${pages} pages of chunks only`,
      `${(short.bytes / MB).toFixed(0)} MB`,
      '< 400 MB',
      short.bytes < 400 * MB,
    );
  }
  if (sizes.longPages > 0) {
    await measure('long', 'the long ingest', async () => {
      // Run it before any embedding, because embedding processes stay alive for a while.
      const { peak } = await run('chunks only, long', sizes.longPages, CHUNKS_ONLY, await service.user());
      const growth = peak.bytes / (short?.bytes ?? Number.NaN);
      report.figure(
        `memory at ${sizes.longPages} pages compared with ${pages}`,
        `${(peak.bytes / MB).toFixed(0)} MB, ${growth.toFixed(2)}×`,
        'flat',
        growth <= FLAT,
      );
    });
  }

  // With vectors, before anything else is embedded.
  const vectors = await measure('vectors', 'with vectors', async () => {
    const user = await service.user();
    await attempt('first chunk, cold', async () => {
      const early = await service.user();
      // Use the last pages, which no other measurement embeds: cached vectors would distort the result.
      const ms = await firstChunk(early, await early.scrape({ url: site.sitemap(4, 990), ...CHUNKING }));
      report.figure(
        'time to the first found chunk, before the embedding model is loaded',
        seconds(ms),
        '≤ 2 s',
        ms <= 2_000,
      );
      await allSettled(early);
    });
    const done = await run('with vectors', vectorPages, CHUNKING, user);
    report.note(`CPU with vectors, ms per page: ${perRole(done.cpu, vectorPages, 2)}.`);
    report.note(`Memory at the peak with vectors, MB: ${perRole(done.peak.byRole, MB, 0)}.`);
    const body = { url: site.sitemap(vectorPages), ...CHUNKING };
    reportRescrape('with vectors', await rescrape(service, site, user, vectorPages, body), done.ms, vectorPages, true);
    return done;
  });
  await measure('first', 'first chunk, warm', async () => {
    const all: number[] = [];
    for (let index = 0; index < sizes.firstChunks; index += 1)
      all.push(await firstChunkWarm(service, site, vectorPages + index * 20));
    report.figure(
      `first chunk found after the POST's answer, median of ${all.length}`,
      `${seconds(median(all))} (worst ${seconds(Math.max(...all))})`,
      '≤ 2 s',
      median(all) <= 2_000,
    );
  });
  await measure('posts', 'latency of the POST', async () => {
    for (const when of ['first after the start', 'then']) {
      const all = await postLatencies(service, site, { callers: CALLERS, each: sizes.postsEach });
      const p99 = percentile(all, 99);
      report.figure(
        `p99 of POST /scrape_sitemap, ${CALLERS} callers, ${all.length} posts, ${when}`,
        `${p99.toFixed(0)} ms (p50 ${percentile(all, 50).toFixed(0)} ms)`,
        '≤ 50 ms',
        p99 <= 50,
      );
    }
  });
  await measure('cancel', 'cancel', async () => {
    const cancelled = await cancelInTheMiddle(service, site, 300);
    report.figure(
      `cancel to idle (${cancelled.kept} pages kept)`,
      `${seconds(cancelled.idleMs)} (all files settled ${seconds(cancelled.restMs)})`,
      '≤ 5 s',
      cancelled.idleMs <= 5_000,
    );
  });
  await measure('two', 'two workers', async () => {
    const medianSpeed = async (first: string | null, what: string): Promise<number> => {
      if (first !== null) await run(first, pages, CHUNKS_ONLY, await service.user());
      const all: number[] = [];
      for (let iteration = 1; iteration <= iterations; iteration += 1)
        all.push((await run(what, pages, CHUNKS_ONLY, await service.user())).pagesPerSecond);
      return median(all);
    };
    // Measure one worker just before and just after, because the speed of the machine changes within minutes.
    const before = await medianSpeed(null, 'chunks only, one worker');
    const stopWorker = await service.addWorker();
    let both: number;
    try {
      both = await medianSpeed('chunks only, a second worker just started', 'chunks only, two workers');
    } finally {
      await stopWorker();
    }
    const after = await medianSpeed(null, 'chunks only, one worker again');
    const ratio = (2 * both) / (before + after);
    report.figure('two workers compared with one, chunks only', `${ratio.toFixed(2)}×`, '≥ 1×', ratio >= 1);
  });

  await measure('kill', 'kill -9 of the worker', async () => {
    const ms = await killWorker(service, site, pages);
    report.figure('kill -9 of the worker to the next page ready', seconds(ms), '≤ 15 s', ms <= 15_000);
  });
  return { chunksOnly: median(speeds), withVectors: vectors?.pagesPerSecond ?? Number.NaN };
}
