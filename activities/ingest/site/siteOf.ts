import { WEB_PAGE_SOURCE } from '../../../contract/runs/scrapeSitemap.js';
import type { PageOptions } from '../../../contract/files/ingestOptions.js';
import type { Site } from '../../../store/siteBlocks/siteBlocks.js';
import type { FileDoc } from '../../../store/models/files.js';
import type { Run } from '../../../store/models/runs.js';
import type { IngestSettings } from '../../deps.js';
import { MIN_PAGES } from './learnBlocks.js';

type Settings = Pick<IngestSettings, 'siteSamplePages'>;

/** Returns the site whose first pages a run compares, to find the blocks that they repeat; null for other runs. */
export function siteOfRun(run: Run, { siteSamplePages }: Settings): Site | null {
  if (siteSamplePages < MIN_PAGES || run.fileId === null) return null;
  if (run.kind !== 'scrapeSitemap' && run.kind !== 'webScrape') return null;
  const { scrape, ingest } = run.request;
  if (scrape.removeRepeatedBlocks === false || ingest.storeFileOnly || ingest.skipFileProcessing) return null;
  return { organizationId: run.organizationId, userId: run.userId, fileId: run.fileId };
}

/** Returns the site of a page whose repeated blocks are removed; null for other files. */
export function siteOfPage(file: FileDoc, { siteSamplePages }: Settings): Site | null {
  if (siteSamplePages < MIN_PAGES || file.source !== WEB_PAGE_SOURCE || file.parentId === null) return null;
  if ((file.sourceOptions as Partial<PageOptions> | null)?.removeRepeatedBlocks === false) return null;
  return { organizationId: file.organizationId, userId: file.userId, fileId: file.parentId };
}
