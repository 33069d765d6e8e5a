import type { ItemPage, SkippedItem, SourceItem } from '../../connectors/sourceItem.js';
import type { Account } from '../../connectors/account.js';
import type { Walk } from '../../contract/accounts/connections.js';
import { Fault, type FaultKind } from '../../contract/failures.js';
import type { TypeFilter } from '../../contract/sources/typesAtSource.js';

/** A page of a walk, and the position after it. */
export interface WalkStep {
  readonly items: readonly SourceItem[];
  /** Requested items that do not exist or cannot be listed. */
  readonly missing: readonly string[];
  /** Requested items that exist, but whose contents cannot be listed. */
  readonly refused: readonly string[];
  /** Entries that are not items. */
  readonly skipped: readonly SkippedItem[];
  readonly walk: Walk;
}

/**
 * Reasons why one item cannot be listed while others can. A retry would get the same answer, and the run must still
 * ingest the items that it can list. In https://github.com/elastic/connectors/issues/2306, one unreadable block ended
 * every sync.
 */
const ITEM_FAULTS: ReadonlySet<FaultKind> = new Set(['access_denied', 'bad_response', 'too_large', 'unsupported_type']);

/** A cursor that is stale again after this many restarts would be stale forever. */
const MAX_RESTARTS = 3;

/** Returns the walk with its current list at the first page; null if the list was restarted too often. */
function restart(walk: Walk, error: unknown): Walk | null {
  const { open, at, roots, restarts = 0 } = walk;
  const cursor = open.length > 0 ? at : (roots?.next ?? null);
  const isStale = error instanceof Fault && error.kind === 'stale_cursor';
  if (!isStale || cursor === null || restarts >= MAX_RESTARTS) return null;
  const again = { ...walk, restarts: restarts + 1 };
  return open.length > 0 ? { ...again, at: null } : { ...again, roots: { next: null } };
}

/**
 * Returns the next page of a walk. Restarts the current list if its cursor is damaged or of an older version.
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
    const again = restart(walk, error);
    if (again === null) throw error;
    return { items: [], missing: [], refused: [], skipped: [], walk: again };
  }
}

/**
 * Returns the next page of a walk; the walk is complete when `isWalked` returns true. An item that cannot be listed is
 * skipped.
 * @param typeFilter types that become files, so that other items may be skipped; unset: all types
 * @throws Fault for reasons that concern the account or the source, not only the item
 */
async function listNext(account: Account, walk: Walk, signal: AbortSignal, typeFilter?: TypeFilter): Promise<WalkStep> {
  const [scope, ...rest] = walk.open;
  if (scope === undefined) {
    if (walk.roots === null) return { items: [], missing: [], refused: [], skipped: [], walk };
    const page = await account.listRoots(walk.roots.next, signal);
    const { items, next, isDeep, isPartial, refused: missing = [], skipped = [] } = page;
    const open = isDeep ? [] : items.filter(({ isExpandable }) => isExpandable).map(({ externalId }) => externalId);
    const refused = walk.refused + missing.length + (isPartial ? 1 : 0);
    const following = { ...walk, open, at: null, roots: next === null ? null : { next }, refused };
    return { items, missing, refused: missing, skipped, walk: following };
  }
  const following = { ...walk, open: rest, at: null };
  let page: ItemPage;
  try {
    page = await account.listDescendants(scope, walk.at, signal, typeFilter);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const nothing = { items: [], missing: [scope], skipped: [] };
    if (error.kind === 'not_found') return { ...nothing, refused: [], walk: following };
    if (ITEM_FAULTS.has(error.kind))
      return { ...nothing, refused: [scope], walk: { ...following, refused: walk.refused + 1 } };
    throw error;
  }
  const { items, next, refused: missing = [], skipped = [] } = page;
  const on = { ...(next === null ? following : { ...walk, at: next }), refused: walk.refused + missing.length };
  return { items, missing, refused: missing, skipped, walk: on };
}
