import type { Model, QueryFilter } from 'mongoose';

import type { RunCause } from '../../contract/runs/ledger.js';
import type { RunKind } from '../../contract/runs/runKinds.js';
import type { LedgerItemDoc } from '../models/ledger.js';
import { type RunDoc, PAUSED, currentPause } from '../models/runs.js';

/** The owner of runs: an organization, or one of its users. */
export interface RunScope {
  readonly organizationId: number;
  readonly userId?: number;
}

export const RUN_STATES = ['queued', 'running', 'paused', 'stalled', 'finished', 'failed', 'aborted'] as const;
export type RunState = (typeof RUN_STATES)[number];
/**
 * Returns the state of a run. A run is paused from its pause until it is resumed, and stalled while it has due work and
 * makes no progress.
 */
export const stateOfRun = (run: RunDoc): RunState => {
  const { startedAt, finishedAt, outcome } = run;
  if (finishedAt === null) {
    if (currentPause(run)) return 'paused';
    if (run.stall) return 'stalled';
    return startedAt === null ? 'queued' : 'running';
  }
  return outcome === 'finished' || outcome === 'failed' ? outcome : 'aborted';
};

/** Filter of runs; absent fields do not filter. */
export interface RunFilter {
  readonly customerIds?: readonly string[];
  readonly kinds?: readonly RunKind[];
  readonly states?: readonly RunState[];
  readonly causes?: readonly RunCause[];
  readonly dataSourceId?: number;
  /** Selects the runs that process this file or have it in their ledger. */
  readonly fileId?: number;
  readonly requestId?: string;
  readonly parentRunId?: number;
  readonly since?: Date;
  readonly until?: Date;
}

export interface RunList {
  /** Returns a page of runs, newest first. */
  list(
    scope: RunScope,
    filter: RunFilter,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<RunDoc[]>;
  count(scope: RunScope, filter: RunFilter): Promise<number>;
  /** Returns one run, if it is in the scope; otherwise null. */
  findInScope(scope: RunScope, runId: number): Promise<RunDoc | null>;
}

/** Fields that a list omits, because they may contain thousands of items. */
const OMITTED_FIELDS = { request: 0, progress: 0 } as const;
/** Maximum number of ledger entries read for the filter by file. */
const MAX_RUNS_OF_FILE = 10_000;

/** Query for runs without a pause, or with a resumed one that the workflow has not removed yet. */
const NOT_PAUSED = { $or: [{ 'pause.at': { $exists: false } }, { 'pause.resumedAt': { $ne: null } }] };

/** The query for each state of stateOfRun. */
const STATES: Readonly<Record<RunState, QueryFilter<RunDoc>>> = {
  queued: { finishedAt: null, startedAt: null, 'stall.since': { $exists: false } },
  running: {
    finishedAt: null,
    startedAt: { $ne: null },
    'stall.since': { $exists: false },
    ...NOT_PAUSED,
  },
  paused: PAUSED,
  stalled: { finishedAt: null, 'stall.since': { $exists: true }, ...NOT_PAUSED },
  finished: { outcome: 'finished' },
  failed: { outcome: 'failed' },
  aborted: { outcome: { $nin: [null, 'finished', 'failed'] } },
};

export function createRunList(
  runs: Model<RunDoc>,
  entries: Model<LedgerItemDoc>,
  runOfFile: (scope: RunScope, fileId: number) => Promise<number | null>,
): RunList {
  const scopeQuery = ({ organizationId, userId }: RunScope) => ({
    organizationId,
    ...(userId === undefined ? {} : { userId }),
  });
  const ofFile = async (scope: RunScope, fileId: number): Promise<QueryFilter<RunDoc>> => {
    const [ownRunId, entriesOfFile] = await Promise.all([
      runOfFile(scope, fileId),
      entries
        .find({ ...scopeQuery(scope), fileId }, { runId: 1 })
        .sort({ runId: -1 })
        .limit(MAX_RUNS_OF_FILE)
        .lean(),
    ]);
    const ids = [...(ownRunId === null ? [] : [ownRunId]), ...entriesOfFile.map(({ runId }) => runId)];
    return { $or: [{ fileId }, { _id: { $in: ids } }] };
  };
  const queryOf = async (scope: RunScope, filter: RunFilter): Promise<QueryFilter<RunDoc>> => {
    const { customerIds, kinds, states, causes, dataSourceId, fileId, requestId, parentRunId, since, until } = filter;
    const conditions: QueryFilter<RunDoc>[] = [scopeQuery(scope)];
    if (customerIds) conditions.push({ customerId: { $in: [...customerIds] } });
    if (kinds) conditions.push({ kind: { $in: [...kinds] } });
    if (states) conditions.push({ $or: states.map((state) => STATES[state]) });
    if (causes) conditions.push({ cause: { $in: [...causes] } });
    if (dataSourceId !== undefined) conditions.push({ dataSourceId });
    if (requestId !== undefined) conditions.push({ requestId });
    if (parentRunId !== undefined) conditions.push({ parentRunId });
    if (since) conditions.push({ acceptedAt: { $gte: since } });
    if (until) conditions.push({ acceptedAt: { $lt: until } });
    if (fileId !== undefined) conditions.push(await ofFile(scope, fileId));
    return { $and: conditions };
  };
  return {
    async list(scope, filter, { limit, offset }) {
      return runs
        .find(await queryOf(scope, filter), OMITTED_FIELDS)
        .sort({ acceptedAt: -1, _id: -1 })
        .skip(offset)
        .limit(limit)
        .lean<RunDoc[]>();
    },
    async count(scope, filter) {
      return runs.countDocuments(await queryOf(scope, filter)).exec();
    },
    findInScope: (scope, runId) =>
      runs
        .findOne({ ...scopeQuery(scope), _id: runId }, OMITTED_FIELDS)
        .lean<RunDoc | null>()
        .exec(),
  };
}
