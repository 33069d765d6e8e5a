import type { IngestRunInput, RunOutcome } from '../contract/runs/orchestration.js';
import { ingestRun } from './ingestRun.js';

/** Syncs one file again with the options in its record. The file was queued when the run was accepted. */
export async function resyncFile(input: IngestRunInput): Promise<RunOutcome> {
  return ingestRun(input, () => Promise.resolve(1));
}
