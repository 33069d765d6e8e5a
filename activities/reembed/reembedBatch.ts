import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, cancellationSignal } from '@temporalio/activity';
import pLimit from 'p-limit';

import { Fault } from '../../contract/failures.js';
import type { ReembedCounts, RunInput } from '../../contract/runs/orchestration.js';
import type { ReembedRequest } from '../../contract/runs/reembed.js';
import type { FileDoc } from '../../store/models/files.js';
import type { StartedFile } from '../../store/files/start.js';
import type { ReembedEnd } from '../../store/reembeds/reembeds.js';
import { runOfKind } from '../../contract/runs/runs.js';
import type { Run, RunDoc } from '../../store/models/runs.js';
import { cleanUp } from '../generations/cleanUp.js';
import { publishWithTags } from '../generations/publishWithTags.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { processingWithModel } from '../ingest/prepare/processing.js';
import { discardAttempts, separateSkipped, reembeddedEnd, settleAttempts } from './settleAttempts.js';
import { byTarget, targetOf, type VectorTarget } from './target.js';
import { writeVectors } from './writeVectors.js';

/** Maximum number of files whose new generations are assigned in parallel. */
const BEGUN_AT_ONCE = 8;
/** Maximum number of attempts on a file that changes while it is embedded. */
const MAX_ITERATIONS = 3;
const INCOMPLETE = 'Some of its stored chunks are missing, so its vectors are unchanged. Resync it, then try again.';

export function createReembedBatch(deps: ActivityDeps) {
  const { store, settings, log } = deps;

  /** Publishes files whose vectors are written, and deletes their old ones; returns their ids. */
  const publishGenerations = async (
    run: RunDoc,
    { model, space }: VectorTarget,
    written: readonly StartedFile[],
  ): Promise<Set<number>> => {
    const files = written.map(({ file, generation }) => {
      const processedAs = processingWithModel(file, model, space, settings.ocr);
      return { file, generation, model, space, processedAs, tagsRevision: file.tagsRevision ?? null };
    });
    const published = new Set(await publishWithTags(store, files, (some) => store.files.publishVectors(some)));
    const done = written.filter(({ file }) => published.has(file._id));
    if (done.length > 0) await cleanUp(store, done);
    await store.reembeds.end(
      run,
      done.map(({ file }) => reembeddedEnd(file)),
    );
    return published;
  };

  /**
   * Embeds started files together. If a text cannot be embedded, embeds each file alone, with the retry delays of a
   * file. Files that were changed in the meantime stay unfinished.
   * @returns the ids of unfinished files with missing chunks
   */
  const embed = async (
    run: RunDoc,
    target: VectorTarget,
    attempts: readonly StartedFile[],
    signal: AbortSignal,
    attempt = 0,
  ): Promise<number[]> => {
    try {
      const completeIds = await writeVectors(run, attempts, target, deps, signal);
      const written = attempts.filter(({ file }) => completeIds.has(file._id));
      const published = await publishGenerations(run, target, written);
      await discardAttempts(
        store,
        run,
        attempts.filter(({ file }) => !published.has(file._id)),
      );
      return attempts.flatMap(({ file }) => (completeIds.has(file._id) ? [] : [file._id]));
    } catch (error) {
      if (!(error instanceof Fault) || signal.aborted) throw error;
      if (attempts.length > 1) {
        const incompleteIds: number[] = [];
        for (const fileAttempt of attempts) incompleteIds.push(...(await embed(run, target, [fileAttempt], signal)));
        return incompleteIds;
      }
      const delay = settings.retryDelaysMs[attempt];
      if (error.retryable && delay !== undefined) {
        await sleep(Math.max(delay, error.retryAfterMs ?? 0), undefined, { signal });
        return embed(run, target, attempts, signal, attempt + 1);
      }
      await discardAttempts(store, run, attempts);
      await store.reembeds.end(
        run,
        attempts.map(({ file }) => ({ fileId: file._id, outcome: 'failed', message: error.message })),
      );
      log.info(
        { runId: run._id, fileId: attempts[0]?.file._id, message: error.message },
        'file could not be re-embedded',
      );
      return [];
    }
  };

  /** Separates the files whose vector space no provider serves: they fail. */
  const separateUnserved = (files: readonly FileDoc[], request: ReembedRequest) => {
    const eligible: FileDoc[] = [];
    const unserved: ReembedEnd[] = [];
    for (const file of files)
      try {
        targetOf(file, request, deps);
        eligible.push(file);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        unserved.push({ fileId: file._id, outcome: 'failed', message: error.message });
      }
    return { eligible, unserved };
  };

  /** Embeds files. Files that have changed since they were read are read again, a few times. */
  const work = async (run: Run<'reembedFiles'>, fileIds: readonly number[], signal: AbortSignal): Promise<void> => {
    const { request } = run;
    const tenant = { organizationId: run.organizationId, userId: run.userId };
    const reembedTarget = request.model && { model: request.model, space: deps.embeddings.spaceOf(request.model).name };
    if (reembedTarget) deps.embeddings.prepare(reembedTarget.space);
    const limit = pLimit(BEGUN_AT_ONCE);
    let remaining = [...fileIds];
    let incompleteIds: readonly number[] = [];
    for (let iteration = 0; remaining.length > 0; iteration += 1) {
      const { ends, eligible: candidates } = separateSkipped(
        remaining,
        await store.files.byIds(tenant, remaining),
        reembedTarget,
      );
      const { eligible, unserved } = separateUnserved(candidates, request);
      await store.reembeds.end(run, [...ends, ...unserved]);
      if (iteration === MAX_ITERATIONS) {
        // A file whose chunks were still missing at the last attempt fails. The others changed at every attempt.
        return store.reembeds.end(
          run,
          eligible.map(({ _id: fileId }) =>
            incompleteIds.includes(fileId)
              ? { fileId, outcome: 'failed', message: INCOMPLETE }
              : { fileId, outcome: 'skipped', reason: 'syncing' },
          ),
        );
      }
      const begun = await Promise.all(eligible.map((file) => limit(() => store.files.beginVectors(file))));
      const attempts = begun.filter((attempt) => attempt !== null);
      await store.reembeds.begin(run, attempts);
      try {
        const incomplete: number[] = [];
        for (const { target, items } of byTarget(attempts, ({ file }) => targetOf(file, request, deps)))
          incomplete.push(...(await embed(run, target, items, signal)));
        incompleteIds = incomplete;
      } catch (error) {
        // If the signal is aborted, the run was cancelled, or this worker was presumed dead. Then the next attempt of
        // the activity may already have replaced the generations in the rows of store.reembeds, and only this process
        // knows which data it wrote. After any other error the rows still contain the generations, and the next attempt
        // deletes their data.
        if (signal.aborted) {
          const unpublished = attempts.map(({ file, generation }) => ({
            fileId: file._id,
            from: file.generation,
            generation,
          }));
          await settleAttempts(store, run, unpublished);
        }
        throw error;
      }
      const ended = new Set((await store.reembeds.listEnded(run._id, remaining)).map(({ fileId }) => fileId));
      remaining = remaining.filter((fileId) => !ended.has(fileId));
    }
  };

  return {
    /**
     * Computes new vectors of files and publishes them, with the run's model or, if it has none, with the model of each
     * file. Each outcome is a separate row, so a retry of the batch continues with the remaining files. A Fault affects
     * only its file.
     */
    async reembedBatch({ runId, fileIds }: RunInput & { fileIds: readonly number[] }): Promise<ReembedCounts> {
      const run = runOfKind(await requireRun(store, runId), 'reembedFiles');
      const signal = cancellationSignal();
      if (activityInfo().attempt > 1) await store.vectors.ping();
      await settleAttempts(store, run, await store.reembeds.listOpen(runId, fileIds));
      const ended = new Set((await store.reembeds.listEnded(runId, fileIds)).map(({ fileId }) => fileId));
      await work(
        run,
        fileIds.filter((fileId) => !ended.has(fileId)),
        signal,
      );
      const rows = await store.reembeds.listEnded(runId, fileIds);
      const count = (outcome: string): number => rows.filter((row) => row.outcome === outcome).length;
      return { reembedded: count('reembedded'), skipped: count('skipped'), failed: count('failed') };
    },
  };
}
