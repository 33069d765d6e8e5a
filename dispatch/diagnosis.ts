import { WorkflowNotFoundError } from '@temporalio/client';
import pLimit from 'p-limit';

import type { RunStall, StallCause } from '../contract/runs/stalls.js';
import { stateOfWorker, type WorkerReport, workersProblem } from '../contract/runs/workers.js';
import type { RunDoc } from '../store/models/runs.js';
import type { RunPosition } from '../store/runs/position.js';
import type { Stalls } from '../store/runs/stalls.js';
import type { Workers } from '../store/workers/workers.js';
import { describeWork, taskFailure } from './describeWork.js';
import { type Evidence, diagnoseWorkflow, type WorkflowState } from './diagnoseWorkflow.js';
import type { TemporalAccess } from './orphanedRuns.js';
import { positionAfter } from './runPosition.js';

/** Maximum number of runs described in one iteration; the next iteration continues after them. */
const RUNS_PER_ITERATION = 100;
/** Maximum number of recorded stalled runs that are described again in each iteration. */
const STALLED_PER_ITERATION = 100;
const DESCRIBED_AT_ONCE = 4;
const DEADLINE_MS = 5_000;
const MAX_REASON_LENGTH = 300;

/** Stores that do not answer, each with a message for the operator; null for a store that answers. */
export interface StoresDown {
  readonly qdrant: string | null;
  readonly temporal: string | null;
}

export interface DiagnosisStores {
  readonly stalls: Pick<Stalls, 'listStarted' | 'listUnstarted' | 'listStalled' | 'hasProgressedSince'>;
  readonly workers: Pick<Workers, 'list'>;
}

/** The result of one iteration. */
export interface DiagnosisResult {
  readonly stalled: readonly { readonly run: RunDoc; readonly stall: RunStall }[];
  /** Runs that were recorded as stalled and have recovered. */
  readonly recovered: readonly RunDoc[];
}

export interface Diagnosis {
  /** Describes the next runs. @throws when MongoDB does not answer */
  diagnose(): Promise<DiagnosisResult>;
}

function workersCause(workers: readonly WorkerReport[]): { cause: StallCause; message: string } | null {
  const message = workersProblem(workers);
  if (message === null) return null;
  if (workers.length === 0) return { cause: 'no_worker', message };
  const isStarved = workers.some((worker) => stateOfWorker(worker) === 'starved');
  return { cause: isStarved ? 'worker_starved' : 'worker_silent', message };
}

const shortened = (reason: string): string => {
  const [line = ''] = reason.split('\n', 1);
  return line.length > MAX_REASON_LENGTH ? `${line.slice(0, MAX_REASON_LENGTH)}…` : line;
};

/**
 * Finds runs that have due work and make no progress, and the cause: from Temporal's description of their workflows,
 * the workers' heartbeats and the state of the stores. Age alone never makes a run stalled.
 * @param storesDown checks Qdrant and Temporal
 * @param stallAfterMs milliseconds without progress after which a run counts as stalled, if a cause is found
 */
export function createDiagnosis(
  temporal: TemporalAccess,
  { stalls, workers }: DiagnosisStores,
  storesDown: () => Promise<StoresDown>,
  stallAfterMs: number,
): Diagnosis {
  let cursor: RunPosition | null = null;

  const describeOrNull = async (workflowId: string): Promise<WorkflowState | null> => {
    try {
      return await temporal.client.withDeadline(Date.now() + DEADLINE_MS, () => describeWork(temporal, workflowId));
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      throw error;
    }
  };

  /**
   * Returns the stall that the evidence indicates. If the evidence is only that no worker has started the work or sent
   * a heartbeat, returns null while the workers are healthy, and until stallAfterMs have passed.
   */
  const explain = async (
    run: RunDoc,
    evidence: Evidence,
    reports: readonly WorkerReport[],
    down: StoresDown,
    now: Date,
  ): Promise<RunStall | null> => {
    if (evidence.cause === 'qdrant_down')
      return { cause: 'qdrant_down', message: `${down.qdrant ?? 'Qdrant does not answer'}.`, since: now };
    const workerProblem = workersCause(reports);
    if (evidence.cause === 'workflow_task_fails') {
      const reason = await taskFailure(temporal, run.workflowId);
      // The history contains no failure, so the tasks time out, and the workers are the cause.
      if (reason === null && workerProblem)
        return { ...workerProblem, message: `${workerProblem.message}.`, since: now };
      const why = reason === null ? 'no worker finishes them in time' : shortened(reason);
      const message = `The workflow tasks of this run fail repeatedly: ${why}. Run the same version of all workers and look at the worker's log.`;
      return { cause: 'workflow_task_fails', message, since: now };
    }
    if (evidence.cause === 'step_fails') {
      const { name, attempt, failure } = evidence.step;
      const message = `The step ${name} has failed ${attempt - 1} times: ${shortened(failure?.message ?? '')}. Look at the worker's log.`;
      return { cause: 'step_fails', message, since: now };
    }
    if (workerProblem === null || now.getTime() - evidence.since.getTime() < stallAfterMs) return null;
    return { ...workerProblem, message: `${workerProblem.message}.`, since: now };
  };

  /** Returns why a run in the outbox does not start: Temporal or all workers are unavailable. */
  const judgeUnstarted = (reports: readonly WorkerReport[], down: StoresDown, now: Date): RunStall | null => {
    if (down.temporal !== null) return { cause: 'temporal_down', message: `${down.temporal}.`, since: now };
    const workerProblem = workersCause(reports);
    return workerProblem && { ...workerProblem, message: `${workerProblem.message}.`, since: now };
  };

  const judgeStarted = async (
    run: RunDoc,
    reports: readonly WorkerReport[],
    down: StoresDown,
    now: Date,
    describe: (workflowId: string) => Promise<WorkflowState | null>,
  ): Promise<RunStall | null> => {
    if (await stalls.hasProgressedSince(run, new Date(now.getTime() - stallAfterMs))) return null;
    if (down.temporal !== null) return { cause: 'temporal_down', message: `${down.temporal}.`, since: now };
    const state = await describe(run.workflowId);
    // No workflow: the reaper ends started runs without a workflow. Other runs still have to be started.
    if (state === null) return run.startedAt ? null : judgeUnstarted(reports, down, now);
    const evidence = diagnoseWorkflow(state, now.getTime(), down.qdrant !== null);
    return evidence && explain(run, evidence, reports, down, now);
  };

  return {
    async diagnose() {
      const now = new Date();
      const before = new Date(now.getTime() - stallAfterMs);
      const [started, unstarted, stalledBefore, reports, down] = await Promise.all([
        stalls.listStarted(cursor, before, RUNS_PER_ITERATION),
        stalls.listUnstarted(before, RUNS_PER_ITERATION),
        stalls.listStalled(STALLED_PER_ITERATION),
        workers.list(),
        storesDown(),
      ]);
      const previous = cursor;
      cursor =
        started.length < RUNS_PER_ITERATION
          ? null
          : started.reduce<RunPosition | null>((position, run) => positionAfter(run, position), previous);
      const runs = new Map([...started, ...unstarted, ...stalledBefore].map((run) => [run._id, run]));
      const limit = pLimit(DESCRIBED_AT_ONCE);
      // Many uploads share one workflow, which is described once.
      const described = new Map<string, Promise<WorkflowState | null>>();
      const describe = (workflowId: string): Promise<WorkflowState | null> => {
        const state = described.get(workflowId) ?? describeOrNull(workflowId);
        described.set(workflowId, state);
        return state;
      };
      const judged = await Promise.allSettled(
        [...runs.values()].map((run) =>
          limit(async () => ({
            run,
            stall:
              run.startedAt || run.stream
                ? await judgeStarted(run, reports, down, now, describe)
                : judgeUnstarted(reports, down, now),
          })),
        ),
      );
      // A run that could not be described keeps its recorded state.
      const found = judged.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      return {
        stalled: found.flatMap(({ run, stall }) => (stall ? [{ run, stall }] : [])),
        recovered: found.flatMap(({ run, stall }) => (stall === null && run.stall ? [run] : [])),
      };
    },
  };
}
