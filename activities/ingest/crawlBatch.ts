import type { FileDoc } from '../../store/models/files.js';
import type { Store } from '../../store/connect.js';
import { runOfKind } from '../../contract/runs/runs.js';
import type { IngestWrites } from './ingestWrites.js';
import { requireRun } from '../requireRun.js';
import type { SaveLinks } from './prepare/preparedFile.js';

/** The links of the pages of one batch of a crawl. */
export interface CrawlBatch {
  /** Returns the function that saves the links of a page; null for a page whose links are not followed. */
  linkSaverOf(file: FileDoc): SaveLinks | null;
}

/** Looks up the depth of each page of a batch: links of pages at the maximum depth are not followed. */
export async function openCrawlBatch(
  runId: number,
  fileIds: readonly number[],
  store: Store,
  keepLinks: IngestWrites['keepLinks'],
): Promise<CrawlBatch> {
  const run = runOfKind(await requireRun(store, runId), 'webScrape');
  const { recursionDepth } = run.request.scrape;
  const files = await store.files.byIds(run, fileIds);
  const depths = await store.frontier.findDepths(
    runId,
    files.map((file) => file.externalFileId),
  );
  return {
    linkSaverOf({ externalFileId: url }) {
      const depth = depths.get(url);
      if (depth === undefined || depth >= recursionDepth) return null;
      return ({ urls, finalUrl }) => keepLinks({ runId, url, finalUrl, links: [...urls] });
    },
  };
}
