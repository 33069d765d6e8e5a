/** One ingest with kills in it, compared with one that nothing disturbed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';

import { samplePage, type Site, sitemapOf, startSite } from '../emulators/site.js';
import { type AtRest, forgetVectors, readAtRest } from './atRest.js';
import { findDifferences } from './differences.js';
import type { OwnService, Victim } from './ownService.js';
import type { Chance } from './seed.js';

/** Every scrape of a round lists pages of its own. */
export interface KillSite extends Site {
  readonly sitemaps: readonly string[];
  readonly pageCount: number;
  /** Requests for pages, so far. */
  pageRequests(): number;
}

/** Bytes between short and long pages of the site: a setting with which both ways of keeping contents are used. */
export const CONTENT_ROW_BYTES = '2400';

/** Pages that take a moment each, so that kills meet them under way. Short and long ones by turns. */
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
  readonly victim: Victim;
  /** It comes when so many pages were asked for… */
  readonly afterRequests: number;
  /** …and so much later. */
  readonly delayMs: number;
}

export interface Round {
  readonly service: OwnService;
  readonly site: KillSite;
  readonly customerId: string;
  readonly kills: readonly Kill[];
}

interface Played {
  readonly rest: AtRest;
  /** Kills that met the ingest under way. */
  readonly hits: number;
  readonly tookMs: number;
}

const SETTLE_MS = 120_000;

/**
 * Scrapes every sitemap of the site at the same time, with the kills in between; answers what rests in the end.
 */
export async function playRound({ service, site, customerId, kills }: Round): Promise<Played> {
  const begun = Date.now();
  await forgetVectors(service.env);
  site.requests.length = 0;
  const user = await service.user(customerId);
  let settled = false;
  // Each at its own moment: what is killed second need not wait until the first is back.
  const killing = Promise.all(
    kills.map(async ({ victim, afterRequests, delayMs }) => {
      while (!settled && site.pageRequests() < afterRequests) await sleep(5);
      await sleep(delayMs);
      const hit = !settled;
      await service.kill(victim);
      return hit;
    }),
  );
  const accepted = await Promise.all(site.sitemaps.map((url) => user.scrape({ url, chunk_size: 100 })));
  // Every parent that was answered is there, and comes to its end.
  const parents = await Promise.all(accepted.map(({ id }) => user.settled(id, SETTLE_MS)));
  settled = true;
  const hits = (await killing).filter((hit) => hit).length;
  expect(parents.map((parent) => parent.sync_status)).toEqual(site.sitemaps.map(() => 'READY'));
  const rest = await readAtRest(service.env);
  const tookMs = Date.now() - begun;
  expect(await findDifferences(service.env)).toEqual([]);
  return { rest, hits, tookMs };
}

/** The round left what the undisturbed one left, nothing else, and asked for no page more than three times. */
export function expectUndisturbed(round: Round, rest: AtRest, calm: AtRest, calmCustomer: string): void {
  expect(rest.findInconsistencies()).toEqual([]);
  expect(rest.content(round.customerId)).toEqual(calm.content(calmCustomer));
  const fetches = new Map<string, number>();
  for (const path of round.site.requests) fetches.set(path, (fetches.get(path) ?? 0) + 1);
  const pages = [...fetches].filter(([path]) => path.startsWith('/pages/'));
  expect(pages).toHaveLength(round.site.pageCount);
  expect(pages.filter(([, times]) => times > 3)).toEqual([]);
}

/** A moment of an ingest: by what was asked for so far, and some more. */
export function someMoment(chance: Chance, victim: Victim, from: number, to: number): Kill {
  // The API matters while it accepts, so it dies as the requests come in; the others at any time.
  if (victim === 'api') return { victim, afterRequests: 0, delayMs: chance.below(100) };
  return { victim, afterRequests: from + chance.below(to - from), delayMs: chance.below(400) };
}
