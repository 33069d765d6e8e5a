import { syncFilesAt } from '../syncFiles.js';

/** POST /integrations/confluence/sync: what /integrations/files/sync does, for Confluence alone. */
export const syncConfluence = syncFilesAt({
  path: '/integrations/confluence/sync',
  summary: 'Syncs chosen pages of a connected Confluence.',
  type: 'CONFLUENCE',
});
