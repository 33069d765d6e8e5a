import type { Model } from 'mongoose';

import { BEING_DELETED } from '../../contract/runs/reembed.js';
import { FINAL_FILE_STATUSES, type FileSyncStatus } from '../../contract/files/statuses.js';
import { UPLOAD_SOURCES, type UploadOptions } from '../../contract/files/uploads.js';
import type { LedgerWriter } from '../ledger/ledger.js';
import type { Session } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';
import type { FileDoc } from '../models/files.js';
import { RESET_BY_NEW_SYNC, transition } from './transitions.js';

/** Returns whether the content of an upload was deleted, so that it cannot be read again. */
export function isContentDeleted({
  fileContentsDeleted,
  original,
  source,
  sourceOptions,
}: Pick<FileDoc, 'fileContentsDeleted' | 'original' | 'source' | 'sourceOptions'>): boolean {
  const fromUrl = (sourceOptions as UploadOptions | null)?.url ?? null;
  return fileContentsDeleted && !original && fromUrl === null && UPLOAD_SOURCES.includes(source);
}

/** The run to which files are assigned. */
interface TargetRun {
  readonly runId: number;
  readonly workflowId: string;
  readonly requestId: string;
}

/** Syncs existing files again, with their options. */
export interface FileRetry {
  /**
   * Returns the idle files that can be synced again. @param unsynced whether to return only failed and aborted files,
   * and those without content
   */
  retryable(tenant: Tenant, ids: readonly number[], unsynced: boolean, session?: Session): Promise<number[]>;
  /**
   * Queues the files for one run and returns their number. Each keeps its options; files that were stored without
   * content are now read.
   */
  retry(
    tenant: Tenant,
    ids: readonly number[],
    unsynced: boolean,
    targetRun: TargetRun,
    session: Session,
  ): Promise<number>;
}

const UNSYNCED_STATUSES = ['SYNC_ERROR', 'SYNC_ABORTED', 'READY_TO_SYNC'] as const satisfies FileSyncStatus[];

export function createFileRetry(files: Model<FileDoc>, ledger: Pick<LedgerWriter, 'recordOutcomes'>): FileRetry {
  const findRetryable = async (
    { organizationId, userId }: Tenant,
    ids: readonly number[],
    unsynced: boolean,
    session: Session,
  ): Promise<Pick<FileDoc, '_id' | 'runId'>[]> => {
    const syncStatus = { $in: unsynced ? [...UNSYNCED_STATUSES] : [...FINAL_FILE_STATUSES] };
    const fields = { runId: 1, fileContentsDeleted: 1, original: 1, source: 1, sourceOptions: 1 } as const;
    const scope = { _id: { $in: [...ids] }, organizationId, userId, isContainer: false };
    const rows = await files
      .find({ ...scope, syncStatus, syncErrorMessage: { $ne: BEING_DELETED } }, fields, { session })
      .lean();
    return rows.filter((row) => !isContentDeleted(row));
  };
  return {
    async retryable(tenant, ids, unsynced, session = null) {
      return (await findRetryable(tenant, ids, unsynced, session)).map(({ _id }) => _id);
    },
    async retry(tenant, ids, unsynced, targetRun, session) {
      const rows = await findRetryable(tenant, ids, unsynced, session);
      await ledger.recordOutcomes(rows, targetRun.runId, session);
      // Runs in the transaction that read the files: after a concurrent change, the read and the update are repeated.
      const { filter, update } = transition('queueAgain', {
        owner: tenant,
        where: { _id: { $in: rows.map(({ _id }) => _id) } },
        message: null,
        set: {
          ...targetRun,
          ...RESET_BY_NEW_SYNC,
          listedVersion: null,
          fileContentsDeleted: false,
          'options.skipFileProcessing': false,
        },
      });
      const { matchedCount } = await files.updateMany(filter, update, session ? { session } : {});
      return matchedCount;
    },
  };
}
