import type { ActivityDeps } from './deps.js';
import { createDeleteActivities } from './deleteFiles.js';
import { createCrawlActivities } from './followLinks.js';
import { createFeedActivities } from './discoverEntries.js';
import { createDeleteUserActivities } from './deleteUser.js';
import { createDiscoveryActivities } from './discoverPages.js';
import { createIngestActivities } from './ingestBatch.js';
import { createPlanActivities } from './planBatches.js';
import { createRecountActivities } from './recountFiles.js';
import { createRunActivities } from './runs.js';
import { createWebhookActivities } from './webhooks/deliverBatch.js';
import { createTagActivities } from './updateTags.js';

/** Every step that workflows may call, with its dependencies in place. */
export function createActivities(deps: ActivityDeps) {
  return {
    ...createRunActivities(deps),
    ...createDiscoveryActivities(deps),
    ...createCrawlActivities(deps),
    ...createFeedActivities(deps),
    ...createPlanActivities(deps),
    ...createIngestActivities(deps),
    ...createDeleteActivities(deps),
    ...createWebhookActivities(deps),
    ...createDeleteUserActivities(deps),
    ...createRecountActivities(deps),
    ...createTagActivities(deps),
  };
}

export type Activities = ReturnType<typeof createActivities>;
