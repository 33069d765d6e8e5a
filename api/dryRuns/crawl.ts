import { pageFilter } from '../../contract/runs/scrapeSitemap.js';
import type { WebScrapeRequest } from '../../contract/runs/webScrape.js';
import type { ApiDeps, PageSample } from '../http/deps.js';
import type { UserCaller } from '../http/operation.js';
import type { SkippedByDryRun } from '../schemas/estimates.js';
import { type Deadline, PAGES_AT_ONCE, readSample } from './deadline.js';
import { estimateOf } from './estimate.js';

/**
 * Estimates a crawl. Reads up to `samplePages` pages, breadth-first from the start page, and counts the pages that they
 * link to. Links on other pages are unknown.
 */
export async function dryCrawl(
  caller: UserCaller,
  { url: start, scrape, ingest }: WebScrapeRequest,
  { discovery, total }: Deadline,
  samplePages: number,
  deps: ApiDeps,
) {
  const { sitemaps, samples, settings, store } = deps;
  const requested = Math.min(scrape.maxPagesToScrape, settings.maxPagesPerScrape);
  const cap = Math.min(requested, (await store.limits.get(caller)).max_files_per_upload ?? requested);
  const matchesFilter = pageFilter({ ...scrape, urlPathsToExclude: [], urlsToScrape: [] });
  const hosts = new Set([new URL(start).host]);
  const depths = new Map([[start, 0]]);
  const disallowed = new Set<string>();
  const unread = [start];
  const read: PageSample[] = [];
  let failed = 0;
  const skipped: Partial<Record<SkippedByDryRun, number>> = {};
  let isCutOff = false as boolean;
  const isFull = (): boolean => depths.size >= cap;

  const addPage = async (url: string, depth: number): Promise<void> => {
    if (depths.has(url) || disallowed.has(url) || !hosts.has(new URL(url).host) || !matchesFilter(url)) return;
    if (isFull()) {
      if (cap < requested) skipped.over_limit = (skipped.over_limit ?? 0) + 1;
      return;
    }
    const mayFetch = await sitemaps.mayFetch(url, total).catch((error: unknown) => {
      if (!total.aborted) throw error;
      isCutOff = true;
      return null;
    });
    if (mayFetch === null) return;
    if (mayFetch) {
      depths.set(url, depth);
      unread.push(url);
    } else {
      disallowed.add(url);
      skipped.robots_disallowed = disallowed.size;
    }
  };

  const canContinue = (): boolean => unread.length > 0 && read.length + failed < samplePages && !discovery.aborted;
  while (canContinue()) {
    const urls = unread.splice(0, Math.min(PAGES_AT_ONCE, samplePages - read.length - failed));
    const page = async (url: string) => ({ url, ...(await samples.page(url, scrape, ingest, [...hosts], total)) });
    const sample = await readSample(urls, PAGES_AT_ONCE, page, total);
    read.push(...sample.read);
    failed += sample.failed;
    // The host to which the start URL redirects belongs to the same site.
    for (const { url, finalUrl } of sample.read) if (url === start) hosts.add(new URL(finalUrl).host);
    for (const { url, links } of sample.read) {
      const depth = depths.get(url) ?? 0;
      if (depth < scrape.recursionDepth) for (const link of links) await addPage(link, depth + 1);
    }
    if (read.length + failed < depths.size - unread.length) break;
  }
  // Links on pages at the maximum depth are ignored.
  const isKnown = unread.every((url) => (depths.get(url) ?? 0) >= scrape.recursionDepth);
  const seenAll = read.length + failed === depths.size - unread.length;
  const complete = isFull() || (isKnown && seenAll && !isCutOff);
  return estimateOf(caller, 'webScrape', ingest, { files: depths.size, complete, read, failed, skipped }, deps);
}
