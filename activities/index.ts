import { createAutoSyncActivities } from './runs/autoSync.js';
import { createBatchRunner } from './ingest/batchRunner.js';
import { createConnectActivities } from './connected/connect.js';
import { createItemActivities } from './connected/listItems.js';
import { createQueueActivities } from './connected/queueItems.js';
import type { ActivityDeps } from './deps.js';
import { createDeleteActivities } from './delete/deleteFiles.js';
import { createCrawlActivities } from './discover/followLinks.js';
import { createFeedActivities } from './discover/discoverEntries.js';
import { createDeleteUserActivities } from './delete/deleteUser.js';
import { createGonePagesActivities } from './discover/deleteGonePages.js';
import { createDiscoveryActivities } from './discover/discoverPages.js';
import { createIngestActivities } from './ingest/ingestBatch.js';
import { createMoveActivities } from './coldStorage/moveStorage.js';
import { createPauseActivities } from './runs/pauses.js';
import { createPlanActivities } from './ingest/planBatches.js';
import { createQuarantineActivities } from './quarantine/settleQuarantine.js';
import { createRecognizeActivities } from './ingest/recognize.js';
import { createRecountActivities } from './runs/recountFiles.js';
import { createReembedPlan } from './reembed/planReembed.js';
import { createReembedBatch } from './reembed/reembedBatch.js';
import { createRunActivities } from './runs/runs.js';
import { createWebhookActivities } from './webhooks/deliverBatch.js';
import { createTranscribeActivities } from './ingest/transcribe.js';
import { createTagActivities } from './runs/updateTags.js';
import { createUploadActivities } from './ingest/uploadStream.js';

/** Creates all activities that workflows may call. */
export function createActivities(deps: ActivityDeps) {
  const runner = createBatchRunner(deps);
  return {
    ...createRunActivities(deps),
    ...createDiscoveryActivities(deps),
    ...createGonePagesActivities(deps),
    ...createCrawlActivities(deps),
    ...createFeedActivities(deps),
    ...createConnectActivities(deps),
    ...createItemActivities(deps),
    ...createQueueActivities(deps),
    ...createPlanActivities(deps),
    ...createPauseActivities(deps),
    ...createIngestActivities(deps, runner),
    ...createUploadActivities(deps, runner),
    ...createTranscribeActivities(deps),
    ...createRecognizeActivities(deps),
    ...createDeleteActivities(deps),
    ...createWebhookActivities(deps),
    ...createDeleteUserActivities(deps),
    ...createRecountActivities(deps),
    ...createTagActivities(deps),
    ...createReembedPlan(deps),
    ...createReembedBatch(deps),
    ...createMoveActivities(deps),
    ...createQuarantineActivities(deps),
    ...createAutoSyncActivities(deps),
  };
}

export type Activities = ReturnType<typeof createActivities>;
