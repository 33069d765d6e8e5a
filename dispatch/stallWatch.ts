import { periodically } from '../config/process/periodically.js';
import type { Log } from '../observability/log.js';
import type { Stalls } from '../store/runs/stalls.js';
import type { Diagnosis } from './diagnosis.js';

const MAX_INTERVAL_MS = 10_000;

/** Runs the diagnosis until the signal is aborted; records stalled runs and recovered ones. */
export async function watchStalls(
  diagnosis: Diagnosis,
  stalls: Pick<Stalls, 'record' | 'clear'>,
  log: Log,
  stallAfterMs: number,
  signal: AbortSignal,
): Promise<void> {
  const intervalMs = Math.min(MAX_INTERVAL_MS, stallAfterMs / 4);
  const iteration = async (): Promise<void> => {
    const { stalled, recovered } = await diagnosis.diagnose();
    for (const { run, stall } of stalled) {
      await stalls.record(run._id, stall);
      const { cause, message } = stall;
      if (run.stall?.cause !== cause)
        log.warn({ runId: run._id, organizationId: run.organizationId, cause, message }, 'run is stalled');
    }
    for (const { _id: runId, organizationId } of recovered) {
      await stalls.clear(runId);
      log.info({ runId, organizationId }, 'stalled run makes progress again');
    }
  };
  const onError = (error: unknown): void =>
    log.warn({ err: error }, 'the search for stalled runs failed; trying again');
  await periodically(iteration, { intervalMs, signal, onError });
}
