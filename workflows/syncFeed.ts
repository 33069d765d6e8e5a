import { proxyActivities } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { IngestRunInput, RunOutcome } from '../contract/runs/orchestration.js';
import { FETCH } from './activityOptions.js';
import { ingestRun } from './ingestRun.js';

const { discoverEntries } = proxyActivities<Activities>(FETCH);

/**
 * Reads a feed, creates a file for each entry, and ingests them. The final status of the feed's own file is READY if
 * the feed was read, SYNC_ERROR if not, SYNC_ABORTED if the run was cancelled.
 */
export async function syncFeed(input: IngestRunInput): Promise<RunOutcome> {
  return ingestRun(input, async () => (await discoverEntries({ runId: input.runId })).discovered);
}
