import { randomUUID } from 'node:crypto';

import type { RunCause } from '../../contract/runs/ledger.js';
import { CONTAINER_WORKFLOW_IDS, workflowIds } from '../../contract/runs/workflowIds.js';
import type { Store } from '../../store/connect.js';
import type { SyncAgain } from '../../store/files/accept.js';
import { containerWork } from '../../contract/runs/containerWork.js';
import type { FileDoc } from '../../store/models/files.js';
import { isContentDeleted } from '../../store/files/retry.js';
import { HttpError, notFound } from '../http/errors.js';
import type { UserCaller } from '../http/operation.js';
import type { UnitOfWork } from '../http/unitOfWork.js';
import { busy, refuseBusy } from './refuseBusy.js';

interface ResyncDeps {
  readonly store: Pick<Store, 'runs' | 'files' | 'originals' | 'schedules'>;
  readonly unit: Pick<UnitOfWork, 'transaction'>;
}

export interface Resync {
  /** @throws HttpError if the file does not support the requested change */
  optionsOf(file: FileDoc): FileDoc['options'];
  readonly change?: SyncAgain['change'];
  /** What started the run. Absent: `resync`, a request to sync this file again. */
  readonly cause?: RunCause;
}

/** @throws HttpError 409 for an upload whose content was deleted */
function refuseEmptied(file: FileDoc): void {
  if (isContentDeleted(file))
    throw new HttpError(409, 'The content of this upload was deleted. Upload it again as a new file.');
}

/**
 * Accepts a new sync of a finished file; for a scrape's parent, the scrape runs again. The run is in the outbox once
 * this resolves.
 * @throws HttpError 404, 409
 */
export async function queueResync(
  { store, unit }: ResyncDeps,
  caller: UserCaller,
  fileId: number,
  { optionsOf, change = {}, cause = 'resync' }: Resync,
): Promise<{ readonly runId: number; readonly file: FileDoc }> {
  const runId = await store.runs.nextId();
  const requestId = randomUUID();
  const file = await unit.transaction(async (session) => {
    const [storedFile] = await store.files.byIds(caller, [fileId]);
    if (!storedFile) throw notFound('file');
    refuseBusy(storedFile);
    refuseEmptied(storedFile);
    const options = optionsOf(storedFile);
    const work = storedFile.isContainer ? containerWork(storedFile, options) : ({ kind: 'resyncFile' } as const);
    const idOf = work.kind === 'resyncFile' ? workflowIds.resync : CONTAINER_WORKFLOW_IDS[work.kind];
    const workflowId = idOf(storedFile._id);
    const queued = await store.files.queueAgain(
      caller,
      storedFile,
      { options, runId, workflowId, requestId, change },
      session,
    );
    if (!queued) throw busy();
    if (storedFile.callerChunks && change.callerChunks === null)
      await store.originals.release({ ...caller, fileId: storedFile._id }, storedFile.callerChunks.id, session);
    if (storedFile.isContainer)
      await store.schedules.markContainer(caller, storedFile._id, storedFile.enableAutoSync === true, session);
    await store.runs.accept(
      runId,
      {
        ...work,
        cause,
        workflowId,
        owner: caller,
        fileId: storedFile._id,
        ...(storedFile.dataSourceId !== null && { dataSourceId: storedFile.dataSourceId }),
        requestId,
      },
      session,
    );
    return queued;
  });
  return { runId, file };
}
