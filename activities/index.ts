import { createPassActivities } from './autoSync.js';
import { createBatchRunner } from './batchRunner.js';
import { createConnectActivities } from './connected/connect.js';
import { createItemActivities } from './connected/listItems.js';
import { createQueueActivities } from './connected/queueItems.js';
import type { ActivityDeps } from './deps.js';
import { createDeleteActivities } from './deleteFiles.js';
import { createCrawlActivities } from './followLinks.js';
import { createFeedActivities } from './discoverEntries.js';
import { createDeleteUserActivities } from './deleteUser.js';
import { createGonePagesActivities } from './dropGonePages.js';
import { createDiscoveryActivities } from './discoverPages.js';
import { createIngestActivities } from './ingestBatch.js';
import { keepLastCause } from './lastCause.js';
import { createMoveActivities } from './moveStorage.js';
import { createPauseActivities } from './pauses.js';
import { createPlanActivities } from './planBatches.js';
import { createQuarantineActivities } from './quarantine/settleQuarantine.js';
import { createRecognizeActivities } from './recognize.js';
import { createRecountActivities } from './recountFiles.js';
import { createReembedPlan } from './reembed/planReembed.js';
import { createReembedBatch } from './reembed/reembedBatch.js';
import { createRunActivities } from './runs.js';
import { createWebhookActivities } from './webhooks/deliverBatch.js';
import { createTranscribeActivities } from './transcribe.js';
import { createTagActivities } from './updateTags.js';
import { createUploadActivities } from './uploadStream.js';

/** Every step that workflows may call, with its dependencies in place. */
export function createActivities(deps: ActivityDeps) {
  const runner = createBatchRunner(deps);
  return {
    ...createRunActivities(deps),
    ...keepLastCause(createDiscoveryActivities(deps), deps),
    ...createGonePagesActivities(deps),
    ...keepLastCause(createCrawlActivities(deps), deps),
    ...keepLastCause(createFeedActivities(deps), deps),
    ...createConnectActivities(deps),
    ...keepLastCause(createItemActivities(deps), deps),
    ...keepLastCause(createQueueActivities(deps), deps),
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
    ...createPassActivities(deps),
  };
}

export type Activities = ReturnType<typeof createActivities>;
