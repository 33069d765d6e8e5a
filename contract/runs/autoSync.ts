/**
 * Inputs and results of the autoSync workflow and its steps. All are JSON: ids, counts, kinds and outcomes of runs, and
 * search attributes.
 */
import type { RunInput } from './orchestration.js';
import type { RunKind } from './runKinds.js';
import type { SearchAttributeName } from './workflowIds.js';

/** Input of the workflow that a schedule starts. */
export interface AutoSyncInput {
  readonly scheduleId: string;
  /** Where a continued workflow resumes; absent on the first execution. */
  readonly resume?: {
    readonly runId: number;
    /** Number of finished child runs. */
    readonly parts: number;
    /** Id of the last finished child run. */
    readonly lastRunId: number;
  };
}

/** Why an automatic sync does not run. */
export type NoSyncReason = 'gone' | 'off' | 'revoked' | 'busy' | 'paused';

/** A run that is part of a scheduled sync, with the id and the search attributes of its workflow. */
export interface AutoSyncPart {
  readonly runId: number;
  readonly kind: RunKind;
  readonly workflowId: string;
  readonly attributes: Readonly<Partial<Record<SearchAttributeName, string>>>;
}

/** An accepted automatic sync, or the reason why it does not run. */
export type AcceptAutoSyncResult = { readonly runId: number } | { readonly runId: null; readonly reason: NoSyncReason };

export interface NextPartResult {
  /** Null: no child run is left. */
  readonly part: AutoSyncPart | null;
}

export interface EndAutoSyncInput extends RunInput {
  readonly outcome: 'finished' | 'failed' | 'aborted';
}

export interface AutoSyncResult {
  readonly outcome: 'finished' | 'failed' | NoSyncReason;
  readonly parts: number;
}
