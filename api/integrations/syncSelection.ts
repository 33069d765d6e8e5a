import { randomUUID } from 'node:crypto';

import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { ApiDeps } from '../http/deps.js';
import { withDeadline } from '../dryRuns/deadline.js';
import { drySelection } from './drySelection.js';
import type { ConnectedDataSource } from './dataSourceOf.js';
import type { UserCaller } from '../http/operation.js';
import type { SelectionOptions } from './selectionOptions.js';
import { acceptSelection } from '../../store/connections/acceptRuns.js';

/** Text about what happens after a selection, in the descriptions of operations. */
export const AFTER_SELECTION = `The response is sent when the request and the event \`UPDATE\` are stored. A run then creates the files. The event \`ALL_FILES_PROCESSED\` reports that all are in a final state; without events, poll \`GET /sync_runs\` with the \`data_source_id\` or \`request_id\`.

Options that the request omits come from the call that connected the account, or are the defaults. With \`dry_run\` the response is an estimate, and nothing changes. A revoked data source returns 409.`;

/** Text about the response to a selection, in the descriptions of operations. */
export const SELECTION_ACCEPTED =
  '`success: true`: the request is accepted, and a run creates the files. For a dry run, the estimate.';

/**
 * Accepts a user's selection of items: emits UPDATE, and creates the files in a run. For a dry run, returns an
 * estimate.
 */
export async function syncSelection(
  caller: UserCaller,
  source: ConnectedDataSource,
  { maxTokens, dryRun, ...selection }: SelectionOptions & { readonly externalIds: readonly string[] },
  deps: ApiDeps,
) {
  if (dryRun) return withDeadline(caller, deps, (deadline) => drySelection(caller, source, selection, deadline, deps));
  const { store, unit } = deps;
  const { _id: dataSourceId } = source;
  const runId = await store.runs.nextId();
  const requestId = selection.requestId || randomUUID();
  await unit.transaction(async (session) => {
    await store.dataSources.recordSelection(caller, dataSourceId, workflowIds.syncSource(runId), session);
    await acceptSelection(caller, { runId, requestId, dataSourceId, maxTokens }, selection, store, session);
  });
  unit.start(runId);
  return { success: true as const };
}
