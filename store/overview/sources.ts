import type { Model } from 'mongoose';

import type { SourceType } from '../../contract/sources/sources.js';
import type { DataSourceSyncStatus } from '../../contract/files/statuses.js';
import { scheduleIds } from '../../contract/runs/workflowIds.js';
import { listingWorkflow } from '../dataSources/listings.js';
import type { DataSourceDoc } from '../models/dataSources.js';
import type { ScheduleDoc } from '../models/schedules.js';
import { accountName } from './names.js';

/** State of a data source, for operators. */
export const SOURCE_STATES = ['revoked', 'failed', 'held', 'syncing', 'ready'] as const;
export type SourceState = (typeof SOURCE_STATES)[number];

export interface SourceRow {
  readonly id: number;
  readonly type: SourceType;
  readonly customerId: string;
  /** The account name at the source; null if the source has none. */
  readonly account: string | null;
  readonly state: SourceState;
  /** The problem that needs an action. */
  readonly why: string | null;
  readonly syncStatus: DataSourceSyncStatus;
  /** Id of the workflow that lists the items; null before the first listing. */
  readonly workflowId: string | null;
  readonly filesSyncedAt: Date | null;
  readonly itemsSyncedAt: Date | null;
  /** Text form of the schedule that was last sent to Temporal; null if there is none. */
  readonly scheduled: string | null;
}

export interface SourcesOverview {
  readonly counts: Readonly<Record<SourceState, number>>;
  /** In the order of SOURCE_STATES; within a state, the last changed first. */
  readonly rows: readonly SourceRow[];
}

const FIELDS = {
  ...({ type: 1, customerId: 1, externalId: 1, syncStatus: 1, revokedAccess: 1, filesSyncedAt: 1 } as const),
  ...({ sourceItemsSyncedAt: 1, itemsRunId: 1, updatedAt: 1, metadata: 1 } as const),
};
type Row = Pick<DataSourceDoc, '_id' | keyof typeof FIELDS>;

function stateOf({ revokedAccess, syncStatus, metadata }: Row): SourceState {
  if (revokedAccess) return 'revoked';
  if (syncStatus === 'SYNC_ERROR') return 'failed';
  if (syncStatus !== 'READY') return 'syncing';
  return Number(metadata['deletions_held'] ?? 0) > 0 ? 'held' : 'ready';
}

function whyOf({ metadata }: Row, state: SourceState): string | null {
  const text = (name: string): string | null => (typeof metadata[name] === 'string' ? metadata[name] : null);
  if (state === 'revoked') return 'Access was revoked. Connect the account again.';
  if (state === 'failed') return text('items_error') ?? text('files_error');
  // The listing succeeded or is in progress, but the last sync of the files may have failed.
  if (state !== 'held') return text('files_error');
  return `${Number(metadata['deletions_held'])} files are missing at the source. Approve their deletion, or refuse it.`;
}

/** Lists data sources of one organization, for operators. */
export function createSourcesOverview(dataSources: Model<DataSourceDoc>, schedules: Model<ScheduleDoc>) {
  const HELD = { 'metadata.deletions_held': { $gt: 0 } };
  /** Queries for the data sources that are listed first. Each has its own index. */
  const firstFilters = (organizationId: number) => [
    { organizationId, revokedAccess: true },
    { organizationId, revokedAccess: false, syncStatus: 'SYNC_ERROR' as const },
    { organizationId, ...HELD },
    { organizationId, revokedAccess: false, syncStatus: { $in: ['SYNCING', 'QUEUED_FOR_SYNCING'] as const } },
  ];
  return async (organizationId: number, limit: number): Promise<SourcesOverview> => {
    const latest = (query: object) =>
      dataSources.find(query, FIELDS).sort({ updatedAt: -1, _id: -1 }).limit(limit).lean();
    const [groups, held, ...found] = await Promise.all([
      dataSources.aggregate<{ _id: { revoked: boolean; status: DataSourceSyncStatus }; count: number }>([
        { $match: { organizationId, revokedAccess: { $in: [true, false] } } },
        { $group: { _id: { revoked: '$revokedAccess', status: '$syncStatus' }, count: { $sum: 1 } } },
      ]),
      dataSources.countDocuments({ organizationId, revokedAccess: false, syncStatus: 'READY', ...HELD }),
      ...firstFilters(organizationId).map(latest),
      latest({ organizationId }),
    ]);
    const rows = new Map(found.flat().map((row) => [row._id, row]));
    const ordered = [...rows.values()]
      .map((row) => ({ row, state: stateOf(row) }))
      .toSorted(
        (a, b) =>
          SOURCE_STATES.indexOf(a.state) - SOURCE_STATES.indexOf(b.state) ||
          b.row.updatedAt.getTime() - a.row.updatedAt.getTime(),
      )
      .slice(0, limit);
    const ids = ordered.map(({ row }) => scheduleIds.source(row._id));
    const scheduled = new Map(
      (await schedules.find({ _id: { $in: ids } }, { applied: 1 }).lean()).map(({ _id, applied }) => [_id, applied]),
    );
    const countOf = (matches: (group: (typeof groups)[number]['_id']) => boolean): number =>
      groups.reduce((sum, { _id, count }) => sum + (matches(_id) ? count : 0), 0);
    return {
      counts: {
        revoked: countOf(({ revoked }) => revoked),
        failed: countOf(({ revoked, status }) => !revoked && status === 'SYNC_ERROR'),
        held,
        syncing: countOf(({ revoked, status }) => !revoked && status.endsWith('SYNCING')),
        ready: countOf(({ revoked, status }) => !revoked && status === 'READY') - held,
      },
      rows: ordered.map(({ row, state }) => ({
        ...{ id: row._id, type: row.type, customerId: row.customerId, state, why: whyOf(row, state) },
        account: accountName(row),
        ...{ syncStatus: row.syncStatus, workflowId: listingWorkflow(row) },
        ...{ filesSyncedAt: row.filesSyncedAt, itemsSyncedAt: row.sourceItemsSyncedAt },
        scheduled: scheduled.get(scheduleIds.source(row._id)) ?? null,
      })),
    };
  };
}
