import { type Connection, type Model, Schema } from 'mongoose';

import type { ConnectionOptions } from '../../contract/oauth.js';
import type { SourceType } from '../../contract/sources.js';
import {
  DATA_SOURCE_ACTIONS,
  DATA_SOURCE_SYNC_STATUSES,
  type DataSourceAction,
  type DataSourceSyncStatus,
} from '../../contract/statuses.js';
import type { StoredTag } from '../../contract/tags.js';

/** A connected account of an end user. */
export interface DataSourceDoc {
  _id: number;
  organizationId: number;
  userId: number;
  customerId: string;
  type: SourceType;
  /** `TYPE|account`, by which the same account is known again; null where a source has no name for it. */
  externalId: string | null;
  /** What is needed to call the source, already sealed; null once access is revoked. Never answered. */
  sealedCredentials: string | null;
  /** A process is refreshing them, or died at it. Null, or absent in older records: none is. */
  refreshClaim?: { id: string; until: Date } | null;
  /** What the connection was asked to do with its files; null, or absent, where nobody said. */
  options?: ConnectionOptions | null;
  syncStatus: DataSourceSyncStatus;
  /** The run that lists its items; null, or absent in older records, while none does. */
  itemsRunId?: number | null;
  sourceItemsSyncedAt: Date | null;
  /** An operator has looked: the next whole listing deletes, however much it misses. Absent in older records: no. */
  deletionsApproved?: boolean;
  /** Up to here the items are known, in the words of a source that tells what happens; null, or absent: list all there is. */
  changePoint?: string | null;
  filesSyncedAt: Date | null;
  /** The listing (by its sourceItemsSyncedAt) whose findings the last pass has brought into the files. Absent: none. */
  passedListingAt?: Date;
  revokedAccess: boolean;
  lastSyncedAt: Date;
  lastSyncAction: DataSourceAction;
  /** Null: as the user or the organization has it. */
  enableAutoSync: boolean | null;
  metadata: Record<string, unknown>;
  tags: StoredTag[];
  /** `key=value` of every tag, for indexed equality. */
  tagPairs: string[];
  /** Raised with every change of the tags. */
  tagsVersion: number;
  /** The version that every file and point of the source had when a tag workflow last ended. */
  tagsCopied: number;
  /** A tag workflow was stopped before it was done. Absent in older records. */
  tagsStopped?: boolean;
  createdAt: Date;
  updatedAt: Date;
  schemaVersion: number;
}

const nullable = <T>(type: T) => ({ type, default: null });

const dataSource: Schema<DataSourceDoc> = new Schema<DataSourceDoc>(
  {
    _id: Number,
    organizationId: { type: Number, required: true },
    userId: { type: Number, required: true },
    customerId: { type: String, required: true },
    type: { type: String, required: true },
    externalId: nullable(String),
    sealedCredentials: nullable(String),
    refreshClaim: nullable(Schema.Types.Mixed),
    options: nullable(Schema.Types.Mixed),
    syncStatus: { type: String, enum: DATA_SOURCE_SYNC_STATUSES, required: true },
    itemsRunId: nullable(Number),
    sourceItemsSyncedAt: nullable(Date),
    deletionsApproved: Boolean,
    changePoint: String,
    filesSyncedAt: nullable(Date),
    passedListingAt: Date,
    revokedAccess: { type: Boolean, default: false },
    lastSyncedAt: { type: Date, required: true },
    lastSyncAction: { type: String, enum: DATA_SOURCE_ACTIONS, required: true },
    enableAutoSync: nullable(Boolean),
    metadata: { type: Schema.Types.Mixed, default: () => ({}) },
    tags: { type: [{ _id: false, key: String, value: Schema.Types.Mixed }], default: () => [] },
    tagPairs: { type: [String], default: () => [] },
    tagsVersion: { type: Number, default: 0 },
    tagsCopied: { type: Number, default: 0 },
    tagsStopped: Boolean,
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
    schemaVersion: { type: Number, default: 1 },
  },
  { versionKey: false, minimize: false },
);

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
