import type { ClientSession, Model, QueryFilter } from 'mongoose';

import type { QuarantineFilters } from '../../contract/files/quarantine.js';
import type { RunDoc } from '../models/runs.js';
import type { Tenant } from '../users/accept.js';
import type { QuarantinedDoc } from '../models/quarantine.js';

/** Claims of quarantined files by runs, and lists of quarantined files for operators. */
export interface QuarantineClaims {
  /** Returns users with files whose retention has ended, or that an ended run left unfinished. */
  listOwnersOfDue(now: Date, limit: number): Promise<(Tenant & { readonly customerId: string })[]>;
  /** Assigns to the run the files that ended runs left unfinished. */
  adopt(tenant: Tenant, runId: number): Promise<void>;
  /** Claims files whose retention has ended. */
  claimDue(tenant: Tenant, runId: number, now: Date, limit: number): Promise<void>;
  hasFiles(tenant: Tenant): Promise<boolean>;
  /** Claims all files of a user for deletion, in any state. */
  claimAll(tenant: Tenant, runId: number): Promise<void>;
  /**
   * Ends the retention of files at once: of the files of a data source, or of the files below the given parent files.
   * They can no longer be restored, and are due for deletion.
   */
  expire(
    tenant: Tenant,
    of: { readonly dataSourceId: number } | { readonly parentIds: readonly number[] },
    session?: ClientSession,
  ): Promise<void>;
  /** Returns a page of files in retention that are not restored yet, ordered by id, and their total number. */
  list(
    organizationId: number,
    filters: QuarantineFilters,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly found: QuarantinedDoc[]; readonly count: number }>;
  /** Returns the users whose files would be restored. */
  listOwnersToRestore(
    organizationId: number,
    filters: QuarantineFilters,
  ): Promise<(Tenant & { readonly customerId: string; readonly files: number })[]>;
  /** Assigns the restorable files of a user to a run; returns their number. */
  claimForRestore(tenant: Tenant, filters: QuarantineFilters, runId: number, session: ClientSession): Promise<number>;
}

const UNFINISHED = { state: { $ne: 'kept' as const } };

/** Returns the query for an organization's files whose retention has not ended and that are not restored yet. */
function inRetention(organizationId: number, filters: QuarantineFilters): QueryFilter<QuarantinedDoc> {
  const { fileIds, dataSourceId, parentId, customerId, runId } = filters;
  return {
    organizationId,
    state: { $in: ['leaving', 'kept', 'returning'] },
    keptUntil: { $gt: new Date() },
    ...(fileIds && { _id: { $in: [...fileIds] } }),
    ...(dataSourceId !== undefined && { dataSourceId }),
    ...(parentId !== undefined && { parentId }),
    ...(customerId !== undefined && { customerId }),
    ...(runId !== undefined && { missedBy: runId }),
  };
}
const restorable = (organizationId: number, filters: QuarantineFilters): QueryFilter<QuarantinedDoc> => ({
  ...inRetention(organizationId, filters),
  state: 'kept',
});

export function createQuarantineClaims(quarantined: Model<QuarantinedDoc>, runs: Model<RunDoc>): QuarantineClaims {
  /** Returns the runs that have ended. */
  const filterEnded = async (runIds: readonly number[]): Promise<number[]> => {
    if (runIds.length === 0) return [];
    const open = await runs.distinct('_id', { _id: { $in: [...runIds] }, finishedAt: null });
    return runIds.filter((id) => !open.includes(id));
  };
  const tenantQuery = ({ organizationId, userId }: Tenant) => ({ organizationId, userId });
  return {
    async listOwnersOfDue(now, limit) {
      const endedRuns = await filterEnded(await quarantined.distinct('runId', UNFINISHED));
      const due = { state: 'kept' as const, keptUntil: { $lte: now } };
      return quarantined.aggregate<Tenant & { customerId: string }>([
        { $match: { $or: [due, { ...UNFINISHED, runId: { $in: endedRuns } }] } },
        { $group: { _id: { organizationId: '$organizationId', userId: '$userId', customerId: '$customerId' } } },
        { $limit: limit },
        { $replaceRoot: { newRoot: '$_id' } },
      ]);
    },
    async adopt(tenant, runId) {
      const runIds = await quarantined.distinct('runId', { ...tenantQuery(tenant), ...UNFINISHED });
      const endedRuns = await filterEnded(runIds.filter((id) => id !== runId));
      if (endedRuns.length > 0)
        await quarantined.updateMany(
          { ...tenantQuery(tenant), ...UNFINISHED, runId: { $in: endedRuns } },
          { $set: { runId } },
        );
    },
    async claimDue(tenant, runId, now, limit) {
      const due = { ...tenantQuery(tenant), state: 'kept' as const, keptUntil: { $lte: now } };
      const rows = await quarantined.find(due, { _id: 1 }).sort({ _id: 1 }).limit(limit).lean();
      const _id = { $in: rows.map((row) => row._id) };
      // Another run may have claimed some of these files since the query, so the update repeats the condition.
      await quarantined.updateMany({ ...due, _id }, { $set: { state: 'erasing', runId } });
    },
    async hasFiles(tenant) {
      return (await quarantined.exists(tenantQuery(tenant))) !== null;
    },
    async claimAll(tenant, runId) {
      await quarantined.updateMany(tenantQuery(tenant), { $set: { state: 'erasing', runId } });
    },
    async expire(tenant, of, session) {
      const scope = 'dataSourceId' in of ? of : { parentId: { $in: [...of.parentIds] } };
      const change = { $set: { keptUntil: new Date() } };
      await quarantined.updateMany({ ...tenantQuery(tenant), ...scope }, change, session ? { session } : {});
    },
    async list(organizationId, filters, { limit, offset }) {
      const restorableQuery = inRetention(organizationId, filters);
      const [found, count] = await Promise.all([
        quarantined.find(restorableQuery).sort({ _id: 1 }).skip(offset).limit(limit).lean(),
        quarantined.countDocuments(restorableQuery),
      ]);
      return { found, count };
    },
    listOwnersToRestore: (organizationId, filters) =>
      quarantined.aggregate([
        { $match: restorable(organizationId, filters) },
        {
          $group: {
            _id: { organizationId: '$organizationId', userId: '$userId', customerId: '$customerId' },
            files: { $sum: 1 },
          },
        },
        { $replaceRoot: { newRoot: { $mergeObjects: ['$_id', { files: '$files' }] } } },
      ]),
    async claimForRestore({ organizationId, userId }, filters, runId, session) {
      const restorableQuery = { ...restorable(organizationId, filters), userId };
      const change = { $set: { state: 'returning' as const, runId } };
      return (await quarantined.updateMany(restorableQuery, change, { session })).modifiedCount;
    },
  };
}
