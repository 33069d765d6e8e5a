/**
 * The ledger: the result of a run for each of its items. For every finished run,
 * ok + failed + skipped + aborted = discovered.
 */
import { FAULTS, type FaultKind } from '../failures.js';
import { REEMBED_SKIP_REASONS, type ReembedSkipReason } from './reembed.js';

/** Outcomes of an item. A pending item has none. */
export const ITEM_OUTCOMES = ['ok', 'failed', 'skipped', 'aborted'] as const;
export type ItemOutcome = (typeof ITEM_OUTCOMES)[number];

/** The stage at which an item ended. */
export const ITEM_STAGES = [
  /** Selected or skipped before any content was fetched. */
  'select',
  /** Waiting in the queue. */
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

/** Reasons why a run skipped an item or did not reach it, with the remedy. Null: nothing to do. */
const SKIP_REASONS = {
  unchanged: null,
  skip_file_processing: 'Only a record was requested. Resync it to read its content.',
  incremental_sync: 'A copy exists already. Select it without incremental_sync to read it again.',
  left_out_by_type: 'Its type is not among the requested ones. Add its type, or select the item itself.',
  not_readable: 'Its source offers no format of it that can be read. Open it there.',
  deleted_by_caller: 'It was deleted here, so scheduled syncs skip it. Select it to add it again.',
  is_container: 'It is a sitemap, feed or crawl, which has its own run.',
  superseded: 'Another run took it over. See the latest run of this file.',
  cancelled: 'Its run was cancelled. Retry it.',
  run_failed: 'Its run failed. Correct the cause that the run names, then retry it.',
  ended_from_outside: 'Its run was terminated outside of this service. Retry it.',
  source_revoked: 'Access to its data source was revoked. Connect the account again, then retry it.',
  unfinished: 'Its run ended before it was finished. Retry it.',
} as const satisfies Record<string, string | null>;
export type SkipCause = keyof typeof SKIP_REASONS;

/** Reasons why a re-embedding run did not change the vectors of a file, with the remedy. */
const SKIP_REMEDIES: Readonly<Record<ReembedSkipReason, string | null>> = {
  already_embedded: null,
  being_deleted: null,
  cold_storage: 'Its vectors are in cold storage. Move it to hot storage, then embed it again.',
  container: null,
  given_vectors: 'Its vectors were uploaded with it. Upload it again with new vectors.',
  no_vectors: 'It has no vectors. Resync it to compute them.',
  over_max_tokens: 'The run had reached its max_tokens. Start another run, or raise max_tokens.',
  picture: null,
  syncing: 'It was being synced. Embed it again once it is READY.',
};

/** Reasons to check a file although it was ingested, with the remedy. They are in file_metadata as `warnings` too. */
const WARNINGS = {
  low_ocr_confidence:
    'Compare its text with the original. If it is wrong, upload a sharper scan, or name its language in ocr_languages.',
} as const satisfies Record<string, string>;
export type WarningCause = keyof typeof WARNINGS;
export const WARNING_CAUSES = Object.keys(WARNINGS) as WarningCause[];

export const isWarning = (cause: string | null): cause is WarningCause =>
  cause !== null && Object.hasOwn(WARNINGS, cause);

/** A warning about a file. */
export interface FileWarning {
  readonly cause: WarningCause;
  /** A sentence. */
  readonly message: string;
}

/** Problems found after a run had finished a file successfully. */
const LATER_PROBLEMS = {
  vectors_lost: 'Its vectors can no longer be read from file storage. Resync it to compute them again.',
} as const satisfies Record<string, string>;

/** The cause of an item's outcome. */
export type ItemCause = FaultKind | SkipCause | ReembedSkipReason | WarningCause | keyof typeof LATER_PROBLEMS;

/** What to do about each cause, as a sentence; null if there is nothing to do. */
export const REMEDIES: Readonly<Record<ItemCause, string | null>> = {
  ...(Object.fromEntries(Object.entries(FAULTS).map(([kind, { remedy }]) => [kind, remedy])) as Record<
    FaultKind,
    string
  >),
  ...SKIP_REASONS,
  ...SKIP_REMEDIES,
  ...WARNINGS,
  ...LATER_PROBLEMS,
};
export const ITEM_CAUSES: readonly ItemCause[] = [
  ...new Set<ItemCause>([
    ...(Object.keys(FAULTS) as FaultKind[]),
    ...(Object.keys(SKIP_REASONS) as SkipCause[]),
    ...REEMBED_SKIP_REASONS,
    ...WARNING_CAUSES,
    ...(Object.keys(LATER_PROBLEMS) as (keyof typeof LATER_PROBLEMS)[]),
  ]),
];

/** Cost of the last attempt at an item. */
export interface ItemCost {
  /** Size in bytes of the content as fetched or uploaded. */
  readonly bytes: number;
  /** Tokens (cl100k) that were embedded. */
  readonly tokens: number;
  /** Tokens whose vectors were reused. */
  readonly reused: number;
}
export const NO_COST: ItemCost = { bytes: 0, tokens: 0, reused: 0 };

/** The result of a run for one item. */
export interface ItemEnd extends ItemCost {
  readonly as: ItemOutcome;
  readonly stage: ItemStage | null;
  /** For outcome `ok`: a warning, or null without one. For other outcomes: the reason, or null if it is unknown. */
  readonly cause: ItemCause | null;
}

/** Returns a result without costs. */
export const itemEnd = (as: ItemOutcome, stage: ItemStage | null, cause: ItemCause | null): ItemEnd => ({
  as,
  stage,
  cause,
  ...NO_COST,
});

/** Counts and costs of a run. discovered is the sum of the outcomes and pending, which is 0 once the run has ended. */
export interface RunTally extends ItemCost, Readonly<Record<ItemOutcome, number>> {
  readonly discovered: number;
  readonly pending: number;
}
export const NO_TALLY: RunTally = { discovered: 0, ok: 0, failed: 0, skipped: 0, aborted: 0, pending: 0, ...NO_COST };

/** What started a run; `command`: the operator, by `reconcile --mend` or `vectors rebuild`. */
export const RUN_CAUSES = ['request', 'schedule', 'resync', 'retry', 'command'] as const;
export type RunCause = (typeof RUN_CAUSES)[number];
