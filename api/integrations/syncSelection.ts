import { randomUUID } from 'node:crypto';

import type { ApiDeps } from '../deps.js';
import type { UserCaller } from '../http/operation.js';
import { acceptSelection, type Selection } from '../../store/connections/acceptRuns.js';

/** A person's selection of what a connected account holds: told as UPDATE, and made into files by a run of its own. */
export async function syncSelection(
  caller: UserCaller,
  dataSourceId: number,
  selection: Selection & { readonly requestId: string | undefined },
  { store, dispatcher }: ApiDeps,
): Promise<{ success: true }> {
  const runId = await store.runs.nextId();
  const requestId = selection.requestId || randomUUID();
  await store.transaction(async (session) => {
    await store.dataSources.selected(caller, dataSourceId, session);
    await acceptSelection(caller, { runId, requestId, dataSourceId }, selection, store, session);
  });
  void dispatcher.start(runId);
  return { success: true };
}
