import type { IngestOptions } from '../files/ingestOptions.js';
import type { TagValue } from '../files/records.js';

/** Progress of the listing of an account's items, enough to resume after a crash. */
export interface Walk {
  /** Items whose descendants are not listed yet; the first one is in progress. */
  readonly open: readonly string[];
  /** Cursor of the next page of the first item's contents; null: the first page. */
  readonly at: string | null;
  /**
   * Progress of the list of root items: `next` is the cursor of its next page, null for the first page. `roots` is null
   * if the list is complete, or was not requested.
   */
  readonly roots: { readonly next: string | null } | null;
  /** Number of containers whose contents could not be listed. */
  readonly refused: number;
  /**
   * How many of the refused containers are stored items. Their stored descendants count as existing. If it is lower
   * than `refused`, missing items must not be deleted.
   */
  readonly closed?: number;
  /**
   * How many pages of root items were incomplete. They are included in `refused`, and in `closed` once the known root
   * items that the list omitted are marked as inaccessible.
   */
  readonly partialPages?: number;
  /** How often a list was restarted from its first page because its cursor was invalid. */
  readonly restarts?: number;
}

/**
 * Returns whether the containers that could not be listed allow the deletion of missing items: each is a stored item,
 * so its stored descendants count as existing.
 */
export const isAccountedFor = ({ refused, closed = 0 }: Walk): boolean => refused === closed;
/**
 * Maximum number of inaccessible containers that an incremental listing retries: the change feed does not cover them.
 * Above it, the next listing is a full one.
 */
export const MAX_INACCESSIBLE = 1_000;

/** A listing of the whole account. */
export const WALK_ALL: Walk = { open: [], at: null, roots: { next: null }, refused: 0 };
/** Returns a listing of the given items and their descendants. */
export const walkOf = (externalIds: readonly string[]): Walk => ({
  open: [...new Set(externalIds)],
  at: null,
  roots: null,
  refused: 0,
});
export const isWalked = ({ open, roots }: Walk): boolean => open.length === 0 && roots === null;

/** Request of a syncItems run. */
export interface SyncItemsRequest {
  /** Whether only some items are listed. An item that is not found may then still exist. */
  readonly isPartial?: boolean;
}

export interface SyncItemsProgress {
  readonly walk: Walk;
  readonly listed: number;
  /** Cursor of the source's change feed, for the next listing. Null: the source has none; unset: not requested. */
  readonly nextChangeToken?: string | null;
  /**
   * Whether `nextChangeToken` is not final yet: the source changes it with each page, and returns the final value with
   * the last page.
   */
  readonly isPreparing?: boolean;
  /**
   * Position in the change feed of the next changes to read; null: all are read. Absent: a full listing.
   */
  readonly changeToken?: string | null;
  /**
   * For a partial change feed: the root items that it covers. Others are listed completely.
   */
  readonly coveredRoots?: readonly string[];
  /** Whether a full listing found an item with content but without a version: only reading it shows if it changed. */
  readonly hasUnversioned?: boolean;
}

/** Returns whether a listing reads only the changes since the previous one: items without changes still exist. */
export const isByChanges = ({ changeToken }: SyncItemsProgress): boolean => changeToken !== undefined;
/** Returns whether a listing is complete. */
export const isListed = ({ walk, changeToken = null }: SyncItemsProgress): boolean =>
  changeToken === null && isWalked(walk);

/** Request of a syncSource run. Its listing starts at the selected items. */
export interface SyncSourceRequest {
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly ingest: IngestOptions;
  /** Whether files that were synced before with the same options are skipped, if the source supports it. */
  readonly incremental?: boolean;
  /** Whether everything was requested, with no item selected by id. */
  readonly isWhole?: boolean;
}

export interface SyncSourceProgress {
  readonly walk: Walk;
  /** Number of queued files. */
  readonly queued: number;
  /** Whether the selection has more files than a request may add. */
  readonly isFull?: boolean;
}
