import { randomUUID } from 'node:crypto';

import type { ConnectionOptions } from '../../contract/accounts/oauth.js';
import type { TagValue } from '../../contract/files/records.js';
import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { ApiDeps } from '../http/deps.js';
import type { UserCaller } from '../http/operation.js';
import { callSource } from './callSource.js';

/** An account that a request connects with supplied credentials. */
export interface NewAccount {
  readonly type: ConnectedSourceType;
  /** Credentials in the connector's format. */
  readonly credentials: object;
  readonly dataSourceTags: Readonly<Record<string, TagValue>>;
  /** Whether the items of the account are listed at once. */
  readonly listItems: boolean;
  /** Whether the whole account is synced at once, with the given options; only for sources that support it. */
  readonly syncFiles: boolean;
  /** Options for the files of the account, also for later selections; absent if the operation has none. */
  readonly options?: ConnectionOptions;
}

/** Text in the descriptions of operations that connect an account. */
export const AFTER_CONNECTING =
  'The source verifies the credentials before anything is stored: 400 if it rejects them, 503 if it does not answer. An account that is connected already keeps its id and gets the new credentials. The event `ADD` is sent for a new and for a known account.';

/**
 * Connects an account: requests its identity from the source, then stores the account and starts the requested runs. A
 * known account keeps its record. @throws HttpError 400 if the source rejects the credentials, 503 if it is unavailable
 */
export async function connectAccount(
  caller: UserCaller,
  { credentials, ...newAccount }: NewAccount,
  { store, unit, connectors }: ApiDeps,
): Promise<DataSourceDoc> {
  const sealedLater = JSON.stringify(credentials);
  // The account has no id yet, so the rate limit counts attempts per user.
  const account = connectors.account(newAccount.type, `user ${caller.userId}`, sealedLater);
  const identity = await callSource(CONNECTED_SOURCES[newAccount.type].name, (signal) => account.identify(signal));
  const requestId = newAccount.options?.requestId ?? randomUUID();
  const connection = { ...newAccount, ...identity, credentials: sealedLater, requestId };
  const { dataSource, runIds } = await unit.transaction((session) =>
    store.connections.accept(caller, connection, session),
  );
  for (const runId of runIds) unit.start(runId);
  return dataSource;
}
