import { WALK_ALL, walkOf } from '../../contract/accounts/connections.js';
import type { IngestOptions } from '../../contract/files/ingestOptions.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { TagValue } from '../../contract/files/records.js';
import type { NewRun, Runs } from '../runs/outbox.js';
import type { Selections } from '../selections/selections.js';
import type { Session } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';

/** The end user that owns the account. */
export type Owner = Tenant & { readonly customerId: string };
interface Stores {
  readonly runs: Runs;
}
interface SelectionStores extends Stores {
  readonly selections: Pick<Selections, 'save'>;
}

export interface NewConnectedRun extends Pick<NewRun, 'begun'> {
  readonly runId: number;
  readonly requestId: string;
  readonly dataSourceId: number;
  /** Maximum number of tokens that the run embeds; absent: no limit. */
  readonly maxTokens?: number | undefined;
}

/**
 * Accepts the run that lists the items of an account, in the caller's transaction.
 * @param externalIds the items to list, with their descendants; absent: all items
 */
export async function acceptListing(
  owner: Owner,
  { runId, requestId, dataSourceId, begun }: NewConnectedRun,
  { runs }: Stores,
  session: Session,
  externalIds?: readonly string[],
): Promise<void> {
  const work = {
    kind: 'syncItems',
    request: externalIds === undefined ? {} : { isPartial: true },
    progress: { walk: externalIds === undefined ? WALK_ALL : walkOf(externalIds), listed: 0 },
  } as const;
  const workflowId = workflowIds.syncItems(dataSourceId);
  const run = { ...work, workflowId, owner, fileId: null, dataSourceId, requestId };
  await runs.accept(runId, { ...run, ...(begun && { begun }) }, session);
}

/** The selected items, and the options of their files. */
export interface Selection {
  /** Null: all items of the account. */
  readonly externalIds: readonly string[] | null;
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly ingest: IngestOptions;
  /** The requested incremental_sync: whether the source supports it is checked later. */
  readonly incremental?: boolean;
}

/**
 * Accepts the run that syncs a selection of an account, in the caller's transaction. Stores the selection, so that
 * scheduled syncs repeat it, unless a scheduled sync accepts the run (`begun`).
 */
export async function acceptSelection(
  owner: Owner,
  { runId, requestId, dataSourceId, begun, maxTokens }: NewConnectedRun,
  { externalIds, tags, ingest, incremental = false }: Selection,
  { runs, selections }: SelectionStores,
  session: Session,
): Promise<void> {
  const work = {
    kind: 'syncSource',
    request: { tags, ingest, ...(incremental && { incremental }), ...(externalIds === null && { isWhole: true }) },
    progress: { walk: externalIds === null ? WALK_ALL : walkOf(externalIds), queued: 0 },
  } as const;
  const workflowId = workflowIds.syncSource(runId);
  const run = { ...work, workflowId, owner, fileId: null, dataSourceId, requestId };
  await runs.accept(runId, { ...run, ...(maxTokens !== undefined && { maxTokens }), ...(begun && { begun }) }, session);
  if (!begun) await selections.save(owner, dataSourceId, { externalIds, tags, ingest }, session);
}
