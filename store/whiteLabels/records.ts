import type { Model, QueryFilter } from 'mongoose';

import type { OrderDirection, Page } from '../../contract/files/fileFilters.js';
import {
  type OAuthCredentials,
  type OAuthSource,
  PLAIN_CREDENTIALS,
  SECRET_CREDENTIALS,
  type WhiteLabelInput,
} from '../../contract/accounts/whiteLabel.js';
import type { OAuthClient } from '../../contract/accounts/oauth.js';
import type { SealedSecret, SecretContext, Secrets } from '../secrets/secrets.js';
import type { Sequence, Session } from '../database/sequence.js';
import type { WhiteLabelDoc } from '../models/whiteLabels.js';

export interface WhiteLabelListing {
  /** Empty: all. */
  readonly ids: readonly number[];
  /** Empty: all. */
  readonly types: readonly OAuthSource[];
  readonly orderBy: 'createdAt' | 'dataSourceType';
  readonly orderDir: OrderDirection;
  readonly page: Page;
}

/** Organizations' own OAuth clients. Their secrets are encrypted; only `credentials` and `client` decrypt them. */
export interface WhiteLabels {
  /**
   * Stores the clients, one per source: a new client replaces the earlier one of its source. Returns them in the given
   * order.
   */
  put(organizationId: number, inputs: readonly WhiteLabelInput[], session: Session): Promise<WhiteLabelDoc[]>;
  /** Changes the given fields of a source's client and keeps the others; null if there is no client. */
  change(organizationId: number, input: WhiteLabelInput, session: Session): Promise<WhiteLabelDoc | null>;
  list(organizationId: number, listing: WhiteLabelListing): Promise<WhiteLabelDoc[]>;
  count(organizationId: number, listing: WhiteLabelListing): Promise<number>;
  /** Returns the sources for which the organization has its own client. */
  types(organizationId: number): Promise<OAuthSource[]>;
  remove(organizationId: number, ids: readonly number[]): Promise<void>;
  /** Returns the client's credentials with decrypted secrets, never to be stored; null if there is no client. */
  credentials(organizationId: number, type: OAuthSource): Promise<OAuthCredentials | null>;
  /** Returns the client in the form that OAuth requests need; null if there is no client. */
  client(organizationId: number, type: OAuthSource): Promise<OAuthClient | null>;
}

const secretContext = (organizationId: number, id: number, field: string): SecretContext => ({
  organizationId,
  record: `white_label:${id}`,
  field,
});

/** Decrypts one secret of a client. @throws if no key of SECRET_KEY decrypts it */
export const openClientSecret = (
  secrets: Secrets,
  { organizationId, _id }: Pick<WhiteLabelDoc, 'organizationId' | '_id'>,
  field: string,
  sealed: SealedSecret,
): string => secrets.open(secretContext(organizationId, _id, field), sealed);

function query(organizationId: number, { ids, types, page }: WhiteLabelListing): QueryFilter<WhiteLabelDoc> {
  return {
    organizationId,
    ...(types.length > 0 ? { dataSourceType: { $in: [...types] } } : {}),
    ...(ids.length > 0 || page.startingId > 0
      ? { _id: { ...(ids.length > 0 ? { $in: [...ids] } : {}), $gt: page.startingId } }
      : {}),
  };
}

export function createWhiteLabels(rows: Model<WhiteLabelDoc>, sequence: Sequence, secrets: Secrets): WhiteLabels {
  /** Returns the credentials, with secrets encrypted. */
  const stored = (organizationId: number, id: number, credentials: OAuthCredentials) => ({
    plain: Object.fromEntries(
      PLAIN_CREDENTIALS.flatMap((name) => (credentials[name] ? [[name, credentials[name]]] : [])),
    ),
    secrets: Object.fromEntries(
      SECRET_CREDENTIALS.flatMap((name) =>
        credentials[name] ? [[name, secrets.seal(secretContext(organizationId, id, name), credentials[name])]] : [],
      ),
    ),
  });
  const byType = (organizationId: number, dataSourceType: OAuthSource, session: Session) =>
    rows.findOne({ organizationId, dataSourceType }).session(session).lean();
  const write = (row: Omit<WhiteLabelDoc, 'createdAt'>, session: Session): Promise<WhiteLabelDoc> =>
    rows
      .findOneAndUpdate(
        { organizationId: row.organizationId, dataSourceType: row.dataSourceType },
        {
          $set: { plain: row.plain, secrets: row.secrets, updatedAt: row.updatedAt },
          $setOnInsert: { _id: row._id, createdAt: row.updatedAt },
        },
        { upsert: true, returnDocument: 'after', session },
      )
      .lean()
      .exec();

  const findCredentials = async (organizationId: number, type: OAuthSource): Promise<OAuthCredentials | null> => {
    const row = await byType(organizationId, type, null);
    if (!row) return null;
    const decrypted = Object.entries(row.secrets).map(([field, sealed]) => [
      field,
      openClientSecret(secrets, row, field, sealed),
    ]);
    return { ...row.plain, ...Object.fromEntries(decrypted) } as OAuthCredentials;
  };

  return {
    credentials: findCredentials,
    async client(organizationId, type) {
      const found = await findCredentials(organizationId, type);
      return found && { id: found.client_id, secret: found.client_secret ?? null };
    },
    async put(organizationId, inputs, session) {
      const written = new Map<OAuthSource, WhiteLabelDoc>();
      // Sequential, because operations of one transaction cannot run in parallel. There is at most one client per
      // source.
      const clientsBySource = new Map(inputs.map((input) => [input.data_source_type, input.credentials]));
      for (const [dataSourceType, credentials] of clientsBySource) {
        const existing = await byType(organizationId, dataSourceType, session);
        const _id = existing?._id ?? (await sequence.next('whiteLabel'));
        const encrypted = stored(organizationId, _id, credentials);
        const row = { _id, organizationId, dataSourceType, ...encrypted, updatedAt: new Date() };
        written.set(dataSourceType, await write(row, session));
      }
      return [...written.values()];
    },
    async change(organizationId, { data_source_type, credentials }, session) {
      const existing = await byType(organizationId, data_source_type, session);
      if (!existing) return null;
      const encrypted = stored(organizationId, existing._id, credentials);
      const plain = { ...existing.plain, ...encrypted.plain };
      return write(
        { ...existing, plain, secrets: { ...existing.secrets, ...encrypted.secrets }, updatedAt: new Date() },
        session,
      );
    },
    list: (organizationId, listing) =>
      rows
        .find(query(organizationId, listing))
        .sort({ [listing.orderBy]: listing.orderDir, _id: listing.orderDir })
        .skip(listing.page.offset)
        .limit(listing.page.limit)
        .lean()
        .exec(),
    count: (organizationId, listing) => rows.countDocuments(query(organizationId, listing)).exec(),
    async types(organizationId) {
      const found = await rows.find({ organizationId }, { dataSourceType: 1 }).lean();
      return found.map((row) => row.dataSourceType);
    },
    async remove(organizationId, ids) {
      await rows.deleteMany({ organizationId, _id: { $in: [...ids] } });
    },
  };
}
