import { ApplicationFailure } from '@temporalio/activity';

import { RUN_MISSING_FAILURE } from '../contract/runs/orchestration.js';
import type { Run } from '../store/models/runs.js';
import type { ActivityDeps } from './deps.js';

/** Field of a run's row with the id of the file or data source that the run works on. */
type Target = 'fileId' | 'dataSourceId';

/**
 * Returns the row of a run.
 * @param target the field that the activity needs
 * @throws a failure that is not retried if the row has no target or is missing, for example after its user was deleted
 */
export async function requireRun<Field extends Target = never>(
  { runs }: Pick<ActivityDeps['store'], 'runs'>,
  runId: number,
  target?: Field,
): Promise<Run & Readonly<Record<Field, number>>> {
  const run = await runs.find(runId);
  if (!run || (target && !run[target])) {
    const lacks = run ? `has no ${target ?? ''}` : 'has no row';
    throw ApplicationFailure.nonRetryable(`Run ${runId} ${lacks}`, RUN_MISSING_FAILURE);
  }
  return run as Run & Readonly<Record<Field, number>>;
}
