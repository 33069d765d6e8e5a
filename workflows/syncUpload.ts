import type { IngestRunInput, RunOutcome } from '../contract/runs/orchestration.js';
import { ingestRun } from './ingestRun.js';

/**
 * Ingests an uploaded file and the files it contains. They were queued when the run was accepted, or are queued while
 * it is read.
 */
export async function syncUpload(input: IngestRunInput): Promise<RunOutcome> {
  return ingestRun(input, () => Promise.resolve(1));
}
