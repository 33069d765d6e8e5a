import type { ItemPage, SkippedItem, SourceItem } from '../../connectors/sourceItem.js';
import type { Account } from '../../connectors/account.js';
import type { Walk } from '../../contract/accounts/connections.js';
import { Fault, type FaultKind } from '../../contract/failures.js';
import type { TypeFilter } from '../../contract/sources/typesAtSource.js';

/** A page of a walk, and the position after it. */
export interface WalkStep {
  readonly items: readonly SourceItem[];
  /** Ids of items that do not exist or cannot be listed. */
  readonly missing: readonly string[];
  /** Ids from `missing` of items that exist, but cannot be listed. */
  readonly refused: readonly string[];
  /** Entries at the source that the connector does not return as items, with the reason of each. */
  readonly skipped: readonly SkippedItem[];
  readonly walk: Walk;
}

/**
 * Faults that concern one item only. A retry would fail again, and the run must still ingest the other items. In
 * https://github.com/elastic/connectors/issues/2306, one unreadable block ended every sync.
 */
const ITEM_FAULTS: ReadonlySet<FaultKind> = new Set(['access_denied', 'bad_response', 'too_large', 'unsupported_type']);

/** Maximum number of restarts of a walk, for sources that return only stale cursors. */
const MAX_RESTARTS = 3;

/**
 * Returns the walk with its current list at the first page; null if the error is not a stale cursor, or if the
 * walk was restarted too often.
 */
function restart(walk: Walk, error: unknown): Walk | null {
  const { open, at, roots, restarts = 0 } = walk;
  const cursor = open.length > 0 ? at : (roots?.next ?? null);
  const isStale = error instanceof Fault && error.kind === 'stale_cursor';
  if (!isStale || cursor === null || restarts >= MAX_RESTARTS) return null;
  const restarted = { ...walk, restarts: restarts + 1 };
  return open.length > 0 ? { ...restarted, at: null } : { ...restarted, roots: { next: null } };
}

/**
 * Returns the next page of a walk. If the cursor of the current list is stale, returns an empty page, and the walk
 * restarts that list.
 * @throws Fault as `listNext` does
 */
export async function nextPage(
  account: Account,
  walk: Walk,
  signal: AbortSignal,
  typeFilter?: TypeFilter,
): Promise<WalkStep> {
  try {
    return await listNext(account, walk, signal, typeFilter);
  } catch (error) {
    const restarted = restart(walk, error);
    if (restarted === null) throw error;
    return { items: [], missing: [], refused: [], skipped: [], walk: restarted };
  }
}

/**
 * Returns the next page of a walk; the walk is complete when `isWalked` returns true. An item that cannot be listed is
 * skipped.
 * @param typeFilter types that become files: the connector may omit items of other types. Unset: all types
 * @throws Fault for reasons that concern the account or the source, not only the item
 */
async function listNext(account: Account, walk: Walk, signal: AbortSignal, typeFilter?: TypeFilter): Promise<WalkStep> {
  const [scope, ...remaining] = walk.open;
  if (scope === undefined) {
    if (walk.roots === null) return { items: [], missing: [], refused: [], skipped: [], walk };
    const page = await account.listRoots(walk.roots.next, signal);
    const { items, next, isDeep, isPartial, refused = [], skipped = [] } = page;
    const open = isDeep ? [] : items.filter(({ isExpandable }) => isExpandable).map(({ externalId }) => externalId);
    const refusedSoFar = walk.refused + refused.length + (isPartial ? 1 : 0);
    const nextRoots = { open, at: null, roots: next === null ? null : { next }, refused: refusedSoFar };
    // A deep page contains descendants too. If it is incomplete, descendants may be missing below any root item, also
    // below one that it contains. Marking the omitted root items (see `partialPages`) cannot make up for that. So the
    // page counts only in `refused`, which then stays above `closed`: the listing deletes nothing.
    const partialPages = (walk.partialPages ?? 0) + (isPartial && !isDeep ? 1 : 0);
    const nextWalk = { ...walk, ...nextRoots, ...(partialPages > 0 && { partialPages }) };
    return { items, missing: refused, refused, skipped, walk: nextWalk };
  }
  const afterScope = { ...walk, open: remaining, at: null };
  let page: ItemPage;
  try {
    page = await account.listDescendants(scope, walk.at, signal, typeFilter);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const nothing = { items: [], missing: [scope], skipped: [] };
    if (error.kind === 'not_found') return { ...nothing, refused: [], walk: afterScope };
    if (ITEM_FAULTS.has(error.kind))
      return { ...nothing, refused: [scope], walk: { ...afterScope, refused: walk.refused + 1 } };
    throw error;
  }
  const { items, next, refused = [], skipped = [] } = page;
  const nextWalk = { ...(next === null ? afterScope : { ...walk, at: next }), refused: walk.refused + refused.length };
  return { items, missing: refused, refused, skipped, walk: nextWalk };
}
