import type { PlanReembedResult, ReembedCursor, RunInput, RunOutcome } from '../../contract/runs/orchestration.js';
import { type ReembedSkipReason, reembedSkipReason, tokensOf } from '../../contract/runs/reembed.js';
import type { ReembedEnd } from '../../store/reembeds/reembeds.js';
import { runOfKind } from '../../contract/runs/runs.js';
import type { ActivityDeps } from '../deps.js';
import { requireRun } from '../requireRun.js';
import { settleAttempts } from './settleAttempts.js';

/** Files examined in one step. */
const FILES_PER_PLAN = 500;
/** Maximum number of files in a batch. */
const FILES_PER_BATCH = 50;
/** A batch with this many chunks, or more, gets no further file. */
const CHUNKS_PER_BATCH = 1_000;

const DEFECT = 'The run failed because of an internal error. See the log of the service for the cause.';

/** Creates the activities that begin and end a re-embedding run. */
export function createReembedPlan(deps: ActivityDeps) {
  const { store, embeddings, settings, log } = deps;
  return {
    /** Splits the next matching files after a cursor into batches. Records the skipped files with their reasons. */
    async planReembed({ runId, afterId, tokens }: RunInput & ReembedCursor): Promise<PlanReembedResult> {
      const run = await requireRun(store, runId);
      await store.runs.markStarted(runId);
      const tenant = { organizationId: run.organizationId, userId: run.userId };
      const { model, space, filters, maxTokens } = runOfKind(run, 'reembedFiles').request;
      const target = model && { model, space: embeddings.spaceOf(model).name };
      const batches: number[][] = [];
      const ends: ReembedEnd[] = [];
      let [examined, last, planned, chunks] = [0, afterId, tokens, CHUNKS_PER_BATCH];
      for await (const file of store.files.candidates(tenant, filters, run.acceptedAt, afterId, FILES_PER_PLAN)) {
        examined += 1;
        last = file._id;
        if (space !== undefined && file.vectorSpace !== space) continue;
        const total = planned + tokensOf(file);
        const overLimit: ReembedSkipReason | null = maxTokens !== null && total > maxTokens ? 'over_max_tokens' : null;
        const reason = reembedSkipReason(file, target) ?? overLimit;
        if (reason !== null) {
          ends.push({ fileId: file._id, outcome: 'skipped', reason });
          continue;
        }
        planned = total;
        if (chunks >= CHUNKS_PER_BATCH || batches.at(-1)?.length === FILES_PER_BATCH) {
          batches.push([]);
          chunks = 0;
        }
        batches.at(-1)?.push(file._id);
        chunks += file.numChunks;
      }
      const containers = ends.flatMap((end) =>
        end.outcome === 'skipped' && end.reason === 'container' ? [end.fileId] : [],
      );
      if (model) await store.files.setModel(tenant, containers, model);
      await store.reembeds.end(run, ends);
      return {
        ...{ batches, skipped: ends.length, window: settings.batchConcurrency },
        ...{ afterId: last, tokens: planned, ended: examined < FILES_PER_PLAN },
      };
    },

    /** Ends the run's row with its counts; an unfinished run leaves no partial data. */
    async finishReembed({ runId, outcome }: RunInput & { outcome: RunOutcome['outcome'] | 'aborted' }): Promise<void> {
      const run = await store.runs.find(runId);
      if (!run) return;
      await settleAttempts(store, run, await store.reembeds.listOpen(runId));
      const { skipped, ...sums } = await store.reembeds.sums(runId);
      const reasons = Object.entries(skipped).map(([reason, files]) => [`skipped_${reason}`, files] as const);
      const { organizationId, requestId, lastError } = run;
      const failure = { message: lastError?.message ?? DEFECT, error: lastError?.kind ?? ('run_failed' as const) };
      const counts = { ...sums, ...Object.fromEntries(reasons) };
      await store.runs.finish(runId, outcome, counts, outcome === 'failed' ? failure : undefined);
      log.info({ runId, organizationId, requestId, outcome, ...sums }, 'files re-embedded');
    },
  };
}
