import type { Model } from 'mongoose';

import { dataSourceEvent } from '../../contract/events.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { DataSourceSyncStatus } from '../../contract/files/statuses.js';
import type { Atomically, EventWriter } from '../events/events.js';
import type { Session } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';
import type { DataSourceDoc } from '../models/dataSources.js';

/** How a listing of items ended. */
export interface ListingEnd {
  readonly status: Extract<DataSourceSyncStatus, 'READY' | 'SYNC_ERROR'>;
  /** Whether every item there is was listed. */
  readonly whole: boolean;
  /** Cursor of the change feed for the next listing; unset: unchanged. */
  readonly changeToken?: string | null;
  /** Facts for the metadata; null takes one out. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The workflow that lists the items of a data source, or did last; null before anything did. */
export const listingWorkflow = ({
  _id,
  itemsRunId = null,
  sourceItemsSyncedAt,
}: Pick<DataSourceDoc, '_id' | 'itemsRunId' | 'sourceItemsSyncedAt'>): string | null =>
  itemsRunId === null && sourceItemsSyncedAt === null ? null : workflowIds.syncItems(_id);

/** Which run lists the items of a data source, and how that went. */
export interface DataSourceListings {
  /**
   * Gives a run the listing of the items, unless another one has it. Null when the user has no such data source.
   * @returns the record as it is then: its itemsRunId says which run has it
   */
  queueListing(tenant: Tenant, id: number, runId: number, session: Session): Promise<DataSourceDoc | null>;
  /** The run begins to list. False when the listing is no longer its own. */
  beginListing(tenant: Tenant, id: number, runId: number): Promise<boolean>;
  /** Ends the listing, once, and releases it from the run. A whole one is reported by an event. */
  endListing(tenant: Tenant, id: number, runId: number, end: ListingEnd): Promise<void>;
  /** For operators: the next whole listing may delete however much it misses. False when there is no such data source. */
  approveDeletions(id: number, session?: Session): Promise<boolean>;
  /** For operators: nothing of it is deleted now. The record as it is then. */
  refuseDeletions(id: number): Promise<DataSourceDoc | null>;
  /** Data sources of an organization whose deletions are held, by id, and how many there are. */
  held(
    organizationId: number,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly found: DataSourceDoc[]; readonly count: number }>;
  /** One of an organization, of any user. */
  inOrganization(organizationId: number, id: number): Promise<DataSourceDoc | null>;
  /** A pass has brought into the files what its listing found. @param listedAt when that ended, as the record had it then */
  passed(tenant: Tenant, id: number, listedAt: Date): Promise<void>;
  /** What is to be known of its last syncs, merged into its metadata; null takes a fact out. */
  note(tenant: Tenant, id: number, facts: Readonly<Record<string, unknown>>): Promise<void>;
}

/** A data source whose items the run is to list; without a run, unchanged. */
export const queuedBy = (runId: number | undefined) =>
  runId === undefined ? {} : ({ syncStatus: 'QUEUED_FOR_SYNCING', itemsRunId: runId } as const);

/** Facts as an update of the metadata. */
const metadataOf = (facts: Readonly<Record<string, unknown>>) => {
  const named = Object.entries(facts).map(([name, value]) => [`metadata.${name}`, value] as const);
  return {
    $set: Object.fromEntries(named.filter(([, value]) => value !== null)),
    $unset: Object.fromEntries(named.flatMap(([name, value]) => (value === null ? [[name, 1]] : []))),
  };
};

export function createDataSourceListings(
  dataSources: Model<DataSourceDoc>,
  events: EventWriter,
  atomically: Atomically,
): DataSourceListings {
  return {
    async queueListing({ organizationId, userId }, id, runId, session) {
      const mine = { _id: id, organizationId, userId };
      const given = await dataSources
        .findOneAndUpdate(
          { ...mine, itemsRunId: null },
          { $set: { ...queuedBy(runId), updatedAt: new Date() } },
          { returnDocument: 'after', session },
        )
        .lean();
      return given ?? dataSources.findOne(mine).session(session).lean();
    },
    async beginListing({ organizationId, userId }, id, runId) {
      const begun = await dataSources.updateOne(
        { _id: id, organizationId, userId, itemsRunId: runId },
        { $set: { syncStatus: 'SYNCING', updatedAt: new Date() } },
      );
      return begun.matchedCount === 1;
    },
    async endListing({ organizationId, userId }, id, runId, { status, whole, facts, changeToken }) {
      const now = new Date();
      const { $set, $unset } = metadataOf(facts);
      const ended = {
        syncStatus: status,
        itemsRunId: null,
        updatedAt: now,
        ...(changeToken === undefined ? {} : { changeToken }),
        ...(status === 'READY' && whole ? { sourceItemsSyncedAt: now, deletionsApproved: false } : {}),
      };
      await atomically(async (session) => {
        const source = await dataSources
          .findOneAndUpdate(
            { _id: id, organizationId, userId, itemsRunId: runId },
            { $set: { ...$set, ...ended }, $unset },
            { returnDocument: 'after', session },
          )
          .lean();
        if (source && whole && status === 'READY')
          await events.write(
            [dataSourceEvent('DATA_SOURCE_READY', source, workflowIds.syncItems(source._id))],
            session,
          );
      });
    },
    async approveDeletions(id, session = null) {
      const found = await dataSources.updateOne({ _id: id }, { $set: { deletionsApproved: true } }).session(session);
      return found.matchedCount === 1;
    },
    refuseDeletions: (id) =>
      dataSources
        .findOneAndUpdate(
          { _id: id },
          { $set: { deletionsApproved: false, updatedAt: new Date() }, $unset: { 'metadata.deletions_held': 1 } },
          { returnDocument: 'after' },
        )
        .lean()
        .exec(),
    async held(organizationId, { limit, offset }) {
      const query = { organizationId, 'metadata.deletions_held': { $gt: 0 } };
      const [found, count] = await Promise.all([
        dataSources.find(query).sort({ _id: 1 }).skip(offset).limit(limit).lean(),
        dataSources.countDocuments(query),
      ]);
      return { found, count };
    },
    inOrganization: (organizationId, id) => dataSources.findOne({ _id: id, organizationId }).lean().exec(),
    async passed({ organizationId, userId }, id, listedAt) {
      await dataSources.updateOne({ _id: id, organizationId, userId }, { $set: { passedListingAt: listedAt } });
    },
    async note({ organizationId, userId }, id, facts) {
      await dataSources.updateOne({ _id: id, organizationId, userId }, metadataOf(facts));
    },
  };
}
