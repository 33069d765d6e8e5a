import type { Model } from 'mongoose';

import { dataSourceEvent } from '../../contract/events.js';
import type { ConnectionOptions } from '../../contract/accounts/oauth.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { SourceType } from '../../contract/sources/sources.js';
import { sameTags, type StoredTag, tagPairs, upsertTags } from '../../contract/files/tags.js';
import type { EventWriter } from '../events/events.js';
import type { ScheduleMarks } from '../schedules/marks.js';
import type { Secrets } from '../secrets/secrets.js';
import type { Sequence, Session } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';
import { sealCredentials } from './credentials.js';
import { queuedBy } from './listings.js';
import type { DataSourceDoc } from '../models/dataSources.js';

/** An account that was just connected. */
export interface Connection {
  readonly type: SourceType;
  /** `TYPE|account`; null where a source has no name for it, and every connection is a new data source. */
  readonly externalId: string | null;
  /** In clear: they are sealed here, bound to the record. Null where the source needs none. */
  readonly credentials: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Upserted into those that a known account has. */
  readonly tags: readonly StoredTag[];
  readonly enableAutoSync: boolean | null;
  /** The run that will list its items, accepted in the same transaction; absent where nothing is to be listed. */
  readonly itemsRunId?: number;
  /** Options of the connection, stored for later selections; absent if none were given. */
  readonly options?: ConnectionOptions;
  /** The workflow that connects it, or that its request begins; absent: the one that lists its items, if one does. */
  readonly workflowId?: string;
}

/** A data source after a call about its tags. */
export interface Tagged {
  readonly dataSource: DataSourceDoc;
  /** Its files and points have not these tags yet: accept a run of updateTags in the same transaction. */
  readonly behind: boolean;
}

export interface DataSourceCommands {
  /**
   * Stores a connected account: a new record, or the known one of the same (organization, user, type, external id),
   * with its access renewed. Both set the last action to ADD and write an event.
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
  /** A batch of its files was synced. */
  filesSynced(tenant: Tenant, id: number): Promise<void>;
  /** A tag workflow was stopped early: the record shows it until another one completes. */
  tagsStopped(tenant: Tenant, id: number): Promise<void>;
  /**
   * Deletes the credentials and writes an event, once: safe to repeat. Null when the user has no such data source.
   * @param met set by a workflow: its id, if it has one; revokes only if `refused` (sealed) are still
   *   the credentials, since the account may have been connected again. Absent: a request
   */
  revoke(
    tenant: Tenant,
    id: number,
    session: Session,
    met?: { readonly refused: string; readonly workflowId: string | null },
  ): Promise<DataSourceDoc | null>;
  /**
   * A user confirmed a selection: sets the last action to UPDATE and writes an event. Null when the user has no such data source.
   * @param workflowId of the sync of the selection
   */
  selected(tenant: Tenant, id: number, workflowId: string, session: Session): Promise<DataSourceDoc | null>;
  /**
   * The user cancelled the connection, or the selection: sets the last action to CANCEL and writes an event. Null when the user has no such data source.
   * @param workflowId of the connection that waited for it; null: none did
   */
  cancelled(tenant: Tenant, id: number, workflowId: string | null, session: Session): Promise<DataSourceDoc | null>;
  /** Keeps what a later call asked to be done with its files. */
  keepOptions(tenant: Tenant, id: number, options: ConnectionOptions, session: Session): Promise<void>;
  /** Takes all of a user away, credentials included. */
  removeAll(tenant: Tenant): Promise<void>;
}

export function createDataSourceCommands(
  dataSources: Model<DataSourceDoc>,
  sequence: Sequence,
  events: EventWriter,
  secrets: Secrets,
  schedules: Pick<ScheduleMarks, 'lookAtSource'>,
): DataSourceCommands {
  const sealed = (id: number, organizationId: number, credentials: string | null): string | null =>
    credentials === null ? null : sealCredentials(secrets, { _id: id, organizationId }, credentials);
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
      .lean();
    return { dataSource, behind: dataSource.tagsCopied < dataSource.tagsVersion };
  };

  const insert = async (
    { organizationId, userId, customerId }: Tenant & { customerId: string },
    { tags, metadata, credentials, itemsRunId, workflowId: _told, ...connection }: Connection,
    session: Session,
  ): Promise<Tagged> => {
    const now = new Date();
    const _id = await sequence.take('dataSource');
    const [row] = await dataSources.create(
      [
        {
          _id,
          ...{ organizationId, userId, customerId, ...connection },
          sealedCredentials: sealed(_id, organizationId, credentials),
          metadata: { ...metadata },
          tags: [...tags],
          tagPairs: tagPairs(tags),
          syncStatus: 'READY',
          ...queuedBy(itemsRunId),
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

  /** What a person did with a data source, told. */
  const acted = async (
    { organizationId, userId }: Tenant,
    id: number,
    action: 'UPDATE' | 'CANCEL',
    workflowId: string | null,
    session: Session,
  ): Promise<DataSourceDoc | null> => {
    const now = new Date();
    const source = await dataSources
      .findOneAndUpdate(
        { _id: id, organizationId, userId },
        { $set: { lastSyncAction: action, lastSyncedAt: now, updatedAt: now } },
        { returnDocument: 'after', session },
      )
      .lean();
    if (source) await events.write([dataSourceEvent(action, source, workflowId)], session);
    return source;
  };

  return {
    async connect(owner, connection, session) {
      const { organizationId, userId } = owner;
      const { type, externalId, credentials, metadata, tags, enableAutoSync, itemsRunId, options } = connection;
      const known =
        externalId === null
          ? null
          : await dataSources.findOne({ organizationId, userId, type, externalId }).session(session).lean();
      const given = {
        sealedCredentials: known && sealed(known._id, organizationId, credentials),
        refreshClaim: null,
        ...(options === undefined ? {} : { options }),
        ...queuedBy(itemsRunId),
        metadata: { ...known?.metadata, ...metadata },
        enableAutoSync: enableAutoSync ?? known?.enableAutoSync ?? null,
        revokedAccess: false,
        // It may see other things by now.
        changeToken: null,
        lastSyncAction: 'ADD' as const,
        lastSyncedAt: new Date(),
      };
      const connected = known
        ? await update(known, upsertTags(known.tags, tags), given, session)
        : await insert(owner, connection, session);
      const listing = itemsRunId === undefined ? null : workflowIds.syncItems(connected.dataSource._id);
      const told = dataSourceEvent('ADD', connected.dataSource, connection.workflowId ?? listing);
      await events.write([told], session);
      await schedules.lookAtSource(owner, connected.dataSource._id, session);
      return connected;
    },
    async changeTags({ organizationId, userId }, id, change, session) {
      const known = await dataSources.findOne({ _id: id, organizationId, userId }).session(session).lean();
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
    async revoke({ organizationId, userId }, id, session, met) {
      const now = new Date();
      const still = met === undefined ? {} : { sealedCredentials: met.refused };
      const revoked = await dataSources
        .updateOne(
          { _id: id, organizationId, userId, revokedAccess: false, ...still },
          {
            $set: {
              sealedCredentials: null,
              refreshClaim: null,
              revokedAccess: true,
              lastSyncAction: 'REVOKE',
              lastSyncedAt: now,
              updatedAt: now,
            },
          },
        )
        .session(session);
      const source = await dataSources.findOne({ _id: id, organizationId, userId }).session(session).lean();
      if (source && revoked.modifiedCount > 0) {
        await events.write([dataSourceEvent('REVOKE', source, met?.workflowId ?? null)], session);
        await schedules.lookAtSource(source, id, session);
      }
      return source;
    },
    selected: (tenant, id, workflowId, session) => acted(tenant, id, 'UPDATE', workflowId, session),
    cancelled: (tenant, id, workflowId, session) => acted(tenant, id, 'CANCEL', workflowId, session),
    async keepOptions({ organizationId, userId }, id, options, session) {
      await dataSources.updateOne({ _id: id, organizationId, userId }, { $set: { options } }).session(session);
    },
    async removeAll({ organizationId, userId }) {
      await dataSources.deleteMany({ organizationId, userId });
    },
  };
}
