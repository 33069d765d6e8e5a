import { periodically } from '../config/process/periodically.js';
import { RESTARTED_KINDS } from '../contract/runs/runKinds.js';
import type { Log } from '../observability/log.js';
import type { Originals } from '../store/originals/originals.js';
import type { Runs } from '../store/runs/outbox.js';
import type { RunPosition } from '../store/runs/position.js';
import type { Pauses } from '../store/runs/pauses.js';
import {
  ENDED_FROM_OUTSIDE,
  endOrphanedRun,
  type OrphanedRunStores,
  isAlive,
  type TemporalAccess,
} from './orphanedRuns.js';
import { positionAfter } from './runPosition.js';

/** Maximum number of runs checked in one iteration; the next iteration continues after them. */
const RUNS_PER_ITERATION = 200;
/** Minimum age of a checked run in milliseconds: the workflow of a younger run may not be visible yet. */
const GRACE_MS = 10_000;

export interface ReaperStores extends OrphanedRunStores {
  readonly originals: Pick<Originals, 'sweep'>;
  readonly runs: Pick<Runs, 'listActiveStartedUntil' | 'find' | 'finish' | 'redo'>;
  readonly pauses: Pick<Pauses, 'listPaused' | 'resume'>;
}

/** The last run that the reaper has checked; null: the next iteration begins with the oldest run. */
export interface ReaperCursor {
  after: RunPosition | null;
}

/** The id of the last paused run that was checked; 0: the next iteration begins with the first one. */
export interface PauseCursor {
  afterId: number;
}

/**
 * Ends the records of runs whose workflow no longer exists, because a terminated, failed or timed-out workflow runs no
 * clean-up. The work of RESTARTED_KINDS is also accepted again, as a new run, at most MAX_RUN_RESTARTS times.
 * @param cursor is advanced, so that many active runs do not prevent the check of later ones
 * @returns the number of ended and restarted runs
 */
export async function reapOnce(
  temporal: TemporalAccess,
  { runs, ...stores }: Omit<ReaperStores, 'originals' | 'pauses'>,
  log: Log,
  now = Date.now(),
  cursor: ReaperCursor = { after: null },
): Promise<number> {
  const candidates = await runs.listActiveStartedUntil(new Date(now - GRACE_MS), RUNS_PER_ITERATION, cursor.after);
  let reaped = 0;
  for (const run of candidates) {
    cursor.after = positionAfter(run, cursor.after);
    if (await isAlive(temporal, run, runs)) continue;
    // With many candidates, the last ones are checked seconds after the listing; most of these have ended normally in
    // the meantime.
    if ((await runs.find(run._id))?.finishedAt !== null) continue;
    reaped += 1;
    if (RESTARTED_KINDS.includes(run.kind) && (await runs.redo(run))) {
      log.warn(
        {
          runId: run._id,
          workflowId: temporal.names.idOf(run.workflowId),
          organizationId: run.organizationId,
          requestId: run.requestId,
        },
        'restarting a run whose workflow is gone',
      );
      continue;
    }
    const aborted = await endOrphanedRun(temporal, { ...stores, runs }, run, ENDED_FROM_OUTSIDE);
    log.warn(
      {
        runId: run._id,
        workflowId: temporal.names.idOf(run.workflowId),
        organizationId: run.organizationId,
        requestId: run.requestId,
        aborted,
      },
      'reaped a run whose workflow is gone',
    );
  }
  if (candidates.length < RUNS_PER_ITERATION) cursor.after = null;
  return reaped;
}

/**
 * Resumes paused runs whose files were all deleted or taken over by other runs, so that their workflows end. Returns
 * their number.
 * @param cursor is advanced, so that many paused runs with files do not prevent the check of later ones
 */
export async function endEmptyPauses(
  { pauses, files }: Pick<ReaperStores, 'pauses' | 'files'>,
  cursor: PauseCursor = { afterId: 0 },
): Promise<number> {
  let ended = 0;
  const paused = await pauses.listPaused(cursor.afterId, RUNS_PER_ITERATION);
  for (const run of paused) {
    cursor.afterId = run._id;
    if ((await files.countRun(run._id)).open > 0) continue;
    if (await pauses.resume(run, run._id, run.maxTokens ?? null)) ended += 1;
  }
  if (paused.length < RUNS_PER_ITERATION) cursor.afterId = 0;
  return ended;
}

/** Reaps every `intervalMs` until the signal is aborted. */
export async function reap(
  temporal: TemporalAccess,
  stores: ReaperStores,
  log: Log,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const cursor: ReaperCursor = { after: null };
  const pauseCursor: PauseCursor = { afterId: 0 };
  const sweepOnce = async (): Promise<void> => {
    await reapOnce(temporal, stores, log, Date.now(), cursor);
    await endEmptyPauses(stores, pauseCursor);
    const swept = await stores.originals.sweep();
    if (swept > 0) log.info({ swept }, 'deleted the contents of interrupted uploads, and contents that were replaced');
  };
  const onError = (error: unknown): void =>
    log.warn({ err: error }, 'comparing runs with Temporal or sweeping uploads failed; trying again');
  await periodically(sweepOnce, { intervalMs, signal, onError, waitsFirst: true });
}
