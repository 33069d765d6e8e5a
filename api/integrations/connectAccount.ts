import { randomUUID } from 'node:crypto';

import type { ConnectionOptions } from '../../contract/oauth.js';
import type { TagValue } from '../../contract/records.js';
import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../contract/sources.js';
import type { Selection } from '../../store/connections/acceptRuns.js';
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
  /** How all of it is synced at once, where the source honours that; null: it is not. */
  readonly syncFiles: Omit<Selection, 'externalIds'> | null;
  readonly requestId?: string | undefined;
  /** Kept for later selections. */
  readonly options?: ConnectionOptions;
}

/**
 * Connects an account: asks its source who it is, then writes it down with the work that was asked for. A known account
 * keeps its record. @throws HttpError 400 where the source refuses the credentials, 503 where it can't be asked now
 */
export async function connectAccount(
  caller: UserCaller,
  { credentials, ...wanted }: NewAccount,
  { store, dispatcher, connectors }: ApiDeps,
): Promise<DataSourceDoc> {
  const sealedLater = JSON.stringify(credentials);
  // Of an account that nobody knows yet, each attempt is counted with its user.
  const asked = connectors.account(wanted.type, `user ${caller.userId}`, sealedLater);
  const identity = await callSource(CONNECTED_SOURCES[wanted.type].name, (signal) => asked.identify(signal));
  const requestId = wanted.requestId || randomUUID();
  const connection = { ...wanted, ...identity, credentials: sealedLater, requestId };
  const { dataSource, runIds } = await store.transaction((session) =>
    store.connections.accept(caller, connection, session),
  );
  // Not awaited: the rows are the promise. Temporal may be away; the sweeper starts what is left.
  for (const runId of runIds) void dispatcher.start(runId);
  return dataSource;
}
