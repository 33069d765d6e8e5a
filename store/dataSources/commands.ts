import type { Model } from 'mongoose';

import { dataSourceEvent } from '../../contract/events.js';
import type { ConnectionOptions } from '../../contract/accounts/oauth.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { SourceType } from '../../contract/sources/sources.js';
import { sameTags, type StoredTag, tagPairs, upsertTags } from '../../contract/files/tags.js';
import type { EventWriter } from '../events/events.js';
import type { DirtySchedules } from '../schedules/dirtySchedules.js';
import type { Secrets } from '../secrets/secrets.js';
import type { Sequence, Session } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';
import { sealCredentials } from './credentials.js';
import { queuedBy } from './listings.js';
import type { DataSourceDoc } from '../models/dataSources.js';

/** An account that the user has just connected. */
export interface Connection {
  readonly type: SourceType;
  /** `TYPE|account`; null if the source has no account name. Then every connection creates a new data source. */
  readonly externalId: string | null;
  /** External id that an older version stored for this account. A record with this id is renewed and keeps the id. */
  readonly formerExternalId?: string;
  /** Plain text, encrypted for this record on write. Null if the source needs no credentials. */
  readonly credentials: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Merged into the tags of an account that is already connected. */
  readonly tags: readonly StoredTag[];
  readonly enableAutoSync: boolean | null;
  /** Id of the run that lists the items, accepted in the same transaction; absent if nothing is to be listed. */
  readonly itemsRunId?: number;
  /** Options of the connection, stored for later selections; absent if none were given. */
  readonly options?: ConnectionOptions;
  /** Id of the workflow that connects the account, or that the request starts. Default: the workflow of the listing. */
  readonly workflowId?: string;
}

/** A data source after a change of its tags. */
export interface TaggedDataSource {
  readonly dataSource: DataSourceDoc;
  /** Whether its files and points lack these tags. If so, accept a run of updateTags in the same transaction. */
  readonly needsCopy: boolean;
}

export interface DataSourceCommands {
  /**
   * Stores a connected account. Renews the access of the user's record with the same type and the former external id,
   * or else the external id. If there is no such record, creates one. In both cases, sets the last action to ADD and
   * writes an event.
   */
  connect(owner: Tenant & { customerId: string }, connection: Connection, session: Session): Promise<TaggedDataSource>;
  /** Replaces the tags with the result of `change`; null if the user has no such data source. */
  changeTags(
    tenant: Tenant,
    id: number,
    change: (tags: readonly StoredTag[]) => StoredTag[],
    session: Session,
  ): Promise<TaggedDataSource | null>;
  /** Records that a tag workflow has copied this version to all files. False if the tags have changed since. */
  markTagsCopied(tenant: Tenant, id: number, version: number): Promise<boolean>;
  /** Records that a batch of files of the data source was synced. */
  recordFilesSynced(tenant: Tenant, id: number): Promise<void>;
  /** Records that a tag workflow was stopped early. tagsStopped stays true until another tag workflow completes. */
  markTagsStopped(tenant: Tenant, id: number): Promise<void>;
  /**
   * Deletes the credentials and writes an event, once: safe to repeat. Null if the user has no such data source.
   * @param refusal absent if a user requests it. Set if the source refused the credentials: `refused` are these
   * credentials, encrypted. Nothing is revoked if the record has other credentials, because the account was connected
   * again
   */
  revoke(
    tenant: Tenant,
    id: number,
    session: Session,
    refusal?: { readonly refused: string; readonly workflowId: string | null },
  ): Promise<DataSourceDoc | null>;
  /**
   * Records that a user confirmed a selection: sets the last action to UPDATE and writes an event. Null if the user has
   * no such data source.
   * @param workflowId id of the workflow that syncs the selection
   */
  recordSelection(tenant: Tenant, id: number, workflowId: string, session: Session): Promise<DataSourceDoc | null>;
  /**
   * Records that the user cancelled the connection or the selection: sets the last action to CANCEL and writes an
   * event. Null if the user has no such data source.
   * @param workflowId id of the connection workflow that waited for the user; null if none waited
   */
  recordCancellation(
    tenant: Tenant,
    id: number,
    workflowId: string | null,
    session: Session,
  ): Promise<DataSourceDoc | null>;
  /** Stores the options that a call after the connection requested for the files of the data source. */
  storeOptions(tenant: Tenant, id: number, options: ConnectionOptions, session: Session): Promise<void>;
  /** Deletes all data sources of a user, including their credentials. */
  removeAll(tenant: Tenant): Promise<void>;
}

export function createDataSourceCommands(
  dataSources: Model<DataSourceDoc>,
  sequence: Sequence,
  events: EventWriter,
  secrets: Secrets,
  schedules: Pick<DirtySchedules, 'markSource'>,
): DataSourceCommands {
  const sealed = (id: number, organizationId: number, credentials: string | null): string | null =>
    credentials === null ? null : sealCredentials(secrets, { _id: id, organizationId }, credentials);
  /**
   * Updates the tags together with other fields. If two transactions update one record at the same time, the later one
   * fails and is repeated, so it reads the tags that the earlier one wrote.
   */
  const update = async (
    existing: DataSourceDoc,
    tags: StoredTag[],
    fields: Partial<DataSourceDoc>,
    session: Session,
  ): Promise<TaggedDataSource> => {
    const changed = !sameTags(existing.tags, tags);
    const set = { ...fields, ...(changed ? { tags, tagPairs: tagPairs(tags) } : {}) };
    if (!changed && Object.keys(fields).length === 0)
      return { dataSource: existing, needsCopy: existing.tagsCopied < existing.tagsVersion };
    const dataSource = await dataSources
      .findOneAndUpdate(
        { _id: existing._id, organizationId: existing.organizationId },
        { $set: { ...set, updatedAt: new Date() }, $inc: { tagsVersion: changed ? 1 : 0 } },
        { returnDocument: 'after', session },
      )
      .orFail()
      .lean();
    return { dataSource, needsCopy: dataSource.tagsCopied < dataSource.tagsVersion };
  };

  const insert = async (
    { organizationId, userId, customerId }: Tenant & { customerId: string },
    {
      tags,
      metadata,
      credentials,
      itemsRunId,
      workflowId: _workflowId,
      formerExternalId: _former,
      ...connection
    }: Connection,
    session: Session,
  ): Promise<TaggedDataSource> => {
    const now = new Date();
    const _id = await sequence.next('dataSource');
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
    if (!row) throw new Error('MongoDB returned no data source');
    // A new data source has no files, so no file lacks its tags.
    return { dataSource: row.toObject(), needsCopy: false };
  };

  /** Records an action of the user and writes its event. */
  const recordAction = async (
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
      const storedAs = (id: string | null | undefined): Promise<DataSourceDoc | null> | null =>
        id === null || id === undefined
          ? null
          : dataSources.findOne({ organizationId, userId, type, externalId: id }).session(session).lean().exec();
      const existing = (await storedAs(connection.formerExternalId)) ?? (await storedAs(externalId));
      const fields = {
        sealedCredentials: existing && sealed(existing._id, organizationId, credentials),
        refreshClaim: null,
        ...(options === undefined ? {} : { options }),
        ...queuedBy(itemsRunId),
        metadata: { ...existing?.metadata, ...metadata },
        enableAutoSync: enableAutoSync ?? existing?.enableAutoSync ?? null,
        revokedAccess: false,
        // The renewed access may cover other items.
        changeToken: null,
        lastSyncAction: 'ADD' as const,
        lastSyncedAt: new Date(),
      };
      const connected = existing
        ? await update(existing, upsertTags(existing.tags, tags), fields, session)
        : await insert(owner, connection, session);
      const listing = itemsRunId === undefined ? null : workflowIds.syncItems(connected.dataSource._id);
      const event = dataSourceEvent('ADD', connected.dataSource, connection.workflowId ?? listing);
      await events.write([event], session);
      await schedules.markSource(owner, connected.dataSource._id, session);
      return connected;
    },
    async changeTags({ organizationId, userId }, id, change, session) {
      const existing = await dataSources.findOne({ _id: id, organizationId, userId }).session(session).lean();
      return existing && update(existing, change(existing.tags), {}, session);
    },
    async markTagsCopied({ organizationId, userId }, id, version) {
      const result = await dataSources.updateOne(
        { _id: id, organizationId, userId, tagsVersion: version },
        { $max: { tagsCopied: version }, $set: { tagsStopped: false } },
      );
      return result.matchedCount === 1;
    },
    async recordFilesSynced({ organizationId, userId }, id) {
      const now = new Date();
      await dataSources.updateOne(
        { _id: id, organizationId, userId },
        { $set: { filesSyncedAt: now, updatedAt: now } },
      );
    },
    async markTagsStopped({ organizationId, userId }, id) {
      const lacksTags = { $expr: { $lt: ['$tagsCopied', '$tagsVersion'] } };
      await dataSources.updateOne(
        { _id: id, organizationId, userId, ...lacksTags },
        { $set: { tagsStopped: true, updatedAt: new Date() } },
      );
    },
    async revoke({ organizationId, userId }, id, session, refusal) {
      const now = new Date();
      const sameCredentials = refusal === undefined ? {} : { sealedCredentials: refusal.refused };
      const revoked = await dataSources
        .updateOne(
          { _id: id, organizationId, userId, revokedAccess: false, ...sameCredentials },
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
        await events.write([dataSourceEvent('REVOKE', source, refusal?.workflowId ?? null)], session);
        await schedules.markSource(source, id, session);
      }
      return source;
    },
    recordSelection: (tenant, id, workflowId, session) => recordAction(tenant, id, 'UPDATE', workflowId, session),
    recordCancellation: (tenant, id, workflowId, session) => recordAction(tenant, id, 'CANCEL', workflowId, session),
    async storeOptions({ organizationId, userId }, id, options, session) {
      await dataSources.updateOne({ _id: id, organizationId, userId }, { $set: { options } }).session(session);
    },
    async removeAll({ organizationId, userId }) {
      await dataSources.deleteMany({ organizationId, userId });
    },
  };
}
