import { cancellationSignal } from '@temporalio/activity';

import { CAP_METADATA, LIMIT_METADATA, NO_LIMIT_METADATA } from '../../contract/limits.js';
import { pageFilter, pageOptionsOf, WEB_PAGE_SOURCE } from '../../contract/runs/scrapeSitemap.js';
import type { SitemapProblem } from '../../connectors/types.js';
import type { RunInput } from '../../contract/runs/orchestration.js';
import type { FileRequest } from '../../store/files/acceptance/request.js';
import { runOfKind } from '../../contract/runs/runs.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';

/** Maximum number of unreadable sitemap files that are listed in the metadata of the parent file. */
const PROBLEMS_SHOWN = 20;
/** Pages written to the store in one step. */
const PAGES_PER_WRITE = 500;

/** Creates the activity that queues the pages of a sitemap. The list of pages is stored in the database. */
export function createDiscoveryActivities({ store, sources, settings }: ActivityDeps) {
  return {
    /** Reads the run's sitemap and queues a file for each requested page. Safe to repeat: files are matched by URL. */
    async discoverPages({ runId }: RunInput): Promise<{ discovered: number }> {
      const run = runOfKind(await requireRun(store, runId, 'fileId'), 'scrapeSitemap');
      const parentId = run.fileId;
      const { request } = run;
      const { scrape, ingest, tags } = request;
      const requested = scrape.maxPagesToScrape ?? Infinity;
      const matchesFilter = pageFilter(scrape);
      const pageOptions = pageOptionsOf(scrape);
      const { workflowId } = run;
      const owner = { organizationId: run.organizationId, userId: run.userId, customerId: run.customerId };

      const perUpload = (await store.limits.get(owner)).max_files_per_upload ?? Infinity;
      const maxPages = Math.min(requested, settings.maxPagesPerScrape, perUpload);

      let listed = 0;
      let isTruncated = false;
      let numUnreadable = 0;
      let discovered = 0;
      let pending: FileRequest[] = [];
      const problems: { url: string; message: string }[] = [];
      const addProblem = ({ url, fault }: SitemapProblem): void => {
        numUnreadable += 1;
        if (problems.length < PROBLEMS_SHOWN) problems.push({ url, message: fault.message });
      };
      const flush = async (): Promise<void> => {
        discovered += await store.files.acceptMany(owner, pending);
        pending = [];
      };
      const entries = sources.discover(request.url, cancellationSignal(), addProblem, scrape.usePremiumProxies);
      for await (const { url } of entries) {
        listed += 1;
        if (url === request.url || !matchesFilter(url)) continue;
        // The list counts as truncated only if one more page follows after the limit. Write the pending pages first:
        // a scheduled sync skips pages that a caller has deleted, and these do not count towards the limit.
        if (discovered + pending.length >= maxPages) {
          await flush();
          isTruncated = discovered >= maxPages;
          if (isTruncated) break;
        }
        pending.push({
          source: WEB_PAGE_SOURCE,
          externalFileId: url,
          externalUrl: url,
          name: url,
          parentId,
          isContainer: false,
          tags,
          options: ingest,
          sourceOptions: pageOptions,
          enableAutoSync: scrape.enableAutoSync,
          isScheduled: run.parentRunId !== undefined,
          requestId: run.requestId,
          runId,
          workflowOf: () => workflowId,
        });
        if (pending.length === PAGES_PER_WRITE) await flush();
      }
      await flush();
      // If the whole sitemap was read, pages that are not in it no longer exist.
      const readWhole = listed > 0 && numUnreadable === 0 && !isTruncated;
      // A limit in the request itself is not reported.
      const isCut = isTruncated && requested > maxPages;
      const isOverLimit = isCut && perUpload === maxPages;
      const cutAt = isCut && !isOverLimit ? discovered : null;
      await store.runs.saveProgress(run, { readWhole, cutAt });
      await store.files.moveContainer(runId, parentId, {
        status: 'SYNCING',
        discovered: true,
        isScheduled: run.parentRunId !== undefined,
        metadata: {
          pages_listed: listed,
          pages_total: discovered,
          sitemap_problems: problems,
          ...(isOverLimit ? LIMIT_METADATA : cutAt === null ? NO_LIMIT_METADATA : CAP_METADATA),
        },
      });
      return { discovered };
    },
  };
}
