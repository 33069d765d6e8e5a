import { type Connection, type Model, Schema } from 'mongoose';

export interface UserDoc {
  _id: number;
  organizationId: number;
  /** The organization's own name for the user (organization_supplied_user_id). */
  customerId: string;
  createdAt: Date;
  updatedAt: Date;
  deletedAt: Date | null;
}

const user: Schema<UserDoc> = new Schema<UserDoc>(
  {
    _id: Number,
    organizationId: { type: Number, required: true },
    customerId: { type: String, required: true },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
    deletedAt: { type: Date, default: null },
  },
  { versionKey: false },
);
user.index({ organizationId: 1, customerId: 1 }, { unique: true });

export function userModel(connection: Connection): Model<UserDoc> {
  return connection.model<UserDoc>('users', user, 'users');
}
