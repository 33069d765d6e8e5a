import { scheduleIds } from '../../../contract/runs/workflowIds.js';
import { canAutoSync } from '../../../contract/sources/connectedSources.js';
import type { DataSourceDoc } from '../../../store/models/dataSources.js';
import type { RunDoc } from '../../../store/models/runs.js';
import type { ApiDeps } from '../../http/deps.js';
import { type Finding, ok, warn } from './check.js';

const presentLastSync = ({ _id, startedAt, finishedAt, outcome, counts }: RunDoc) => ({
  run_id: _id,
  started_at: startedAt?.toISOString() ?? null,
  finished_at: finishedAt?.toISOString() ?? null,
  outcome,
  counts,
});

/** Checks automatic sync: the settings, the schedule in Temporal, and the last run. */
export async function schedule(
  source: DataSourceDoc,
  { store, schedules }: Pick<ApiDeps, 'store' | 'schedules'>,
): Promise<Finding> {
  const { _id: dataSourceId, organizationId, userId, customerId, type, enableAutoSync } = source;
  const scheduleId = scheduleIds.source(dataSourceId);
  if (!canAutoSync(type)) return ok('Data sources of this type do not support automatic sync.', { auto_sync: 'off' });
  const unmarked = { version: 0, marked: false, claimedUntil: null, applied: null };
  const [desired, [lastSync]] = await Promise.all([
    store.schedules.desiredState({
      ...{ _id: scheduleId, organizationId, userId, customerId, dataSourceId, fileId: null },
      ...unmarked,
    }),
    store.runHistory.listOfSource(dataSourceId, 1, 'autoSync'),
  ]);
  const hours = 'hours' in desired ? desired.hours : null;
  const details = {
    auto_sync: desired.state,
    enabled_on_record: enableAutoSync,
    interval_hours: hours,
    next_run_at: null as string | null,
    last_pass: lastSync ? presentLastSync(lastSync) : null,
  };
  if (desired.state === 'off' || desired.state === 'gone')
    return ok('Automatic sync was not requested (POST /update_users, /organization/update).', details);
  if (desired.state === 'paused')
    return warn(
      'The data source is not synced automatically while its access is revoked.',
      'Connect the account again.',
      details,
    );
  const scheduleState = await schedules.stateOf(scheduleId).catch(() => 'unreachable' as const);
  if (scheduleState === 'unreachable')
    return warn('Temporal does not answer.', 'The operator must check GET /ready, then Temporal.', details);
  if (scheduleState === null)
    return warn(
      'Temporal has no schedule for the data source yet.',
      'Wait a few seconds. If the problem persists, no worker is running: the operator must check GET /ready.',
      details,
    );
  if (scheduleState.isPaused)
    return warn(
      'The schedule of the data source was paused in Temporal.',
      `The operator must unpause the schedule ${scheduleId} there.`,
      details,
    );
  const scheduleDetails = { ...details, next_run_at: scheduleState.nextAt?.toISOString() ?? null };
  const failedParts = lastSync?.counts['failed'] ?? 0;
  if (lastSync?.finishedAt && (lastSync.outcome !== 'finished' || failedParts > 0))
    return warn(
      `The last sync of the data source ${lastSync.outcome === 'finished' ? `was incomplete: ${failedParts} of its runs (the listing of the account, the sync of each selection or feed) did not succeed` : `ended ${lastSync.outcome}`}.`,
      'See last_failures; the next sync retries them.',
      scheduleDetails,
    );
  return ok(`The data source is synced automatically every ${hours} hours.`, scheduleDetails);
}
