import type { Model } from 'mongoose';

import type { RunKind } from '../../contract/runs/runKinds.js';
import type { RunStall } from '../../contract/runs/stalls.js';
import type { SourceType } from '../../contract/sources/sources.js';
import { FILE_SYNC_STATUSES, FINAL_FILE_STATUSES, type FileSyncStatus } from '../../contract/files/statuses.js';
import type { DataSourceDoc } from '../models/dataSources.js';
import type { FileDoc } from '../models/files.js';
import { type RunDoc, PAUSED, currentPause } from '../models/runs.js';
import { accountName } from './names.js';

/** A run that has not ended. */
export interface RunRow {
  readonly id: number;
  readonly kind: RunKind;
  readonly workflowId: string;
  readonly customerId: string;
  /** Name of the processed file or, if there is none, of the account of the data source; null if there is neither. */
  readonly about: string | null;
  readonly source: SourceType | null;
  /** Start time; for a run in the outbox, the time when it was accepted. */
  readonly startedAt: Date;
  /** Number of the run's files; 0 if the run has discovered none or does not process files. */
  readonly total: number;
  readonly ready: number;
  readonly failed: number;
  /** For a listing: items found so far. */
  readonly listed: number | null;
  /** The pause at the token limit; null if the run is not paused. */
  readonly pause: RunPauseState | null;
  /** Set while the run has due work and makes no progress; otherwise null. */
  readonly stall: RunStall | null;
}

export interface RunPauseState {
  readonly at: Date;
  readonly maxTokens: number;
  readonly tokensTaken: number;
  /** Tokens of the text that exceeded the limit. */
  readonly wanted: number;
}

export interface RunsOverview {
  /** The paused and the stalled runs, then the latest started ones. The limit applies to each of these groups. */
  readonly rows: readonly RunRow[];
  /** Number of started runs, counted up to MAX_RUNS_COUNTED. */
  readonly started: number;
  /** Number of runs that have not started yet, counted up to the same limit. */
  readonly waiting: number;
  /** Numbers of paused and of stalled runs, counted up to the same limit. */
  readonly paused: number;
  readonly stalled: number;
}

/** Maximum count. Larger counts are reported as this maximum. */
export const MAX_RUNS_COUNTED = 10_000;

const FIELDS = {
  ...({ kind: 1, workflowId: 1, customerId: 1, fileId: 1, dataSourceId: 1, startedAt: 1, acceptedAt: 1 } as const),
  ...({ 'progress.listed': 1, pause: 1, stall: 1, maxTokens: 1, tokensTaken: 1 } as const),
} as const;
type Row = Pick<
  RunDoc,
  | '_id'
  | 'kind'
  | 'workflowId'
  | 'customerId'
  | 'fileId'
  | 'dataSourceId'
  | 'pause'
  | 'stall'
  | 'maxTokens'
  | 'tokensTaken'
> & {
  readonly startedAt: Date | null;
  readonly acceptedAt: Date;
  readonly progress?: { readonly listed?: number };
};

function pauseOf({ pause, maxTokens, tokensTaken = 0 }: Row): RunPauseState | null {
  // All rows belong to active runs.
  const activePause = currentPause({ finishedAt: null, ...(pause && { pause }) });
  return activePause && { at: activePause.at, maxTokens: maxTokens ?? 0, tokensTaken, wanted: activePause.wanted };
}

/** Lists the active runs of one organization with their progress. */
export function createRunsOverview(runs: Model<RunDoc>, files: Model<FileDoc>, dataSources: Model<DataSourceDoc>) {
  /** Counts files from the run index only, without reading documents. */
  const progressOf = async (ids: readonly number[]) => {
    const rows = await files.aggregate<{ _id: { runId: number; status: FileSyncStatus }; count: number }>([
      { $match: { runId: { $in: [...ids] }, syncStatus: { $in: [...FILE_SYNC_STATUSES] } } },
      { $group: { _id: { runId: '$runId', status: '$syncStatus' }, count: { $sum: 1 } } },
    ]);
    const progress = new Map<number, { total: number; ready: number; failed: number }>();
    for (const { _id, count } of rows) {
      const counts = progress.get(_id.runId) ?? { total: 0, ready: 0, failed: 0 };
      const hasEnded = (FINAL_FILE_STATUSES as readonly FileSyncStatus[]).includes(_id.status);
      const isReadable = _id.status === 'READY' || _id.status === 'READY_TO_SYNC';
      progress.set(_id.runId, {
        total: counts.total + count,
        ready: counts.ready + (isReadable ? count : 0),
        failed: counts.failed + (hasEnded && !isReadable ? count : 0),
      });
    }
    return progress;
  };
  return async (organizationId: number, limit: number): Promise<RunsOverview> => {
    const activeQuery = { organizationId, finishedAt: null };
    const startedQuery = { ...activeQuery, startedAt: { $gt: new Date(0) } };
    const pausedQuery = { organizationId, ...PAUSED };
    const stalledQuery = { ...activeQuery, 'stall.since': { $exists: true } };
    const [pausedRows, stalledRows, latestRows, paused, stalled, started, waiting] = await Promise.all([
      runs.find(pausedQuery, FIELDS).sort({ 'pause.at': 1 }).hint('paused').limit(limit).lean<Row[]>(),
      runs.find(stalledQuery, FIELDS).sort({ 'stall.since': 1 }).hint('stalled').limit(limit).lean<Row[]>(),
      runs.find(startedQuery, FIELDS).sort({ startedAt: -1 }).limit(limit).lean<Row[]>(),
      runs.countDocuments(pausedQuery).hint('paused').limit(MAX_RUNS_COUNTED),
      runs.countDocuments(stalledQuery).hint('stalled').limit(MAX_RUNS_COUNTED),
      runs.countDocuments(startedQuery).limit(MAX_RUNS_COUNTED),
      runs.countDocuments({ ...activeQuery, startedAt: null }).limit(MAX_RUNS_COUNTED),
    ]);
    const rows = [...new Map([...pausedRows, ...stalledRows, ...latestRows].map((row) => [row._id, row])).values()];
    const [progress, about, sources] = await Promise.all([
      progressOf(rows.map(({ _id }) => _id)),
      files
        .find(
          { organizationId, _id: { $in: rows.flatMap(({ fileId }) => fileId ?? []) } },
          { name: 1, externalUrl: 1, externalFileId: 1, source: 1, isContainer: 1, runId: 1 },
        )
        .lean(),
      dataSources
        .find(
          { organizationId, _id: { $in: rows.flatMap(({ dataSourceId }) => dataSourceId ?? []) } },
          { type: 1, externalId: 1 },
        )
        .lean(),
    ]);
    return {
      ...{ started, waiting, paused, stalled },
      rows: rows.map((row) => {
        const { _id, kind, workflowId, customerId, fileId, dataSourceId, startedAt } = row;
        const file = about.find((candidate) => candidate._id === fileId);
        const source = sources.find((candidate) => candidate._id === dataSourceId);
        const { total = 0, ready = 0, failed = 0 } = progress.get(_id) ?? {};
        // The container is the run's own file, so it does not count as one of its files.
        const ownContainer = file?.isContainer === true && file.runId === _id ? 1 : 0;
        return {
          ...{ id: _id, kind, workflowId, customerId, ready, failed },
          startedAt: startedAt ?? row.acceptedAt,
          total: Math.max(0, total - ownContainer),
          about: file ? (file.name ?? file.externalUrl ?? file.externalFileId) : source ? accountName(source) : null,
          source: file?.source ?? source?.type ?? null,
          listed: row.progress?.listed ?? null,
          pause: pauseOf(row),
          stall: row.stall ?? null,
        };
      }),
    };
  };
}
