import { ApplicationFailure, cancellationSignal } from '@temporalio/activity';
import pLimit from 'p-limit';

import { Fault } from '../../contract/failures.js';
import {
  type DeferredInput,
  type DeferredResult,
  TIME_SLICE_MS,
  TIME_SLICE_OVER_FAILURE,
} from '../../contract/runs/orchestration.js';
import type { FileDoc } from '../../store/models/files.js';
import { newAttemptCost } from './prepare/attemptCost.js';
import { contentStep } from './prepare/contentStep.js';
import type { ActivityDeps } from '../deps.js';
import { openOriginal } from './prepare/originals.js';
import { recordCrash, refuseCrashing } from './prepare/readContent.js';
import { readingOf, recognitionOf } from './prepare/recognizedPages.js';
import { createSettling, CRASHED_OFTEN, SUSPECT_AFTER_CRASHES } from './settleFile.js';

/**
 * Returns the error that ends the time slice of a file. Temporal retries the activity, which then waits its turn among
 * the files of all users and continues with the remaining pages.
 */
const yieldSlice = (): ApplicationFailure =>
  ApplicationFailure.create({
    type: TIME_SLICE_OVER_FAILURE,
    message: 'The time slice of this file is over. OCR continues with other files, and later with this one.',
    nextRetryDelay: 1,
    category: 'BENIGN',
  });

export function createRecognizeActivities(deps: ActivityDeps) {
  const { store, settings, documents } = deps;
  const { settle } = createSettling(deps);

  /** Runs OCR on the unread pages of a file. Stores each page immediately, so that a crash repeats few pages. */
  const work = async (runId: number, file: FileDoc, signal: AbortSignal): Promise<void> => {
    if (file.unfinishedStarts - 1 > SUSPECT_AFTER_CRASHES) throw new Fault('quarantined', CRASHED_OFTEN);
    const original = await openOriginal(file, deps, true);
    try {
      const { bytes, path, contentType, url, html, hash } = original;
      refuseCrashing(file, hash);
      const owner = readingOf(file, hash, deps);
      const storedNumbers = await store.recognizedPages.begin(owner);
      const input = {
        bytes,
        ...(path === null ? {} : { path }),
        contentType,
        name: url,
        baseUrl: null,
        html,
        owner: file.userId,
      };
      const slots = pLimit(settings.ocr.pagesAtOnce);
      const until = performance.now() + TIME_SLICE_MS;
      let numBegun = 0;
      let isOver = false as boolean;
      const stop = new AbortController();
      const signals = AbortSignal.any([signal, stop.signal]);
      const recognized = (file.ocrPages ?? [])
        .filter((page) => !storedNumbers.has(page))
        .map((page) =>
          slots(async () => {
            signals.throwIfAborted();
            if (numBegun > 0 && performance.now() > until) {
              isOver = true;
              return;
            }
            numBegun += 1;
            const read = await contentStep('recognized', signals, deps, () =>
              documents.recognize(input, { page, ...recognitionOf(file) }, signals),
            );
            await store.recognizedPages.save(owner, page, read);
          }),
        );
      try {
        await Promise.all(recognized);
      } finally {
        // If a page fails, the OCR of the other pages is stopped. All pages must have ended before the content is
        // closed below.
        stop.abort(new Error('another page of the file could not be recognized'));
        await Promise.allSettled(recognized);
      }
      if (isOver) throw yieldSlice();
    } catch (error) {
      if (error instanceof Fault && !signal.aborted) await recordCrash(runId, file, error, original.hash, deps);
      throw error;
    } finally {
      await original.close();
    }
  };

  return {
    /**
     * Runs OCR for a deferred file, so that its batch can read it. A Fault is stored in the file as at the end of any
     * attempt (see `settle`). A store failure, or the end of the time slice, fails the activity, and Temporal retries
     * it. A cancellation fails it too; the start of the file is then undone.
     * @returns whether the file can be read now
     */
    async recognize({ runId, fileId }: DeferredInput): Promise<DeferredResult> {
      const signal = cancellationSignal();
      const file = await store.files.beginOcr(runId, fileId);
      // The file was read in the meantime, or belongs to another run. The batch handles both cases.
      if (file === null) return { done: true };
      try {
        await work(runId, file, signal);
      } catch (error) {
        if (error instanceof Fault && !signal.aborted) {
          await settle(runId, { file, generation: file.lastGeneration }, error, newAttemptCost('recognize'));
          return { done: false };
        }
        await store.files.release(runId, [fileId]);
        throw error;
      }
      await store.files.release(runId, [fileId]);
      return { done: true };
    },
  };
}
