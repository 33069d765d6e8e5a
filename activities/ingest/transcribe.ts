import { cancellationSignal } from '@temporalio/activity';

import { Fault } from '../../contract/failures.js';
import type { DeferredInput, DeferredResult } from '../../contract/runs/orchestration.js';
import { transcriptionOptionsOf } from '../../contract/files/transcripts.js';
import type { FileDoc } from '../../store/models/files.js';
import { newAttemptCost } from './prepare/attemptCost.js';
import { contentStep } from './prepare/contentStep.js';
import type { ActivityDeps } from '../deps.js';
import { createSettling } from './settleFile.js';
import { isTranscribed, storedTranscription, recordingOwner } from './prepare/transcripts.js';

/** Whether the run was cancelled. If only the worker shuts down, the next attempt continues the transcription job. */
const isCancelled = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && reason instanceof Error && reason.message === 'CANCELLED';

export function createTranscribeActivities(deps: ActivityDeps) {
  const { store, transcriptions, log } = deps;
  const { settle } = createSettling(deps);

  /** Transcribes a file and stores the transcript. Waits for the job of an earlier attempt if there is one. */
  const work = async (file: FileDoc, signal: AbortSignal): Promise<void> => {
    const owner = recordingOwner(file);
    const { transcript, job } = await storedTranscription(file, deps);
    if (transcript !== null) return;
    const options = transcriptionOptionsOf(file.options);
    const provider = transcriptions.choose(file.options.transcriptionService ?? job?.service ?? null);
    let jobId = job?.service === provider.service ? job.id : null;
    /** An error of the store, which is not a failure of the recording. */
    let storeFailed: { readonly reason: unknown } | null = null;
    try {
      const result = await contentStep('transcribed', signal, deps, () =>
        provider.transcribe(
          {
            size: file.original?.size ?? 0,
            mimeType: file.statistics?.mimeType ?? 'application/octet-stream',
            async open() {
              const parts = await store.originals.stream(owner, owner.originalId);
              if (parts === null) throw new Fault('gone', 'The uploaded content no longer exists. Upload it again.');
              return parts;
            },
          },
          jobId === null ? options : (job?.options ?? options),
          {
            id: jobId,
            async save(id) {
              jobId = id;
              const startedJob = id === null ? null : { service: provider.service, options, id };
              await store.transcripts.saveJob(owner, startedJob).catch((reason: unknown) => {
                storeFailed = { reason };
                throw reason;
              });
            },
          },
          signal,
        ),
      );
      if (result.segments.length === 0)
        throw new Fault('no_text', 'No speech was found in this recording. Remove it, or check that it is audible.');
      await store.transcripts.save(owner, result);
    } catch (error) {
      if (isCancelled(signal) && jobId !== null) {
        // Best effort: one call to delete the job, without retries.
        await provider.abandon(jobId).catch((fault: unknown) => log.debug({ err: fault }, 'a job was not deleted'));
        await store.transcripts.saveJob(owner, null);
      }
      throw storeFailed === null ? error : (storeFailed as { readonly reason: unknown }).reason;
    }
  };

  return {
    /**
     * Transcribes a recording that an ingest batch has deferred because it has no transcript; the file is ingested
     * again afterwards. After a Fault the file gets its final status or returns to the queue; only a store failure
     * fails the activity.
     * @returns whether the file can be read now
     */
    async transcribe({ runId, fileId }: DeferredInput): Promise<DeferredResult> {
      const signal = cancellationSignal();
      const file = await store.files.findSyncing(runId, fileId);
      if (file === null || !isTranscribed(file)) return { done: file !== null };
      try {
        await work(file, signal);
        return { done: true };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof Fault)) throw error;
        await settle(runId, { file, generation: file.lastGeneration }, error, newAttemptCost('transcribe'));
        return { done: false };
      }
    },
  };
}
