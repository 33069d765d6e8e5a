/** OneDrive: the drives of a person. https://learn.microsoft.com/graph/api/resources/onedrive */
import type { Connector, OAuthGrant } from '../connector.js';
import { itemOfDrive } from './drives/adapter.js';
import { driveFeeds, placesOf, walkedThrough } from './drives/changes.js';
import { belowDrives, openFile } from './drives/driveSource.js';
import { joinFeeds } from './feeds.js';
import {
  appLimit,
  classify,
  identifyUser,
  microsoftConsent,
  type Query,
  takeAll,
  takePage,
  QUERY_CURSOR,
} from './graph.js';
import { bearer } from '../bearer.js';

const NAME = 'OneDrive';
const DRIVES = ['me', 'drives'];
const LISTED: Query = { $select: 'id,name,webUrl,createdDateTime,driveType' };
/** Drives of one person whose feeds are read. */
const MAX_DRIVES = 1_000;

export const oneDrive: Connector<OAuthGrant> = {
  about: {
    listed: 'drives, folders, files, also those shared from elsewhere where a drive shows them',
    ingested: 'each file; OneNote notebooks are not given out',
    unchangedBy: 'cTag, else eTag; what is shared from elsewhere is fetched again',
    limits:
      '1,000 drives; what is only "shared with me" is not listed; a drive that shows what lies elsewhere is listed whole, for its feed does not tell of that',
  },
  oauth: microsoftConsent(['Files.Read.All']),
  headers: bearer,
  classify,
  sharedLimit: appLimit,
  identify: (client) => identifyUser(client),

  async listRoots(client, cursor) {
    const query = cursor === null ? LISTED : QUERY_CURSOR.read(cursor);
    const { values, next } = await takePage(client, DRIVES, query);
    return {
      items: values.flatMap((drive) => itemOfDrive(drive) ?? []),
      next: QUERY_CURSOR.writeNext(next),
    };
  },

  listDescendants: (client, externalId, cursor) =>
    belowDrives(client, externalId, cursor, { name: NAME, defaultDrive: async () => ['me', 'drive'] }),

  open: (client, externalId) => openFile(client, externalId, NAME),

  changes: joinFeeds({
    ...driveFeeds,
    list: async (client) => placesOf(client, await takeAll(client, DRIVES, LISTED, { most: MAX_DRIVES })),
    begin: (client, place) => walkedThrough(client, place),
  }),
};
