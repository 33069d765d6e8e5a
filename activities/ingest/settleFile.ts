import type { Fault } from '../../contract/failures.js';
import type { StartedFile } from '../../store/files/start.js';
import { type AttemptCost, costOf } from './prepare/attemptCost.js';
import { discard } from '../generations/cleanUp.js';
import { isConnected } from '../connected/openItem.js';
import type { ActivityDeps } from '../deps.js';
import { recordCrash } from './prepare/readContent.js';

/**
 * A file that was in progress at this number of worker crashes is ingested once more, in a batch without other files.
 * If the worker crashes again, the file fails.
 */
export const SUSPECT_AFTER_CRASHES = 2;
/** Message of a file that was in progress at more than SUSPECT_AFTER_CRASHES crashes of workers. */
export const CRASHED_OFTEN =
  'Reading this content crashed the service several times, so it is not retried. Resync to try once more.';

/** Creates the functions that end an attempt without new content. */
export function createSettling(deps: ActivityDeps) {
  const { store, settings, log } = deps;
  /** Deletes the data of an attempt that ends without publishing, and of crashed attempts before it. */
  const discardAttempt = async (started: StartedFile): Promise<void> => {
    const { file, generation } = started;
    // Chunks and points are unpublished only if an earlier attempt crashed during its commit. Without an earlier
    // attempt since the published generation, only contents must be deleted.
    if (generation > file.generation + 1) return discard(store, [started]);
    const { organizationId, userId, _id: fileId } = file;
    await store.contents.deleteGenerations([{ organizationId, userId, fileId, generations: { exactly: generation } }]);
  };

  /**
   * Ends an attempt after a Fault:
   * - At a rate limit, sets RATE_LIMITED and queues the file for a later attempt: always if the limit is that of a
   *   connected account and the source states its end, otherwise while attempts are left.
   * - After another retryable Fault, queues the file again while attempts are left.
   * - A file that was only checked for changes (EVALUATING_RESYNC) returns to READY if its account lost access, or if
   *   the file was restored and is still missing at its source.
   * - Otherwise sets DELAYED at a limit of the user that may be lifted later (`no_room`), else SYNC_ERROR.
   */
  const settle = async (runId: number, started: StartedFile, fault: Fault, attempt: AttemptCost): Promise<void> => {
    const { file } = started;
    const delay = settings.retryDelaysMs[file.attempts];
    const context = {
      runId,
      organizationId: file.organizationId,
      fileId: file._id,
      requestId: file.requestId,
      fault: fault.kind,
    };
    if (fault.kind === 'rate_limited') {
      // A rate limit of an account affects all files of the account, so it does not count as a failed attempt.
      const isAccountLimit = isConnected(file) && fault.retryAfterMs !== null;
      if (isAccountLimit || delay !== undefined) {
        const notBefore = new Date(Date.now() + Math.max(delay ?? 0, fault.retryAfterMs ?? 0));
        const message = `${fault.message} It continues automatically at ${notBefore.toISOString()}.`;
        await store.files.limit(runId, file._id, notBefore, message, !isAccountLimit);
        log.debug({ ...context, notBefore }, 'file waits for the end of a rate limit');
        return;
      }
    }
    if (fault.retryable && delay !== undefined) {
      const notBefore = new Date(Date.now() + Math.max(delay, fault.retryAfterMs ?? 0));
      await store.files.requeue(runId, file._id, notBefore, fault.message);
      log.debug({ ...context, notBefore }, 'file goes back into the queue');
      return;
    }
    await discardAttempt(started);
    // The file was in progress at several worker crashes. They count as a crash of the reader on its content,
    // identified by its hash. Only the hash of an upload is known here; for other content recordCrash receives null and
    // counts nothing.
    if (file.unfinishedStarts - 1 > SUSPECT_AFTER_CRASHES)
      await recordCrash(runId, file, fault, file.original?.sha256 ?? null, deps);
    // A file that was only checked for changes returns to READY in two cases. Lost access is reported once, for the
    // account. A file that was restored after it vanished at its source is known to be missing there.
    const isGone = fault.kind === 'not_found' || fault.kind === 'gone';
    const isReportedElsewhere = fault.kind === 'access_revoked' || (isGone && file.restoredAt);
    if (file.syncStatus === 'EVALUATING_RESYNC' && isReportedElsewhere) {
      await store.files.endEvaluation(runId, file._id);
      return;
    }
    if (fault.kind === 'no_room') {
      await store.files.delay(runId, file._id, fault.message);
      log.debug(context, 'file waits as DELAYED because of a limit');
      return;
    }
    const { stage } = attempt;
    const ended = { as: 'failed' as const, stage, cause: fault.kind, ...costOf(attempt) };
    await store.files.fail(runId, file._id, fault.message, ended, isGone);
    log.info({ ...context, stage, message: fault.message }, 'file ended in SYNC_ERROR');
  };

  return { discardAttempt, settle };
}
