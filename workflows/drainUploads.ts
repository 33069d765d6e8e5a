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
  let hasNews = false as boolean;
  const underWay = new Set<readonly number[]>();
  setHandler(uploadsQueued, () => {
    hasNews = true;
  });
  const ingest = async (runIds: readonly number[]): Promise<void> => {
    try {
      await ingestUploads({ ...user, runIds });
    } catch (error) {
      if (isCancellation(error)) return;
      if (!(error instanceof ActivityFailure)) throw error;
      await CancellationScope.nonCancellable(() => failUploads({ ...user, runIds, message: DEFECT }));
    } finally {
      underWay.delete(runIds);
      hasNews = true;
    }
  };
  try {
    for (;;) {
      hasNews = false;
      const { batches, window } = await planUploads({
        ...user,
        except: [...underWay].flat(),
        underWay: underWay.size,
      });
      for (const runIds of batches) {
        underWay.add(runIds);
        void ingest(runIds);
      }
      if (workflowInfo().continueAsNewSuggested) {
        await condition(() => underWay.size === 0);
        await condition(allHandlersFinished);
        return await continueAsNew<typeof drainUploads>(user);
      }
      if (underWay.size === 0 && !hasNews) return;
      await condition(() => hasNews && underWay.size < window);
    }
  } catch (error) {
    if (isCancellation(error)) {
      await CancellationScope.nonCancellable(async () => {
        await condition(() => underWay.size === 0);
        await abortUploads(user);
      });
    }
    throw error;
  }
}
