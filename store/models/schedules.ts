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
  /**
   * Id of the schedule in Temporal. The row of an organization has an id that is not in Temporal, because it has no
   * schedule: the process that claims this row marks the rows of all users of the organization.
   */
  _id: text,
  organizationId: required(number),
  /** 0, without a customer id, for an organization. */
  userId: required(number),
  customerId: byDefault(text, ''),
  dataSourceId: nullable(number),
  /** For a container that has its own schedule. */
  fileId: nullable(number),
  /** Increases with every change that may affect the schedule. */
  version: byDefault(number, 0),
  /** Whether the version has increased since the row was last processed. */
  marked: byDefault(flag, false),
  /** End of the claim of a process. The claim of a crashed process expires. */
  claimedUntil: nullable(date),
  /**
   * Text form of the schedule in Temporal; null if Temporal has none; `unsure` while it is updated there, or if the
   * result of an update is unknown.
   */
  applied: nullable(text),
};

/**
 * A record that may have a schedule in Temporal, and whether the schedule must be updated. The transaction that changes
 * the record writes the row, so the schedule is updated even after a crash. The row outlives the record until the
 * schedule is deleted.
 */
export interface ScheduleDoc extends RecordOf<typeof SCHEDULE> {}

const schedule = schemaOf<ScheduleDoc>(SCHEDULE);
// Used by `claim`: marked rows only, which are few.
schedule.index({ claimedUntil: 1 }, { partialFilterExpression: { marked: true } });
// Used by `listOfUser`, and by `claim` for the rows of all users of an organization.
schedule.index({ organizationId: 1, userId: 1 });
// Used by `markUsers`: rows by the customer ids of a request.
schedule.index({ organizationId: 1, customerId: 1 });

export function scheduleModel(connection: Connection): Model<ScheduleDoc> {
  return connection.model<ScheduleDoc>('schedules', schedule, 'schedules');
}
