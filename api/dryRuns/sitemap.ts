import { Fault } from '../../contract/failures.js';
import { pageFilter, type ScrapeSitemapRequest } from '../../contract/runs/scrapeSitemap.js';
import type { ApiDeps } from '../http/deps.js';
import { HttpError } from '../http/errors.js';
import type { UserCaller } from '../http/operation.js';
import type { SkippedByDryRun } from '../schemas/estimates.js';
import { type Deadline, PAGES_AT_ONCE, readSample, sampleEvenly } from './deadline.js';
import { estimateOf } from './estimate.js';

/**
 * Estimates a scrape of a sitemap: lists its pages and reads a sample of them.
 * @throws HttpError 400 if the pages cannot be listed, for example because the sitemap is unreachable or invalid
 */
export async function drySitemap(
  caller: UserCaller,
  { url: sitemap, scrape, ingest }: ScrapeSitemapRequest,
  { discovery, total }: Deadline,
  deps: ApiDeps,
) {
  const { sitemaps, samples, settings, store } = deps;
  const cap = Math.min(scrape.maxPagesToScrape ?? settings.maxPagesPerScrape, settings.maxPagesPerScrape);
  const maxFiles = (await store.limits.get(caller)).max_files_per_upload ?? cap;
  const matchesFilter = pageFilter(scrape);
  const urls: string[] = [];
  const skipped: Partial<Record<SkippedByDryRun, number>> = {};
  const skip = (reason: SkippedByDryRun): void => void (skipped[reason] = (skipped[reason] ?? 0) + 1);
  let complete = true;
  let found = 0;
  const markIncomplete = (): void => void (complete = false);
  try {
    for await (const { url } of sitemaps.discover(sitemap, discovery, markIncomplete, scrape.usePremiumProxies)) {
      discovery.throwIfAborted();
      if (url === sitemap || !matchesFilter(url)) continue;
      found += 1;
      if (found > maxFiles) skip('over_limit');
      else if (await sitemaps.mayFetch(url, discovery)) urls.push(url);
      else skip('robots_disallowed');
      if (found >= cap) break;
    }
  } catch (error) {
    if (!discovery.aborted) {
      if (error instanceof Fault) throw new HttpError(400, error.message);
      throw error;
    }
    complete = false;
  }
  const read = (url: string) => samples.page(url, scrape, ingest, null, total);
  const sample = await readSample(sampleEvenly(urls, settings.dryRun.samplePages), PAGES_AT_ONCE, read, total);
  return estimateOf(caller, 'scrapeSitemap', ingest, { files: urls.length, complete, ...sample, skipped }, deps);
}
