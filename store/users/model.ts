import { type Connection, type Model, Schema } from 'mongoose';

import type { CustomLimits } from '../../contract/limits.js';

export interface UserDoc {
  _id: number;
  organizationId: number;
  /** The organization's own name for the user (organization_supplied_user_id). */
  customerId: string;
  createdAt: Date;
  updatedAt: Date;
  /** Set when the deletion is accepted: from then on the user is unknown to every caller. */
  deletedAt: Date | null;
  /** When nothing of a deleted user was left. */
  erasedAt?: Date | null;
  /** Switches by name. */
  enabledFeatures?: Record<string, { enabled: boolean }> | null;
  customLimits?: CustomLimits | null;
  /** Source types, or ALL_SOURCES alone. */
  autoSyncSources?: string[] | null;
  /** Raised by whoever decides about the user's limits, so that two can't at once. */
  limitTurns?: number;
  /** Raised whenever files of the user are removed, so that sums which were remembered are not taken for true. */
  filesRemoved?: number;
}

const mixed = { type: Schema.Types.Mixed, default: null };
const user: Schema<UserDoc> = new Schema<UserDoc>(
  {
    _id: Number,
    organizationId: { type: Number, required: true },
    customerId: { type: String, required: true },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
    deletedAt: { type: Date, default: null },
    erasedAt: { type: Date, default: null },
    enabledFeatures: mixed,
    customLimits: mixed,
    autoSyncSources: { type: [String], default: null },
    limitTurns: { type: Number, default: 0 },
    filesRemoved: { type: Number, default: 0 },
  },
  { versionKey: false },
);
// A name that belonged to a deleted user can be given to a new one.
user.index({ organizationId: 1, customerId: 1, deletedAt: 1 }, { unique: true });
// list and count, in each order.
user.index({ organizationId: 1, createdAt: 1, _id: 1 });
user.index({ organizationId: 1, updatedAt: 1, _id: 1 });

export function userModel(connection: Connection): Model<UserDoc> {
  return connection.model<UserDoc>('users', user, 'users');
}
