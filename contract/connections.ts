import type { IngestOptions } from './ingestOptions.js';
import type { TagValue } from './records.js';

/** How far a walk over what an account holds has come: enough to go on after a death. */
export interface Walk {
  /** Items still to be listed, with all below them; the first one is under way. */
  readonly open: readonly string[];
  /** Where the first one goes on; null: at its beginning. */
  readonly at: string | null;
  /** The outermost items there are: where they go on. Null: all of them are known, or none was asked for. */
  readonly roots: { readonly next: string | null } | null;
  /** Items that could not be listed with what lies below them. */
  readonly refused: number;
  /** Of these, those that earlier listings know with what lay in them. Of others nobody knows: then nothing may be deleted for being absent. */
  readonly closed?: number;
  /** How often a list was read again from its first page because its cursor could not be read. */
  readonly restarts?: number;
}

/** Whether it is known of everything what became of it: it was found, or lies in what could not be looked into. */
export const knowsAll = ({ refused, closed = 0 }: Walk): boolean => refused === closed;
/** Items that later listings by a feed try again, for no feed tells what lies in them; of more, all is listed once more. */
export const MOST_CLOSED = 1_000;

/** A walk over all there is. */
export const WALK_ALL: Walk = { open: [], at: null, roots: { next: null }, refused: 0 };
/** A walk over some items and what lies below them. */
export const walkOf = (externalIds: readonly string[]): Walk => ({
  open: [...new Set(externalIds)],
  at: null,
  roots: null,
  refused: 0,
});
export const isWalked = ({ open, roots }: Walk): boolean => open.length === 0 && roots === null;

/** What a run of syncItems was asked for. */
export interface SyncItemsRequest {
  /** Only some items are listed, so an item that is not found may still exist. */
  readonly isPartial?: boolean;
}

export interface SyncItemsProgress {
  readonly walk: Walk;
  readonly listed: number;
  /** Of sources that tell what happened: from where the next listing asks for that. Null: by no feed; unset: not looked at. */
  readonly point?: string | null;
  /** What happened from here on is still to be asked for; null: no more is. Unset: all there is is listed. */
  readonly since?: string | null;
  /** Of a feed that does not tell of all: the outermost items that it tells of. What lies in others is listed whole. */
  readonly told?: readonly string[];
}

/** Whether a listing asks for what happened since the one before: what it does not tell of is still there. */
export const isByChanges = ({ since }: SyncItemsProgress): boolean => since !== undefined;
/** Whether a listing has nothing left to do. */
export const isListed = ({ walk, since = null }: SyncItemsProgress): boolean => since === null && isWalked(walk);

/** What a run of syncSource was asked for. The selected items are where its walk begins. */
export interface SyncSourceRequest {
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly ingest: IngestOptions;
  /** Where the source honours it: what was synced before with the same options is left out. */
  readonly incremental?: boolean;
  /** All there is was asked for: nothing of it was named by itself. */
  readonly isWhole?: boolean;
}

export interface SyncSourceProgress {
  readonly walk: Walk;
  /** Number of queued files. */
  readonly queued: number;
}
