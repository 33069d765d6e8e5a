import { Fault } from '../../../contract/failures.js';
import type { SourceClient } from '../../accountClient.js';
import type { Change } from '../../sourceItem.js';
import { type FeedPlace, joinFeeds } from '../feeds.js';
import { folderItemId, isMailId, itemOfFolder, itemOfMessage, MESSAGE_FIELDS } from './adapter.js';
import { allFolders } from './folders.js';
import { feedPage, isRemoved, readMessage, withAttachments } from './messages.js';
import { asText, type Json } from '../../json.js';

/**
 * Returns the change of a message that a folder no longer contains. The message may have been moved, and the feed of
 * its new folder may already have been read. It counts as deleted if it does not exist or is in Deleted Items.
 */
async function changeOfRemoved(
  client: SourceClient,
  id: string,
  places: ReadonlyMap<string, FeedPlace>,
): Promise<Change> {
  let message: Json;
  try {
    message = await readMessage(client, id, MESSAGE_FIELDS);
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not_found') return { gone: id };
    throw error;
  }
  const place = places.get(asText(message['parentFolderId']) ?? '');
  const item = place === undefined ? null : itemOfMessage(message, place.root);
  return item === null ? { gone: id } : { item };
}

/**
 * The feeds of all folders of a mailbox. Outlook returns the current cursor of a folder only at the end of a complete
 * listing: Graph documents `$deltatoken=latest` for directory objects and drives, not for messages.
 * https://learn.microsoft.com/graph/delta-query-overview#optional-request-parameters
 */
export const mailChanges = joinFeeds({
  list: async (client) =>
    (await allFolders(client)).map((folder) => ({
      id: folder.id,
      root: folder.root,
      // The item does not contain the number of messages, so a new message does not change it.
      item: itemOfFolder(folder),
    })),
  page: (client, { id }, query) => feedPage(client, id, query),
  async changes(client, { values }, place, places) {
    const changes: Change[] = [];
    for (const value of values) {
      const id = asText(value['id']);
      if (id === null || !isMailId(id)) continue;
      if (isRemoved(value)) changes.push(await changeOfRemoved(client, id, places));
      else {
        const item = itemOfMessage(value, place.root);
        const items = item === null ? [] : await withAttachments(client, [item], { hasContent: false });
        changes.push(...items.map((changed) => ({ item: changed })));
      }
    }
    return changes;
  },
  externalIdOf: ({ id }) => folderItemId(id),
});
