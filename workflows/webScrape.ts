import { proxyActivities } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { IngestRunInput, RunOutcome } from '../contract/runs/orchestration.js';
import { COMPUTE } from './activityOptions.js';
import { ingestRun } from './ingestRun.js';

const { followLinks } = proxyActivities<Activities>(COMPUTE);

/**
 * Follows a site's links from a start address, level after level, and ingests each page. The parent ends READY when the
 * start page was fetched, SYNC_ERROR when it was not, SYNC_ABORTED when the run was cancelled.
 */
export async function webScrape(input: IngestRunInput): Promise<RunOutcome> {
  const follow = () => followLinks({ runId: input.runId });
  return ingestRun(input, async () => (await follow()).discovered, follow);
}
