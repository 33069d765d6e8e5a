/** OneDrive: the drives of a user. https://learn.microsoft.com/graph/api/resources/onedrive */
import { withRootsCursor } from '../cursors.js';
import type { Connector } from '../connector.js';
import type { OAuthGrant } from '../oauthSpec.js';
import type { SourceClient } from '../accountClient.js';
import { itemOfDrive } from './drives/adapter.js';
import { driveFeeds, placesOf } from './drives/changes.js';
import { listDriveDescendants, openFile } from './drives/driveSource.js';
import { joinFeeds } from './feeds.js';
import { appLimit, classify, identifyUser, microsoftOAuth, type Query, fetchAll, fetchPage, isQuery } from './graph.js';
import { bearer } from '../bearer.js';

const NAME = 'OneDrive';
const DRIVES = ['me', 'drives'];
const LISTED: Query = { $select: 'id,name,webUrl,createdDateTime,driveType' };
/** Maximum number of drives of one user. */
const MAX_DRIVES = 1_000;

export const oneDrive: Connector<OAuthGrant> = {
  about: {
    listed: 'drives, folders and files, including shared ones that a drive contains',
    ingested: 'each file; no OneNote notebooks',
    unchangedBy:
      'the hash of the content, or time of change and size if there is no hash; files shared from other drives are fetched again',
    limits:
      '1,000 drives; items that are only "shared with me" are not listed; ' +
      'links to folders of other drives cause a complete listing in each sync, because the feed omits their changes',
  },
  oauth: microsoftOAuth(['Files.Read.All']),
  headers: bearer,
  classify,
  sharedLimit: appLimit,
  identify: identifyUser,

  listRoots: withRootsCursor(isQuery, async (client: SourceClient, query) => {
    const { values, next } = await fetchPage(client, DRIVES, query ?? LISTED);
    return { items: values.flatMap((drive) => itemOfDrive(drive) ?? []), next };
  }),

  listDescendants: (client, externalId, cursor) =>
    listDriveDescendants(client, { externalId, name: NAME, defaultDrive: async () => ['me', 'drive'] }, cursor),

  open: (client, externalId) => openFile(client, externalId, NAME),

  // The first cursor is created by reading the feed of each drive from its beginning: only that shows whether the drive
  // contains links to folders of other users, whose changes the feed does not report.
  changes: joinFeeds({
    ...driveFeeds,
    list: async (client) => placesOf(client, await fetchAll(client, DRIVES, LISTED, { maxEntries: MAX_DRIVES })),
  }),
};
