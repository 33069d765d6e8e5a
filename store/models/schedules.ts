import type { Connection, Model } from 'mongoose';
import {
  byDefault,
  date,
  flag,
  nullable,
  number,
  type RecordOf,
  required,
  schemaOf,
  text,
} from '../database/record.js';

const SCHEDULE = {
  /** That of the schedule in Temporal; of an organization, whose rows are all to be looked at, its own. */
  _id: text,
  organizationId: required(number),
  /** 0, without a customer id, of an organization. */
  userId: required(number),
  customerId: byDefault(text, ''),
  dataSourceId: nullable(number),
  /** Of a container that is synced by itself. */
  fileId: nullable(number),
  /** Raised with every change that may matter. */
  version: byDefault(number, 0),
  /** Raised since the row was last processed. */
  marked: byDefault(flag, false),
  /** A process holds it until then, or died with it. */
  claimedUntil: nullable(date),
  /** As Temporal has it, in words of ours; null: it has none. */
  applied: nullable(text),
};

/**
 * What may have a schedule, and whether it is to be looked at. Its row is written in the transaction that changes
 * something, so that a schedule follows whatever dies in between; it outlives the record, until the schedule is gone.
 */
export interface ScheduleDoc extends RecordOf<typeof SCHEDULE> {}

const schedule = schemaOf<ScheduleDoc>(SCHEDULE);
// claim: marked rows, which few are.
schedule.index({ claimedUntil: 1 }, { partialFilterExpression: { marked: true } });
// Schedules of a user: its changes of options, and its deletion.
schedule.index({ organizationId: 1, userId: 1 });
// lookAtUsers: by the names that a request gives.
schedule.index({ organizationId: 1, customerId: 1 });

export function scheduleModel(connection: Connection): Model<ScheduleDoc> {
  return connection.model<ScheduleDoc>('schedules', schedule, 'schedules');
}
