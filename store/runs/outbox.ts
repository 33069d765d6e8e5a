import type { Model } from 'mongoose';

import { uploadEvent } from '../../contract/events.js';
import type { ItemCause, RunCause } from '../../contract/runs/ledger.js';
import type { RunOutcome } from '../../contract/runs/orchestration.js';
import { IS_UPLOAD, MAX_RUN_RESTARTS, type RunKind } from '../../contract/runs/runKinds.js';
import { type NewWork, type RunProgressOf, workOf } from '../../contract/runs/runs.js';
import type { Atomically, EventWriter } from '../events/events.js';
import { blankRow, insertRows } from '../database/insertOnce.js';
import type { LedgerWriter } from '../ledger/ledger.js';
import type { Sequence, Session } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';
import type { Run, RunDoc } from '../models/runs.js';

/** How long the sweeper leaves a fresh row to the process that wrote it. */
const GRACE_MS = 3_000;
const NEVER = new Date('9999-01-01');
const MAX_COUNTED = 20_000;

export type NewRun = NewRunFields & NewWork;

interface NewRunFields {
  readonly workflowId: string;
  readonly owner: Tenant & { customerId: string };
  readonly fileId: number | null;
  readonly dataSourceId?: number;
  /** Absent: a request; of a pass and its parts, a schedule. */
  readonly cause?: RunCause;
  readonly requestId: string;
  readonly uploadId?: string;
  /** Set for an upload that the stream of its user brings in, with the size of its content in bytes. */
  readonly stream?: { readonly bytes: number };
  /** Whether it waits for heldRuns to let it go. */
  readonly held?: boolean;
  readonly redone?: number;
  /** Tokens that it may have embedded at most; null, or absent: any number. */
  readonly maxTokens?: number | null;
  /** It is begun by a workflow that is there already: the outbox takes no notice of it. */
  readonly begun?: { readonly temporalRunId: string } | { readonly parentRunId: number; readonly part: string };
}

export interface Runs {
  /** An id for a run that is about to be accepted; of several, the first: the rest follow it. */
  nextId(count?: number): Promise<number>;
  /** Writes the outbox row, in the transaction that writes what the work is about. */
  accept(id: number, run: NewRun, session: Session): Promise<Run>;
  /** The row that this would write; nothing is written. */
  draft(id: number, run: NewRun): Run;
  /** The same for several, by id. */
  acceptMany(accepted: ReadonlyMap<number, NewRun>, session: Session): Promise<void>;
  find(runId: number): Promise<Run | null>;
  /** The same, if it is the caller's. */
  findOf(tenant: Tenant, runId: number): Promise<Run | null>;
  /** Takes every other run of the user out of the outbox for good, and answers some that Temporal already has and that go on. */
  withdrawOthers(tenant: Tenant, runId: number, limit: number): Promise<RunDoc[]>;
  /** Takes every other run of the user that has ended away, and what the rest was asked for. */
  forgetOthers(tenant: Tenant, runId: number): Promise<void>;
  /** Rows that no workflow has yet and that are due. */
  unstarted(now: Date, limit: number): Promise<RunDoc[]>;
  /** Number of users of an organization that have open runs, counted over the first 20,000 of them. */
  countUsersAtWork(organizationId: number): Promise<number>;
  /** Whether a run of the same thing that was accepted earlier still waits: it goes first. */
  isBehindAnother(run: RunDoc): Promise<boolean>;
  /** Runs that Temporal took before a time and that have not ended. */
  inMotion(startedBefore: Date, limit: number): Promise<Run[]>;
  /** Takes a run out of the outbox for good; false when Temporal already has it. Its files are the caller's to end. */
  withdraw(runId: number): Promise<boolean>;
  /** Temporal has the workflow. */
  markStarted(runId: number): Promise<void>;
  /** Not now: another run of the same thing is still under way, or Temporal can't be reached. */
  postpone(runId: number, until: Date): Promise<void>;
  /** Saves how far an open run has come, for its next attempt. */
  saveProgress<K extends RunKind>(run: Run<K>, progress: RunProgressOf<NoInfer<K>>): Promise<void>;
  /** Ends a run and accepts the same work again, in one transaction; false when this was done often enough already. */
  redo(run: Run): Promise<boolean>;
  /**
   * Ends a run, once, and records its results in the ledger; the end of an upload is reported by an event. Call it when all its
   * files are at rest.
   */
  finish(
    runId: number,
    outcome: RunOutcome['outcome'] | 'aborted',
    counts: Record<string, number>,
    said?: RunEnd,
  ): Promise<void>;
}

/** The end of a run in its row: why it failed, or what a finished one skipped. */
export interface RunEnd {
  readonly message: string;
  /** Null where the run has not failed. */
  readonly error: ItemCause | null;
}

/** A requested upload, not a part of a scheduled sync. */
const tellsItsEnd = ({ kind, parentRunId }: RunDoc): boolean => IS_UPLOAD[kind] && parentRunId === undefined;

interface RunsDeps {
  readonly runs: Model<RunDoc>;
  readonly sequence: Sequence;
  readonly atomically: Atomically;
  readonly events: EventWriter;
  readonly ledger: Pick<LedgerWriter, 'close' | 'expiry'>;
  /** Returns the trace of the current call; null if it has none. */
  readonly traceparent?: (() => string | null) | undefined;
}

export function createRuns({ runs, sequence, atomically, events, ledger, traceparent = () => null }: RunsDeps): Runs {
  const blank = blankRow(runs);
  const newRow = (_id: number, { owner, begun, stream, maxTokens = null, ...run }: NewRun, now: Date): Run => {
    const trace = traceparent();
    return {
      ...blank,
      _id,
      cause: begun ? 'schedule' : 'request',
      request: {},
      progress: {},
      ...run,
      ...(maxTokens !== null && { maxTokens, tokensTaken: 0 }),
      ...(stream && { stream: true as const, bytes: stream.bytes }),
      ...(trace !== null && { traceparent: trace }),
      ...(begun && { ...begun, startedAt: now }),
      organizationId: owner.organizationId,
      userId: owner.userId,
      customerId: owner.customerId,
      acceptedAt: now,
      // A fresh row is left to the process that wrote it. Rows of streams are found by their users.
      nextTryAt: run.held === true || stream ? NEVER : new Date(now.getTime() + GRACE_MS),
    };
  };
  return {
    nextId: (count = 1) => sequence.take('run', count),
    async accept(id, run, session) {
      const row = newRow(id, run, new Date());
      await insertRows(runs, [row], session);
      return row;
    },
    draft: (id, run) => newRow(id, run, new Date()),
    async acceptMany(accepted, session) {
      const now = new Date();
      await insertRows(
        runs,
        [...accepted].map(([id, run]) => newRow(id, run, now)),
        session,
      );
    },
    async withdrawOthers({ organizationId, userId }, runId, limit) {
      const others = { organizationId, userId, _id: { $ne: runId } };
      const now = new Date();
      await runs.updateMany(
        { ...others, startedAt: null },
        { $set: { startedAt: now, finishedAt: now, outcome: 'aborted', expiresAt: ledger.expiry() } },
      );
      return runs
        .find({ ...others, finishedAt: null })
        .limit(limit)
        .lean();
    },
    async forgetOthers({ organizationId, userId }, runId) {
      await runs.deleteMany({ organizationId, userId, _id: { $ne: runId }, finishedAt: { $ne: null } });
      await runs.updateMany({ organizationId, userId }, { $set: { request: {}, progress: {} } });
    },
    find: (runId) => runs.findById(runId).lean<Run | null>().exec(),
    findOf: ({ organizationId, userId }, runId) =>
      runs.findOne({ _id: runId, organizationId, userId }).lean<Run | null>().exec(),
    unstarted: (now, limit) =>
      runs
        .find({ startedAt: null, nextTryAt: { $lte: now } })
        .sort({ nextTryAt: 1 })
        .limit(limit)
        .lean()
        .exec(),
    async countUsersAtWork(organizationId) {
      const rows = await runs
        .aggregate([
          { $match: { organizationId, finishedAt: null } },
          { $limit: MAX_COUNTED },
          { $group: { _id: '$userId' } },
        ])
        .hint('usersAtWork');
      return rows.length;
    },
    async isBehindAnother({ _id, fileId, workflowId, acceptedAt }) {
      if (fileId === null) return false;
      // Ids come in blocks, one a process: they don't tell who was first.
      const earlier = { $or: [{ acceptedAt: { $lt: acceptedAt } }, { acceptedAt, _id: { $lt: _id } }] };
      return (await runs.exists({ fileId, workflowId, startedAt: null, ...earlier })) !== null;
    },
    inMotion: (startedBefore, limit) =>
      runs
        .find({ finishedAt: null, startedAt: { $lte: startedBefore } })
        .sort({ startedAt: 1 })
        .limit(limit)
        .lean<Run[]>()
        .exec(),
    async withdraw(runId) {
      const now = new Date();
      const result = await runs.updateOne({ _id: runId, startedAt: null }, { $set: { startedAt: now } });
      return result.modifiedCount === 1;
    },
    async markStarted(runId) {
      await runs.updateOne({ _id: runId, startedAt: null }, { $set: { startedAt: new Date() } });
    },
    async postpone(runId, until) {
      await runs.updateOne({ _id: runId, startedAt: null }, { $set: { nextTryAt: until } });
    },
    async saveProgress({ _id }, progress) {
      await runs.updateOne({ _id, finishedAt: null }, { $set: { progress } });
    },
    async redo(run) {
      const { _id, workflowId, fileId, dataSourceId, requestId, cause = 'request', redone = 0 } = run;
      if (redone >= MAX_RUN_RESTARTS) return false;
      const id = await sequence.take('run');
      const again = { ...workOf(run), workflowId, owner: run, fileId, requestId, cause, redone: redone + 1 };
      await atomically(async (session) => {
        const change = { $set: { finishedAt: new Date(), outcome: 'aborted' as const, expiresAt: ledger.expiry() } };
        const { modifiedCount } = await runs.updateOne({ _id, finishedAt: null }, change, { session });
        // Another worker may have seen it too.
        if (modifiedCount === 0) return;
        await insertRows(runs, [newRow(id, dataSourceId ? { ...again, dataSourceId } : again, new Date())], session);
      });
      return true;
    },
    async finish(runId, outcome, counts, said) {
      const open = await runs.findOne({ _id: runId, finishedAt: null }).lean();
      if (!open) return;
      const tally = await ledger.close(open);
      await atomically(async (session) => {
        const { message = null, error = null } = said ?? {};
        const end = { finishedAt: new Date(), outcome, counts, tally, message, error };
        const change = {
          $set: { ...end, expiresAt: ledger.expiry() },
          $unset: { closedTo: 1, pause: 1, stall: 1, lastError: 1 },
        };
        const run = await runs.findOneAndUpdate({ _id: runId, finishedAt: null }, change, { session }).lean();
        if (!run) return;
        const upload = { ...run, uploadId: run.uploadId ?? null };
        // A scheduled sync is reported once, as a whole, and only if it has synced files.
        const isPass = run.kind === 'autoSync' && (counts['synced'] ?? 0) > 0;
        if (isPass) await events.write([uploadEvent('ALL_UPLOADED_FILES_QUEUED', upload)], session);
        if (isPass || tellsItsEnd(run)) await events.write([uploadEvent('ALL_FILES_PROCESSED', upload)], session);
      });
    },
  };
}
