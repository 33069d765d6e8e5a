import { activityInfo } from '@temporalio/activity';
import pLimit from 'p-limit';

import { Fault } from '../../contract/failures.js';
import type { DeferredStep } from '../../contract/runs/orchestration.js';
import type { StartedFile } from '../../store/files/start.js';
import type { Tenant } from '../../store/users/accept.js';
import { type AttemptCost, costOf, newAttemptCost } from './prepare/attemptCost.js';
import { createAdmission } from './admission.js';
import { cleanUp, discard } from '../generations/cleanUp.js';
import type { ActivityDeps } from '../deps.js';
import { createFileSlots, type FileSlots } from './fileSlots.js';
import { createIngestWrites, type IngestWrites, type StartRequest } from './ingestWrites.js';
import { closeText, type FetchedAhead, type SaveLinks } from './prepare/preparedFile.js';
import { prepareFile } from './prepare/prepareFile.js';
import { Deferred } from './prepare/deferred.js';
import { createSiteEvidence } from './site/siteEvidence.js';
import { createSettling, CRASHED_OFTEN, SUSPECT_AFTER_CRASHES } from './settleFile.js';
import { TokenBudgetReached, type TokenBudget } from './prepare/tokenBudget.js';

/** Files that one activity ingests. */
export interface FileBatch {
  /** Owner of the files. */
  readonly owner: Tenant;
  readonly files: readonly StartRequest[];
  /**
   * Time after which the batch starts no more files, on the clock of performance.now(). The batch always starts at
   * least one file.
   */
  readonly until: number;
  tokensOf(runId: number): TokenBudget;
  /** Returns the function that stores the links of a page; null for a page whose links are not followed. */
  linkSaverOf?(file: StartedFile['file']): SaveLinks | null;
  /** Returns contents that were fetched before the batch; absent if none were. */
  readonly fetchedAhead?: FetchedAhead;
  readonly signal: AbortSignal;
}

/** Result of a batch. */
export interface BatchEnd {
  /** Whether a run reached its token limit; its files wait in the queue. */
  readonly paused: boolean;
  /**
   * Files that were in progress at SUSPECT_AFTER_CRASHES worker crashes. They were not ingested; the caller ingests
   * each in a batch without other files.
   */
  readonly alone: readonly number[];
  /** Files that wait for a later step, by that step. */
  readonly deferred: Readonly<Record<DeferredStep, readonly number[]>>;
  /** Files that were not started because the time limit was reached. */
  readonly unprocessed: readonly number[];
}

/** Ingests files in batches that share their writes. */
export interface BatchRunner {
  readonly writes: IngestWrites;
  readonly slots: FileSlots;
  /**
   * Writes each outcome immediately, so that a retry of the batch continues with the remaining files. A Fault affects
   * only its file.
   * @throws the error of a store
   */
  run(batch: FileBatch): Promise<BatchEnd>;
}

export function createBatchRunner(deps: ActivityDeps): BatchRunner {
  const { store, settings } = deps;
  const writes = createIngestWrites(deps);
  const fileSlots = createFileSlots(settings.workerFileConcurrency);
  const { settle, discardAttempt } = createSettling(deps);

  const release = async (files: readonly StartedFile[]): Promise<void> => {
    for (const runId of new Set(files.map(({ file }) => file.runId)))
      if (runId !== null)
        await store.files.release(
          runId,
          files.flatMap(({ file }) => (file.runId === runId ? [file._id] : [])),
        );
  };

  return {
    writes,
    slots: fileSlots,
    async run({ owner, files, until, tokensOf, linkSaverOf, fetchedAhead = () => Promise.resolve(null), signal }) {
      const fileIds = files.map(({ fileId }) => fileId);
      const inProgress = new Map<number, StartedFile>();
      const writing = new Set<number>();
      let storeFailed = false;
      let paused = false;
      const alone: number[] = [];
      const deferred: Record<DeferredStep, number[]> = { transcribe: [], recognize: [] };
      const admit = createAdmission(store);
      const evidenceOf = createSiteEvidence(deps);

      /** Writes the outcome of a file; called after the slot of the file is released. */
      type Commit = () => Promise<void>;
      const work = async (runId: number, started: StartedFile, attempt: AttemptCost): Promise<Commit> => {
        const { file, generation } = started;
        if (file.unfinishedStarts - 1 > SUSPECT_AFTER_CRASHES) throw new Fault('quarantined', CRASHED_OFTEN);
        if (file.options.skipFileProcessing) return async () => void (await store.files.skipContent(runId, file._id));
        const admitted = (characters: number): Promise<void> => admit(file, characters);
        const keepLinks = linkSaverOf?.(file) ?? null;
        const fromSite = { fetchedAhead, evidenceOf };
        const preparation = { admit: admitted, tokens: tokensOf(runId), attempt, keepLinks, ...fromSite };
        const prepared = await prepareFile(runId, started, deps, signal, preparation);
        attempt.stage = 'store';
        if (prepared) {
          return () => {
            writing.add(file._id);
            return writes.commit(prepared).finally(() => closeText(prepared.document));
          };
        }
        if (generation > file.generation + 1) await discardAttempt(started);
        return () => {
          writing.add(file._id);
          return writes.finishUnchanged({ runId, file, generation, cost: costOf(attempt) });
        };
      };

      /** What an attempt returns when it releases its slot; `end` then writes the outcome. */
      interface AttemptResult {
        readonly started: StartedFile;
        readonly attempt: AttemptCost;
        readonly end: Commit;
      }
      let begun = 0;
      const unprocessed: number[] = [];
      const attemptFile = async ({ runId, fileId }: StartRequest): Promise<AttemptResult | null> => {
        signal.throwIfAborted();
        // Stop fetching after a store failure: the results could not be written.
        if (storeFailed || paused) return null;
        if (begun > 0 && performance.now() > until) {
          unprocessed.push(fileId);
          return null;
        }
        begun += 1;
        const started = await writes.start({ runId, fileId });
        if (!started) return null;
        inProgress.set(fileId, started);
        if (started.file.unfinishedStarts - 1 >= SUSPECT_AFTER_CRASHES && files.length > 1) {
          alone.push(fileId);
          return null;
        }
        const attempt = newAttemptCost();
        const commit = await work(runId, started, attempt).catch((error: unknown) => () => Promise.reject(error));
        return { started, attempt, end: commit };
      };
      const slots = pLimit(settings.fileConcurrency);
      const ingest = async (request: StartRequest): Promise<void> => {
        const { runId, fileId } = request;
        // Fetching, reading and embedding take a slot; waiting for a write does not.
        const result = await slots(() => fileSlots.run(owner, () => attemptFile(request)));
        if (!result) return;
        const { started, attempt, end } = result;
        try {
          await end();
        } catch (error) {
          if (error instanceof Deferred) {
            deferred[error.step].push(fileId);
            await discardAttempt(started);
            await store.files.defer(runId, fileId, error.pages);
            inProgress.delete(fileId);
            return;
          }
          if (error instanceof TokenBudgetReached) {
            paused = true;
            await discardAttempt(started);
            await store.files.release(runId, [fileId]);
            inProgress.delete(fileId);
            return;
          }
          if (!(error instanceof Fault) || signal.aborted) {
            storeFailed = true;
            throw error;
          }
          await settle(runId, started, error, attempt);
        }
        inProgress.delete(fileId);
      };

      // The previous attempt may have failed because Qdrant was down: check it before anything is fetched. An outage of
      // MongoDB needs no check, because the queries below fail.
      if (activityInfo().attempt > 1) {
        await store.vectors.ping();
        // Finish the event writes that the previous attempt left unfinished, before this attempt writes events of the
        // same files.
        await store.events.settle(fileIds);
      }
      const unclean = await store.files.filterNeedingCleanUp(files);
      if (unclean.length > 0)
        await cleanUp(
          store,
          unclean.map((file) => ({ file, generation: file.generation })),
        );
      // At most 2 * fileConcurrency files of the batch are in work: up to fileConcurrency hold a slot, and the others
      // wait for a slot or for their write. Only a file with a slot is started, so a worker crash counts for few files.
      const limit = pLimit(2 * settings.fileConcurrency);
      const results = await Promise.allSettled(files.map((file) => limit(() => ingest(file))));
      const broken = results.find((result) => result.status === 'rejected');
      // Undo the starts of files that were interrupted or will be ingested alone, so that they do not count as worker
      // crashes.
      if (inProgress.size > 0) {
        // A cancelled run does not continue these files, so delete the data that this attempt wrote. Keep the data of
        // files whose write has begun, because it may already be published.
        const unwritten = [...inProgress.values()].filter(({ file }) => !writing.has(file._id));
        if (signal.aborted) await discard(store, unwritten);
        await release([...inProgress.values()]);
      }
      if (broken) throw broken.reason;
      return { paused, alone, deferred, unprocessed };
    },
  };
}
