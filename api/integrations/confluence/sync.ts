import { syncFilesAt } from '../syncFiles.js';

/** POST /integrations/confluence/sync: /integrations/files/sync for Confluence only. */
export const syncConfluence = syncFilesAt({
  path: '/integrations/confluence/sync',
  summary: 'Syncs chosen pages of a connected Confluence.',
  type: 'CONFLUENCE',
});
