/** An ingest during which processes are killed, compared with an uninterrupted one. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';

import { samplePage, type Site, sitemapOf, startSite } from '../emulators/site.js';
import { type StoredState, clearVectorCache, readStoredState } from './storedState.js';
import { findDifferences } from './differences.js';
import type { OwnService, KillTarget } from './ownService.js';
import type { SeededRandom } from './seed.js';

/** A site with several sitemaps that list different pages. */
export interface KillSite extends Site {
  readonly sitemaps: readonly string[];
  readonly pageCount: number;
  /** Returns the number of requests for pages so far. */
  pageRequests(): number;
}

/**
 * CONTENT_ROW_BYTES, in bytes: between the sizes of the short and the long pages, so that MongoDB stores the contents of
 * some pages and file storage the others.
 */
export const CONTENT_ROW_BYTES = '2400';

/**
 * Starts a site that answers each page after a delay, so that kills happen during requests. Short and long pages
 * alternate.
 */
export async function startKillSite(pageCount: number, sitemapCount = 1): Promise<KillSite> {
  const site = await startSite();
  const sitemaps = Array.from({ length: sitemapCount }, (_, map) => {
    const numbers = Array.from({ length: pageCount / sitemapCount }, (_unused, index) => index * sitemapCount + map);
    const paths = numbers.map((number) => `/pages/${number}.html`);
    numbers.forEach((number, index) => {
      const body = samplePage(number, number % 2 === 0 ? 2 : 4);
      site.pages.set(paths[index]!, { body, delayMs: 40 });
    });
    site.pages.set(`/sitemap-${map}.xml`, sitemapOf(site.origin, paths));
    return site.url(`/sitemap-${map}.xml`);
  });
  const pageRequests = () => site.requests.filter((path) => path.startsWith('/pages/')).length;
  return Object.assign(site, { sitemaps, pageCount, pageRequests });
}

export interface Kill {
  readonly target: KillTarget;
  /** Number of page requests before the kill. */
  readonly afterRequests: number;
  /** Additional delay before the kill, in milliseconds. */
  readonly delayMs: number;
}

export interface Trial {
  readonly service: OwnService;
  readonly site: KillSite;
  readonly customerId: string;
  readonly kills: readonly Kill[];
}

interface TrialResult {
  readonly storedState: StoredState;
  /** Number of kills before the files had settled. */
  readonly hits: number;
  readonly tookMs: number;
}

const SETTLE_MS = 120_000;

/** Scrapes all sitemaps of the site concurrently while processes are killed. Returns the stored data afterwards. */
export async function runKillTrial({ service, site, customerId, kills }: Trial): Promise<TrialResult> {
  const startedAt = Date.now();
  await clearVectorCache(service.env);
  site.requests.length = 0;
  const user = await service.user(customerId);
  let settled = false;
  // The kills are independent: the second does not wait until the first process has restarted.
  const killing = Promise.all(
    kills.map(async ({ target, afterRequests, delayMs }) => {
      while (!settled && site.pageRequests() < afterRequests) await sleep(5);
      await sleep(delayMs);
      const hit = !settled;
      await service.kill(target);
      return hit;
    }),
  );
  const accepted = await Promise.all(site.sitemaps.map((url) => user.scrape({ url, chunk_size: 100 })));
  // After a kill, the file of every accepted request must exist and reach a final status.
  const parents = await Promise.all(accepted.map(({ id }) => user.settled(id, SETTLE_MS)));
  settled = true;
  const hits = (await killing).filter((hit) => hit).length;
  expect(parents.map((parent) => parent.sync_status)).toEqual(site.sitemaps.map(() => 'READY'));
  const storedState = await readStoredState(service.env);
  const tookMs = Date.now() - startedAt;
  expect(await findDifferences(service.env)).toEqual([]);
  return { storedState, hits, tookMs };
}

/** Expects the same stored data as in the uninterrupted trial, and at most three requests for each page. */
export function expectSameAsBaseline(
  trial: Trial,
  storedState: StoredState,
  uninterrupted: StoredState,
  uninterruptedCustomer: string,
): void {
  expect(storedState.findInconsistencies()).toEqual([]);
  expect(storedState.content(trial.customerId)).toEqual(uninterrupted.content(uninterruptedCustomer));
  const fetches = new Map<string, number>();
  for (const path of trial.site.requests) fetches.set(path, (fetches.get(path) ?? 0) + 1);
  const pages = [...fetches].filter(([path]) => path.startsWith('/pages/'));
  expect(pages).toHaveLength(trial.site.pageCount);
  expect(pages.filter(([, times]) => times > 3)).toEqual([]);
}

/** Returns a kill at a random moment of an ingest: after `from` to `to` page requests and a delay below 400 ms. */
export function randomKill(chance: SeededRandom, target: KillTarget, from: number, to: number): Kill {
  // The API only accepts the requests, at the start of the ingest, so it is killed in the first 100 ms.
  if (target === 'api') return { target, afterRequests: 0, delayMs: chance.below(100) };
  return { target, afterRequests: from + chance.below(to - from), delayMs: chance.below(400) };
}
