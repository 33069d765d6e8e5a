import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { IngestRunInput, RunOutcome } from '../contract/runs/orchestration.js';
import { FETCH } from './activityOptions.js';
import { ingestRun } from './ingestRun.js';

const { queueItems } = proxyActivities<Activities>(FETCH);

/** Creates a file for each selected item of a connected account, and ingests the files. */
export async function syncSource(input: IngestRunInput): Promise<RunOutcome> {
  const { runId } = input;
  return ingestRun(input, async () => {
    let step = await queueItems({ runId });
    while (!step.done) {
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof syncSource>({ runId });
      step = await queueItems({ runId });
    }
    return step.discovered;
  });
}
