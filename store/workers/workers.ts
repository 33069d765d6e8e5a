import type { Connection, Model } from 'mongoose';

import type { WorkerLoad, WorkerReport } from '../../contract/runs/workers.js';
import { date, type FieldsOf, number, orNull, type RecordOf, schemaOf, text } from '../database/record.js';
import { upsertByPipeline } from '../database/driver.js';

const share = orNull(number);
const LOAD: FieldsOf<WorkerLoad> = { lagMs: number, waitShare: share, waited: share, othersShare: share };

const WORKER = {
  /** Random id of the process. Host and pid are not unique: containers may have the same host name and the same pid. */
  _id: text,
  host: text,
  pid: number,
  startedAt: date,
  heartbeatAt: date,
  ...LOAD,
};

interface WorkerDoc extends RecordOf<typeof WORKER> {}

export interface WorkerIdentity {
  /** Random, one per process. */
  readonly id: string;
  readonly host: string;
  readonly pid: number;
}

/** Heartbeats of the worker processes. All times are MongoDB's: the clocks of machines may differ. */
export interface Workers {
  /** Writes a heartbeat; the first one also stores the start time. */
  recordHeartbeat(worker: WorkerIdentity, load: WorkerLoad): Promise<void>;
  /** Removes the row of a worker that stops. */
  remove(id: string): Promise<void>;
  /** Returns the workers of one host, so that the rows of crashed workers can be deleted. */
  listOnHost(host: string): Promise<WorkerIdentity[]>;
  /** Returns workers, the latest heartbeat first; at most 100. */
  list(): Promise<WorkerReport[]>;
  createIndexes(): Promise<void>;
}

/**
 * Seconds after the last heartbeat at which MongoDB deletes a row. The next worker on the same host deletes the rows of
 * crashed workers earlier; on a host that failed, there may be no next one.
 */
const EXPIRES_AFTER_S = 3_600;
const MAX_WORKERS = 100;

export function createWorkerRecords(connection: Connection): Workers {
  const schema = schemaOf<WorkerDoc>(WORKER);
  schema.index({ heartbeatAt: 1 }, { expireAfterSeconds: EXPIRES_AFTER_S });
  const rows: Model<WorkerDoc> = connection.model<WorkerDoc>('workers', schema, 'workers');
  return {
    async recordHeartbeat({ id, host, pid }, load) {
      await upsertByPipeline(rows, id, [
        { $set: { host, pid, ...load, heartbeatAt: '$$NOW', startedAt: { $ifNull: ['$startedAt', '$$NOW'] } } },
      ]);
    },
    async remove(id) {
      await rows.deleteOne({ _id: id });
    },
    async listOnHost(host) {
      const found = await rows.find({ host }, { host: 1, pid: 1 }).limit(MAX_WORKERS).lean();
      return found.map(({ _id: id, pid }) => ({ id, host, pid }));
    },
    list: () =>
      rows.aggregate<WorkerReport>([
        { $sort: { heartbeatAt: -1 } },
        { $limit: MAX_WORKERS },
        { $set: { ageMs: { $subtract: ['$$NOW', '$heartbeatAt'] } } },
        { $unset: '_id' },
      ]),
    createIndexes: () => rows.createIndexes(),
  };
}
