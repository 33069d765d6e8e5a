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
  /** `TYPE|account`, by which the same account is known again; null where a source has no name for it. */
  externalId: nullable(text),
  /** What is needed to call the source, already sealed; null once access is revoked. Never answered. */
  sealedCredentials: nullable(text),
  /** A process is refreshing them, or died at it. Null, or absent in older records: none is. */
  refreshClaim: optional(nullable(json<{ id: string; until: Date }>())),
  /** Options of the connection for its files; null, or absent, if none were given. */
  options: optional(nullable(json<ConnectionOptions>())),
  syncStatus: required(oneOf(DATA_SOURCE_SYNC_STATUSES)),
  /** The run that lists its items; null, or absent in older records, while none does. */
  itemsRunId: optional(nullable(number)),
  sourceItemsSyncedAt: nullable(date),
  /** An operator has looked: the next whole listing deletes, however much it misses. Absent in older records: no. */
  deletionsApproved: optional(flag),
  /** Up to here the items are known, in the words of a source that tells what happens; null, or absent: list all there is. */
  changeToken: optional(orNull(text)),
  filesSyncedAt: nullable(date),
  /** The listing (by its sourceItemsSyncedAt) whose findings the last pass has brought into the files. Absent: none. */
  passedListingAt: optional(date),
  revokedAccess: byDefault(flag, false),
  lastSyncedAt: required(date),
  lastSyncAction: required(oneOf(DATA_SOURCE_ACTIONS)),
  /** Null: as the user or the organization has it. */
  enableAutoSync: nullable(flag),
  metadata: byDefault(json<Record<string, unknown>>(), () => ({})),
  tags: list(storedTag),
  /** `key=value` of every tag, for indexed equality. */
  tagPairs: list(text),
  /** Raised with every change of the tags. */
  tagsVersion: byDefault(number, 0),
  /** The version that every file and point of the source had when a tag workflow last ended. */
  tagsCopied: byDefault(number, 0),
  /** A tag workflow was stopped before it was done. Absent in older records. */
  tagsStopped: optional(flag),
  createdAt: required(date),
  updatedAt: required(date),
  schemaVersion: byDefault(number, 1),
};

/** A connected account of an end user. */
export interface DataSourceDoc extends RecordOf<typeof DATA_SOURCE> {}

const dataSource = schemaOf<DataSourceDoc>(DATA_SOURCE, { keepEmpty: true });

// list and count, of an organization and of a user: each order with ties broken by id, and tags.
for (const owner of [{ organizationId: 1 }, { organizationId: 1, userId: 1 }] as const) {
  dataSource.index({ ...owner, updatedAt: 1, _id: 1 });
  dataSource.index({ ...owner, createdAt: 1, _id: 1 });
  dataSource.index({ ...owner, _id: 1 });
  dataSource.index({ ...owner, tagPairs: 1, _id: 1 });
}
// accept: an account is known again by it.
dataSource.index(
  { organizationId: 1, userId: 1, type: 1, externalId: 1 },
  { unique: true, partialFilterExpression: { externalId: { $type: 'string' } } },
);

// createSourcesOverview.
dataSource.index({ organizationId: 1, revokedAccess: 1, syncStatus: 1, updatedAt: 1, _id: 1 });

// createSourcesOverview, createHeldOverview.
dataSource.index(
  { organizationId: 1, 'metadata.deletions_held': 1 },
  { partialFilterExpression: { 'metadata.deletions_held': { $gt: 0 } } },
);

// Whether an account is still in use, before its source is asked to end what it granted.
dataSource.index({ externalId: 1 }, { partialFilterExpression: { revokedAccess: false } });

export function dataSourceModel(connection: Connection): Model<DataSourceDoc> {
  return connection.model<DataSourceDoc>('dataSources', dataSource, 'dataSources');
}
