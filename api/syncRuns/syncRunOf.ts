import type { RunDoc } from '../../store/models/runs.js';
import { notFound } from '../http/errors.js';
import type { Call } from '../http/operation.js';
import { pathId } from '../http/pathId.js';

/** Returns the caller's run in the path. @throws HttpError 404 */
export async function syncRunOf({
  caller,
  params,
  deps,
}: Pick<Call<'either', unknown>, 'caller' | 'params' | 'deps'>): Promise<RunDoc> {
  const run = await deps.store.runs.findInScope(caller, pathId(params, 'sync_run_id'));
  if (!run) throw notFound('sync run');
  return run;
}
