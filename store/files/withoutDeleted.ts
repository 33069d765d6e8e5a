import { scheduleIds } from '../../contract/runs/workflowIds.js';
import type { Selections } from '../selections/selections.js';
import type { Tenant } from '../users/accept.js';

/** Fields of a file that a run is about to create. */
interface NewFile {
  readonly externalFileId: string;
  readonly dataSource?: { readonly _id: number };
  readonly parentId: number | null;
  readonly isScheduled?: boolean;
}

/** Returns the schedule whose syncs add the file; null if there is none. */
const scheduleOf = ({ dataSource, parentId }: NewFile): string | null => {
  if (dataSource) return scheduleIds.source(dataSource._id);
  return parentId === null ? null : scheduleIds.container(parentId);
};

/**
 * Filters the new files of one run. A scheduled sync skips files that a caller has deleted; a request adds them again.
 */
export async function withoutDeleted<T extends NewFile>(
  deleted: Pick<Selections, 'filterSkipped' | 'unskip'>,
  owner: Tenant,
  requests: readonly T[],
): Promise<readonly T[]> {
  const [firstRequest] = requests;
  const scheduleId = firstRequest ? scheduleOf(firstRequest) : null;
  if (!firstRequest || scheduleId === null) return requests;
  const ids = requests.map(({ externalFileId }) => externalFileId);
  if (firstRequest.isScheduled !== true) {
    await deleted.unskip(owner, scheduleId, ids);
    return requests;
  }
  const skippedIds = await deleted.filterSkipped(owner, scheduleId, ids);
  return requests.filter(({ externalFileId }) => !skippedIds.has(externalFileId));
}
