import { randomUUID } from 'node:crypto';

import { workflowIds } from '../../../contract/runs/workflowIds.js';
import { storedTags, upsertTags } from '../../../contract/files/tags.js';
import { acceptListing, acceptSelection } from '../../../store/connections/acceptRuns.js';
import type { AttemptDoc } from '../../../store/models/connections.js';
import type { DataSourceDoc } from '../../../store/models/dataSources.js';
import type { ApiDeps } from '../../http/deps.js';

/**
 * Queues the runs after the user has decided what to sync, on the page of a connected account. Stores the options and
 * tags of the request that created the page (POST /integrations/oauth_url or /integrations/connect) in the data source.
 * @param externalIds selected items; null if the source offers no selection
 */
export async function continueConnection(
  attempt: AttemptDoc,
  { _id: dataSourceId }: DataSourceDoc,
  externalIds: readonly string[] | null,
  { store, unit }: Pick<ApiDeps, 'store' | 'unit'>,
): Promise<void> {
  const { options, actions } = attempt;
  const { ingest, tags, incrementalSync: incremental } = options;
  const requestId = options.requestId ?? randomUUID();
  const firstRunId = await store.runs.nextId(3);
  const [itemsRunId, filesRunId, tagsRunId] = [firstRunId, firstRunId + 1, firstRunId + 2];
  const accepted = await unit.transaction(async (session) => {
    const runIds: number[] = [];
    await store.dataSources.storeOptions(attempt, dataSourceId, options, session);
    const newTags = storedTags(actions.dataSourceTags);
    const tagged = await store.dataSources.changeTags(
      attempt,
      dataSourceId,
      (storedBefore) => upsertTags(storedBefore, newTags),
      session,
    );
    if (tagged?.needsCopy) {
      const workflowId = workflowIds.updateTags(dataSourceId);
      const run = { kind: 'updateTags', workflowId, owner: attempt, fileId: null, dataSourceId } as const;
      await store.runs.accept(tagsRunId, { ...run, requestId }, session);
      runIds.push(tagsRunId);
    }
    if (externalIds !== null)
      await store.dataSources.recordSelection(attempt, dataSourceId, workflowIds.syncSource(filesRunId), session);
    if (externalIds === null && actions.listItems) {
      const queued = await store.dataSources.queueListing(attempt, dataSourceId, itemsRunId, session);
      if (queued?.itemsRunId === itemsRunId) {
        await acceptListing(attempt, { runId: itemsRunId, requestId, dataSourceId }, store, session);
        runIds.push(itemsRunId);
      }
    }
    if (externalIds !== null || actions.syncFiles) {
      const selection = { externalIds, tags, ingest, incremental };
      await acceptSelection(attempt, { runId: filesRunId, requestId, dataSourceId }, selection, store, session);
      runIds.push(filesRunId);
    }
    return runIds;
  });
  for (const runId of accepted) unit.start(runId);
}
