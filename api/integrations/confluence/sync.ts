import { syncFilesAt } from '../syncFiles.js';

/** POST /integrations/confluence/sync: /integrations/files/sync for Confluence only. */
export const syncConfluence = syncFilesAt({
  path: '/integrations/confluence/sync',
  operationId: 'confluence_sync_integrations_confluence_sync_post',
  tag: 'Integrations',
  summary: 'Syncs chosen pages of a connected Confluence.',
  description: [],
  type: 'CONFLUENCE',
});
