import { setTimeout as sleep } from 'node:timers/promises';

import { HEARTBEAT_MS, type WorkerLoad } from '../contract/workers.js';
import type { Log } from '../observability/log.js';
import type { WorkerIdentity, Workers } from '../store/workers/workers.js';

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process exists too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Writes this worker's heartbeat every 3 s until the signal is aborted, then removes its row. Workers of the same host
 * whose process is gone are removed first: their successor is this one.
 * @param measure the scheduling of this process; called once a heartbeat
 */
export async function keepHeartbeat(
  workers: Workers,
  self: WorkerIdentity,
  measure: () => Omit<WorkerLoad, 'lagMs'>,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      log.warn({ err: error }, 'the heartbeat could not be written; trying again');
    }
  };
  await attempt(async () => {
    for (const { id, pid } of await workers.on(self.host))
      if (pid === self.pid || !isRunning(pid)) await workers.ended(id);
  });
  let dueAt = performance.now();
  while (!signal.aborted) {
    const lagMs = Math.max(0, Math.round(performance.now() - dueAt));
    await attempt(() => workers.beat(self, { lagMs, ...measure() }));
    dueAt = performance.now() + HEARTBEAT_MS;
    await sleep(HEARTBEAT_MS, undefined, { signal }).catch(() => undefined);
  }
  await attempt(() => workers.ended(self.id));
}
