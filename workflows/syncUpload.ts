import type { IngestRunInput, RunOutcome } from '../contract/runs/orchestration.js';
import { ingestRun } from './ingestRun.js';

/**
 * Ingests an uploaded file and its attachments. The file was queued when the run was accepted; its attachments are
 * queued when it is read.
 */
export async function syncUpload(input: IngestRunInput): Promise<RunOutcome> {
  return ingestRun(input, () => Promise.resolve(1));
}
