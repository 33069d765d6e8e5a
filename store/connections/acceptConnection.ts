import type { ConnectionOptions } from '../../contract/accounts/oauth.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { TagValue } from '../../contract/files/records.js';
import { supportsOption } from '../../contract/sources/sources.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { storedTags } from '../../contract/files/tags.js';
import type { DataSourceCommands } from '../dataSources/commands.js';
import type { DataSourceDoc } from '../models/dataSources.js';
import type { Runs } from '../runs/outbox.js';
import type { Selections } from '../selections/selections.js';
import type { Session } from '../database/sequence.js';
import { acceptListing, acceptSelection, type NewConnectedRun, type Owner, type Selection } from './acceptRuns.js';

/** An account that its source has identified. */
export interface NewConnection {
  readonly type: ConnectedSourceType;
  /** Id of the account at the source. */
  readonly account: string;
  /** Id that an older version gave the account, if it differs. */
  readonly formerAccount?: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Plain text; encrypted when the record is stored. */
  readonly credentials: string;
  readonly dataSourceTags: Readonly<Record<string, TagValue>>;
  /** Whether to list the items of the account immediately. */
  readonly listItems: boolean;
  /** Whether to sync the whole account immediately, with `options`. Ignored if the source does not support it. */
  readonly syncFiles: boolean;
  readonly requestId: string;
  /** Options for the files of the account, stored for later selections. If absent, `syncFiles` has no effect. */
  readonly options?: ConnectionOptions;
  /** Id of the workflow that connects the account; absent if a request connects it. */
  readonly workflowId?: string;
}

/** Stores connected accounts and accepts their runs. */
export interface Connections {
  /**
   * Stores a connected account and accepts the requested runs, in the caller's transaction. An account that is already
   * connected keeps its record. @returns the record, and the accepted runs
   */
  accept(
    owner: Owner,
    connection: NewConnection,
    session: Session,
  ): Promise<{ readonly dataSource: DataSourceDoc; readonly runIds: number[] }>;
  /** Accepts a listing of all items. The record of the data source already contains the run id. */
  list(owner: Owner, run: NewConnectedRun, session: Session): Promise<void>;
  /** Accepts a sync of the selection. */
  select(owner: Owner, run: NewConnectedRun, selection: Selection, session: Session): Promise<void>;
}

/** Maximum number of runs that one connection accepts. */
const MAX_RUNS = 3;

export function createConnections(
  dataSources: DataSourceCommands,
  runs: Runs,
  selections: Pick<Selections, 'save'>,
): Connections {
  return {
    list: (owner, run, session) => acceptListing(owner, run, { runs }, session),
    select: (owner, run, selection, session) => acceptSelection(owner, run, selection, { runs, selections }, session),
    async accept(owner, { account, formerAccount, credentials, listItems, ...connection }, session) {
      const { type, metadata, dataSourceTags, requestId, options } = connection;
      const syncFiles = connection.syncFiles && options && supportsOption(type, 'sync_files_on_connection');
      const firstRunId = await runs.nextId(MAX_RUNS);
      const [itemsRunId, filesRunId, tagsRunId] = [firstRunId, firstRunId + 1, firstRunId + 2];
      const runIds: number[] = [];
      const syncWorkflow = syncFiles && !listItems ? workflowIds.syncSource(filesRunId) : undefined;
      const connectingWorkflow = connection.workflowId ?? syncWorkflow;
      const { dataSource, needsCopy } = await dataSources.connect(
        owner,
        {
          type,
          externalId: `${type}|${account}`,
          ...(formerAccount === undefined ? {} : { formerExternalId: `${type}|${formerAccount}` }),
          credentials,
          metadata,
          tags: storedTags(dataSourceTags),
          enableAutoSync: null,
          ...(listItems ? { itemsRunId } : {}),
          ...(options === undefined ? {} : { options }),
          ...(connectingWorkflow === undefined ? {} : { workflowId: connectingWorkflow }),
        },
        session,
      );
      const dataSourceId = dataSource._id;
      if (needsCopy) {
        const workflowId = workflowIds.updateTags(dataSourceId);
        const run = { kind: 'updateTags', workflowId, owner, fileId: null, dataSourceId } as const;
        await runs.accept(tagsRunId, { ...run, requestId }, session);
        runIds.push(tagsRunId);
      }
      if (listItems) {
        await acceptListing(owner, { runId: itemsRunId, requestId, dataSourceId }, { runs }, session);
        runIds.push(itemsRunId);
      }
      if (syncFiles) {
        const { ingest, tags, incrementalSync: incremental } = options;
        const wholeAccount = { externalIds: null, ingest, tags, incremental };
        const run = { runId: filesRunId, requestId, dataSourceId };
        await acceptSelection(owner, run, wholeAccount, { runs, selections }, session);
        runIds.push(filesRunId);
      }
      return { dataSource, runIds };
    },
  };
}
