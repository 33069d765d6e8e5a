import { proxyActivities } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { IngestRunInput, RunOutcome } from '../contract/runs/orchestration.js';
import { FETCH } from './activityOptions.js';
import { ingestRun } from './ingestRun.js';

const { discoverEntries } = proxyActivities<Activities>(FETCH);

/**
 * Reads a feed, creates a file for each entry, and ingests them. The feed's record has the same final states as that of
 * a sitemap.
 */
export async function syncFeed(input: IngestRunInput): Promise<RunOutcome> {
  return ingestRun(input, async () => (await discoverEntries({ runId: input.runId })).discovered);
}
