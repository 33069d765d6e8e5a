import type { FeedReading } from '../../contract/runs/feeds.js';
import type { FaultKind } from '../../contract/failures.js';
import type { BegunRun, RunInput } from '../../contract/runs/orchestration.js';
import { IS_UPLOAD, type RunKind } from '../../contract/runs/runKinds.js';
import { truncationMessage } from '../../contract/runs/scrapeSitemap.js';
import { crawlCutMessage } from '../../contract/runs/webScrape.js';
import type { ContainerChange } from '../../store/files/moveContainer.js';
import type { RunCounts } from '../../store/files/runProgress.js';
import type { Run, RunDoc } from '../../store/models/runs.js';
import type { RunEnd } from '../../store/runs/outbox.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { settleInterrupted } from '../generations/interruptedAttempts.js';
import { lastCause } from '../lastCause.js';
import { prepareSpace } from './prepareSpace.js';

/** Kinds whose scheduled runs delete vanished pages. Files of entries that leave a feed stay. */
const SITE_KINDS: readonly RunKind[] = ['scrapeSitemap', 'webScrape'];

/** Returns the message of a finished run that did not accept all pages; null for other runs. */
function truncationOf(run: Run): string | null {
  if (run.kind === 'scrapeSitemap') return truncationMessage(run.progress);
  return run.kind === 'webScrape' ? crawlCutMessage(run.progress) : null;
}

/** Creates the activities that begin and end a run: small writes, each safe to repeat. */
export function createRunActivities({ store, embeddings, log }: ActivityDeps) {
  /** Ends the run's row and deletes the data that only the run needed. */
  const end = async (
    run: RunDoc,
    outcome: 'finished' | 'failed' | 'aborted',
    counts: RunCounts,
    runEnd?: RunEnd,
  ): Promise<void> => {
    if (run.dataSourceId) await store.dataSources.recordFilesSynced(run, run.dataSourceId);
    if (run.dataSourceId && run.maxTokens !== undefined)
      await store.dataSources.mergeMetadata(run, run.dataSourceId, { files_paused: null });
    const synced = run.parentRunId === undefined ? {} : { synced: await store.files.countSynced(run) };
    await store.runs.finish(run._id, outcome, { ...counts, ...synced }, runEnd);
    if (run.kind === 'webScrape') await store.frontier.clear(run._id);
  };
  /**
   * Returns the reading if the next run may skip an unchanged feed: its server sent a validator, all files of its
   * entries are READY, and none has its content from a web page, which may change while the feed does not.
   */
  const unchangedReading = async (reading: FeedReading, { total, ready }: RunCounts): Promise<FeedReading | null> =>
    (reading.etag !== null || reading.lastModified !== null) &&
    ready === total &&
    !(await store.files.hasPageContent(reading.runId))
      ? { ...reading, entries: total }
      : null;
  /** Changes the container of the run's files, if they have one. */
  const moveParent = async ({ _id, fileId }: RunDoc, change: ContainerChange): Promise<void> => {
    if (fileId !== null) await store.files.moveContainer(_id, fileId, change);
  };
  return {
    /**
     * Takes the run out of the outbox and sets its container to SYNCING. Returns `finished` if an earlier execution
     * completed the run.
     */
    async beginRun({ runId }: RunInput): Promise<BegunRun> {
      const run = await requireRun(store, runId);
      await store.runs.markStarted(runId);
      if (run.finishedAt !== null) return { finished: true };
      await Promise.all([prepareSpace(run, { store, embeddings }), moveParent(run, { status: 'SYNCING' })]);
      const isScheduled = run.parentRunId !== undefined;
      return { finished: false, ...(isScheduled && SITE_KINDS.includes(run.kind) && { deletesGonePages: true }) };
    },

    /** Ends a run after a successful discovery: sets the container to READY and stores the final counts. */
    async finishRun({ runId }: RunInput): Promise<void> {
      const run = await requireRun(store, runId);
      const counts = await store.files.countRun(runId);
      const found = run.kind === 'syncFeed' ? (run.progress.found ?? null) : null;
      const unchanged = found !== null && 'unchanged' in found;
      // This run ingested nothing of an unchanged feed: keep the counts of the run that ingested its entries.
      const metadata = unchanged
        ? {}
        : {
            pages_total: counts.total,
            pages_ready: counts.ready,
            pages_failed: counts.failed,
            pages_aborted: counts.aborted,
          };
      if (run.fileId === null && run.dataSourceId)
        await store.dataSources.mergeMetadata(run, run.dataSourceId, { files_error: null });
      const reading = found && 'reading' in found ? await unchangedReading(found.reading, counts) : null;
      // Writes WEBSCRAPE_URLS_READY and, except in a scheduled sync, ALL_UPLOADED_FILES_QUEUED. A crawl discovers URLs
      // until it ends. Other runs have written these events when their discovery ended, and write no second ones.
      if (IS_UPLOAD[run.kind])
        await moveParent(run, { status: 'SYNCING', discovered: true, isScheduled: run.parentRunId !== undefined });
      await moveParent(run, {
        status: 'READY',
        metadata,
        synced: true,
        ...(reading && { feedReading: reading }),
      });
      const truncation = truncationOf(run);
      await end(run, 'finished', counts, truncation === null ? undefined : { message: truncation, error: null });
      log.info(
        { runId, organizationId: run.organizationId, requestId: run.requestId, fileId: run.fileId, ...counts },
        'run finished',
      );
    },

    /** Ends a failed run: aborts unfinished files, and stores the cause on the container. */
    async failRun({ runId, ...failure }: RunInput & { message: string; cause?: FaultKind | null }): Promise<void> {
      const run = await requireRun(store, runId);
      const { message, cause } = lastCause(run, failure.message, failure.cause);
      await moveParent(run, { status: 'SYNC_ERROR', message, cause: cause ?? 'run_failed' });
      // Without a container, no file stores the cause.
      if (run.fileId === null && run.dataSourceId)
        await store.dataSources.mergeMetadata(run, run.dataSourceId, { files_error: message });
      await store.files.abortOpen(runId, message, 'run_failed');
      await settleInterrupted(store, runId);
      const counts = await store.files.countRun(runId);
      await end(run, 'failed', counts, { message, error: cause ?? 'run_failed' });
      log.warn(
        { runId, organizationId: run.organizationId, requestId: run.requestId, fileId: run.fileId, message },
        'run failed',
      );
    },

    /** Ends a cancelled run: finished files stay, the others are SYNC_ABORTED. */
    async abortRun({ runId }: RunInput): Promise<void> {
      const run = await requireRun(store, runId);
      await store.files.abortOpen(
        runId,
        'The run was cancelled before this file was synced. Resync the file to try again.',
        'cancelled',
      );
      await settleInterrupted(store, runId);
      const counts = await store.files.countRun(runId);
      await end(run, 'aborted', counts);
      log.info(
        { runId, organizationId: run.organizationId, requestId: run.requestId, fileId: run.fileId },
        'run cancelled',
      );
    },
  };
}
