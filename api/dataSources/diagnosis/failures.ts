import { REMEDIES } from '../../../contract/runs/ledger.js';
import type { WorkflowLink } from '../../../contract/runs/temporalLinks.js';
import type { DataSourceDoc } from '../../../store/models/dataSources.js';
import { MAX_FAILURES_COUNTED } from '../../../store/files/failures.js';
import type { RunDoc } from '../../../store/models/runs.js';
import type { ApiDeps } from '../../http/deps.js';
import { bad, type Finding, ok, warn } from './check.js';

const MAX_CAUSES = 10;
const MAX_RUNS = 5;

const presentRun = ({ _id, kind, requestId, ...run }: RunDoc, workflowLink: WorkflowLink) => ({
  run_id: _id,
  kind,
  request_id: requestId,
  accepted_at: run.acceptedAt.toISOString(),
  started_at: run.startedAt?.toISOString() ?? null,
  finished_at: run.finishedAt?.toISOString() ?? null,
  outcome: run.outcome,
  counts: run.counts,
  ...workflowLink(run.workflowId),
});

/** Returns failed files by cause, and the results of the last runs. */
export async function lastFailures(
  source: DataSourceDoc,
  { store, workflowLink }: Pick<ApiDeps, 'store' | 'workflowLink'>,
): Promise<Finding> {
  const { _id: dataSourceId, organizationId, metadata, syncStatus } = source;
  const [groups, runs] = await Promise.all([
    store.files.byCause({ organizationId, dataSourceId }, MAX_CAUSES),
    store.runHistory.listOfSource(dataSourceId, MAX_RUNS),
  ]);
  const failed = groups.reduce((sum, { files }) => sum + files, 0);
  const textOf = (name: string): string | null => (typeof metadata[name] === 'string' ? metadata[name] : null);
  const [itemsError, filesError] = [textOf('items_error'), textOf('files_error')];
  const held = Number(metadata['deletions_held'] ?? 0);
  const details = {
    failed_files: failed,
    causes: groups.map(({ cause, files, latest: { _id, syncErrorMessage, workflowId, updatedAt } }) => ({
      ...{ cause, remedy: cause && REMEDIES[cause], sentence: syncErrorMessage ?? '', files },
      ...{ example_file_id: _id, latest_at: updatedAt.toISOString() },
      ...workflowLink(workflowId),
    })),
    items_error: itemsError,
    files_error: filesError,
    deletions_held: held,
    runs: runs.map((run) => presentRun(run, workflowLink)),
  };
  if (syncStatus === 'SYNC_ERROR')
    return bad(
      `The last listing of the account failed: ${itemsError ?? filesError ?? 'no cause was recorded.'}`,
      'Fix the cause, then POST /integrations/items/sync.',
      details,
    );
  if (filesError !== null)
    return warn(`The last sync of files failed: ${filesError}`, 'Fix the cause, then sync them again.', details);
  if (held > 0)
    return warn(
      `${held} files are missing at the source; they are kept until you decide, because their number is suspiciously large.`,
      `Check the account at its source, then call POST /data_sources/${dataSourceId}/held_deletions/approve or …/refuse.`,
      details,
    );
  const [largest] = groups;
  if (largest) {
    // Larger groups are counted up to the maximum, and only the largest groups are read.
    const isMore = groups.length === MAX_CAUSES || largest.files >= MAX_FAILURES_COUNTED;
    const which = `${isMore ? 'At least ' : ''}${failed === 1 ? '1 file' : `${failed} files`} failed`;
    const share = groups.length === 1 ? '' : `, ${largest.files} of them`;
    return warn(
      `${which}${share} because: ${largest.latest.syncErrorMessage ?? 'no cause was recorded.'}`,
      'Fix each cause, then call POST /resync_file, or sync the files again.',
      details,
    );
  }
  return ok('No file of this data source has failed.', details);
}
