import { AFTER_SELECTION, SELECTION_ACCEPTED } from '../syncSelection.js';
import { syncFilesAt } from '../syncFiles.js';

/** POST /integrations/confluence/sync: /integrations/files/sync for Confluence only. */
export const syncConfluence = syncFilesAt({
  path: '/integrations/confluence/sync',
  operationId: 'confluence_sync_integrations_confluence_sync_post',
  tag: 'Integrations',
  summary: 'Sync selected pages of a connected Confluence account',
  description: [
    `Works like \`POST /integrations/files/sync\`, for a data source of Confluence only; another kind returns 404. An item is synced with all its descendants: a space with its pages and blog posts, a page with the pages below it.

${AFTER_SELECTION}`,
  ],
  returns: SELECTION_ACCEPTED,
  type: 'CONFLUENCE',
});
