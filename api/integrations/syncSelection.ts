import { randomUUID } from 'node:crypto';

import { workflowIds } from '../../contract/orchestration.js';
import type { ApiDeps } from '../deps.js';
import { withDeadline } from '../dryRuns/deadline.js';
import { drySelection } from '../dryRuns/selection.js';
import type { ConnectedDataSource } from './dataSourceOf.js';
import type { UserCaller } from '../http/operation.js';
import type { Wishes } from './keptOptions.js';
import { acceptSelection } from '../../store/connections/acceptRuns.js';

/**
 * Accepts a user's selection of items: emits UPDATE, and creates the files in a run. For a dry run, returns an
 * estimate.
 */
export async function syncSelection(
  caller: UserCaller,
  source: ConnectedDataSource,
  { maxTokens, dryRun, ...selection }: Wishes & { readonly externalIds: readonly string[] },
  deps: ApiDeps,
) {
  if (dryRun) return withDeadline(caller, deps, (deadline) => drySelection(caller, source, selection, deadline, deps));
  const { store, unit } = deps;
  const { _id: dataSourceId } = source;
  const runId = await store.runs.nextId();
  const requestId = selection.requestId || randomUUID();
  await unit.transaction(async (session) => {
    await store.dataSources.selected(caller, dataSourceId, workflowIds.syncSource(runId), session);
    await acceptSelection(caller, { runId, requestId, dataSourceId, maxTokens }, selection, store, session);
  });
  unit.start(runId);
  return { success: true as const };
}
