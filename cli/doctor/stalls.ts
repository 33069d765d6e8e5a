/** Checks of `doctor` for the workers and for stalled runs. */
import type { Config } from '../../config/types.js';
import type { StallCause } from '../../contract/runs/stalls.js';
import { NO_WORKER, stateOfWorker, workerProblem } from '../../contract/runs/workers.js';
import type { TemporalInspection } from '../../dispatch/inspect.js';
import type { Inspection } from '../../store/overview/inspection.js';
import { bad, type Check, ok, skipped, warn } from './check.js';

const EXAMPLES = 5;

/** Splits a message into the problem (its first sentence) and the remedy (the following text). */
function problemAndRemedy(message: string): [found: string, fix: string] {
  const at = message.indexOf('. ');
  return at === -1 ? [message, 'Check the log of the workers.'] : [message.slice(0, at), message.slice(at + 2)];
}

/** Checks the workers. @param temporal null if Temporal does not respond */
export async function workers(inspection: Inspection, temporal: TemporalInspection | null): Promise<Check[]> {
  const name = 'worker';
  const reports = await inspection.workers.list();
  if (reports.length === 0) return [bad(name, ...problemAndRemedy(NO_WORKER))];
  const alive = reports.filter((report) => stateOfWorker(report) === 'alive').length;
  // The workers poll another task queue, so the work waits.
  if (alive > 0 && temporal && (await temporal.server()).pollers === 0)
    return [
      bad(name, 'workers run, but none polls the task queue', 'Give the API and all workers the same TASK_QUEUE.'),
    ];
  const problems = reports.flatMap((report) => workerProblem(report) ?? []);
  // If a worker is alive, it continues the work.
  const result = alive > 0 ? warn : bad;
  return [
    ...(alive > 0 ? [ok(name, `${alive} running`)] : []),
    ...problems.slice(0, EXAMPLES).map((problem) => result(name, ...problemAndRemedy(problem))),
  ];
}

/** Checks for stalled runs. @param down hints about Qdrant and Temporal; null for one that responds */
export async function stalledRuns(
  { stallAfterMs }: Config,
  inspection: Inspection,
  temporal: TemporalInspection | null,
  down: { readonly qdrant: string | null; readonly temporal: string | null },
): Promise<Check[]> {
  const name = 'stalled runs';
  if (!temporal) return [skipped(name, 'Temporal must answer first')];
  const found = await temporal.stalled(inspection, down, stallAfterMs);
  if (found.length === 0) return [ok(name, 'none')];
  const causes = new Map<StallCause, typeof found>();
  for (const stalledRun of found)
    causes.set(stalledRun.stall.cause, [...(causes.get(stalledRun.stall.cause) ?? []), stalledRun]);
  return [...causes.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const [why, fix] = problemAndRemedy(first.stall.message);
    const ids = group.slice(0, EXAMPLES).map(({ run }) => run._id);
    return bad(name, `${group.length} (run ${ids.join(', ')}${group.length > EXAMPLES ? ', …' : ''}): ${why}`, fix);
  });
}
