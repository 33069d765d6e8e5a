import type { Model } from 'mongoose';

import { dataSourceEvent } from '../../contract/events.js';
import type { SourceType } from '../../contract/sources.js';
import { sameTags, type StoredTag, tagPairs, upsertTags } from '../../contract/tags.js';
import type { EventWriter } from '../events/events.js';
import type { Sequence, Session } from '../sequence.js';
import type { Tenant } from '../users/accept.js';
import type { DataSourceDoc } from './model.js';

/** An account that was just connected. */
export interface Connection {
  readonly type: SourceType;
  /** `TYPE|account`; null where a source has no name for it, and every connection is a new data source. */
  readonly externalId: string | null;
  /** Sealed by the caller. */
  readonly sealedCredentials: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Upserted into those that a known account has. */
  readonly tags: readonly StoredTag[];
  readonly enableAutoSync: boolean | null;
}

/** A data source after a call about its tags. */
export interface Tagged {
  readonly dataSource: DataSourceDoc;
  /** Its files and points have not these tags yet: accept a run of updateTags in the same transaction. */
  readonly behind: boolean;
}

export interface DataSourceCommands {
  /**
   * Takes a connected account in: a new record, or the known one of the same (organization, user, type, external id),
   * whose access is given again. Either way the last action is ADD, and that is told.
   */
  connect(owner: Tenant & { customerId: string }, connection: Connection, session: Session): Promise<Tagged>;
  /** Replaces the tags by what `change` makes of them; null when the user has no such data source. */
  changeTags(
    tenant: Tenant,
    id: number,
    change: (tags: readonly StoredTag[]) => StoredTag[],
    session: Session,
  ): Promise<Tagged | null>;
  /** A tag workflow brought this version everywhere. False when the tags have changed since. */
  tagsCopied(tenant: Tenant, id: number, version: number): Promise<boolean>;
  /** A batch of its files came to its end. */
  filesSynced(tenant: Tenant, id: number): Promise<void>;
  /** A tag workflow was stopped before it had brought the tags everywhere: the record says so until one has. */
  tagsStopped(tenant: Tenant, id: number): Promise<void>;
  /** Forgets the credentials and tells so, once: safe to repeat. Null when the user has no such data source. */
  revoke(tenant: Tenant, id: number, session: Session): Promise<DataSourceDoc | null>;
  /** Takes all of a user away, credentials included. */
  removeAll(tenant: Tenant): Promise<void>;
}

export function createDataSourceCommands(
  dataSources: Model<DataSourceDoc>,
  sequence: Sequence,
  events: EventWriter,
): DataSourceCommands {
  /** Applies a change of the tags together with other fields. Both writers of one record meet in MongoDB: one is run again. */
  const update = async (
    known: DataSourceDoc,
    tags: StoredTag[],
    fields: Partial<DataSourceDoc>,
    session: Session,
  ): Promise<Tagged> => {
    const changed = !sameTags(known.tags, tags);
    const set = { ...fields, ...(changed ? { tags, tagPairs: tagPairs(tags) } : {}) };
    if (!changed && Object.keys(fields).length === 0)
      return { dataSource: known, behind: known.tagsCopied < known.tagsVersion };
    const dataSource = await dataSources
      .findOneAndUpdate(
        { _id: known._id, organizationId: known.organizationId },
        { $set: { ...set, updatedAt: new Date() }, $inc: { tagsVersion: changed ? 1 : 0 } },
        { returnDocument: 'after', session },
      )
      .orFail()
      .lean<DataSourceDoc>();
    return { dataSource, behind: dataSource.tagsCopied < dataSource.tagsVersion };
  };

  const insert = async (
    { organizationId, userId, customerId }: Tenant & { customerId: string },
    { tags, metadata, ...connection }: Connection,
    session: Session,
  ): Promise<Tagged> => {
    const now = new Date();
    const [row] = await dataSources.create(
      [
        {
          _id: await sequence.take('dataSource'),
          ...{ organizationId, userId, customerId, ...connection },
          metadata: { ...metadata },
          tags: [...tags],
          tagPairs: tagPairs(tags),
          syncStatus: 'READY',
          lastSyncedAt: now,
          lastSyncAction: 'ADD',
          createdAt: now,
          updatedAt: now,
        },
      ],
      { session },
    );
    if (!row) throw new Error('MongoDB answered no data source');
    // Without a file yet, nothing lacks the tags it begins with.
    return { dataSource: row.toObject(), behind: false };
  };

  return {
    async connect(owner, connection, session) {
      const { organizationId, userId } = owner;
      const { type, externalId, sealedCredentials, metadata, tags, enableAutoSync } = connection;
      const known =
        externalId === null
          ? null
          : await dataSources
              .findOne({ organizationId, userId, type, externalId })
              .session(session)
              .lean<DataSourceDoc | null>();
      const given = {
        sealedCredentials,
        metadata: { ...known?.metadata, ...metadata },
        enableAutoSync: enableAutoSync ?? known?.enableAutoSync ?? null,
        revokedAccess: false,
        lastSyncAction: 'ADD' as const,
        lastSyncedAt: new Date(),
      };
      const connected = known
        ? await update(known, upsertTags(known.tags, tags), given, session)
        : await insert(owner, connection, session);
      await events.write([dataSourceEvent('ADD', connected.dataSource)], session);
      return connected;
    },
    async changeTags({ organizationId, userId }, id, change, session) {
      const known = await dataSources
        .findOne({ _id: id, organizationId, userId })
        .session(session)
        .lean<DataSourceDoc | null>();
      return known && update(known, change(known.tags), {}, session);
    },
    async tagsCopied({ organizationId, userId }, id, version) {
      const result = await dataSources.updateOne(
        { _id: id, organizationId, userId, tagsVersion: version },
        { $max: { tagsCopied: version }, $set: { tagsStopped: false } },
      );
      return result.matchedCount === 1;
    },
    async filesSynced({ organizationId, userId }, id) {
      const now = new Date();
      await dataSources.updateOne(
        { _id: id, organizationId, userId },
        { $set: { filesSyncedAt: now, updatedAt: now } },
      );
    },
    async tagsStopped({ organizationId, userId }, id) {
      const behind = { $expr: { $lt: ['$tagsCopied', '$tagsVersion'] } };
      await dataSources.updateOne(
        { _id: id, organizationId, userId, ...behind },
        { $set: { tagsStopped: true, updatedAt: new Date() } },
      );
    },
    async revoke({ organizationId, userId }, id, session) {
      const now = new Date();
      const revoked = await dataSources
        .updateOne(
          { _id: id, organizationId, userId, revokedAccess: false },
          {
            $set: {
              sealedCredentials: null,
              revokedAccess: true,
              lastSyncAction: 'REVOKE',
              lastSyncedAt: now,
              updatedAt: now,
            },
          },
        )
        .session(session);
      const source = await dataSources
        .findOne({ _id: id, organizationId, userId })
        .session(session)
        .lean<DataSourceDoc | null>();
      if (source && revoked.modifiedCount > 0) await events.write([dataSourceEvent('REVOKE', source)], session);
      return source;
    },
    async removeAll({ organizationId, userId }) {
      await dataSources.deleteMany({ organizationId, userId });
    },
  };
}
