import type { Model, QueryFilter } from 'mongoose';

import type { FileFilters } from '../../contract/files/fileFilters.js';
import { TAKEN_OVER } from '../files/deletion.js';
import { fileQuery } from '../files/filter.js';
import { COLD_INDEXES, CAN_BECOME_COLD } from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';
import type { FileQueries } from '../files/queries.js';
import type { RunDoc } from '../models/runs.js';
import type { Tenant } from '../users/accept.js';
import { updateByPipeline } from '../database/driver.js';
import { asIfUsed } from '../files/dueTime.js';

/** The owner of files whose vectors are moved. */
export type MoveOwner = Tenant & { readonly customerId: string };

/** Claims of files by runs of moveStorage. A file belongs to one such run at a time. */
export interface MoveClaims {
  /**
   * Returns users with files that are due to leave Qdrant, or whose move was interrupted because its run ended. Users
   * whose files an active run moves may be missing.
   */
  listOwnersOfDue(now: Date, limit: number): Promise<MoveOwner[]>;
  /** Returns whether a run with that workflow id is active or queued. */
  isRunOpen(tenant: Tenant, workflowId: string): Promise<boolean>;
  /** Returns the files that the run has claimed and not moved yet. */
  listClaimed(tenant: Tenant, runId: number, limit: number): Promise<number[]>;
  /** Assigns to the run all files of the user whose move was interrupted because the previous run ended. */
  adopt(tenant: Tenant, runId: number): Promise<void>;
  /** Claims files whose time in hot storage has ended, the longest overdue first. Sets HOT_TO_COLD. */
  claimDue(tenant: Tenant, runId: number, now: Date, limit: number): Promise<number[]>;
  /** Claims matching files in cold storage, ordered by id. Sets COLD_TO_HOT. */
  claimCold(tenant: Tenant, runId: number, filters: FileFilters, afterId: number, limit: number): Promise<number[]>;
  /**
   * Prevents other runs from moving matching files to cold storage. Files that are not in cold storage yet stay in
   * Qdrant. Returns whether a run that moves files to cold storage still holds a matching file.
   */
  keepHot(tenant: Tenant, filters: FileFilters): Promise<boolean>;
}

/** Maximum index rows that a query for owners reads. Moved files leave the index, so later queries read other files. */
const MAX_ROWS_PER_QUERY = 1_000;

/** Matches files that are due. The date above the epoch excludes files without a due time. */
const dueBy = (now: Date) => ({ ...CAN_BECOME_COLD, coolsAt: { $gt: new Date(0), $lte: now } });

export function createMoveClaims(
  files: Model<FileDoc>,
  runs: Model<RunDoc>,
  { expand }: Pick<FileQueries, 'expand'>,
): MoveClaims {
  /** Excludes files that are being deleted. */
  const notTakenOver = { $nor: [TAKEN_OVER] };
  const ofTenant = ({ organizationId, userId }: Tenant) => ({ organizationId, userId });
  const findOpen = async (runIds: readonly number[]) =>
    runIds.length === 0 ? [] : runs.find({ _id: { $in: [...runIds] }, finishedAt: null }, { userId: 1 }).lean();
  /** Returns the runs that have ended. */
  const filterEnded = async (runIds: readonly number[]): Promise<number[]> => {
    const open = new Set((await findOpen(runIds)).map(({ _id }) => _id));
    return runIds.filter((id) => !open.has(id));
  };
  const moving = { 'move.runId': { $gt: 0 } };
  const claim = async (
    tenant: Tenant,
    query: QueryFilter<FileDoc>,
    candidates: readonly { _id: number }[],
    runId: number,
    embeddingStorageStatus: 'HOT_TO_COLD' | 'COLD_TO_HOT',
  ): Promise<number[]> => {
    if (candidates.length === 0) return [];
    const move = { runId, token: null };
    const _id = { $in: candidates.map((row) => row._id) };
    await files.updateMany(
      { ...query, _id, move: null },
      { $set: { embeddingStorageStatus, move, updatedAt: new Date() } },
    );
    // Another run may have claimed some of them first.
    const rows = await files.find({ ...ofTenant(tenant), _id, 'move.runId': runId }, { _id: 1 }).lean();
    return rows.map((row) => row._id);
  };
  const matchingQuery = async (tenant: Tenant, filters: FileFilters, afterId = 0): Promise<QueryFilter<FileDoc>> =>
    fileQuery(tenant, await expand(tenant, filters), afterId);
  return {
    async listOwnersOfDue(now, limit) {
      const movingRunIds = await files.distinct('move.runId', moving);
      const openRuns = await findOpen(movingRunIds);
      // Skip users whose files an active run already moves. These files remain due until they are moved: if the run is
      // slow or fails, the files of one user could fill every query and hide all other users.
      const isNotMoving = openRuns.length === 0 ? {} : { userId: { $nin: openRuns.map(({ userId }) => userId) } };
      const due = await files
        .find({ ...dueBy(now), ...isNotMoving }, { organizationId: 1, userId: 1, customerId: 1 })
        .sort({ coolsAt: 1 })
        .hint(COLD_INDEXES.due.keys)
        .limit(MAX_ROWS_PER_QUERY)
        .lean();
      const openRunIds = new Set(openRuns.map(({ _id }) => _id));
      const endedRunIds = movingRunIds.filter((id) => !openRunIds.has(id));
      const interrupted = await Promise.all(
        endedRunIds
          .slice(0, limit)
          .map((runId) =>
            files.findOne({ 'move.runId': runId }, { organizationId: 1, userId: 1, customerId: 1 }).lean(),
          ),
      );
      const owners = new Map(
        [...due, ...interrupted.flatMap((row) => row ?? [])].map(({ organizationId, userId, customerId }) => [
          userId,
          { organizationId, userId, customerId },
        ]),
      );
      return [...owners.values()].slice(0, limit);
    },
    async isRunOpen(tenant, workflowId) {
      return (await runs.exists({ ...ofTenant(tenant), workflowId, finishedAt: null })) !== null;
    },
    async listClaimed(tenant, runId, limit) {
      const rows = await files
        .find({ ...ofTenant(tenant), ...notTakenOver, 'move.runId': runId }, { _id: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .lean();
      return rows.map((row) => row._id);
    },
    async adopt(tenant, runId) {
      const runIds = await files.distinct('move.runId', { ...ofTenant(tenant), ...moving });
      const endedRunIds = await filterEnded(runIds.filter((id) => id !== runId));
      if (endedRunIds.length === 0) return;
      await files.updateMany(
        { ...ofTenant(tenant), 'move.runId': { $in: endedRunIds } },
        { $set: { move: { runId, token: null } } },
      );
    },
    async claimDue(tenant, runId, now, limit) {
      const query = { ...ofTenant(tenant), ...dueBy(now) };
      const candidates = await files
        .find({ ...query, move: null }, { _id: 1 })
        .sort({ coolsAt: 1 })
        .hint(COLD_INDEXES.dueOfUser.keys)
        .limit(limit)
        .lean();
      return claim(tenant, query, candidates, runId, 'HOT_TO_COLD');
    },
    async claimCold(tenant, runId, filters, afterId, limit) {
      const cold = { embeddingStorageStatus: 'COLD_STORAGE' as const, ...notTakenOver };
      const query = { $and: [await matchingQuery(tenant, filters, afterId), cold] };
      const candidates = await files.find(query, { _id: 1 }).sort({ _id: 1 }).limit(limit).lean();
      return claim(tenant, query, candidates, runId, 'COLD_TO_HOT');
    },
    async keepHot(tenant, filters) {
      const matching = await matchingQuery(tenant, filters);
      const movingToCold = {
        $and: [matching, { embeddingStorageStatus: 'HOT_TO_COLD' as const, 'move.runId': { $gt: 0 } }],
      };
      // A file moves only while it is due, so a later due time stops the move.
      await updateByPipeline(files, movingToCold, asIfUsed(new Date()));
      const alreadyCold = {
        $and: [matching, { embeddingStorageStatus: 'COLD_STORAGE' as const, 'move.runId': { $gt: 0 } }],
      };
      return (await files.exists({ $or: [movingToCold, alreadyCold], ...notTakenOver })) !== null;
    },
  };
}
