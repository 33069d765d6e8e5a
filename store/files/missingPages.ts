import type { Model, QueryFilter } from 'mongoose';

import { BEING_DELETED } from '../../contract/runs/reembed.js';
import type { RunDoc } from '../models/runs.js';
import type { Tenant } from '../users/accept.js';
import { OPERATOR_INDEXES } from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';

/** Pages of a scraped site that no longer exist there. */
export interface MissingPages {
  /**
   * Returns the pages of a container that the site reported as gone to a scheduled run. With `missed`, also returns
   * pages that the run did not find, unless they changed after the run was accepted. Excludes pages that an operator
   * restored from quarantine, until a sync finds them at the site again: otherwise they would be deleted again at once.
   * `pages` is the number of all pages of the container.
   */
  findMissingPages(
    run: RunDoc,
    containerId: number,
    missed: boolean,
  ): Promise<{ readonly pages: number; readonly gone: number[] }>;
  /** Sets whether a scheduled sync may delete any number of missing pages of a container. */
  setDeletionsApproved(tenant: Tenant, containerId: number, approved: boolean): Promise<void>;
  /** Returns containers of an organization with too many missing pages: an operator must approve their deletion. */
  listHeldContainers(
    organizationId: number,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly found: FileDoc[]; readonly count: number }>;
  /** Finds a container of any user of an organization. */
  findContainerInOrganization(organizationId: number, id: number): Promise<FileDoc | null>;
  /** Records that an operator has approved or refused the held deletions of a container. */
  decideDeletions(container: FileDoc, approved: boolean): Promise<FileDoc | null>;
}

const HELD = 'fileMetadata.deletions_held';

export function createMissingPages(files: Model<FileDoc>): MissingPages {
  return {
    async findMissingPages({ _id: runId, organizationId, userId, acceptedAt }, parentId, missed) {
      const pagesQuery = { organizationId, userId, parentId, isContainer: false };
      const reportedGone: QueryFilter<FileDoc> = { runId, goneBy: runId, syncStatus: 'SYNC_ERROR' };
      const notFound: QueryFilter<FileDoc> = {
        runId: { $ne: runId },
        syncStatus: { $in: ['READY', 'SYNC_ERROR', 'SYNC_ABORTED'] },
        syncErrorMessage: { $ne: BEING_DELETED },
        updatedAt: { $lt: acceptedAt },
      };
      const rows = await files
        .find({ ...pagesQuery, restoredAt: null, $or: missed ? [reportedGone, notFound] : [reportedGone] }, { _id: 1 })
        .sort({ _id: 1 })
        .lean();
      return { pages: await files.countDocuments(pagesQuery), gone: rows.map(({ _id }) => _id) };
    },
    async setDeletionsApproved({ organizationId, userId }, _id, deletionsApproved) {
      await files.updateOne({ _id, organizationId, userId }, { $set: { deletionsApproved } });
    },
    async listHeldContainers(organizationId, { limit, offset }) {
      const query = { organizationId, isContainer: true, [HELD]: { $gt: 0 } };
      const hint = OPERATOR_INDEXES.held.keys;
      const [found, count] = await Promise.all([
        files.find(query).sort({ _id: 1 }).hint(hint).skip(offset).limit(limit).lean(),
        files.countDocuments(query, { hint }),
      ]);
      return { found, count };
    },
    findContainerInOrganization: (organizationId, _id) =>
      files.findOne({ _id, organizationId, isContainer: true }).lean().exec(),
    decideDeletions: ({ _id, organizationId }, approved) =>
      files
        .findOneAndUpdate(
          { _id, organizationId },
          {
            $set: { deletionsApproved: approved, updatedAt: new Date() },
            ...(approved ? {} : { $unset: { [HELD]: 1 } }),
          },
          { returnDocument: 'after' },
        )
        .lean()
        .exec(),
  };
}
