import { activityInfo, cancellationSignal } from '@temporalio/activity';

import { type IngestBatchInput, type IngestBatchResult, TIME_SLICE_MS } from '../../contract/runs/orchestration.js';
import type { BatchRunner } from './batchRunner.js';
import { openCrawlBatch } from './crawlBatch.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { compareFirstPages } from './site/compareFirstPages.js';
import { createTokenBudget } from './prepare/tokenBudget.js';

/**
 * After this number of attempts, an activity no longer compares the first pages of its batch to find blocks that the
 * site repeats (`compareFirstPages`), because one of these pages may crash the worker. The comparison reads pages
 * before their files are started, and a crash is counted only for started files.
 */
const SUSPECT_ATTEMPTS = 2;

export function createIngestActivities(deps: ActivityDeps, runner: BatchRunner) {
  const { store } = deps;
  return {
    /**
     * Ingests a batch of queued files of one run. Only a store failure fails the batch; its retry continues where it
     * stopped. Files that were not started within the time limit stay in the queue.
     */
    async ingestBatch({ runId, fileIds, keepLinks = false }: IngestBatchInput): Promise<IngestBatchResult> {
      const tokens = createTokenBudget(store, runId);
      const crawl = keepLinks ? await openCrawlBatch(runId, fileIds, store, runner.writes.keepLinks) : null;
      const run = await requireRun(store, runId);
      const signal = cancellationSignal();
      const isSuspect = activityInfo().attempt > SUSPECT_ATTEMPTS;
      const fetchedAhead = isSuspect ? undefined : await compareFirstPages(run, fileIds, deps, runner.slots, signal);
      const { paused, alone, deferred } = await runner.run({
        owner: run,
        until: performance.now() + TIME_SLICE_MS,
        files: fileIds.map((fileId) => ({ runId, fileId })),
        tokensOf: () => tokens,
        ...(crawl && { linkSaverOf: (file) => crawl.linkSaverOf(file) }),
        ...(fetchedAhead && { fetchedAhead }),
        signal,
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
