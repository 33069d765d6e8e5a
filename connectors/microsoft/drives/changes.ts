import type { SourceClient } from '../../accountClient.js';
import type { Change } from '../../sourceItem.js';
import type { FeedPlace, Feeds, ListedPlace } from '../feeds.js';
import { type GraphPage, fetchPage } from '../graph.js';
import { isDeleted, isId, isRoot, itemId, itemOf, itemOfDrive, remoteOf } from './adapter.js';
import { LISTED, rootIdOf } from './listDrive.js';
import { asText, type Json } from '../../json.js';

const feedOf = (drive: string): readonly string[] => ['drives', drive, 'root', 'delta'];

function changeOf(value: Json, { id: drive, root: rootId }: FeedPlace): Change[] {
  const id = asText(value['id']);
  if (id === null || !isId(id) || isRoot(value)) return [];
  if (isDeleted(value)) return [{ gone: itemId(drive, id) }];
  const item = itemOf(value, { drive, rootId, root: drive, parent: null });
  return item === null ? [] : [{ item }];
}

/** Converts the drives in an answer to places with a feed. */
export async function placesOf(client: SourceClient, drives: readonly Json[]): Promise<readonly ListedPlace[]> {
  const places: ListedPlace[] = [];
  for (const drive of drives) {
    const item = itemOfDrive(drive);
    if (item === null) continue;
    const id = item.externalId;
    places.push({ id, root: (await rootIdOf(client, id)) ?? '', item });
  }
  return places;
}

/** Returns the current cursor of a drive's feed, without reading its items. */
export const latest = (client: SourceClient, { id }: FeedPlace): Promise<GraphPage> =>
  fetchPage(client, feedOf(id), { ...LISTED, token: 'latest' });

/**
 * Whether an item is a link to an item of another drive. Changes of that item are only in the feed of the other drive,
 * which a user cannot read with access to that item alone. A deletion has the id of the link, but the item is stored
 * with the id of its target.
 */
const isShared = (value: Json): boolean => remoteOf(value) !== null;

export const driveFeeds: Pick<Feeds, 'page' | 'changes' | 'externalIdOf' | 'omitsChanges'> = {
  page: (client, { id }, query) => fetchPage(client, feedOf(id), query ?? LISTED),
  changes: async (_client, { values }, place) => values.flatMap((value) => changeOf(value, place)),
  externalIdOf: ({ id }) => id,
  omitsChanges: ({ values }) => values.some(isShared),
};
