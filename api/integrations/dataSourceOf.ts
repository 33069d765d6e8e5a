import type { Account } from '../../connectors/account.js';
import {
  CONNECTED_SOURCES,
  type ConnectedSourceType,
  isConnectedSource,
} from '../../contract/sources/connectedSources.js';
import type { Store } from '../../store/connect.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { ApiDeps } from '../http/deps.js';
import { HttpError, notFound } from '../http/errors.js';
import type { UserCaller } from '../http/operation.js';

/** A data source with an account at a connected source. */
export type ConnectedDataSource = DataSourceDoc & { readonly type: ConnectedSourceType };

/** Returns a data source of the caller. @throws HttpError 404 if there is none with this id, or of this type */
export async function dataSourceOf(
  caller: UserCaller,
  id: number,
  store: Pick<Store, 'dataSources'>,
  type?: ConnectedSourceType,
): Promise<DataSourceDoc> {
  const source = await store.dataSources.find(caller, id);
  if (!source || (type !== undefined && source.type !== type)) throw notFound('data source');
  return source;
}

/**
 * Returns a data source whose account can be called.
 * @throws HttpError 404 if it does not exist, 409 if its access is revoked, 400 for a feed or a site, which has no
 * account
 */
export async function connectedSourceOf(
  caller: UserCaller,
  id: number,
  store: Pick<Store, 'dataSources'>,
  type?: ConnectedSourceType,
): Promise<ConnectedDataSource> {
  const source = await dataSourceOf(caller, id, store, type);
  if (!isConnectedSource(source.type))
    throw new HttpError(400, 'A feed or a site has no account to list. Resync its file by POST /resync_file instead.');
  if (source.revokedAccess || source.sealedCredentials === null)
    throw new HttpError(
      409,
      `Access to this account of ${CONNECTED_SOURCES[source.type].name} was revoked. Connect it again first.`,
    );
  return { ...source, type: source.type };
}

/**
 * Returns the data source with an id, or without an id the caller's only one of a type.
 * @throws HttpError as connectedSourceOf does; 400 if several match
 */
export async function onlySourceOf(
  caller: UserCaller,
  id: number | undefined,
  store: Pick<Store, 'dataSources'>,
  type: ConnectedSourceType,
): Promise<ConnectedDataSource> {
  if (id !== undefined) return connectedSourceOf(caller, id, store, type);
  const match = await store.dataSources.findSingle(caller, type);
  if ('several' in match)
    throw new HttpError(
      400,
      `Several ${CONNECTED_SOURCES[type].name} accounts are connected. Name one in data_source_id.`,
    );
  if (!match.source) throw notFound('data source');
  return connectedSourceOf(caller, match.source._id, store, type);
}

/** Opens the account of a data source for calls during a request. */
export const accountOf = (
  source: ConnectedDataSource,
  { store, connectors }: Pick<ApiDeps, 'store' | 'connectors'>,
): Account => connectors.account(source.type, String(source._id), store.accountCredentials(source) ?? 'null');
