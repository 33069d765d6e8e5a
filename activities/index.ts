import type { ActivityDeps } from './deps.js';
import { createDeleteActivities } from './deleteFiles.js';
import { createDiscoveryActivities } from './discoverPages.js';
import { createIngestActivities } from './ingestBatch.js';
import { createPlanActivities } from './planBatches.js';
import { createRunActivities } from './runs.js';
import { createWebhookActivities } from './webhooks/deliverBatch.js';

/** Every step that workflows may call, with its dependencies in place. */
export function createActivities(deps: ActivityDeps) {
  return {
    ...createRunActivities(deps),
    ...createDiscoveryActivities(deps),
    ...createPlanActivities(deps),
    ...createIngestActivities(deps),
    ...createDeleteActivities(deps),
    ...createWebhookActivities(deps),
  };
}

export type Activities = ReturnType<typeof createActivities>;
