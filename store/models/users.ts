import type { Connection, Model } from 'mongoose';

import type { CustomLimits } from '../../contract/limits.js';
import {
  byDefault,
  date,
  json,
  list,
  nullable,
  number,
  optional,
  type RecordOf,
  required,
  schemaOf,
  text,
} from '../database/record.js';

const USER = {
  _id: number,
  organizationId: required(number),
  /** The organization's id for the user (organization_supplied_user_id). */
  customerId: required(text),
  createdAt: required(date),
  updatedAt: required(date),
  /** Time when the deletion was accepted. From then on, requests treat the user as unknown. */
  deletedAt: nullable(date),
  /** Time when all data of a deleted user was erased. */
  erasedAt: optional(nullable(date)),
  /** Feature flags by name. */
  enabledFeatures: optional(nullable(json<Record<string, { enabled: boolean }>>())),
  customLimits: optional(nullable(json<CustomLimits>())),
  /** Source types, or ALL_SOURCES alone. */
  autoSyncSources: optional(nullable(list(text))),
  /** Incremented by each decision about the user's limits, so that concurrent decisions conflict. */
  limitVersion: optional(byDefault(number, 0)),
  /** Incremented whenever files of the user are removed, so that cached totals become invalid. */
  filesRemoved: optional(byDefault(number, 0)),
};

export interface UserDoc extends RecordOf<typeof USER> {}

const user = schemaOf<UserDoc>(USER);
// A new user can get the customer id of a deleted one.
user.index({ organizationId: 1, customerId: 1, deletedAt: 1 }, { unique: true });
// Used by `list` and `count`, in each order.
user.index({ organizationId: 1, createdAt: 1, _id: 1 });
user.index({ organizationId: 1, updatedAt: 1, _id: 1 });

export function userModel(connection: Connection): Model<UserDoc> {
  return connection.model<UserDoc>('users', user, 'users');
}
