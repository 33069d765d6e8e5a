import type { Model } from 'mongoose';

import { dataSourceEvent } from '../../contract/events.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { DataSourceSyncStatus } from '../../contract/files/statuses.js';
import type { Atomically, EventWriter } from '../events/events.js';
import type { Session } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';
import type { DataSourceDoc } from '../models/dataSources.js';

/** Result of a listing of items. */
export interface ListingEnd {
  readonly status: Extract<DataSourceSyncStatus, 'READY' | 'SYNC_ERROR'>;
  /** Whether the listing is complete. */
  readonly whole: boolean;
  /** Cursor of the change feed for the next listing; null: the next listing is a full one; unset: unchanged. */
  readonly changeToken?: string | null;
  /** Metadata to merge into that of the data source; null removes a field. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Returns the id of the workflow that lists the items of a data source; null before the first listing. */
export const listingWorkflow = ({
  _id,
  itemsRunId = null,
  sourceItemsSyncedAt,
}: Pick<DataSourceDoc, '_id' | 'itemsRunId' | 'sourceItemsSyncedAt'>): string | null =>
  itemsRunId === null && sourceItemsSyncedAt === null ? null : workflowIds.syncItems(_id);

/** Assigns the listing of a data source to a run, and records its result. */
export interface DataSourceListings {
  /**
   * Assigns the listing of the items to a run, unless it is assigned to another run.
   * @returns the record after the call: its itemsRunId is the run that lists; null if the user has no such data source
   */
  queueListing(tenant: Tenant, id: number, runId: number, session: Session): Promise<DataSourceDoc | null>;
  /** Records that the run begins to list. False if the listing no longer belongs to it. */
  beginListing(tenant: Tenant, id: number, runId: number): Promise<boolean>;
  /** Ends the listing of the run; a second call does nothing. Writes an event if the listing is complete. */
  endListing(tenant: Tenant, id: number, runId: number, end: ListingEnd): Promise<void>;
  /**
   * Allows the next complete listing to delete any number of missing items. For operators. False if there is no such
   * data source, or it holds no deletions: an approval in advance would disable the guard against a faulty source.
   */
  approveDeletions(id: number, session?: Session): Promise<boolean>;
  /** Withdraws the approval. Call it after a complete listing has deleted the missing items. */
  withdrawApproval(tenant: Tenant, id: number): Promise<void>;
  /**
   * Discards the held deletions and returns the updated record. Null while a listing is in progress, because it may
   * find further missing items. For operators.
   */
  refuseDeletions(id: number): Promise<DataSourceDoc | null>;
  /** Returns data sources of an organization whose deletions are held, ordered by id, and their total number. */
  listHeld(
    organizationId: number,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly found: DataSourceDoc[]; readonly count: number }>;
  /** Finds a data source of any user of an organization. */
  findInOrganization(organizationId: number, id: number): Promise<DataSourceDoc | null>;
  /**
   * Records that a scheduled sync has applied a listing to the files.
   * @param listedAt end of that listing: `sourceItemsSyncedAt` of the data source after it
   */
  markListingApplied(tenant: Tenant, id: number, listedAt: Date): Promise<void>;
  /** Merges fields into the metadata of the data source; null removes a field. */
  mergeMetadata(tenant: Tenant, id: number, metadata: Readonly<Record<string, unknown>>): Promise<void>;
}

/** Returns the fields that queue a data source for a listing by the run; none without a run. */
export const queuedBy = (runId: number | undefined) =>
  runId === undefined ? {} : ({ syncStatus: 'QUEUED_FOR_SYNCING', itemsRunId: runId } as const);

/** Returns the update that merges fields into the metadata of a data source; null removes a field. */
const metadataOf = (metadata: Readonly<Record<string, unknown>>) => {
  const fields = Object.entries(metadata).map(([name, value]) => [`metadata.${name}`, value] as const);
  return {
    $set: Object.fromEntries(fields.filter(([, value]) => value !== null)),
    $unset: Object.fromEntries(fields.flatMap(([name, value]) => (value === null ? [[name, 1]] : []))),
  };
};

export function createDataSourceListings(
  dataSources: Model<DataSourceDoc>,
  events: EventWriter,
  atomically: Atomically,
): DataSourceListings {
  return {
    async queueListing({ organizationId, userId }, id, runId, session) {
      const query = { _id: id, organizationId, userId };
      const assigned = await dataSources
        .findOneAndUpdate(
          { ...query, itemsRunId: null },
          { $set: { ...queuedBy(runId), updatedAt: new Date() } },
          { returnDocument: 'after', session },
        )
        .lean();
      return assigned ?? dataSources.findOne(query).session(session).lean();
    },
    async beginListing({ organizationId, userId }, id, runId) {
      const begun = await dataSources.updateOne(
        { _id: id, organizationId, userId, itemsRunId: runId },
        { $set: { syncStatus: 'SYNCING', updatedAt: new Date() } },
      );
      return begun.matchedCount === 1;
    },
    async endListing({ organizationId, userId }, id, runId, { status, whole, metadata, changeToken }) {
      const now = new Date();
      const { $set, $unset } = metadataOf(metadata);
      const isComplete = status === 'READY' && whole;
      const ended = {
        syncStatus: status,
        itemsRunId: null,
        updatedAt: now,
        ...(changeToken === undefined ? {} : { changeToken }),
        ...(isComplete ? { sourceItemsSyncedAt: now } : {}),
      };
      // An incomplete listing may have stored changes that the next one does not report again, so unset
      // `appliedListingAt`: the next sync must compare all files with the items.
      const unset = { ...$unset, ...(isComplete ? {} : { appliedListingAt: 1 }) };
      await atomically(async (session) => {
        const source = await dataSources
          .findOneAndUpdate(
            { _id: id, organizationId, userId, itemsRunId: runId },
            { $set: { ...$set, ...ended }, $unset: unset },
            { returnDocument: 'after', session },
          )
          .lean();
        if (source && isComplete)
          await events.write(
            [dataSourceEvent('DATA_SOURCE_READY', source, workflowIds.syncItems(source._id))],
            session,
          );
      });
    },
    async approveDeletions(id, session = null) {
      const found = await dataSources
        .updateOne({ _id: id, 'metadata.deletions_held': { $gt: 0 } }, { $set: { deletionsApproved: true } })
        .session(session);
      return found.matchedCount === 1;
    },
    async withdrawApproval({ organizationId, userId }, id) {
      await dataSources.updateOne({ _id: id, organizationId, userId }, { $set: { deletionsApproved: false } });
    },
    refuseDeletions: (id) =>
      dataSources
        .findOneAndUpdate(
          { _id: id, itemsRunId: null },
          { $set: { deletionsApproved: false, updatedAt: new Date() }, $unset: { 'metadata.deletions_held': 1 } },
          { returnDocument: 'after' },
        )
        .lean()
        .exec(),
    async listHeld(organizationId, { limit, offset }) {
      const query = { organizationId, 'metadata.deletions_held': { $gt: 0 } };
      const [found, count] = await Promise.all([
        dataSources.find(query).sort({ _id: 1 }).skip(offset).limit(limit).lean(),
        dataSources.countDocuments(query),
      ]);
      return { found, count };
    },
    findInOrganization: (organizationId, id) => dataSources.findOne({ _id: id, organizationId }).lean().exec(),
    async markListingApplied({ organizationId, userId }, id, listedAt) {
      await dataSources.updateOne({ _id: id, organizationId, userId }, { $set: { appliedListingAt: listedAt } });
    },
    async mergeMetadata({ organizationId, userId }, id, metadata) {
      await dataSources.updateOne({ _id: id, organizationId, userId }, metadataOf(metadata));
    },
  };
}
