import type { FileDoc } from '../../store/models/files.js';
import type { Store } from '../../store/connect.js';
import { runOfKind } from '../../contract/runs/runs.js';
import type { IngestWrites } from './ingestWrites.js';
import { requireRun } from '../requireRun.js';
import type { SaveLinks } from './prepare/preparedFile.js';

/** The part of a crawl that one batch reads. */
export interface CrawlBatch {
  /** Returns the collector of a page's links; null for a page at the maximum depth. */
  linkSaverOf(file: FileDoc): SaveLinks | null;
}

/** Looks up which pages of a batch the crawl continues from. */
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
