/** What the doctor says of the workers and of runs without progress. */
import type { Config } from '../../config/types.js';
import type { StallCause } from '../../contract/stalls.js';
import { NO_WORKER, stateOfWorker, workerTrouble } from '../../contract/workers.js';
import type { TemporalInspection } from '../../dispatch/inspect.js';
import type { Inspection } from '../../store/inspection.js';
import { bad, type Check, ok, skipped, warn } from './check.js';

const EXAMPLES = 5;

/** Splits a sentence on what is wrong from the sentences on what to do. */
function halves(message: string): [found: string, fix: string] {
  const at = message.indexOf('. ');
  return at === -1 ? [message, 'See the log of the workers.'] : [message.slice(0, at), message.slice(at + 2)];
}

/** @param temporal null where it does not answer */
export async function workers(inspection: Inspection, temporal: TemporalInspection | null): Promise<Check[]> {
  const name = 'worker';
  const reports = await inspection.workers.list();
  if (reports.length === 0) return [bad(name, ...halves(NO_WORKER))];
  const alive = reports.filter((report) => stateOfWorker(report) === 'alive').length;
  // Another task queue than theirs: the work stays where it is.
  if (alive > 0 && temporal && (await temporal.server()).pollers === 0)
    return [
      bad(name, 'workers run, but none polls the task queue', 'Give the API and all workers the same TASK_QUEUE.'),
    ];
  const troubles = reports.flatMap((report) => workerTrouble(report) ?? []);
  // With another worker at full speed the work goes on.
  const judge = alive > 0 ? warn : bad;
  return [
    ...(alive > 0 ? [ok(name, `${alive} at work`)] : []),
    ...troubles.slice(0, EXAMPLES).map((trouble) => judge(name, ...halves(trouble))),
  ];
}

/** @param down hints on Qdrant and Temporal; null for one that answers */
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
  for (const one of found) causes.set(one.stall.cause, [...(causes.get(one.stall.cause) ?? []), one]);
  return [...causes.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const [why, fix] = halves(first.stall.message);
    const ids = group.slice(0, EXAMPLES).map(({ run }) => run._id);
    return bad(name, `${group.length} (run ${ids.join(', ')}${group.length > EXAMPLES ? ', …' : ''}): ${why}`, fix);
  });
}
