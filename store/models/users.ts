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
  /** The organization's own name for the user (organization_supplied_user_id). */
  customerId: required(text),
  createdAt: required(date),
  updatedAt: required(date),
  /** Set when the deletion is accepted: from then on the user is unknown to every caller. */
  deletedAt: nullable(date),
  /** When nothing of a deleted user was left. */
  erasedAt: optional(nullable(date)),
  /** Switches by name. */
  enabledFeatures: optional(nullable(json<Record<string, { enabled: boolean }>>())),
  customLimits: optional(nullable(json<CustomLimits>())),
  /** Source types, or ALL_SOURCES alone. */
  autoSyncSources: optional(nullable(list(text))),
  /** Raised by each decision about the user's limits, so that two conflict. */
  limitTurns: optional(byDefault(number, 0)),
  /** Raised whenever files of the user are removed, so that cached totals are not used. */
  filesRemoved: optional(byDefault(number, 0)),
};

export interface UserDoc extends RecordOf<typeof USER> {}

const user = schemaOf<UserDoc>(USER);
// A name that belonged to a deleted user can be given to a new one.
user.index({ organizationId: 1, customerId: 1, deletedAt: 1 }, { unique: true });
// list and count, in each order.
user.index({ organizationId: 1, createdAt: 1, _id: 1 });
user.index({ organizationId: 1, updatedAt: 1, _id: 1 });

export function userModel(connection: Connection): Model<UserDoc> {
  return connection.model<UserDoc>('users', user, 'users');
}
