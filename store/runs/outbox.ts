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
import { type RunPosition, startedBetween } from './position.js';
import { stallsAtEnd } from './stalls.js';

/** Time in milliseconds for which only the process that wrote a row starts it; later the sweeper may. */
const GRACE_MS = 3_000;
const NEVER = new Date('9999-01-01');
const MAX_COUNTED = 20_000;

export type NewRun = NewRunFields & NewWork;

interface NewRunFields {
  readonly workflowId: string;
  readonly owner: Tenant & { customerId: string };
  readonly fileId: number | null;
  readonly dataSourceId?: number;
  /** Absent: a schedule for a scheduled sync and its parts, otherwise a request. */
  readonly cause?: RunCause;
  readonly requestId: string;
  readonly uploadId?: string;
  /** Set for an upload that the shared workflow of the user's uploads ingests, with its size in bytes. */
  readonly stream?: { readonly bytes: number };
  /** Whether the run waits until heldRuns releases it. */
  readonly held?: boolean;
  /** How often the same work was accepted again after its run ended early; absent: never. */
  readonly redone?: number;
  /** Maximum number of tokens to embed; null or absent: no limit. */
  readonly maxTokens?: number | null;
  /** Set if an existing workflow processes the run, so that the outbox starts no workflow for it. */
  readonly begun?: { readonly temporalRunId: string } | { readonly parentRunId: number; readonly part: string };
}

export interface Runs {
  /** Reserves ids for runs that are about to be accepted, and returns the first; the others follow it. */
  nextId(count?: number): Promise<number>;
  /** Writes the outbox row, in the transaction that writes the records of the work. */
  accept(id: number, run: NewRun, session: Session): Promise<Run>;
  /** Returns the row that `accept` would write, without writing it. */
  draft(id: number, run: NewRun): Run;
  /** Accepts several runs, by id. */
  acceptMany(accepted: ReadonlyMap<number, NewRun>, session: Session): Promise<void>;
  find(runId: number): Promise<Run | null>;
  /** Finds a run if it belongs to the caller; otherwise null. */
  findOf(tenant: Tenant, runId: number): Promise<Run | null>;
  /** Removes all other runs of the user from the outbox permanently. Returns at most `limit` runs that Temporal has. */
  withdrawOthers(tenant: Tenant, runId: number, limit: number): Promise<RunDoc[]>;
  /** Deletes all other ended runs of the user, and the requests of the active ones. */
  deleteOthers(tenant: Tenant, runId: number): Promise<void>;
  /** Returns due rows that have no workflow yet. */
  listUnstarted(now: Date, limit: number): Promise<RunDoc[]>;
  /** Returns the number of users with open runs in an organization. Reads at most 20,000 runs. */
  countUsersWithOpenRuns(organizationId: number): Promise<number>;
  /** Returns whether an earlier run of the same work still waits. That run must be started first. */
  hasEarlierWaiting(run: RunDoc): Promise<boolean>;
  /**
   * Returns active runs that Temporal started at or before a time, the oldest first.
   * @param after position of the last run of the previous page; null or absent: from the oldest run
   */
  listActiveStartedUntil(startedUntil: Date, limit: number, after?: RunPosition | null): Promise<Run[]>;
  /** Removes a run from the outbox permanently; false if Temporal already has it. The caller must end its files. */
  withdraw(runId: number): Promise<boolean>;
  /** Records that Temporal has the workflow. */
  markStarted(runId: number): Promise<void>;
  /** Delays the start, because another run of the same work is in progress or Temporal cannot be reached. */
  postpone(runId: number, until: Date): Promise<void>;
  /** Stores the progress of an active run, for its next attempt. */
  saveProgress<K extends RunKind>(run: Run<K>, progress: RunProgressOf<NoInfer<K>>): Promise<void>;
  /**
   * Ends a run and accepts its work again, in one transaction; false after MAX_RUN_RESTARTS repetitions of the work.
   */
  redo(run: Run): Promise<boolean>;
  /**
   * Ends a run and records its results in the ledger; a second call does nothing. Call it after all files of the run
   * have ended. Writes ALL_FILES_PROCESSED for kinds in IS_UPLOAD, unless a scheduled sync started the run. For a
   * scheduled sync that has synced files, writes ALL_UPLOADED_FILES_QUEUED and ALL_FILES_PROCESSED.
   */
  finish(
    runId: number,
    outcome: RunOutcome['outcome'] | 'aborted',
    counts: Record<string, number>,
    runEnd?: RunEnd,
  ): Promise<void>;
}

/** Why a run failed or was aborted, or that a finished run accepted only part of the pages of a sitemap or site. */
export interface RunEnd {
  readonly message: string;
  /** Null for a finished run. */
  readonly error: ItemCause | null;
}

/** Whether ALL_FILES_PROCESSED reports the end of a run: its kind is in IS_UPLOAD, and no scheduled sync started it. */
const hasEndEvent = ({ kind, parentRunId }: RunDoc): boolean => IS_UPLOAD[kind] && parentRunId === undefined;

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
      // The process that wrote the row starts it first. The sweeper finds rows of streams by their users.
      nextTryAt: run.held === true || stream ? NEVER : new Date(now.getTime() + GRACE_MS),
    };
  };
  return {
    nextId: (count = 1) => sequence.next('run', count),
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
      const otherRuns = { organizationId, userId, _id: { $ne: runId } };
      const now = new Date();
      await runs.updateMany(
        { ...otherRuns, startedAt: null },
        { $set: { startedAt: now, finishedAt: now, outcome: 'aborted', expiresAt: ledger.expiry() } },
      );
      return runs
        .find({ ...otherRuns, finishedAt: null })
        .limit(limit)
        .lean();
    },
    async deleteOthers({ organizationId, userId }, runId) {
      await runs.deleteMany({ organizationId, userId, _id: { $ne: runId }, finishedAt: { $ne: null } });
      await runs.updateMany({ organizationId, userId }, { $set: { request: {}, progress: {} } });
    },
    find: (runId) => runs.findById(runId).lean<Run | null>().exec(),
    findOf: ({ organizationId, userId }, runId) =>
      runs.findOne({ _id: runId, organizationId, userId }).lean<Run | null>().exec(),
    listUnstarted: (now, limit) =>
      runs
        .find({ startedAt: null, nextTryAt: { $lte: now } })
        .sort({ nextTryAt: 1 })
        .limit(limit)
        .lean()
        .exec(),
    async countUsersWithOpenRuns(organizationId) {
      const rows = await runs
        .aggregate([
          { $match: { organizationId, finishedAt: null } },
          { $limit: MAX_COUNTED },
          { $group: { _id: '$userId' } },
        ])
        .hint('usersAtWork');
      return rows.length;
    },
    async hasEarlierWaiting({ _id, fileId, workflowId, acceptedAt }) {
      if (fileId === null) return false;
      // Ids come from a block per process, so they do not show which run was accepted first.
      const earlier = { $or: [{ acceptedAt: { $lt: acceptedAt } }, { acceptedAt, _id: { $lt: _id } }] };
      return (await runs.exists({ fileId, workflowId, startedAt: null, ...earlier })) !== null;
    },
    listActiveStartedUntil: (startedUntil, limit, after = null) =>
      runs
        .find({ finishedAt: null, ...startedBetween(after, startedUntil) })
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
      const id = await sequence.next('run');
      const newRun = { ...workOf(run), workflowId, owner: run, fileId, requestId, cause, redone: redone + 1 };
      await atomically(async (session) => {
        const change = { $set: { finishedAt: new Date(), outcome: 'aborted' as const, expiresAt: ledger.expiry() } };
        const { modifiedCount } = await runs.updateOne({ _id, finishedAt: null }, change, { session });
        // Another worker may have ended the run already.
        if (modifiedCount === 0) return;
        await insertRows(runs, [newRow(id, dataSourceId ? { ...newRun, dataSourceId } : newRun, new Date())], session);
      });
      return true;
    },
    async finish(runId, outcome, counts, runEnd) {
      const activeRun = await runs.findOne({ _id: runId, finishedAt: null }).lean();
      if (!activeRun) return;
      const tally = await ledger.close(activeRun);
      await atomically(async (session) => {
        const { message = null, error = null } = runEnd ?? {};
        const end = { finishedAt: new Date(), outcome, counts, tally, message, error };
        const change = {
          $set: { ...end, ...stallsAtEnd(activeRun, end.finishedAt), expiresAt: ledger.expiry() },
          $unset: { closedTo: 1, pause: 1, stall: 1, lastError: 1 },
        };
        const run = await runs.findOneAndUpdate({ _id: runId, finishedAt: null }, change, { session }).lean();
        if (!run) return;
        const upload = { ...run, uploadId: run.uploadId ?? null };
        // A scheduled sync is reported once, as a whole, and only if it has synced files.
        const isScheduled = run.kind === 'autoSync' && (counts['synced'] ?? 0) > 0;
        if (isScheduled) await events.write([uploadEvent('ALL_UPLOADED_FILES_QUEUED', upload)], session);
        if (isScheduled || hasEndEvent(run)) await events.write([uploadEvent('ALL_FILES_PROCESSED', upload)], session);
      });
    },
  };
}
