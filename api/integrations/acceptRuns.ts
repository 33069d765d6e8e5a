import { type SyncItemsRequest, type SyncSourceRequest, WALK_ALL, walkOf } from '../../contract/connections.js';
import type { IngestOptions } from '../../contract/ingestOptions.js';
import { workflowIds } from '../../contract/orchestration.js';
import type { TagValue } from '../../contract/records.js';
import type { Store } from '../../store/connect.js';
import type { Session } from '../../store/sequence.js';
import type { UserCaller } from '../http/operation.js';

interface NewRun {
  readonly runId: number;
  readonly requestId: string;
  readonly dataSourceId: number;
}

/**
 * Accepts the run that lists what an account holds, in the caller's transaction.
 * @param externalIds of what alone is to be listed; without, all there is
 */
export async function acceptListing(
  owner: UserCaller,
  { runId, requestId, dataSourceId }: NewRun,
  { runs }: Pick<Store, 'runs'>,
  session: Session,
  externalIds?: readonly string[],
): Promise<void> {
  const options: SyncItemsRequest =
    externalIds === undefined
      ? { walk: WALK_ALL, listed: 0 }
      : { walk: walkOf(externalIds), listed: 0, isPartial: true };
  const workflowId = workflowIds.syncItems(dataSourceId);
  const run = { kind: 'syncItems', workflowId, owner, fileId: null, dataSourceId, requestId, options } as const;
  await runs.accept(runId, run, session);
}

/** How the files of a selection are to be made. */
export interface Selection {
  /** Null: all there is. */
  readonly externalIds: readonly string[] | null;
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly ingest: IngestOptions;
}

/** Accepts the run that makes files of what was selected of an account, in the caller's transaction. */
export async function acceptSelection(
  owner: UserCaller,
  { runId, requestId, dataSourceId }: NewRun,
  { externalIds, tags, ingest }: Selection,
  { runs }: Pick<Store, 'runs'>,
  session: Session,
): Promise<void> {
  const walk = externalIds === null ? WALK_ALL : walkOf(externalIds);
  const options: SyncSourceRequest = { walk, queued: 0, tags, ingest };
  const workflowId = workflowIds.syncSource(runId);
  const run = { kind: 'syncSource', workflowId, owner, fileId: null, dataSourceId, requestId, options } as const;
  await runs.accept(runId, run, session);
}
