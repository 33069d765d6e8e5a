import { CONNECTED_SOURCES, type ConnectedSourceType, isConnectedSource } from '../../contract/sources.js';
import type { Store } from '../../store/connect.js';
import type { DataSourceDoc } from '../../store/dataSources/model.js';
import { HttpError, notBuilt, notFound } from '../http/errors.js';
import type { UserCaller } from '../http/operation.js';

/** A data source of the caller whose account can be called. */
export type ConnectedDataSource = DataSourceDoc & { readonly type: ConnectedSourceType };

/** @throws HttpError 404 where the caller has no such data source, of that type where one is wanted */
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

/** The same of one that can be called. @throws HttpError 404, 409 once its access is revoked, 501 for a source that is not built yet */
export async function connectedSourceOf(
  caller: UserCaller,
  id: number,
  store: Pick<Store, 'dataSources'>,
  type?: ConnectedSourceType,
): Promise<ConnectedDataSource> {
  const source = await dataSourceOf(caller, id, store, type);
  if (!isConnectedSource(source.type)) throw notBuilt('Syncing this kind of data source');
  if (source.revokedAccess || source.sealedCredentials === null)
    throw new HttpError(
      409,
      `Access to this account of ${CONNECTED_SOURCES[source.type].name} was revoked. Connect it again first.`,
    );
  return { ...source, type: source.type };
}
