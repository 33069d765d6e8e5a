import { periodically } from '../config/process/periodically.js';
import { HEARTBEAT_MS, type WorkerLoad } from '../contract/runs/workers.js';
import type { Log } from '../observability/log.js';
import type { WorkerIdentity, Workers } from '../store/workers/workers.js';

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Reports to the supervisor, if there is one, that this process is responsive. Ignores a failure, because Node would
 * end the process with an uncaught error. After the death of the supervisor the worker stops by itself in an orderly
 * way.
 */
export function reportAlive(channel: Pick<NodeJS.Process, 'send'>): void {
  channel.send?.({ alive: true }, undefined, undefined, () => undefined);
}

/**
 * Writes this worker's heartbeat every HEARTBEAT_MS until the signal is aborted, then removes its row. First removes
 * the rows of earlier workers of this host: those whose process no longer exists, and those with the pid of this
 * process. Errors of the store are logged only.
 * @param measure measures the scheduling of this process; called once per heartbeat
 */
export async function sendHeartbeats(
  workers: Workers,
  self: WorkerIdentity,
  measure: () => Omit<WorkerLoad, 'lagMs'>,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const onError = (error: unknown): void =>
    log.warn({ err: error }, 'updating the heartbeat records failed; this does not stop the worker');
  const attempt = (work: () => Promise<unknown>): Promise<unknown> => work().catch(onError);
  await attempt(async () => {
    for (const { id, pid } of await workers.listOnHost(self.host))
      if (pid === self.pid || !isRunning(pid)) await workers.remove(id);
  });
  let dueAt = performance.now();
  const beat = async (): Promise<void> => {
    const lagMs = Math.max(0, Math.round(performance.now() - dueAt));
    // A failed write must not count as lag.
    await attempt(async () => workers.recordHeartbeat(self, { lagMs, ...measure() }));
    dueAt = performance.now() + HEARTBEAT_MS;
  };
  await periodically(beat, { intervalMs: HEARTBEAT_MS, signal, onError });
  await attempt(() => workers.remove(self.id));
}
