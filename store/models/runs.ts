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
  /** When it was resumed; null: not yet. Its workflow removes the pause. */
  resumedAt: nullable(date),
};

/** A paused run, whose files stay queued. */
export interface RunPause extends RecordOf<typeof RUN_PAUSE> {}

/** Query for paused runs that were not resumed. */
export const PAUSED = { finishedAt: null, 'pause.at': { $exists: true }, 'pause.resumedAt': null } as const;
/** The pause of a paused run; null if it is not paused. */
export const currentPause = ({ finishedAt, pause }: Pick<RunDoc, 'finishedAt' | 'pause'>): RunPause | null =>
  finishedAt === null && pause && pause.resumedAt === null ? pause : null;

/** Why a step of a run failed. */
export interface RunError {
  readonly kind: FaultKind;
  readonly message: string;
  readonly at: Date;
}

const RUN = {
  _id: number,
  kind: required(textOf<RunKind>()),
  /** Key of its workflow, one of `workflowIds`. */
  workflowId: required(text),
  organizationId: required(number),
  /** 0, without a customer id, where the run is about the organization itself. */
  userId: required(number),
  customerId: byDefault(text, ''),
  /** The file the run is about: the parent of a scrape, the file of a re-sync; null for runs about many files. */
  fileId: nullable(number),
  /** The data source the run is about; null, or absent in older rows, for none. */
  dataSourceId: optional(nullable(number)),
  /** The pass that it is a part of, with what of the pass it is: a part is there once. Absent: of none. */
  parentRunId: optional(number),
  part: optional(text),
  /** Of a pass: Temporal's own id of the execution that accepted it. Absent: its workflow has our id in its memo. */
  temporalRunId: optional(text),
  /** What made it begin. Absent in older rows: a request, or where it is a pass or a part of one, a schedule. */
  cause: optional(textOf<RunCause>()),
  requestId: required(text),
  /** The trace that it was accepted in, as W3C Trace Context has it. Absent: in none. */
  traceparent: optional(text),
  /** Of an upload; null, or absent in older rows, for none. */
  uploadId: optional(nullable(text)),
  /** How often the same work was accepted again after its workflow was ended from outside. Absent: never. */
  redone: optional(number),
  acceptedAt: required(date),
  /** When Temporal took it; null while it waits in the outbox. */
  startedAt: nullable(date),
  /** Set while the run of an upload belongs to the stream of its user. Absent: the run has a workflow of its own. */
  stream: optional(trueOnly),
  /** Size in bytes of the sent content, for cutting batches of a stream. */
  bytes: optional(number),
  /** It waits until its file has a place in its user's queue. Absent in older rows: no. */
  held: optional(byDefault(flag, false)),
  /** The outbox does not try again before. */
  nextTryAt: required(date),
  finishedAt: nullable(date),
  outcome: nullable(textOf<RunOutcome['outcome'] | 'aborted'>()),
  /** Figures of its kind, in addition to the tally. */
  counts: byDefault(json<Record<string, number>>(), () => ({})),
  /** Token limit; null: removed. Absent: it never had one, and no tokens are counted. */
  maxTokens: optional(orNull(number)),
  /** Tokens that were reserved before embedding; they are not given back. */
  tokensTaken: optional(number),
  /** Absent: not paused. */
  pause: optional(nested(RUN_PAUSE)),
  /** It has due work and makes no progress. Absent: it does. */
  stall: optional(json<RunStall>()),
  /** Earlier stalls, the latest last. */
  stalls: optional(byDefault(json<(RunStall & { readonly until: Date })[]>(), undefined)),
  /** Outcomes of its items; absent while it runs, and in older rows. */
  tally: optional(json<RunTally>()),
  /** Why it failed, or what it skipped. */
  message: optional(orNull(text)),
  /** The kind of that cause; absent if it did not fail because of fetched content. */
  error: optional(orNull(textOf<ItemCause>())),
  /** Why the last attempt of a step failed that gave a cause; absent once one has succeeded. */
  lastError: optional(json<RunError>()),
  /** The last file whose end is in the ledger, while it ends. */
  closedTo: optional(number),
  /** When it is forgotten; absent while it runs. */
  expiresAt: optional(date),
};

/**
 * One accepted piece of work. Its row is the outbox row: written in the transaction that accepts the work, unstarted
 * until Temporal has its workflow.
 */
export interface RunDoc extends RecordOf<typeof RUN> {}

/** A run with its request and progress. Workflows carry only its id; lists are read without these two. */
export type Run<K extends RunKind = RunKind> = RunDoc & RunWork<K>;

const run = schemaOf<RunDoc>(RUN, { keepEmpty: true });
// Fields of `Run` alone: their shape depends on the kind.
run.path('request', Schema.Types.Mixed).path('progress', Schema.Types.Mixed);
const OPEN = { finishedAt: null } as const;
const IN_STREAM = { stream: true, ...OPEN } as const;
const PAUSED_ONCE = { 'pause.at': { $exists: true } } as const;
/** Partial indexes: an ended run is in none of them. */
for (const [name, keys, partialFilterExpression] of [
  // unstarted (outbox, stalls)
  ['nextTryAt_1', { nextTryAt: 1 }, { startedAt: null }],
  // releaseHeld
  ['held_1_userId_1__id_1', { held: 1, userId: 1, _id: 1 }, { held: true }],
  // open (upload streams), in its order
  ['stream', { organizationId: 1, userId: 1, _id: 1 }, IN_STREAM],
  // waiting and unstarted: covers the sweep for users with waiting uploads
  ['streamWaiting', { startedAt: 1, held: 1, acceptedAt: 1, organizationId: 1, userId: 1 }, IN_STREAM],
  // started, inMotion, openRuns
  ['startedAt_1', { startedAt: 1 }, OPEN],
  // countUsersAtWork by keys alone; withdrawOthers
  ['usersAtWork', { organizationId: 1, userId: 1 }, OPEN],
  // createRunsOverview: the runs that began last
  ['inFlight', { organizationId: 1, startedAt: 1 }, OPEN],
  // findConflict
  ['underWayOfSource', { dataSourceId: 1 }, OPEN],
  // unacknowledged, standing
  ['pause.at_1', { 'pause.at': 1 }, PAUSED_ONCE],
  // createRunsOverview: the longest paused, and stalled, first
  ['paused', { organizationId: 1, 'pause.at': 1 }, PAUSED_ONCE],
  ['stalled', { organizationId: 1, 'stall.since': 1 }, { 'stall.since': { $exists: true } }],
] as const)
  run.index(keys, { name, partialFilterExpression });
// parts, partsOf; a part of a pass is accepted once.
run.index({ parentRunId: 1, part: 1 }, { unique: true, partialFilterExpression: { part: { $exists: true } } });
// find (passes); an execution of a schedule is accepted once.
run.index({ temporalRunId: 1 }, { unique: true, partialFilterExpression: { temporalRunId: { $exists: true } } });
// isBehindAnother; the runs of one file in list.
run.index({ fileId: 1, _id: 1 });
// list and count, newest first: of an organization, of a user (and rateOf), of a data source (and ofSource).
run.index({ organizationId: 1, acceptedAt: -1, _id: -1 });
run.index({ organizationId: 1, userId: 1, acceptedAt: -1, _id: -1 });
run.index({ dataSourceId: 1, acceptedAt: -1, _id: -1 }, { partialFilterExpression: { dataSourceId: { $gt: 0 } } });
run.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

export function runModel(connection: Connection): Model<RunDoc> {
  return connection.model<RunDoc>('runs', run, 'runs');
}
