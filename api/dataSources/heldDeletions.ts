import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import { MAX_PAGE_LIMIT } from '../../contract/files/fileFilters.js';
import { acceptListing } from '../../store/connections/acceptRuns.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import { HttpError, notFound } from '../http/errors.js';
import { type Call, operation } from '../http/operation.js';
import { pathId } from '../http/pathId.js';
import { presentDataSource } from '../presenters/dataSource.js';
import { listOf } from '../schemas/answers.js';
import { dataSourceRecord } from '../schemas/dataSources.js';
import { integer } from '../schemas/fields.js';

/** Returns the data source in the path with its held deletions. @throws HttpError 404; 409 if there are none */
async function heldSourceOf({
  params,
  caller,
  deps,
}: Pick<Call<'key', unknown>, 'params' | 'caller' | 'deps'>): Promise<DataSourceDoc> {
  const source = await deps.store.dataSources.findInOrganization(
    caller.organizationId,
    pathId(params, 'data_source_id'),
  );
  if (!source) throw notFound('data source');
  if (source.metadata['deletions_held'] === undefined)
    throw new HttpError(409, 'No deletions of this data source are held.');
  return source;
}

/**
 * GET /data_sources/held_deletions: lists data sources whose last listing missed so many files that none was deleted.
 */
export const heldDeletions = operation({
  method: 'get',
  path: '/data_sources/held_deletions',
  operationId: 'list_held_deletions',
  tag: 'Held Deletions',
  auth: 'key',
  summary: 'List held deletions',
  description: [
    'Lists data sources whose last listing missed so many files that none was deleted: more than 10 and more than MASS_DELETE_PERCENT (default 30 %), or all of them. `deletions_held` in `data_source_metadata` is the number of missing files.\n\nCheck the account at its source, then approve or refuse the deletions. Until then the files stay and can be searched.',
  ],
  returns: 'Data sources with held deletions, and their number on all pages.',
  errors: { 404: null },
  query: Joi.object({
    limit: integer()
      .min(1)
      .max(MAX_PAGE_LIMIT)
      .default(100)
      .description('Maximum number of data sources in the response, 1 to 10,000. Default 100.'),
    offset: integer()
      .min(0)
      .default(0)
      .description('Number of data sources to skip, in the order of their ids. Default 0.'),
  }),
  answer: listOf('OrganizationUserDataSourceResponse', dataSourceRecord, 'data sources'),
  async handle({ caller, query, deps: { store, workflowLink } }) {
    const page = query;
    const { found, count } = await store.dataSources.listHeld(caller.organizationId, page);
    return { results: found.map((dataSource) => presentDataSource(dataSource, { workflowLink })), count };
  },
});

/** POST /data_sources/{data_source_id}/held_deletions/approve: starts a listing that deletes the files missing then. */
export const approveDeletions = operation({
  method: 'post',
  path: '/data_sources/{data_source_id}/held_deletions/approve',
  operationId: 'approve_held_deletions',
  tag: 'Held Deletions',
  auth: 'key',
  summary: 'Approve held deletions',
  description: [
    'Lists a data source again and deletes the files that this listing misses, however many they are.\n\nUse it after you have checked at the source that they are really gone. FILE_DELETED reports each deleted file, and DATA_SOURCE_READY the end of the listing; follow it by `sync_status`. Files that the listing finds again stay. The approval is for one complete listing.\n\nWhile a listing is in progress, no other one is queued. That listing uses the approval if it is complete and has not yet decided about missing files. Otherwise the next complete listing uses it; start one by `POST /integrations/items/sync`, or wait for the next scheduled one.',
  ],
  returns: 'Record of the data source. Its next listing is queued, unless one is in progress.',
  errors: {
    409: 'No deletions of the data source are held, or access to it is revoked; or a request with the same Idempotency-Key is in progress.',
  },
  createsWork: true,
  answer: dataSourceRecord,
  async handle(call) {
    const { store, unit } = call.deps;
    const heldSource = await heldSourceOf(call);
    if (heldSource.revokedAccess)
      throw new HttpError(409, 'Access to this data source is revoked. Connect it again first.');
    const runId = await store.runs.nextId();
    const source = await unit.transaction(async (session) => {
      await store.dataSources.approveDeletions(heldSource._id, session);
      const queued = await store.dataSources.queueListing(heldSource, heldSource._id, runId, session);
      if (!queued) throw notFound('data source');
      if (queued.itemsRunId === runId)
        await acceptListing(
          heldSource,
          { runId, requestId: randomUUID(), dataSourceId: heldSource._id },
          store,
          session,
        );
      return queued;
    });
    if (source.itemsRunId === runId) unit.start(runId);
    return presentDataSource(source, call.deps);
  },
});

/**
 * POST /data_sources/{data_source_id}/held_deletions/refuse: keeps the files; later listings are checked separately.
 */
export const refuseDeletions = operation({
  method: 'post',
  path: '/data_sources/{data_source_id}/held_deletions/refuse',
  operationId: 'refuse_held_deletions',
  tag: 'Held Deletions',
  auth: 'key',
  summary: 'Refuse held deletions',
  description: [
    'Keeps the files that a listing has missed, and clears the count of them (`deletions_held`).\n\nUse it if the source was faulty or the account had lost access for a time. Nothing is started.\n\nLater listings are checked separately: if one misses as many files again, its deletions are held again.',
  ],
  returns: 'Record of the data source, without `deletions_held`.',
  errors: {
    409: 'No deletions of the data source are held, so there is nothing to refuse; or its items are being listed.',
  },
  answer: dataSourceRecord,
  async handle(call) {
    const { store } = call.deps;
    const heldSource = await heldSourceOf(call);
    const source = await store.dataSources.refuseDeletions(heldSource._id);
    if (!source)
      throw new HttpError(409, 'The items of this data source are being listed. Try again when the listing has ended.');
    // If the process ends here, the next listing holds the deletions again.
    await store.items.unmarkDeleted(heldSource);
    return presentDataSource(source, call.deps);
  },
});
