import { proxyActivities } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { IngestRunInput, RunOutcome } from '../contract/runs/orchestration.js';
import { COMPUTE } from './activityOptions.js';
import { ingestRun } from './ingestRun.js';

const { followLinks } = proxyActivities<Activities>(COMPUTE);

/**
 * Follows a site's links from a start address, breadth-first, and ingests each page. The crawl has a file of its own,
 * the parent of the pages. Its final status is READY if the start page was fetched, SYNC_ERROR if not, SYNC_ABORTED if
 * the run was cancelled.
 */
export async function webScrape(input: IngestRunInput): Promise<RunOutcome> {
  const follow = () => followLinks({ runId: input.runId });
  return ingestRun(input, async () => (await follow()).discovered, follow);
}
