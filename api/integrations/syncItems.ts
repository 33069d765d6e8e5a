import { randomUUID } from 'node:crypto';

import type { DataSourceRecord } from '../../contract/files/records.js';
import { notFound } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { presentDataSource } from '../presenters/dataSource.js';
import { dataSourceRecord } from '../schemas/dataSources.js';
import { dataSourceId } from '../schemas/integrations.js';
import { acceptListing } from '../../store/connections/acceptRuns.js';
import { connectedSourceOf, dataSourceOf } from './dataSourceOf.js';

/** POST /integrations/items/sync: lists a connected account again, unless a listing is in progress. */
export const syncItems = operation({
  method: 'post',
  path: '/integrations/items/sync',
  operationId: 'sync_data_source_items_integrations_items_sync_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'List the items of a connected account again',
  description: [
    `Starts a run that lists the account at its source, or reads its change feed, and updates the items of \`POST /integrations/items/list\`. Use it before a user selects items, or to find deleted ones. While a listing is in progress, it continues and no other one is started.

The response is the data source, whose \`sync_status\` is \`QUEUED_FOR_SYNCING\`, then \`SYNCING\`, and at last \`READY\` or \`SYNC_ERROR\`; poll it, or wait for the event \`DATA_SOURCE_READY\`. After a complete listing, files whose items vanished are deleted (\`FILE_DELETED\`). If all files of the account are missing, or more than 10 and more than \`MASS_DELETE_PERCENT\` percent of them, none is deleted until \`POST /data_sources/{data_source_id}/held_deletions/approve\` approves the deletions.`,
    'After `SYNC_ERROR` or a cancellation, the event `DATA_SOURCE_READY` is not sent. A client that waits for it has to poll too.',
  ],
  returns: 'Record of the data source, whose `sync_status` shows the progress of the listing.',
  createsWork: true,
  body: dataSourceId(),
  answer: dataSourceRecord,
  async handle({ caller, body, deps: { store, unit, workflowLink } }): Promise<DataSourceRecord> {
    const { _id } = await connectedSourceOf(caller, body.data_source_id, store);
    const runId = await store.runs.nextId();
    const source = await unit.transaction(async (session) => {
      const queued = await store.dataSources.queueListing(caller, _id, runId, session);
      if (!queued) throw notFound('data source');
      if (queued.itemsRunId === runId)
        await acceptListing(caller, { runId, requestId: randomUUID(), dataSourceId: _id }, store, session);
      return queued;
    });
    if (source.itemsRunId === runId) unit.start(runId);
    return presentDataSource(source, { workflowLink });
  },
});

/** POST /integrations/items/sync/cancel: stops a listing; the items of earlier listings and those found so far stay. */
export const cancelItemsSync = operation({
  method: 'post',
  path: '/integrations/items/sync/cancel',
  operationId: 'cancel_data_source_items_sync_integrations_items_sync_cancel_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Stop the listing of a connected account',
  description: [
    `Cancels the run that lists the account. The items of earlier listings, and those that this listing has found so far, stay; no file is deleted. Use it if a large account takes too long.

The response is the data source. Without a listing in progress nothing changes, so \`SYNC_ERROR\` stays.
Files that are being synced are not affected.`,
  ],
  returns: 'Record of the data source, whose `sync_status` is `READY` if a listing was stopped.',
  body: dataSourceId(),
  answer: dataSourceRecord,
  async handle({ caller, body, deps: { store, dispatcher, workflowLink } }): Promise<DataSourceRecord> {
    const source = await dataSourceOf(caller, body.data_source_id, store);
    const runId = source.itemsRunId ?? null;
    if (runId !== null) {
      // The listing is ended before the run is cancelled: after a crash between the two, the run makes no further
      // changes, because its listing has ended.
      await store.dataSources.endListing(caller, source._id, runId, { status: 'READY', whole: false, metadata: {} });
      await dispatcher.cancel(runId);
    }
    return presentDataSource(await dataSourceOf(caller, source._id, store), { workflowLink });
  },
});
