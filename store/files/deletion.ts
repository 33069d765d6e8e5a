import type { ClientSession, Model, QueryFilter } from 'mongoose';

import type { DeleteFilesProgress, DeleteFilesRequest } from '../../contract/files/deleteFiles.js';
import { itemEnd } from '../../contract/runs/ledger.js';
import { BEING_DELETED } from '../../contract/runs/reembed.js';
import { IN_PROGRESS_STATUSES, WAITING_FILE_STATUSES } from '../../contract/files/statuses.js';
import type { Atomically, EventWriter } from '../events/events.js';
import type { LedgerWriter } from '../ledger/ledger.js';
import type { Tenant } from '../users/accept.js';
import type { UserDoc } from '../models/users.js';
import { fileQuery } from './filter.js';
import type { FileDoc } from '../models/files.js';
import type { FileQueries } from './queries.js';
import { TRANSITIONS, transition, transitionEvents } from './transitions.js';

/** State of a file while it is being deleted. */
export const TAKEN_OVER = { syncStatus: TRANSITIONS.takeOverForDelete.to, syncErrorMessage: BEING_DELETED } as const;
/** State of a file whose content is deleted and whose record is kept. */
const EMPTIED = TRANSITIONS.empty.to;
const OPEN = [...IN_PROGRESS_STATUSES, ...WAITING_FILE_STATUSES];
export const DELETE_STOPPED =
  'The delete of this file was stopped, and parts of it may be deleted. Delete it again, or resync it to restore it.';

const DELETED = itemEnd('ok', 'delete', null);
/** Returns the ledger entry of a deleted file. */
const deletedItem = ({ _id: fileId, externalFileId: externalId, name }: FileDoc) => ({
  ...{ fileId, externalId, name, end: DELETED, message: null },
});

/** Deletes files, in an order that allows the next attempt to find all remaining data after a crash. */
export interface FileDeletion {
  /**
   * Returns the parents whose children a delete includes. With includeAllChildren, these are the parents that the
   * filters name; with deleteChildren, the matching files; in both cases with all their descendants. Call it before
   * anything is deleted.
   */
  parentsOfDelete(tenant: Tenant, request: DeleteFilesRequest): Promise<number[]>;
  /**
   * Returns the files of a delete that existed when it was accepted, by id. Includes files that the run took over in an
   * attempt that crashed, even if the filters no longer match them; excludes files that it has emptied.
   */
  listDeletable(
    tenant: Tenant,
    run: { readonly runId: number; readonly acceptedAt: Date },
    request: DeleteFilesRequest & DeleteFilesProgress,
    afterId: number,
    limit: number,
  ): Promise<number[]>;
  /** Returns at most `limit` files of the delete that another run has not finished: queued, delayed or in progress. */
  listDeletableOpen(
    tenant: Tenant,
    run: { readonly runId: number; readonly acceptedAt: Date },
    request: DeleteFilesRequest & DeleteFilesProgress,
    limit: number,
  ): Promise<number[]>;
  /** Assigns the files to the run of the delete, so that no other run can publish them. */
  takeOver(tenant: Tenant, runId: number, workflowId: string, ids: readonly number[]): Promise<void>;
  /** Sets an error message on the files that the run took over, because it ended before they were deleted. */
  markDeleteStopped(runId: number): Promise<void>;
  /** Deletes the records. @param emitsEvents whether to write FILE_DELETED for each */
  remove(tenant: Tenant, runId: number, ids: readonly number[], emitsEvents: boolean): Promise<void>;
  /** Keeps the records without content. @param emitsEvents whether to write FILE_DELETED for each */
  deleteContent(tenant: Tenant, runId: number, ids: readonly number[], emitsEvents: boolean): Promise<void>;
}

interface FileDeletionDeps {
  readonly files: Model<FileDoc>;
  readonly users: Model<UserDoc>;
  readonly queries: Pick<FileQueries, 'descendantParents'>;
  readonly atomically: Atomically;
  readonly events: EventWriter;
  readonly ledger: Pick<LedgerWriter, 'recordOutcomes' | 'addItems'>;
}

export function createFileDeletion({
  files,
  users,
  queries,
  atomically,
  events,
  ledger,
}: FileDeletionDeps): FileDeletion {
  const owned = ({ organizationId, userId }: Tenant, runId: number, ids: readonly number[]) => ({
    organizationId,
    userId,
    _id: { $in: [...ids] },
    runId,
  });
  /** Calls `end` for the files that match the query and, if required, writes their events, in one transaction. */
  const endFiles = (
    query: QueryFilter<FileDoc>,
    emitsEvents: boolean,
    end: (session: ClientSession, rows: readonly FileDoc[]) => Promise<unknown>,
  ): Promise<void> =>
    atomically(async (session) => {
      const rows = await files.find(query, null, { session }).sort({ _id: 1 }).lean();
      await end(session, rows);
      if (emitsEvents) await events.write(transitionEvents('empty', rows, {}), session);
    });
  /** Returns the conditions of a delete, combined with OR. */
  const conditionsOf = (
    tenant: Tenant,
    { filters, deleteChildren = false, parents = [] }: DeleteFilesRequest & DeleteFilesProgress,
    afterId?: number,
  ): QueryFilter<FileDoc>[] => {
    const { parentFileIds: _named, ...others } = filters;
    const below = { ...others, parentFileIds: parents };
    // As in a listing, includeAllChildren extends parentFileIds; deleteChildren adds the children of the matching
    // files.
    const orQueries =
      filters.includeAllChildren === true && parents.length > 0
        ? [fileQuery(tenant, below, afterId)]
        : [fileQuery(tenant, filters, afterId)];
    if (deleteChildren && parents.length > 0) orQueries.push(fileQuery(tenant, { parentFileIds: parents }, afterId));
    return orQueries;
  };
  return {
    async parentsOfDelete(tenant, { filters, deleteChildren = false }) {
      const named = filters.includeAllChildren === true ? (filters.parentFileIds ?? []) : [];
      const matching = deleteChildren ? await files.find(fileQuery(tenant, filters), { _id: 1 }).lean() : [];
      return queries.descendantParents(tenant, [...named, ...matching.map((row) => row._id)]);
    },
    async listDeletable(tenant, { runId, acceptedAt }, request, afterId, limit) {
      const { organizationId, userId } = tenant;
      const filesOfRun = { organizationId, userId, runId, _id: { $gt: afterId } };
      const isNotEmptied = { $nor: [{ runId, syncStatus: EMPTIED }] };
      const query = {
        $or: [
          {
            $and: [{ $or: conditionsOf(tenant, request, afterId) }, { createdAt: { $lte: acceptedAt } }, isNotEmptied],
          },
          { ...filesOfRun, ...TAKEN_OVER },
        ],
      };
      const rows = await files.find(query, { _id: 1 }).sort({ _id: 1 }).limit(limit).lean();
      return rows.map((row) => row._id);
    },
    async listDeletableOpen(tenant, { runId, acceptedAt }, request, limit) {
      const others = { createdAt: { $lte: acceptedAt }, runId: { $ne: runId }, syncStatus: { $in: OPEN } };
      const query = { $and: [{ $or: conditionsOf(tenant, request) }, others] };
      const rows = await files.find(query, { _id: 1 }).limit(limit).lean();
      return rows.map((row) => row._id);
    },
    async takeOver({ organizationId, userId }, runId, workflowId, ids) {
      const filesToDelete = { organizationId, userId, _id: { $in: [...ids] } };
      await ledger.recordOutcomes(await files.find(filesToDelete, { runId: 1 }).lean(), runId);
      // Clearing the token stops a move of the vectors.
      await files.updateMany({ ...filesToDelete, 'move.runId': { $gt: 0 } }, { $set: { 'move.token': null } });
      const { filter, update } = transition('takeOverForDelete', {
        owner: { organizationId, userId },
        where: { _id: { $in: [...ids] } },
        message: BEING_DELETED,
        // The delete may stop halfway: a later sync must not treat the content of the file as unchanged.
        set: { runId, workflowId, ended: null, processedAs: null },
      });
      await files.updateMany(filter, update);
    },
    async markDeleteStopped(runId) {
      await files.updateMany(
        { runId, ...TAKEN_OVER },
        { $set: { syncErrorMessage: DELETE_STOPPED, updatedAt: new Date() } },
      );
    },
    async remove(tenant, runId, ids, emitsEvents) {
      const query = owned(tenant, runId, ids);
      const { organizationId, userId: _id } = tenant;
      await endFiles(query, emitsEvents, async (session, rows) => {
        await ledger.addItems({ ...tenant, _id: runId }, rows.map(deletedItem), session);
        await files.deleteMany(query, { session });
        await users.updateOne({ _id, organizationId }, { $inc: { filesRemoved: 1 } }, { session });
      });
    },
    async deleteContent(tenant, runId, ids, emitsEvents) {
      const { filter, update } = transition('empty', {
        owner: tenant,
        // Excludes files that an earlier attempt has emptied: their FILE_DELETED would be written twice.
        where: { _id: { $in: [...ids] }, runId, syncErrorMessage: BEING_DELETED },
        message: null,
        set: {
          generation: 0,
          numChunks: 0,
          statistics: null,
          vectorSpace: null,
          dimensions: null,
          hasContent: false,
          hasText: false,
          original: null,
          callerChunks: null,
          rawHash: null,
          etag: null,
          lastModified: null,
          version: null,
          processedAs: null,
          cleanupPending: false,
          embeddingStorageStatus: 'HOT_STORAGE',
          coldCopy: null,
          move: null,
          fileContentsDeleted: true,
          ended: DELETED,
        },
      });
      await endFiles(filter, emitsEvents, (session) => files.updateMany(filter, update, { session }));
    },
  };
}
