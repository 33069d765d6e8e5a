import { type Connection, type Model, Schema } from 'mongoose';

/**
 * What may have a schedule, and whether it is to be looked at. Its row is written in the transaction that changes
 * something, so that a schedule follows whatever dies in between; it outlives the record, until the schedule is gone.
 */
export interface ScheduleDoc {
  /** That of the schedule in Temporal; of an organization, whose rows are all to be looked at, its own. */
  _id: string;
  organizationId: number;
  /** 0, without a customer id, of an organization. */
  userId: number;
  customerId: string;
  dataSourceId: number | null;
  /** Of a container that is synced by itself. */
  fileId: number | null;
  /** Raised by whoever changes something that may matter. */
  version: number;
  /** It was raised since somebody looked. */
  marked: boolean;
  /** Somebody is at it, or died at it. */
  claimedUntil: Date | null;
  /** As Temporal has it, in words of ours; null: it has none. */
  applied: string | null;
}

const schedule: Schema<ScheduleDoc> = new Schema<ScheduleDoc>(
  {
    _id: String,
    organizationId: { type: Number, required: true },
    userId: { type: Number, required: true },
    customerId: { type: String, default: '' },
    dataSourceId: { type: Number, default: null },
    fileId: { type: Number, default: null },
    version: { type: Number, default: 0 },
    marked: { type: Boolean, default: false },
    claimedUntil: { type: Date, default: null },
    applied: { type: String, default: null },
  },
  { versionKey: false },
);
// claim: marked rows, which few are.
schedule.index({ claimedUntil: 1 }, { partialFilterExpression: { marked: true } });
// Schedules of a user: its changes of options, and its deletion.
schedule.index({ organizationId: 1, userId: 1 });
// lookAtUsers: by the names that a request gives.
schedule.index({ organizationId: 1, customerId: 1 });

export function scheduleModel(connection: Connection): Model<ScheduleDoc> {
  return connection.model<ScheduleDoc>('schedules', schedule, 'schedules');
}
