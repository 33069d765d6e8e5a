import { cancellationSignal } from '@temporalio/activity';

import { type IngestBatchInput, type IngestBatchResult, TURN_MS } from '../../contract/runs/orchestration.js';
import type { BatchRunner } from './batchRunner.js';
import { openCrawlBatch } from './crawlBatch.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { createTokenBound } from './prepare/tokenBound.js';

export function createIngestActivities({ store }: Pick<ActivityDeps, 'store'>, runner: BatchRunner) {
  return {
    /**
     * Ingests a batch of queued files of one run. Only a store failure fails the batch; its retry continues where it
     * stopped. Files that were not started within the time limit stay in the queue.
     */
    async ingestBatch({ runId, fileIds, keepLinks = false }: IngestBatchInput): Promise<IngestBatchResult> {
      const tokens = createTokenBound(store, runId);
      const crawl = keepLinks ? await openCrawlBatch(runId, fileIds, store, runner.writes.keepLinks) : null;
      const run = await requireRun(store, runId);
      const { paused, alone, deferred } = await runner.run({
        owner: run,
        until: performance.now() + TURN_MS,
        files: fileIds.map((fileId) => ({ runId, fileId })),
        tokensOf: () => tokens,
        ...(crawl && { keeperOf: (file) => crawl.keeperOf(file) }),
        signal: cancellationSignal(),
      });
      const { transcribe: toTranscribe, recognize: toRecognize } = deferred;
      const waiting = new Set([...toTranscribe, ...toRecognize]);
      const outcomes = await store.files.outcomes(
        runId,
        fileIds.filter((fileId) => !waiting.has(fileId)),
      );
      return {
        ...outcomes,
        alone,
        ...(paused ? { paused } : {}),
        ...(toTranscribe.length > 0 ? { toTranscribe } : {}),
        ...(toRecognize.length > 0 ? { toRecognize } : {}),
      };
    },
  };
}
