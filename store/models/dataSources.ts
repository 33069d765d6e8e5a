import type { Connection, Model } from 'mongoose';

import type { ConnectionOptions } from '../../contract/accounts/oauth.js';
import type { SourceType } from '../../contract/sources/sources.js';
import { DATA_SOURCE_ACTIONS, DATA_SOURCE_SYNC_STATUSES } from '../../contract/files/statuses.js';
import {
  byDefault,
  date,
  flag,
  json,
  list,
  nullable,
  number,
  oneOf,
  optional,
  orNull,
  type RecordOf,
  required,
  schemaOf,
  storedTag,
  text,
  textOf,
} from '../database/record.js';

const DATA_SOURCE = {
  _id: number,
  organizationId: required(number),
  userId: required(number),
  customerId: required(text),
  type: required(textOf<SourceType>()),
  /**
   * `TYPE|account`, which identifies the same account when it is connected again; null if the source has no account
   * name.
   */
  externalId: nullable(text),
  /** Encrypted credentials; null after access is revoked. Never part of a response. */
  sealedCredentials: nullable(text),
  /**
   * Claim of the process that refreshes the credentials, or crashed while doing so. Null, or absent in older records,
   * if there is none.
   */
  refreshClaim: optional(nullable(json<{ id: string; until: Date }>())),
  /** Options of the connection for its files; null, or absent, if none were given. */
  options: optional(nullable(json<ConnectionOptions>())),
  syncStatus: required(oneOf(DATA_SOURCE_SYNC_STATUSES)),
  /** Id of the run that lists the items; null, or absent in older records, if no run lists them. */
  itemsRunId: optional(nullable(number)),
  sourceItemsSyncedAt: nullable(date),
  /**
   * Whether an operator has approved that the next complete listing may delete any number of missing items. Absent in
   * older records: no.
   */
  deletionsApproved: optional(flag),
  /** Cursor of the source's change feed; null or absent: the next listing lists everything. */
  changeToken: optional(orNull(text)),
  filesSyncedAt: nullable(date),
  /**
   * The last listing (by its sourceItemsSyncedAt) that a scheduled sync applied to the files. Absent: none, or a later
   * listing was incomplete.
   */
  appliedListingAt: optional(date),
  revokedAccess: byDefault(flag, false),
  lastSyncedAt: required(date),
  lastSyncAction: required(oneOf(DATA_SOURCE_ACTIONS)),
  /** Null: the setting of the user or the organization applies. */
  enableAutoSync: nullable(flag),
  metadata: byDefault(json<Record<string, unknown>>(), () => ({})),
  tags: list(storedTag),
  /** `key=value` of every tag, for indexed equality. */
  tagPairs: list(text),
  /** Increases with every change of the tags. */
  tagsVersion: byDefault(number, 0),
  /** The version of the tags that all files and points of the source had when a tag workflow last completed. */
  tagsCopied: byDefault(number, 0),
  /** Whether the last tag workflow was stopped early. Absent in older records. */
  tagsStopped: optional(flag),
  createdAt: required(date),
  updatedAt: required(date),
  schemaVersion: byDefault(number, 1),
};

/** A connected account of an end user. */
export interface DataSourceDoc extends RecordOf<typeof DATA_SOURCE> {}

const dataSource = schemaOf<DataSourceDoc>(DATA_SOURCE, { keepEmpty: true });

// Used by `list` and `count`, of an organization and of a user: each order with ties broken by id, and tags.
for (const owner of [{ organizationId: 1 }, { organizationId: 1, userId: 1 }] as const) {
  dataSource.index({ ...owner, updatedAt: 1, _id: 1 });
  dataSource.index({ ...owner, createdAt: 1, _id: 1 });
  dataSource.index({ ...owner, _id: 1 });
  dataSource.index({ ...owner, tagPairs: 1, _id: 1 });
}
// Used by `connect` to find the record of an account that is connected again.
dataSource.index(
  { organizationId: 1, userId: 1, type: 1, externalId: 1 },
  { unique: true, partialFilterExpression: { externalId: { $type: 'string' } } },
);

// Used by `createSourcesOverview`.
dataSource.index({ organizationId: 1, revokedAccess: 1, syncStatus: 1, updatedAt: 1, _id: 1 });

// Used by `createSourcesOverview` and `createHeldOverview`.
dataSource.index(
  { organizationId: 1, 'metadata.deletions_held': 1 },
  { partialFilterExpression: { 'metadata.deletions_held': { $gt: 0 } } },
);

// Used by `isConnectedElsewhere`: before a grant is revoked at the source, no other data source may use the account.
dataSource.index({ externalId: 1 }, { partialFilterExpression: { revokedAccess: false } });

export function dataSourceModel(connection: Connection): Model<DataSourceDoc> {
  return connection.model<DataSourceDoc>('dataSources', dataSource, 'dataSources');
}
