import type { Change, ChangeFeed, OAuthGrant, SourceClient } from '../../connector.js';
import { type FeedPlace, joinFeeds } from '../feeds.js';
import { type Json, takePage, textOf } from '../graph.js';
import { isDeleted, isId, isRoot, itemId, itemOf } from './adapter.js';
import { LISTED, rootIdOf } from './listDrive.js';

const feedOf = (drive: string): readonly string[] => ['drives', drive, 'root', 'delta'];

function changeOf(value: Json, { id: drive, root: rootId }: FeedPlace): Change[] {
  const id = textOf(value['id']);
  if (id === null || !isId(id) || isRoot(value)) return [];
  if (isDeleted(value)) return [{ gone: itemId(drive, id) }];
  const item = itemOf(value, { drive, rootId, root: drive, parent: null });
  return item === null ? [] : [{ item }];
}

/**
 * The feeds of all drives. What changes within folders that are shared from elsewhere is not in them.
 * @param listDrives the ids of all drives
 */
export const driveChanges = (
  listDrives: (client: SourceClient, grant: OAuthGrant, signal: AbortSignal) => Promise<readonly string[]>,
): ChangeFeed<OAuthGrant> =>
  joinFeeds({
    async list(client, grant, signal) {
      const places: FeedPlace[] = [];
      for (const id of await listDrives(client, grant, signal))
        places.push({ id, root: (await rootIdOf(client, id, signal)) ?? '' });
      return places;
    },
    begin: async (client, { id }, signal) =>
      (await takePage(client, feedOf(id), { ...LISTED, token: 'latest' }, signal)).delta,
    page: (client, { id }, query, signal) => takePage(client, feedOf(id), query ?? LISTED, signal),
    changes: async (_client, { values }, place) => values.flatMap((value) => changeOf(value, place)),
    externalIdOf: ({ id }) => id,
  });
