import { randomUUID } from 'node:crypto';

import { workflowIds } from '../../contract/orchestration.js';
import type { TagValue } from '../../contract/records.js';
import { CONNECTED_SOURCES, type ConnectedSourceType, honours } from '../../contract/sources.js';
import { storedTags } from '../../contract/tags.js';
import type { DataSourceDoc } from '../../store/dataSources/model.js';
import type { ApiDeps } from '../deps.js';
import type { UserCaller } from '../http/operation.js';
import { acceptListing, acceptSelection, type Selection } from './acceptRuns.js';
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
}

/**
 * Connects an account: asks its source who it is, then writes it down with the work that was asked for. A known account
 * keeps its record. @throws HttpError 400 where the source refuses the credentials, 503 where it can't be asked now
 */
export async function connectAccount(
  caller: UserCaller,
  { type, credentials, dataSourceTags, listItems, syncFiles, ...request }: NewAccount,
  { store, dispatcher, connectors }: ApiDeps,
): Promise<DataSourceDoc> {
  const sealedLater = JSON.stringify(credentials);
  // Of an account that nobody knows yet, each attempt is counted with its user.
  const account = connectors.account(type, `user ${caller.userId}`, sealedLater);
  const identity = await callSource(CONNECTED_SOURCES[type].name, (signal) => account.identify(signal));
  const requestId = request.requestId || randomUUID();
  const first = await store.runs.nextId(3);
  const [itemsRunId, filesRunId, tagsRunId] = [first, first + 1, first + 2];
  const { dataSource, started } = await store.transaction(async (session) => {
    const accepted: number[] = [];
    const connected = await store.dataSources.connect(
      caller,
      {
        type,
        externalId: `${type}|${identity.account}`,
        credentials: sealedLater,
        metadata: identity.metadata,
        tags: storedTags(dataSourceTags),
        enableAutoSync: null,
        ...(listItems ? { itemsRunId } : {}),
      },
      session,
    );
    const dataSourceId = connected.dataSource._id;
    if (connected.behind) {
      const workflowId = workflowIds.updateTags(dataSourceId);
      const run = { kind: 'updateTags', workflowId, owner: caller, fileId: null, dataSourceId } as const;
      await store.runs.accept(tagsRunId, { ...run, requestId, options: {} }, session);
      accepted.push(tagsRunId);
    }
    if (listItems) {
      await acceptListing(caller, { runId: itemsRunId, requestId, dataSourceId }, store, session);
      accepted.push(itemsRunId);
    }
    if (syncFiles !== null && honours(type, 'sync_files_on_connection')) {
      const all = { ...syncFiles, externalIds: null };
      await acceptSelection(caller, { runId: filesRunId, requestId, dataSourceId }, all, store, session);
      accepted.push(filesRunId);
    }
    return { dataSource: connected.dataSource, started: accepted };
  });
  // Not awaited: the rows are the promise. Temporal may be away; the sweeper starts what is left.
  for (const runId of started) void dispatcher.start(runId);
  return dataSource;
}
