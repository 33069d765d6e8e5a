/**
 * The words of the ledger: what a run did with each thing that it met. Of every run that has ended,
 * ok + failed + skipped + aborted = discovered.
 */
import { FAULTS, type FaultKind } from './failures.js';
import { KEPT_REASONS, type KeptReason } from './reembed.js';

/** How a run ended with an item. Absent while it is still to come: pending. */
export const ITEM_OUTCOMES = ['ok', 'failed', 'skipped', 'aborted'] as const;
export type ItemOutcome = (typeof ITEM_OUTCOMES)[number];

/** Where an item came to its end. */
export const ITEM_STAGES = [
  /** Chosen, or left out, before anything of it was fetched. */
  'select',
  /** It waited for its turn. */
  'queue',
  'fetch',
  'transcribe',
  'recognize',
  'read',
  'embed',
  'store',
  'delete',
] as const;
export type ItemStage = (typeof ITEM_STAGES)[number];

/** Why a run left an item as it was, or did not come to it, with what to do. A remedy of null: nothing has to be done. */
const LEFT = {
  unchanged: null,
  skip_file_processing: 'It was asked for as a record only. Resync it to have it read.',
  incremental_sync: 'A copy is there already. Select it without incremental_sync to have it read again.',
  left_out_by_type: 'Its type is not among those that were asked for. Name its type, or select it by itself.',
  not_readable: 'Its source gives it out in no form that can be read. Open it there.',
  deleted_by_caller: 'It was deleted here, so no pass brings it back. Select it again to have it.',
  is_container: 'Its address is that of a sitemap, feed or crawl, which has a run of its own.',
  superseded: 'Another run took it over. Look at that run.',
  cancelled: 'Its run was cancelled. Retry it.',
  run_failed: 'Its run could not go on. Mend what the run names, then retry it.',
  ended_from_outside: 'Its run was ended from outside. Retry it.',
  source_revoked: 'Access to its data source was revoked. Connect the account again, then retry it.',
  unfinished: 'Its run ended without it. Retry it.',
} as const satisfies Record<string, string | null>;
export type LeftCause = keyof typeof LEFT;

/** Why a run of re-embedding left the vectors of a file as they were. */
const KEPT: Readonly<Record<KeptReason, string | null>> = {
  already_embedded: null,
  being_deleted: null,
  cold_storage: 'Its vectors are in cold storage. Move it to hot storage, then embed it anew.',
  container: null,
  given_vectors: 'Its vectors came with it. Upload it again with others.',
  no_vectors: 'It has no vectors. Resync it to have them made.',
  over_max_tokens: 'The run had used up its max_tokens. Start another, or one with more.',
  picture: null,
  syncing: 'It was being synced. Embed it anew once it is READY.',
};

/** What went wrong with a file after a run had ended well with it. */
const LATER = {
  vectors_lost: 'Its vectors can not be read from file storage any more. Resync it to have them made anew.',
} as const satisfies Record<string, string>;

/** What an item's end is put down to. */
export type ItemCause = FaultKind | LeftCause | KeptReason | keyof typeof LATER;

/** What to do about a cause, in a sentence; null where there is nothing to do. */
export const REMEDIES: Readonly<Record<ItemCause, string | null>> = {
  ...(Object.fromEntries(Object.entries(FAULTS).map(([kind, { remedy }]) => [kind, remedy])) as Record<
    FaultKind,
    string
  >),
  ...LEFT,
  ...KEPT,
  ...LATER,
};
export const ITEM_CAUSES: readonly ItemCause[] = [
  ...new Set<ItemCause>([
    ...(Object.keys(FAULTS) as FaultKind[]),
    ...(Object.keys(LEFT) as LeftCause[]),
    ...KEPT_REASONS,
    ...(Object.keys(LATER) as (keyof typeof LATER)[]),
  ]),
];

/** What an item cost: of its last try, which is the one that ended it. */
export interface ItemCost {
  /** Of the content as it was fetched, or sent. */
  readonly bytes: number;
  /** Tokens (cl100k) that were embedded for it. */
  readonly tokens: number;
  /** Tokens whose vectors were known from before. */
  readonly reused: number;
}
export const NO_COST: ItemCost = { bytes: 0, tokens: 0, reused: 0 };

/** How a run ended with an item. */
export interface ItemEnd extends ItemCost {
  readonly as: ItemOutcome;
  readonly stage: ItemStage | null;
  /** Null of what went well. */
  readonly cause: ItemCause | null;
}

/** An end without costs. */
export const endedAs = (as: ItemOutcome, stage: ItemStage | null, cause: ItemCause | null): ItemEnd => ({
  as,
  stage,
  cause,
  ...NO_COST,
});

/** Counts of a run. discovered is the sum of the others; pending is 0 once the run has ended. */
export interface RunTally extends ItemCost, Readonly<Record<ItemOutcome, number>> {
  readonly discovered: number;
  readonly pending: number;
}
export const NO_TALLY: RunTally = { discovered: 0, ok: 0, failed: 0, skipped: 0, aborted: 0, pending: 0, ...NO_COST };

/** What made a run begin; `command`: whoever runs the service, by `reconcile --mend`. */
export const RUN_CAUSES = ['request', 'schedule', 'resync', 'retry', 'command'] as const;
export type RunCause = (typeof RUN_CAUSES)[number];
