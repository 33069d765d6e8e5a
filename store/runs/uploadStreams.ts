import type { Model } from 'mongoose';

import { uploadEvent } from '../../contract/events.js';
import { FINAL_FILE_STATUSES, type FileSyncStatus } from '../../contract/files/statuses.js';
import type { Atomically, EventWriter } from '../events/events.js';
import { RUN_INDEX } from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';
import type { LedgerWriter } from '../ledger/ledger.js';
import type { Tenant } from '../users/accept.js';
import type { RunDoc } from '../models/runs.js';
import { updateRows } from '../database/updateRows.js';
import { stallsAtEnd } from './stalls.js';

/** Time in milliseconds for which only the process that wrote a row starts it. */
const GRACE_MS = 3_000;

/** An unfinished file of an upload. */
export interface OpenUpload {
  readonly fileId: number;
  readonly runId: number;
  readonly notBefore: Date | null;
  readonly syncStatus: FileSyncStatus;
}

/**
 * The uploads of each user, which one workflow ingests in batches. The rows define the uploads of a workflow, so a new
 * workflow continues those of a failed one.
 */
export interface UploadStreams {
  /**
   * Returns open runs of a user, ordered by id: waiting runs, and runs that an earlier execution left unfinished.
   * @param except ids of runs to omit
   */
  listOpen(tenant: Tenant, except: readonly number[], limit: number): Promise<RunDoc[]>;
  /**
   * Finds users with a run that was accepted more than GRACE_MS ago and has not started, and returns one unstarted run
   * of each. The user's workflow may have ended or missed a signal, so it must be signalled again.
   */
  listWaiting(now: Date, limit: number): Promise<RunDoc[]>;
  find(tenant: Tenant, runIds: readonly number[]): Promise<RunDoc[]>;
  begin(runIds: readonly number[]): Promise<void>;
  /** Returns the unfinished files of the runs, ordered by id. */
  listOpenFiles(tenant: Tenant, runIds: readonly number[]): Promise<OpenUpload[]>;
  /** Ends runs whose files are all finished, each with its event, in one transaction. Ignores ended runs. */
  finish(tenant: Tenant, runs: readonly RunDoc[]): Promise<void>;
  /** Removes a run from the shared workflow: the outbox starts a separate workflow with the given id. */
  moveToOwnWorkflow(run: RunDoc, workflowId: string): Promise<void>;
}

/** Thrown when another process ended some of the runs. */
class RunsTaken extends Error {}

interface UploadStreamsDeps {
  readonly runs: Model<RunDoc>;
  readonly files: Model<FileDoc>;
  readonly atomically: Atomically;
  readonly events: EventWriter;
  readonly ledger: Pick<LedgerWriter, 'closeMany' | 'expiry'>;
  finishOne(run: RunDoc, counts: Record<string, number>): Promise<void>;
}

export function createUploadStreams({
  runs,
  files,
  atomically,
  events,
  ledger,
  finishOne,
}: UploadStreamsDeps): UploadStreams {
  const inStream = { stream: true as const, finishedAt: null };
  return {
    listOpen: ({ organizationId, userId }, except, limit) =>
      runs
        .find({ ...inStream, organizationId, userId, held: false, _id: { $nin: [...except] } })
        .sort({ _id: 1 })
        .hint('stream')
        .limit(limit)
        .lean()
        .exec(),
    async listWaiting(now, limit) {
      const before = new Date(now.getTime() - GRACE_MS);
      const users = await runs
        .aggregate<{ _id: Tenant }>([
          { $match: { ...inStream, startedAt: null, held: false, acceptedAt: { $lte: before } } },
          { $group: { _id: { organizationId: '$organizationId', userId: '$userId' } } },
          { $limit: limit },
        ])
        .hint('streamWaiting');
      const firstRuns = await Promise.all(
        users.map(({ _id }) => runs.findOne({ ...inStream, ..._id, startedAt: null, held: false }).lean()),
      );
      return firstRuns.filter((run) => run !== null);
    },
    find: ({ organizationId, userId }, runIds) =>
      runs
        .find({ _id: { $in: [...runIds] }, organizationId, userId })
        .lean()
        .exec(),
    async begin(runIds) {
      await runs.updateMany({ _id: { $in: [...runIds] }, startedAt: null }, { $set: { startedAt: new Date() } });
    },
    async listOpenFiles({ organizationId, userId }, runIds) {
      const open = { runId: { $in: [...runIds] }, organizationId, userId, isContainer: false };
      const rows = await files
        .find({ ...open, syncStatus: { $nin: [...FINAL_FILE_STATUSES] } }, { runId: 1, notBefore: 1, syncStatus: 1 })
        .sort({ _id: 1 })
        .hint(RUN_INDEX)
        .lean();
      return rows.map(({ _id: fileId, runId, notBefore, syncStatus }) => ({
        fileId,
        runId: runId ?? 0,
        notBefore,
        syncStatus,
      }));
    },
    async finish(tenant, ended) {
      const activeRuns = ended.filter(({ finishedAt }) => finishedAt === null);
      if (activeRuns.length === 0) return;
      const closed = await ledger.closeMany(tenant, activeRuns);
      const end = { finishedAt: new Date(), outcome: 'finished' as const, message: null, expiresAt: ledger.expiry() };
      try {
        await atomically(async (session) => {
          const matched = await updateRows(
            runs,
            activeRuns.map((run) => ({
              filter: { _id: run._id, finishedAt: null },
              update: {
                $set: { ...end, ...stallsAtEnd(run, end.finishedAt), ...closed.get(run._id) },
                $unset: { closedTo: 1, stall: 1 },
              },
            })),
            session,
          );
          if (matched < activeRuns.length) throw new RunsTaken();
          const endEvents = activeRuns.map((run) =>
            uploadEvent('ALL_FILES_PROCESSED', { ...run, uploadId: run.uploadId ?? null }),
          );
          await events.write(endEvents, session);
        });
      } catch (error) {
        if (!(error instanceof RunsTaken)) throw error;
        for (const run of activeRuns) await finishOne(run, closed.get(run._id)?.counts ?? {});
      }
    },
    async moveToOwnWorkflow({ _id, organizationId, userId }, workflowId) {
      await atomically(async (session) => {
        const { modifiedCount } = await runs.updateOne(
          { _id, ...inStream },
          { $set: { workflowId, startedAt: null, nextTryAt: new Date() }, $unset: { stream: 1 } },
          { session },
        );
        if (modifiedCount === 0) return;
        await files.updateMany({ runId: _id, organizationId, userId }, { $set: { workflowId } }, { session });
      });
    },
  };
}
