import { randomUUID } from 'node:crypto';

import type { ConnectionOptions } from '../../contract/oauth.js';
import type { TagValue } from '../../contract/records.js';
import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../contract/sources.js';
import type { DataSourceDoc } from '../../store/dataSources/model.js';
import type { ApiDeps } from '../deps.js';
import type { UserCaller } from '../http/operation.js';
import { callSource } from './callSource.js';

/** An account that a caller connects with credentials of its own. */
export interface NewAccount {
  readonly type: ConnectedSourceType;
  /** As the source's connector takes them. */
  readonly credentials: object;
  readonly dataSourceTags: Readonly<Record<string, TagValue>>;
  /** Whether what the account holds is listed at once. */
  readonly listItems: boolean;
  /** Whether all of it is synced at once, as the options say; only where the source honours that. */
  readonly syncFiles: boolean;
  /** How its files are to be made, now and by later selections; absent where its operation asks for nothing of the kind. */
  readonly options?: ConnectionOptions;
}

/**
 * Connects an account: asks its source who it is, then writes it down with the work that was asked for. A known account
 * keeps its record. @throws HttpError 400 where the source refuses the credentials, 503 where it can't be asked now
 */
export async function connectAccount(
  caller: UserCaller,
  { credentials, ...wanted }: NewAccount,
  { store, unit, connectors }: ApiDeps,
): Promise<DataSourceDoc> {
  const sealedLater = JSON.stringify(credentials);
  // Of an account that nobody knows yet, each attempt is counted with its user.
  const asked = connectors.account(wanted.type, `user ${caller.userId}`, sealedLater);
  const identity = await callSource(CONNECTED_SOURCES[wanted.type].name, (signal) => asked.identify(signal));
  const requestId = wanted.options?.requestId ?? randomUUID();
  const connection = { ...wanted, ...identity, credentials: sealedLater, requestId };
  const { dataSource, runIds } = await unit.transaction((session) =>
    store.connections.accept(caller, connection, session),
  );
  for (const runId of runIds) unit.start(runId);
  return dataSource;
}
