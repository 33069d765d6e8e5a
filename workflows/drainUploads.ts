import {
  ActivityFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import { UPLOADS_QUEUED_SIGNAL, type UploadStreamInput } from '../contract/runs/orchestration.js';
import { COMPUTE, STORE } from './activityOptions.js';

const { ingestUploads } = proxyActivities<Activities>(COMPUTE);
const { planUploads, failUploads, abortUploads } = proxyLocalActivities<Activities>(STORE);

const uploadsQueued = defineSignal(UPLOADS_QUEUED_SIGNAL);
const DEFECT =
  'The upload failed because of an internal error. See the log of the service for the cause. Resync to try again.';

/**
 * Ingests the uploads of one user in parallel batches until no run waits. The runs in the database are the queue. A
 * signal only reports that new runs exist, so a new execution can replace a terminated one. Temporal does not complete a
 * workflow that has an unhandled signal, so no run is missed at the end.
 */
export async function drainUploads(user: UploadStreamInput): Promise<void> {
  /** Whether runs were queued or a batch ended since the last plan. */
  let needsPlan = false as boolean;
  const activeBatches = new Set<readonly number[]>();
  setHandler(uploadsQueued, () => {
    needsPlan = true;
  });
  const ingest = async (runIds: readonly number[]): Promise<void> => {
    try {
      await ingestUploads({ ...user, runIds });
    } catch (error) {
      if (isCancellation(error)) return;
      if (!(error instanceof ActivityFailure)) throw error;
      await CancellationScope.nonCancellable(() => failUploads({ ...user, runIds, message: DEFECT }));
    } finally {
      activeBatches.delete(runIds);
      needsPlan = true;
    }
  };
  try {
    for (;;) {
      needsPlan = false;
      const { batches, window } = await planUploads({
        ...user,
        except: [...activeBatches].flat(),
        underWay: activeBatches.size,
      });
      for (const runIds of batches) {
        activeBatches.add(runIds);
        void ingest(runIds);
      }
      if (workflowInfo().continueAsNewSuggested) {
        await condition(() => activeBatches.size === 0);
        await condition(allHandlersFinished);
        return await continueAsNew<typeof drainUploads>(user);
      }
      if (activeBatches.size === 0 && !needsPlan) return;
      await condition(() => needsPlan && activeBatches.size < window);
    }
  } catch (error) {
    if (isCancellation(error)) {
      await CancellationScope.nonCancellable(async () => {
        await condition(() => activeBatches.size === 0);
        await abortUploads(user);
      });
    }
    throw error;
  }
}
