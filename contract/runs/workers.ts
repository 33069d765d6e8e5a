/** Worker processes, as their heartbeats describe them. */

/** Milliseconds between two heartbeats of a worker. */
export const HEARTBEAT_MS = 3_000;
/** A heartbeat older than this is overdue: the process is frozen, dead, or cut off from MongoDB. */
export const OVERDUE_MS = 15_000;

/** Scheduling of a worker's main thread over the last seconds. Shares are 0 to 1; null if Linux provides no value. */
export interface WorkerLoad {
  /** Milliseconds by which the last heartbeat was late. */
  readonly lagMs: number;
  /** Time spent waiting for a processor, as a share of the time spent runnable. */
  readonly waitShare: number | null;
  /** Time spent waiting for a processor, as a share of all time. */
  readonly waited: number | null;
  /** Processor time of the whole machine that programs outside this service used. */
  readonly othersShare: number | null;
}

export interface WorkerReport extends WorkerLoad {
  readonly host: string;
  readonly pid: number;
  readonly startedAt: Date;
  readonly heartbeatAt: Date;
  /** Age of the heartbeat in milliseconds, by MongoDB's clock. */
  readonly ageMs: number;
}

export type WorkerState = 'alive' | 'starved' | 'silent';

/**
 * A worker is starved when three shares reach these values: it waits for a processor at least as long as it runs, this
 * wait is a tenth of all time, and other programs use half of the machine.
 */
const STARVED = { waitShare: 0.5, waited: 0.1, othersShare: 0.5 } as const;

/** Returns the state of a worker, by the age of its report and its load. */
export function stateOfWorker({ ageMs, waitShare, waited, othersShare }: WorkerReport): WorkerState {
  if (ageMs > OVERDUE_MS) return 'silent';
  const isStarved =
    (waitShare ?? 0) >= STARVED.waitShare &&
    (waited ?? 0) >= STARVED.waited &&
    (othersShare ?? 0) >= STARVED.othersShare;
  return isStarved ? 'starved' : 'alive';
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
const percent = (share: number | null): string => `${Math.round((share ?? 0) * 100)} %`;

/** Returns the problem of a worker and what to do; null for a healthy worker. */
export function workerProblem(worker: WorkerReport): string | null {
  const name = `Worker ${worker.pid} on ${worker.host}`;
  const state = stateOfWorker(worker);
  if (state === 'silent')
    return `${name} has sent no heartbeat for ${seconds(worker.ageMs)}: it is frozen, dead, or cut off from MongoDB. Restart it; npm start does so automatically`;
  if (state === 'starved')
    return (
      `${name} gets too little processor time: it waits for a processor ${percent(worker.waitShare)} of ` +
      `the time that it is ready to run, and other programs use ${percent(worker.othersShare)} of the machine. ` +
      'Stop them, give the machine more processors, or move the worker'
    );
  return null;
}

export const NO_WORKER = 'No worker is running, so accepted work waits. Start one: npm run worker';

/** Returns the problem of the workers as a whole; null while at least one works at full speed. */
export function workersProblem(workers: readonly WorkerReport[]): string | null {
  if (workers.length === 0) return NO_WORKER;
  const problems = workers.map(workerProblem);
  if (problems.includes(null)) return null;
  // Prefer a starved worker, which makes progress, to a silent one, which does not.
  const starved = workers.findIndex((worker) => stateOfWorker(worker) === 'starved');
  return problems[Math.max(0, starved)] ?? null;
}
