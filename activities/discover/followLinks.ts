import { cancellationSignal } from '@temporalio/activity';

import { Fault } from '../../contract/failures.js';
import type { FollowLinksResult, RunInput } from '../../contract/runs/orchestration.js';
import { pageFilter, pageOptionsOf, WEB_PAGE_SOURCE } from '../../contract/runs/scrapeSitemap.js';
import { CAP_METADATA, LIMIT_METADATA, NO_LIMIT_METADATA } from '../../contract/limits.js';
import { runOfKind } from '../../contract/runs/runs.js';
import type { CrawlAddress } from '../../store/frontier/frontier.js';
import type { Run, RunDoc } from '../../store/models/runs.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { msUntilDue } from '../ingest/msUntilDue.js';

/** Pages whose links are followed in one step. */
const PAGES_AT_ONCE = 10;

/**
 * Creates the activity that extends a crawl. The frontier is stored in the database, and each new page
 * becomes a queued file.
 */
export function createCrawlActivities(deps: ActivityDeps) {
  const { store, sources, settings } = deps;
  const queue = (run: Run<'webScrape'> & { fileId: number }, pages: readonly CrawlAddress[]): Promise<number> => {
    const { scrape, ingest, tags } = run.request;
    const sourceOptions = pageOptionsOf(scrape);
    return store.files.acceptMany(
      run,
      pages.map(({ url }) => ({
        source: WEB_PAGE_SOURCE,
        externalFileId: url,
        externalUrl: url,
        name: url,
        parentId: run.fileId,
        isContainer: false,
        tags,
        options: ingest,
        sourceOptions,
        enableAutoSync: scrape.enableAutoSync,
        isScheduled: run.parentRunId !== undefined,
        requestId: run.requestId,
        runId: run._id,
        workflowOf: () => run.workflowId,
      })),
    );
  };

  /** Fails the crawl if its only page could not be fetched. */
  const refuseFailedStart = async (run: RunDoc, url: string): Promise<void> => {
    const { total, failed } = await store.files.countRun(run._id);
    if (total !== 1 || failed !== 1) return;
    const found = store.files.list(run, {
      filters: { sources: [WEB_PAGE_SOURCE], externalFileIds: [url] },
      orderBy: 'id',
      orderDir: 'asc',
      page: { limit: 1, offset: 0, startingId: 0 },
    });
    for await (const [start] of found) throw new Fault('bad_response', start?.syncErrorMessage ?? 'Nothing was found.');
  };

  return {
    /**
     * Queues the start URL, or the links of the pages read since the last call: nearest first, on the host of the
     * start URL or of its redirect, permitted by robots.txt, up to the requested number of pages. Safe to repeat:
     * pages are matched by URL. Only one call per run may be active.
     */
    async followLinks({ runId }: RunInput): Promise<FollowLinksResult> {
      const run = runOfKind(await requireRun(store, runId, 'fileId'), 'webScrape');
      const { url: startUrl, scrape } = run.request;
      const requested = Math.min(scrape.maxPagesToScrape, settings.maxPagesPerScrape);
      const maxPages = Math.min(requested, (await store.limits.get(run)).max_files_per_upload ?? requested);
      let isCut = false;
      const matchesFilter = pageFilter({ ...scrape, urlPathsToExclude: [], urlsToScrape: [] });
      const signal = cancellationSignal();
      let discovered = await store.frontier.count(runId);

      /** Returns the first URLs that may be fetched, up to the remaining number of pages. */
      const filterPermitted = async (pages: readonly CrawlAddress[]): Promise<CrawlAddress[]> => {
        const permitted: CrawlAddress[] = [];
        for (const page of pages) {
          if (!(matchesFilter(page.url) && (await sources.mayFetch(page.url, signal)))) continue;
          // The crawl counts as cut only if one more page may be fetched after the limit.
          isCut ||= permitted.length >= maxPages - discovered;
          if (isCut) break;
          permitted.push(page);
        }
        return permitted;
      };

      /** Returns the links of the pages, each with its shortest distance from the start. */
      const targetsOf = (pages: readonly { depth: number; links: readonly string[] }[], hosts: ReadonlySet<string>) => {
        const nearest = new Map<string, number>();
        for (const { depth, links } of pages) {
          if (depth >= scrape.recursionDepth) continue;
          for (const url of links)
            if (hosts.has(new URL(url).host)) nearest.set(url, Math.min(nearest.get(url) ?? Infinity, depth + 1));
        }
        return [...nearest].map(([url, depth]) => ({ url, depth }));
      };

      const follow = async (hosts: ReadonlySet<string>): Promise<boolean> => {
        signal.throwIfAborted();
        const pages = await store.frontier.listUnfollowed(runId, PAGES_AT_ONCE);
        const targets = targetsOf(pages, hosts);
        const depths = await store.frontier.findDepths(
          runId,
          targets.map(({ url }) => url),
        );
        const newPages = await filterPermitted(targets.filter(({ url }) => !depths.has(url)));
        const closerPages = targets.filter(({ url, depth }) => (depths.get(url) ?? 0) > depth);
        // The links of pages at the maximum depth were not collected: read those pages again.
        const pagesToRead = closerPages.filter(({ url }) => (depths.get(url) ?? 0) >= scrape.recursionDepth);
        // Queue the files first, so that each known URL has its file after a crash.
        await queue(run, [...newPages, ...pagesToRead]);
        await store.frontier.add(runId, newPages);
        await store.frontier.lowerDepths(runId, closerPages);
        await store.frontier.markFollowed(runId, pages);
        discovered += newPages.length;
        return pages.length === PAGES_AT_ONCE;
      };

      if (discovered === 0) {
        const start = { url: startUrl, depth: 0 };
        if ((await queue(run, [start])) === 0)
          throw new Fault(
            'bad_response',
            'The file of the start page was deleted, or its address already has a file from a sitemap scrape. ' +
              'Delete that file if there is one, then scrape again.',
          );
        await store.frontier.add(runId, [start]);
        discovered = 1;
        await store.files.moveContainer(runId, run.fileId, { status: 'SYNCING', metadata: NO_LIMIT_METADATA });
      } else {
        // Links to the host that the start URL redirects to are followed too.
        const finalUrl = await store.frontier.findFinalUrl(runId, startUrl);
        const hosts = new Set([new URL(startUrl).host, new URL(finalUrl ?? startUrl).host]);
        while (await follow(hosts));
        await refuseFailedStart(run, startUrl);
      }
      const isOverLimit = isCut && maxPages < requested;
      // A limit in the request itself is not reported.
      const isCapped = isCut && !isOverLimit && requested < scrape.maxPagesToScrape;
      if (isCapped) await store.runs.saveProgress(run, { cutAt: discovered });
      const limit = isOverLimit ? LIMIT_METADATA : isCapped ? CAP_METADATA : {};
      const metadata = { pages_total: discovered, ...limit };
      await store.files.moveContainer(runId, run.fileId, { status: 'SYNCING', metadata });
      return { discovered, dueInMs: await msUntilDue(deps, runId) };
    },
  };
}
