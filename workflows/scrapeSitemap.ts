import { proxyActivities } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { IngestRunInput, RunOutcome } from '../contract/runs/orchestration.js';
import { FETCH } from './activityOptions.js';
import { ingestRun } from './ingestRun.js';

const { discoverPages } = proxyActivities<Activities>(FETCH);

/**
 * Reads a sitemap, creates a file for each requested page, and ingests them. The sitemap has a file of its own, the
 * parent of the pages. Its final status is READY if the sitemap was read, SYNC_ERROR if not, SYNC_ABORTED if the run
 * was cancelled.
 */
export async function scrapeSitemap(input: IngestRunInput): Promise<RunOutcome> {
  const { runId } = input;
  return ingestRun(input, async () => (await discoverPages({ runId })).discovered);
}
