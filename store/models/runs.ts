import { type Connection, type Model, Schema } from 'mongoose';

import type { FaultKind } from '../../contract/failures.js';
import type { ItemCause, RunCause, RunTally } from '../../contract/runs/ledger.js';
import type { RunStall } from '../../contract/runs/stalls.js';
import type { PauseReason, RunOutcome } from '../../contract/runs/orchestration.js';
import type { RunKind } from '../../contract/runs/runKinds.js';
import type { RunWork } from '../../contract/runs/runs.js';
import {
  byDefault,
  date,
  flag,
  json,
  nested,
  nullable,
  number,
  optional,
  orNull,
  type RecordOf,
  required,
  schemaOf,
  text,
  textOf,
  trueOnly,
} from '../database/record.js';

const RUN_PAUSE = {
  reason: textOf<PauseReason>(),
  at: date,
  /** Tokens of the text that exceeded the limit. */
  wanted: number,
  /** Time of the resume; null while the run is paused. After a resume, the run's workflow removes the field `pause`. */
  resumedAt: nullable(date),
};

/** Pause of a run. The run's files stay queued. */
export interface RunPause extends RecordOf<typeof RUN_PAUSE> {}

/** Query for paused runs that were not resumed. */
export const PAUSED = { finishedAt: null, 'pause.at': { $exists: true }, 'pause.resumedAt': null } as const;
/** Returns the pause of a paused run; null if it is not paused. */
export const currentPause = ({ finishedAt, pause }: Pick<RunDoc, 'finishedAt' | 'pause'>): RunPause | null =>
  finishedAt === null && pause && pause.resumedAt === null ? pause : null;

/** Error of a failed step of a run. */
export interface RunError {
  readonly kind: FaultKind;
  readonly message: string;
  readonly at: Date;
}

const RUN = {
  _id: number,
  kind: required(textOf<RunKind>()),
  /** Id of the run's workflow, made by a function of `workflowIds`. */
  workflowId: required(text),
  organizationId: required(number),
  /** 0, without a customer id, for a run of the organization itself. */
  userId: required(number),
  customerId: byDefault(text, ''),
  /** The file that the run processes: the parent of a scrape, the file of a re-sync; null for runs of many files. */
  fileId: nullable(number),
  /** The data source that the run processes; null, or absent in older rows, if there is none. */
  dataSourceId: optional(nullable(number)),
  /**
   * The scheduled sync of which this run is a part, and the name of the part, which is accepted once. Absent for other
   * runs.
   */
  parentRunId: optional(number),
  part: optional(text),
  /**
   * For a scheduled sync: Temporal's run id of the execution that accepted it. Absent for other runs: the memo of their
   * workflow contains the run's `_id` instead.
   */
  temporalRunId: optional(text),
  /** Cause of the run. Absent in older rows: a schedule for a scheduled sync and its parts, otherwise a request. */
  cause: optional(textOf<RunCause>()),
  requestId: required(text),
  /** The trace in which the run was accepted, in the format of W3C Trace Context. Absent if there is none. */
  traceparent: optional(text),
  /** Id of the upload; null, or absent in older rows, if there is none. */
  uploadId: optional(nullable(text)),
  /**
   * How often the same work was accepted again after its workflow was terminated outside of this service. Absent:
   * never.
   */
  redone: optional(number),
  acceptedAt: required(date),
  /** Time when Temporal started the workflow; null while the run waits in the outbox. */
  startedAt: nullable(date),
  /** Set while the run belongs to the shared workflow of the user's uploads. Absent: the run has its own workflow. */
  stream: optional(trueOnly),
  /** Size of the uploaded content in bytes, for the batches of a stream. */
  bytes: optional(number),
  /** Whether the run waits until the user's queue has room for its file. Absent in older rows: no. */
  held: optional(byDefault(flag, false)),
  /** Time of the outbox's next attempt. */
  nextTryAt: required(date),
  finishedAt: nullable(date),
  outcome: nullable(textOf<RunOutcome['outcome'] | 'aborted'>()),
  /** Counts specific to the kind of run, in addition to the tally. */
  counts: byDefault(json<Record<string, number>>(), () => ({})),
  /** Token limit; null if the limit was removed. Absent: the run never had a limit, and no tokens are counted. */
  maxTokens: optional(orNull(number)),
  /**
   * Tokens that count against `maxTokens`: reserved before each embedding, and subtracted again if it fails. After an
   * abort they stay, because the number of embedded texts is unknown.
   */
  tokensTaken: optional(number),
  /** Absent: not paused. */
  pause: optional(nested(RUN_PAUSE)),
  /** Set while the run has due work and makes no progress. */
  stall: optional(json<RunStall>()),
  /** Earlier stalls, the latest last. */
  stalls: optional(byDefault(json<(RunStall & { readonly until: Date })[]>(), undefined)),
  /** Outcomes of the run's items; absent while the run is active, and in older rows. */
  tally: optional(json<RunTally>()),
  /** Why the run failed or was aborted, or that it accepted only part of the pages of a sitemap or site. */
  message: optional(orNull(text)),
  /** Code of the reason in `message`; null or absent without a message, and for a finished run. */
  error: optional(orNull(textOf<ItemCause>())),
  /** Error of the last failed attempt of a step; absent after a successful attempt. */
  lastError: optional(json<RunError>()),
  /** While the run ends: the outcomes of its files up to this id are in the ledger; 0: none yet. */
  closedTo: optional(number),
  /** Time at which MongoDB deletes the row; absent while the run is active. */
  expiresAt: optional(date),
};

/**
 * One accepted piece of work. Its row is also the outbox row: the transaction that accepts the work writes it, and it
 * counts as unstarted until Temporal has its workflow.
 */
export interface RunDoc extends RecordOf<typeof RUN> {}

/** A run with its request and progress. Workflows carry only its id, and lists omit these two fields. */
export type Run<K extends RunKind = RunKind> = RunDoc & RunWork<K>;

const run = schemaOf<RunDoc>(RUN, { keepEmpty: true });
// These fields of `Run` are not part of RunDoc, because their format depends on the kind of the run.
run.path('request', Schema.Types.Mixed).path('progress', Schema.Types.Mixed);
const OPEN = { finishedAt: null } as const;
const IN_STREAM = { stream: true, ...OPEN } as const;
const PAUSED_ONCE = { 'pause.at': { $exists: true } } as const;
/**
 * Partial indexes, each with the functions that use it. They contain few ended runs: `withdrawOthers` ends a run
 * without clearing `held` and `stall`, and `redo` without clearing `pause` and `stall`.
 */
for (const [name, keys, partialFilterExpression] of [
  // `listUnstarted` of the outbox and of stalls
  ['nextTryAt_1', { nextTryAt: 1 }, { startedAt: null }],
  // releaseHeld
  ['held_1_userId_1__id_1', { held: 1, userId: 1, _id: 1 }, { held: true }],
  // `listOpen` of upload streams, in the order of the stream
  ['stream', { organizationId: 1, userId: 1, _id: 1 }, IN_STREAM],
  // listWaiting and listUnstarted: covers the sweeper's search for users with waiting uploads
  ['streamWaiting', { startedAt: 1, held: 1, acceptedAt: 1, organizationId: 1, userId: 1 }, IN_STREAM],
  // listStarted, listActiveStartedUntil, openRuns
  ['startedAt_1', { startedAt: 1 }, OPEN],
  // countUsersWithOpenRuns, from keys only; withdrawOthers
  ['usersAtWork', { organizationId: 1, userId: 1 }, OPEN],
  // createRunsOverview: the latest runs first
  ['inFlight', { organizationId: 1, startedAt: 1 }, OPEN],
  // findConflict
  ['underWayOfSource', { dataSourceId: 1 }, OPEN],
  // listUnacknowledged, listPaused
  ['pause.at_1', { 'pause.at': 1 }, PAUSED_ONCE],
  // createRunsOverview: the longest paused, and stalled, first
  ['paused', { organizationId: 1, 'pause.at': 1 }, PAUSED_ONCE],
  ['stalled', { organizationId: 1, 'stall.since': 1 }, { 'stall.since': { $exists: true } }],
] as const)
  run.index(keys, { name, partialFilterExpression });
// Used by `listParts` and `partsOf`. Unique, so that a part of a scheduled sync is accepted once.
run.index({ parentRunId: 1, part: 1 }, { unique: true, partialFilterExpression: { part: { $exists: true } } });
// Used by `findByTemporalRunId`. Unique, so that an execution of a schedule is accepted once.
run.index({ temporalRunId: 1 }, { unique: true, partialFilterExpression: { temporalRunId: { $exists: true } } });
// Used by `hasEarlierWaiting`, and by `list` for the runs of one file.
run.index({ fileId: 1, _id: 1 });
// Used by `list` and `count`, newest first: of an organization, of a user (also by `rateOf`), of a data source (also by
// `listOfSource`).
run.index({ organizationId: 1, acceptedAt: -1, _id: -1 });
run.index({ organizationId: 1, userId: 1, acceptedAt: -1, _id: -1 });
run.index({ dataSourceId: 1, acceptedAt: -1, _id: -1 }, { partialFilterExpression: { dataSourceId: { $gt: 0 } } });
run.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

export function runModel(connection: Connection): Model<RunDoc> {
  return connection.model<RunDoc>('runs', run, 'runs');
}
