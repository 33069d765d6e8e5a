import { type Connection, type Model, Schema } from 'mongoose';

import type { FaultKind } from '../../contract/failures.js';
import type { ItemCause, RunCause, RunTally } from '../../contract/ledger.js';
import type { RunStall } from '../../contract/stalls.js';
import type { PauseReason, RunKind, RunOutcome } from '../../contract/orchestration.js';
import type { RunWork } from '../../contract/runs.js';

/** A run that stands still, its files in the queue. */
export interface RunPause {
  readonly reason: PauseReason;
  readonly at: Date;
  /** Tokens of the text that did not fit any more. */
  readonly wanted: number;
  /** When somebody had it go on; null: nobody has. Its workflow takes the pause away. */
  readonly resumedAt: Date | null;
}

/** Of runs, those that stand still until somebody has them go on. */
export const STANDS_STILL = { finishedAt: null, 'pause.at': { $exists: true }, 'pause.resumedAt': null } as const;
/** The pause of a run that stands still; null: it does not. */
export const stillPause = ({ finishedAt, pause }: Pick<RunDoc, 'finishedAt' | 'pause'>): RunPause | null =>
  finishedAt === null && pause && pause.resumedAt === null ? pause : null;

/** Why a step of a run failed. */
export interface RunError {
  readonly kind: FaultKind;
  readonly message: string;
  readonly at: Date;
}

/**
 * One accepted piece of work. Its row is the outbox row: written in the transaction that accepts the work, unstarted
 * until Temporal has its workflow.
 */
export interface RunDoc {
  _id: number;
  kind: RunKind;
  /** Key of its workflow, one of `workflowIds`. */
  workflowId: string;
  organizationId: number;
  /** 0, without a customer id, where the run is about the organization itself. */
  userId: number;
  customerId: string;
  /** The file the run is about: the parent of a scrape, the file of a re-sync; null for runs about many files. */
  fileId: number | null;
  /** The data source the run is about; null, or absent in older rows, for none. */
  dataSourceId?: number | null;
  /** The pass that it is a part of, with what of the pass it is: a part is there once. Absent: of none. */
  parentRunId?: number;
  part?: string;
  /** Of a pass: Temporal's own id of the execution that accepted it. Absent: its workflow has our id in its memo. */
  temporalRunId?: string;
  /** What made it begin. Absent in older rows: a request, or where it is a pass or a part of one, a schedule. */
  cause?: RunCause;
  requestId: string;
  /** The trace that it was accepted in, as W3C Trace Context has it. Absent: in none. */
  traceparent?: string;
  /** Of an upload; null, or absent in older rows, for none. */
  uploadId?: string | null;
  acceptedAt: Date;
  /** When Temporal took it; null while it waits in the outbox. */
  startedAt: Date | null;
  /** Set while the run of an upload belongs to the stream of its user. Absent: the run has a workflow of its own. */
  stream?: true;
  /** Size in bytes of the sent content, for cutting batches of a stream. */
  bytes?: number;
  /** It waits until its file has a place in its user's queue. Absent in older rows: no. */
  held?: boolean;
  /** The outbox does not try again before. */
  nextTryAt: Date;
  finishedAt: Date | null;
  outcome: RunOutcome['outcome'] | 'aborted' | null;
  /** How often the same work was accepted again after its workflow was ended from outside. Absent: never. */
  redone?: number;
  /** Figures of its kind, beside the tally. */
  counts: Record<string, number>;
  /** Tokens that it may have embedded at most; null: no bound any more. Absent: it never had one, and none are counted. */
  maxTokens?: number | null;
  /** Of these, those that were taken: before they were embedded, for good. */
  tokensTaken?: number;
  /** Absent: it goes on. */
  pause?: RunPause;
  /** It has due work and makes no progress. Absent: it does. */
  stall?: RunStall;
  /** Earlier stalls, the latest last. */
  stalls?: (RunStall & { readonly until: Date })[];
  /** How it ended with what it met; absent while it runs, and in older rows. */
  tally?: RunTally;
  /** Why it failed, or what it left out. */
  message?: string | null;
  /** The kind of that cause; absent where it failed for no fault of what it fetched. */
  error?: ItemCause | null;
  /** Why the last attempt of a step failed that gave a cause; absent once one has succeeded. */
  lastError?: RunError;
  /** The last file whose end is in the ledger, while it ends. */
  closedTo?: number;
  /** When it is forgotten; absent while it runs. */
  expiresAt?: Date;
}

/** A run with what it was asked for and its progress. Workflows carry only its id; lists are read without these two. */
export type Run<K extends RunKind = RunKind> = RunDoc & RunWork<K>;

const run: Schema<RunDoc> = new Schema<RunDoc>(
  {
    _id: Number,
    kind: { type: String, required: true },
    workflowId: { type: String, required: true },
    organizationId: { type: Number, required: true },
    userId: { type: Number, required: true },
    customerId: { type: String, default: '' },
    fileId: { type: Number, default: null },
    dataSourceId: { type: Number, default: null },
    parentRunId: Number,
    part: String,
    temporalRunId: String,
    cause: String,
    requestId: { type: String, required: true },
    traceparent: String,
    uploadId: { type: String, default: null },
    redone: Number,
    acceptedAt: { type: Date, required: true },
    startedAt: { type: Date, default: null },
    stream: Boolean,
    bytes: Number,
    held: { type: Boolean, default: false },
    nextTryAt: { type: Date, required: true },
    finishedAt: { type: Date, default: null },
    outcome: { type: String, default: null },
    counts: { type: Schema.Types.Mixed, default: () => ({}) },
    maxTokens: Number,
    tokensTaken: Number,
    pause: new Schema<RunPause>(
      { reason: String, at: Date, wanted: Number, resumedAt: { type: Date, default: null } },
      { _id: false },
    ),
    stall: Schema.Types.Mixed,
    stalls: { type: Schema.Types.Mixed, default: undefined },
    tally: Schema.Types.Mixed,
    message: String,
    error: String,
    lastError: Schema.Types.Mixed,
    closedTo: Number,
    expiresAt: Date,
  },
  { versionKey: false, minimize: false },
);
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
  // inTheWay
  ['underWayOfSource', { dataSourceId: 1 }, OPEN],
  // unheard, standing
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
