import type { ClientSession, Model, QueryFilter } from 'mongoose';

import type { DeleteFilesProgress, DeleteFilesRequest } from '../../contract/files/deleteFiles.js';
import { endedAs } from '../../contract/runs/ledger.js';
import { BEING_DELETED } from '../../contract/runs/reembed.js';
import { UNDER_WAY_STATUSES, WAITING_FILE_STATUSES } from '../../contract/files/statuses.js';
import type { Atomically, EventWriter } from '../events/events.js';
import type { LedgerWriter } from '../ledger/ledger.js';
import type { Tenant } from '../users/accept.js';
import type { UserDoc } from '../models/users.js';
import { fileQuery } from './filter.js';
import type { FileDoc } from '../models/files.js';
import type { FileQueries } from './queries.js';
import { TRANSITIONS, transition, transitionEvents } from './transitions.js';

/** How a file rests while its delete is under way, and how once its content is gone and its record kept. */
export const TAKEN_OVER = { syncStatus: TRANSITIONS.takeOverForDelete.to, syncErrorMessage: BEING_DELETED } as const;
const EMPTIED = TRANSITIONS.empty.to;
const OPEN = [...UNDER_WAY_STATUSES, ...WAITING_FILE_STATUSES];
export const DELETE_STOPPED =
  'The delete of this file was stopped, and parts of it may be gone. Delete it again, or resync it to have it back.';

const DELETED = endedAs('ok', 'delete', null);
/** A file that is gone, in the words of the ledger. */
const deletedItem = ({ _id: fileId, externalFileId: externalId, name }: FileDoc) => ({
  ...{ fileId, externalId, name, end: DELETED, message: null },
});

/** Deletion of files, in the order that leaves nothing behind. */
export interface FileDeletion {
  /**
   * The parents whose children a delete means: those that its filters name with all below them, and with deleteChildren
   * the matching files themselves. To be asked before anything is deleted.
   */
  parentsOfDelete(tenant: Tenant, request: DeleteFilesRequest): Promise<number[]>;
  /**
   * Files that a delete means and that were there when it was accepted, by id. What the run took over at a try that died
   * is among them, whatever its filters say of a file that is being deleted; what it has emptied is not.
   */
  deletable(
    tenant: Tenant,
    run: { readonly runId: number; readonly acceptedAt: Date },
    request: DeleteFilesRequest & DeleteFilesProgress,
    afterId: number,
    limit: number,
  ): Promise<number[]>;
  /** Of these, some that another run has not brought to rest: queued, held back or under way. */
  deletableOpen(
    tenant: Tenant,
    run: { readonly runId: number; readonly acceptedAt: Date },
    request: DeleteFilesRequest & DeleteFilesProgress,
    limit: number,
  ): Promise<number[]>;
  /** Makes the delete's run the owner, so that no other run can publish the files. */
  takeOver(tenant: Tenant, runId: number, workflowId: string, ids: readonly number[]): Promise<void>;
  /** The run ended before its files were deleted: says so on those it had taken over. */
  stopped(runId: number): Promise<void>;
  /** @param tell whether to write FILE_DELETED for each */
  remove(tenant: Tenant, runId: number, ids: readonly number[], tell: boolean): Promise<void>;
  /** The record stays, without content. @param tell whether to write FILE_DELETED for each */
  emptied(tenant: Tenant, runId: number, ids: readonly number[], tell: boolean): Promise<void>;
}

interface FileDeletionDeps {
  readonly files: Model<FileDoc>;
  readonly users: Model<UserDoc>;
  readonly queries: Pick<FileQueries, 'parentsBelow'>;
  readonly atomically: Atomically;
  readonly events: EventWriter;
  readonly ledger: Pick<LedgerWriter, 'handOver' | 'note'>;
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
  /** Ends files, and writes events for those that were not ended before, in one transaction. */
  const ended = (
    query: QueryFilter<FileDoc>,
    tell: boolean,
    end: (session: ClientSession, rows: readonly FileDoc[]) => Promise<unknown>,
  ): Promise<void> =>
    atomically(async (session) => {
      const rows = await files.find(query, null, { session }).sort({ _id: 1 }).lean();
      await end(session, rows);
      if (tell) await events.write(transitionEvents('empty', rows, {}), session);
    });
  /** What a delete names, one condition or more. */
  const meant = (
    tenant: Tenant,
    { filters, deleteChildren = false, parents = [] }: DeleteFilesRequest & DeleteFilesProgress,
    afterId?: number,
  ): QueryFilter<FileDoc>[] => {
    const { parentFileIds: _named, ...others } = filters;
    const below = { ...others, parentFileIds: parents };
    // As in a listing, includeAllChildren widens what parentFileIds names; deleteChildren adds to what is named.
    const named =
      filters.includeAllChildren === true && parents.length > 0
        ? [fileQuery(tenant, below, afterId)]
        : [fileQuery(tenant, filters, afterId)];
    if (deleteChildren && parents.length > 0) named.push(fileQuery(tenant, { parentFileIds: parents }, afterId));
    return named;
  };
  return {
    async parentsOfDelete(tenant, { filters, deleteChildren = false }) {
      const named = filters.includeAllChildren === true ? (filters.parentFileIds ?? []) : [];
      const matching = deleteChildren ? await files.find(fileQuery(tenant, filters), { _id: 1 }).lean() : [];
      return queries.parentsBelow(tenant, [...named, ...matching.map((row) => row._id)]);
    },
    async deletable(tenant, { runId, acceptedAt }, request, afterId, limit) {
      const { organizationId, userId } = tenant;
      const mine = { organizationId, userId, runId, _id: { $gt: afterId } };
      const isEmptied = { $nor: [{ runId, syncStatus: EMPTIED }] };
      const query = {
        $or: [
          { $and: [{ $or: meant(tenant, request, afterId) }, { createdAt: { $lte: acceptedAt } }, isEmptied] },
          { ...mine, ...TAKEN_OVER },
        ],
      };
      const rows = await files.find(query, { _id: 1 }).sort({ _id: 1 }).limit(limit).lean();
      return rows.map((row) => row._id);
    },
    async deletableOpen(tenant, { runId, acceptedAt }, request, limit) {
      const others = { createdAt: { $lte: acceptedAt }, runId: { $ne: runId }, syncStatus: { $in: OPEN } };
      const query = { $and: [{ $or: meant(tenant, request) }, others] };
      const rows = await files.find(query, { _id: 1 }).limit(limit).lean();
      return rows.map((row) => row._id);
    },
    async takeOver({ organizationId, userId }, runId, workflowId, ids) {
      const mine = { organizationId, userId, _id: { $in: [...ids] } };
      await ledger.handOver(await files.find(mine, { runId: 1 }).lean(), runId);
      // A move of its vectors can no longer complete.
      await files.updateMany({ ...mine, 'move.runId': { $gt: 0 } }, { $set: { 'move.token': null } });
      const { filter, update } = transition('takeOverForDelete', {
        owner: { organizationId, userId },
        where: { _id: { $in: [...ids] } },
        message: BEING_DELETED,
        // A part may be missing from now on: a later sync must not find the page unchanged.
        set: { runId, workflowId, ended: null, processedAs: null },
      });
      await files.updateMany(filter, update);
    },
    async stopped(runId) {
      await files.updateMany(
        { runId, ...TAKEN_OVER },
        { $set: { syncErrorMessage: DELETE_STOPPED, updatedAt: new Date() } },
      );
    },
    async remove(tenant, runId, ids, tell) {
      const query = owned(tenant, runId, ids);
      const { organizationId, userId: _id } = tenant;
      await ended(query, tell, async (session, rows) => {
        await ledger.note({ ...tenant, _id: runId }, rows.map(deletedItem), session);
        await files.deleteMany(query, { session });
        await users.updateOne({ _id, organizationId }, { $inc: { filesRemoved: 1 } }, { session });
      });
    },
    async emptied(tenant, runId, ids, tell) {
      const { filter, update } = transition('empty', {
        owner: tenant,
        // A repeated batch meets files that it has emptied and reported.
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
      await ended(filter, tell, (session) => files.updateMany(filter, update, { session }));
    },
  };
}
