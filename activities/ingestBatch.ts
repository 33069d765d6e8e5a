import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import pLimit from 'p-limit';

import { Fault } from '../contract/failures.js';
import type { AsideStep, IngestBatchInput, IngestBatchResult } from '../contract/orchestration.js';
import type { StartedFile } from '../store/files/start.js';
import { type Account, costOf, newAccount } from './account.js';
import { cleanUp, discard } from './commitFiles.js';
import { type CrawlBatch, openCrawlBatch } from './crawlBatch.js';
import type { ActivityDeps } from './deps.js';
import { createIngestWrites } from './ingestWrites.js';
import { closeText } from './preparedFile.js';
import { prepareFile } from './prepareFile.js';
import { createAdmission } from './admission.js';
import { createSettling, QUARANTINE, SUSPECT_AFTER_DEATHS } from './settleFile.js';
import { PutAside } from './putAside.js';
import { BoundReached, createTokenBound } from './tokenBound.js';

const HEARTBEAT_MS = 1_000;

export function createIngestActivities(deps: ActivityDeps) {
  const { store, settings } = deps;
  const writes = createIngestWrites(deps);
  const { starter, committer, keeper } = writes;

  const { settle, forget } = createSettling(deps);

  return {
    /**
     * Brings a batch of files from queued to an end: each outcome is written as it happens, so a second run of the same
     * batch goes on where the first one died. Faults stay with their file; only a store's fault fails the batch.
     */
    async ingestBatch({ runId, fileIds, keepLinks = false }: IngestBatchInput): Promise<IngestBatchResult> {
      const signal = cancellationSignal();
      let done = 0;
      const beat = setInterval(() => heartbeat({ done, of: fileIds.length }), HEARTBEAT_MS);
      const underWay = new Map<number, StartedFile>();
      const handedOver = new Set<number>();
      let storeFailed = false;
      let paused = false;
      let crawl: CrawlBatch | null = null;
      const alone: number[] = [];
      const aside: Record<AsideStep, number[]> = { transcribe: [], recognize: [] };
      const admit = createAdmission(store, runId);
      const tokens = createTokenBound(store, runId);

      /** What has to be written down for a file once its slot is given back. */
      type Commit = () => Promise<void>;
      const work = async (started: StartedFile, account: Account): Promise<Commit> => {
        const { file, generation } = started;
        const fileId = file._id;
        if (file.unfinishedStarts - 1 > SUSPECT_AFTER_DEATHS) {
          throw new Fault('quarantined', QUARANTINE);
        }
        if (file.options.skipFileProcessing) return async () => void (await store.files.shelve(runId, fileId));
        const admitted = (characters: number): Promise<void> => admit(file, characters);
        const preparation = { admit: admitted, tokens, account, keepLinks: crawl?.keeperOf(file) ?? null };
        const prepared = await prepareFile(runId, started, deps, signal, preparation);
        account.stage = 'store';
        if (prepared) return () => committer.add(prepared).finally(() => closeText(prepared.document));
        if (generation > file.generation + 1) await forget(started);
        return () => keeper.add({ runId, file, generation, cost: costOf(account) });
      };

      const slots = pLimit(settings.fileConcurrency);
      const ingest = async (fileId: number): Promise<void> => {
        signal.throwIfAborted();
        // What could not be written would only be fetched for nothing, and again at the next try.
        if (storeFailed || paused) return;
        const started = await starter.add({ runId, fileId });
        if (!started) return;
        underWay.set(fileId, started);
        const account = newAccount();
        if (started.file.unfinishedStarts - 1 >= SUSPECT_AFTER_DEATHS && fileIds.length > 1) {
          alone.push(fileId);
          return;
        }
        try {
          // Fetching, reading and embedding take a slot; waiting for the write does not.
          const commit = await slots(() => work(started, account));
          handedOver.add(fileId);
          await commit();
        } catch (error) {
          if (error instanceof PutAside) {
            aside[error.step].push(fileId);
            await forget(started);
            await store.files.putAside(runId, fileId, error.pages);
            underWay.delete(fileId);
            return;
          }
          if (error instanceof BoundReached) {
            paused = true;
            await forget(started);
            await store.files.release(runId, [fileId]);
            underWay.delete(fileId);
            return;
          }
          if (!(error instanceof Fault) || signal.aborted) {
            storeFailed = true;
            throw error;
          }
          await settle(runId, started, error, account);
        }
        underWay.delete(fileId);
        done += 1;
      };

      try {
        // MongoDB is asked at once in any case; a try that finds Qdrant still away fetches nothing.
        if (activityInfo().attempt > 1) {
          await store.vectors.ping();
          // What the try before has done and not told of comes before what this one does.
          await store.events.settle(fileIds);
        }
        crawl = keepLinks ? await openCrawlBatch(runId, fileIds, store, writes.linker) : null;
        const unclean = await store.files.needingCleanUp(runId, fileIds);
        if (unclean.length > 0)
          await cleanUp(
            store,
            unclean.map((file) => ({ file, generation: file.generation })),
          );
        // Started are only as many as are worked on or written: the rest would count as under way if the worker died.
        const limit = pLimit(2 * settings.fileConcurrency);
        const results = await Promise.allSettled(fileIds.map((fileId) => limit(() => ingest(fileId))));
        const broken = results.find((result) => result.status === 'rejected');
        // A file that was put aside, or not brought to an end, was not at fault: its start does not count.
        if (underWay.size > 0) {
          // A cancelled run does not come back to them. Of those whose write failed nobody knows how far it came.
          const unwritten = [...underWay.values()].filter(({ file }) => !handedOver.has(file._id));
          if (signal.aborted) await discard(store, unwritten);
          await store.files.release(runId, [...underWay.keys()]);
        }
        if (broken) throw broken.reason;
        const { transcribe: toTranscribe, recognize: toRecognize } = aside;
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
      } finally {
        clearInterval(beat);
      }
    },
  };
}
