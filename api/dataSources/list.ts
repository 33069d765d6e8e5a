import Joi from 'joi';

import type { DataSourceListing } from '../../contract/accounts/dataSourceFilters.js';
import type { DataSourceRecord } from '../../contract/files/records.js';
import type { DataSourceScope } from '../../store/dataSources/queries.js';
import type { ApiDeps } from '../http/deps.js';
import { ListAnswer, operation } from '../http/operation.js';
import { presentDataSource } from '../presenters/dataSource.js';
import { listOf } from '../schemas/answers.js';
import { dataSourceListing, dataSourceRecord, toDataSourceListing } from '../schemas/dataSources.js';
import { named } from '../schemas/reference.js';

function answerOf(
  scope: DataSourceScope,
  listing: DataSourceListing,
  { store, workflowLink }: Pick<ApiDeps, 'store' | 'workflowLink'>,
): ListAnswer {
  async function* rows() {
    for await (const part of store.dataSources.list(scope, listing))
      yield part.map((source) => presentDataSource(source, { workflowLink }));
  }
  return new ListAnswer(store.dataSources.count(scope, listing), rows());
}

const sharedParts = {
  method: 'post',
  body: dataSourceListing(),
  answer: listOf('OrganizationUserDataSourceResponse', dataSourceRecord, 'data sources'),
} as const;

/** POST /user_data_sources: lists the caller's data sources. */
export const userDataSources = operation({
  ...sharedParts,
  path: '/user_data_sources',
  operationId: 'user_data_sources_user_data_sources_post',
  tag: 'Data Sources',
  auth: 'reader',
  summary: 'List data sources of a user',
  description: [
    'Lists the connected accounts and feeds of the end user, also those whose access was revoked.\n\nPoll `sync_status` and `source_items_synced_at` to see when a listing has ended, `files_synced_at` for the files, and `last_sync_action` with `last_synced_at` for the last change of the connection. Filter by `revoked_access: false` for those that can be synced. The secrets of an account are never returned.',
  ],
  returns: 'One page of the accounts and feeds of the end user, and the number of all that match.',
  errors: { 404: null },
  handle: ({ caller: { organizationId, userId }, body, deps }) =>
    Promise.resolve(answerOf({ organizationId, userId }, toDataSourceListing(body), deps)),
});

/** POST /data_sources: lists the data sources of all users of the organization. */
export const dataSources = operation({
  ...sharedParts,
  path: '/data_sources',
  operationId: 'data_sources_data_sources_post',
  tag: 'Data Sources',
  auth: 'key',
  summary: 'List data sources of all users',
  description: [
    'Lists the connected accounts and feeds of all end users of the organization, also those whose access was revoked.\n\nUse it for overviews by your servers; `organization_supplied_user_id` says whose account it is. `POST /user_data_sources` lists those of one user. The secrets of an account are never returned.',
  ],
  returns: 'One page of the accounts and feeds of all end users, and the number of all that match.',
  errors: { 404: null },
  handle: ({ caller: { organizationId }, body, deps }) =>
    Promise.resolve(answerOf({ organizationId }, toDataSourceListing(body), deps)),
});

/** The only page of the older operation, which has no parameters for paging. */
const ONE_PAGE = { limit: 1_000, offset: 0, startingId: 0 };

/** GET /integrations/: lists the caller's data sources whose access is not revoked, for older front-ends. */
export const integrations = operation({
  method: 'get',
  path: '/integrations/',
  operationId: 'list_integrations',
  tag: 'Data Sources',
  auth: 'reader',
  summary: 'List connected accounts for older front ends',
  description: [
    'Lists the first 1,000 data sources of the end user that are not revoked, least recently changed first. Older published front ends call it. The newer operation has filters, an order and pages.',
  ],
  returns: 'Accounts of the end user whose access is not revoked, at most 1,000.',
  replacedBy: 'POST /user_data_sources',
  answer: named(
    'ActiveIntegrations',
    Joi.object({
      active_integrations: Joi.array()
        .items(dataSourceRecord)
        .required()
        .description('Data sources of the end user, without those whose access was revoked; at most 1,000.'),
    }).description('Response of the deprecated `GET /integrations/`, which older front ends read.'),
  ),
  async handle({ caller: { organizationId, userId }, deps: { store, workflowLink } }) {
    const filters = { revokedAccess: false };
    const listing: DataSourceListing = { filters, orderBy: 'updated_at', orderDir: 'asc', page: ONE_PAGE };
    const active: DataSourceRecord[] = [];
    for await (const part of store.dataSources.list({ organizationId, userId }, listing))
      active.push(...part.map((source) => presentDataSource(source, { workflowLink })));
    return { active_integrations: active };
  },
});
