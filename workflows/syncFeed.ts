import { proxyActivities } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { IngestRunInput, RunOutcome } from '../contract/orchestration.js';
import { FETCH } from './activityOptions.js';
import { ingestRun } from './ingestRun.js';

const { discoverEntries } = proxyActivities<Activities>(FETCH);

/** Reads a feed, makes a file of each entry, and ingests them. The feed's record ends as a sitemap's does. */
export async function syncFeed(input: IngestRunInput): Promise<RunOutcome> {
  return ingestRun(input, async () => (await discoverEntries({ runId: input.runId })).discovered);
}
