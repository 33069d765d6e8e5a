/**
 * Measurements of the service other than throughput. All requests go through the public API; effects are also read from
 * the stores and from the processor time of processes.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import type { FileRecord } from '../contract/files/records.js';
import type { TestUser } from '../test/support/client.js';
import { differences, takeSnapshot } from './storeSnapshot.js';
import { cpuNow, cpuSince, pidsOf, total } from './processes.js';
import { type BenchService, ingest, readyPages, unfinishedFiles, until } from './service.js';
import type { BenchSite } from './site.js';

/** Chunk size of every ingest, ours and the baselines'. */
export const CHUNKING = { chunk_size: 400, chunk_overlap: 20 };
export const CHUNKS_ONLY = { ...CHUNKING, generate_chunks_only: true };

/** Time limit of each wait. */
const TIMEOUT_MS = 120_000;
const QUERY = 'How long does a refund of a payment take?';
/** Maximum share of one core that an idle process uses. */
const IDLE_SHARE = 0.1;
const IDLE_SAMPLE_MS = 250;

/** Returns the given percentile of the values. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

export const allSettled = (user: TestUser): Promise<void> =>
  until('all files settled', TIMEOUT_MS, async () => (await unfinishedFiles(user)) === 0);

/** Cancels a scrape that is no longer needed, and waits until it has ended. */
async function cancel(user: TestUser, parentId: number): Promise<void> {
  await user.post('/cancel_sync', { file_id: parentId });
  await allSettled(user);
}

/**
 * Returns the milliseconds from the answer of a POST until /embeddings finds a chunk of that scrape. Polls with pauses of
 * 20 ms.
 */
export async function firstChunk(user: TestUser, accepted: FileRecord): Promise<number> {
  const answered = performance.now();
  for (;;) {
    const found = await user.search({ query: QUERY, k: 1, parent_file_ids: [accepted.id] });
    if (found.length > 0) return performance.now() - answered;
    if (performance.now() - answered > TIMEOUT_MS) throw new Error('no chunk was found');
    await sleep(20);
  }
}

/** Returns the time of `firstChunk` on a warm service, for pages whose texts it has never embedded. */
export async function firstChunkWarm(service: BenchService, site: BenchSite, from: number): Promise<number> {
  const user = await service.user();
  const accepted = await user.scrape({ url: site.sitemap(100, from), ...CHUNKING });
  const ms = await firstChunk(user, accepted);
  await cancel(user, accepted.id);
  return ms;
}

/**
 * Returns latencies in ms of POST /scrape_sitemap from concurrent callers of different end users, while the scrapes
 * run.
 */
export async function postLatencies(
  service: BenchService,
  site: BenchSite,
  { callers, each }: { callers: number; each: number },
): Promise<number[]> {
  const users = await Promise.all(Array.from({ length: callers }, () => service.user()));
  const latencies = await Promise.all(
    users.map(async (user, caller) => {
      const callerLatencies: number[] = [];
      for (let index = 0; index < each; index += 1) {
        const url = site.sitemap(1, caller * each + index);
        const startedAt = performance.now();
        await user.scrape({ url, ...CHUNKS_ONLY });
        callerLatencies.push(performance.now() - startedAt);
      }
      return callerLatencies;
    }),
  );
  for (const user of users) await allSettled(user);
  return latencies.flat();
}

export interface Rescrape {
  readonly ms: number;
  /** Writes and embeddings during the scrape. Unchanged pages should cause none. */
  readonly differences: string[];
  readonly notModified: number;
  readonly fetchedInFull: number;
}

/** Scrapes unchanged pages again with the same request. */
export async function rescrape(
  service: BenchService,
  site: BenchSite,
  user: TestUser,
  pages: number,
  body: Record<string, unknown>,
): Promise<Rescrape> {
  const [before, served] = [await takeSnapshot(service), await site.counts()];
  const { ms } = await ingest(user, pages, body);
  const [after, servedNow] = [await takeSnapshot(service), await site.counts()];
  return {
    ms,
    differences: differences(before, after),
    notModified: servedNow.notModified - served.notModified,
    fetchedInFull: servedNow.full - served.full,
  };
}

export interface Cancelled {
  /** Milliseconds until all files of the user are finished. */
  readonly restMs: number;
  /** Milliseconds until the worker and embedding processes are idle as well. */
  readonly idleMs: number;
  /** Number of pages that are READY. */
  readonly kept: number;
}

/** Cancels a running scrape with vectors, and waits until the service is idle. */
export async function cancelInTheMiddle(service: BenchService, site: BenchSite, from: number): Promise<Cancelled> {
  const user = await service.user();
  const accepted = await user.scrape({ url: site.sitemap(600, from), ...CHUNKING });
  await until('pages to be ready', TIMEOUT_MS, async () => (await readyPages(user, accepted.id)) >= 8);
  const startedAt = performance.now();
  const { status } = await user.post('/cancel_sync', { file_id: accepted.id });
  if (status !== 200) throw new Error(`/cancel_sync answered ${status}`);
  await allSettled(user);
  const restMs = performance.now() - startedAt;
  await until('the worker to be idle', TIMEOUT_MS, async () => {
    const before = cpuNow();
    await sleep(IDLE_SAMPLE_MS);
    return total(cpuSince(before), ['worker', 'embedding']) < IDLE_SHARE * IDLE_SAMPLE_MS;
  });
  const idleMs = performance.now() - startedAt - IDLE_SAMPLE_MS;
  const parent = await user.file(accepted.id);
  if (parent.sync_status !== 'SYNC_ABORTED') throw new Error(`the parent ended ${parent.sync_status}`);
  return { restMs, idleMs: Math.max(restMs, idleMs), kept: await readyPages(user, accepted.id) };
}

/** Kills the only worker with SIGKILL during a scrape. Returns the milliseconds until one more page is ready. */
export async function killWorker(service: BenchService, site: BenchSite, pages: number): Promise<number> {
  const user = await service.user();
  const accepted = await user.scrape({ url: site.sitemap(pages), ...CHUNKS_ONLY });
  await until('pages to be ready', TIMEOUT_MS, async () => (await readyPages(user, accepted.id)) >= 50);
  for (const pid of pidsOf('worker')) process.kill(pid, 'SIGKILL');
  const startedAt = performance.now();
  const done = await readyPages(user, accepted.id);
  if (done === pages) throw new Error('the scrape was over before the worker was killed');
  await until('work to continue', TIMEOUT_MS, async () => (await readyPages(user, accepted.id)) > done);
  const ms = performance.now() - startedAt;
  await allSettled(user);
  const ready = await readyPages(user, accepted.id);
  if (ready !== pages) throw new Error(`${ready} of ${pages} pages were ready at the end`);
  return ms;
}
