import { Fault } from '../../contract/failures.js';
import { boolean, changeFeed, shapeOf, string } from '../cursors.js';
import { checkSyncCount, startSyncCount, nextSyncCount, SYNC_COUNT } from '../fullResync.js';
import type { GrantClient } from '../accountClient.js';
import type { Change, ChangePage } from '../sourceItem.js';
import { type Answer, asObject, asText, type Json } from '../json.js';
import type { DropboxPage } from './fields.js';
import { isDeleted, isFolder, isId, itemOf, pathOf } from './adapter.js';
import { callApi, isInTeam } from './api.js';
import { createParentLookup } from './tree.js';
import { requireList } from '../faults.js';

/**
 * Dropbox's cursor. `isUnderWay`: the page before the cursor announced more pages, so the current sync has not read all
 * changes yet.
 */
const CHANGE_TOKEN = shapeOf({ ...SYNC_COUNT, cursor: string, isUnderWay: boolean });

/** Everything that the account can access. */
const EVERYTHING = { path: '', recursive: true, include_deleted: true };

const cursorOf = (answer: Answer<DropboxPage>): string => {
  const cursor = asText(answer.cursor);
  if (cursor === null)
    throw new Fault('server_error', 'Dropbox returned no cursor of its changes. The request is retried automatically.');
  return cursor;
};

/** Applies the entries of a page in order. Returns the entries that remain, by path; deleted paths are absent. */
function finalStates(entries: readonly Json[]): Map<string, Json> {
  const final = new Map<string, Json>();
  for (const entry of entries) {
    const path = pathOf(entry);
    if (path === null) continue;
    // A file, or a deletion, at a path removes a previous folder there with its contents.
    if (!isFolder(entry))
      for (const innerPath of final.keys()) if (innerPath.startsWith(`${path}/`)) final.delete(innerPath);
    final.delete(path);
    if (!isDeleted(entry)) final.set(path, entry);
  }
  return final;
}

async function changesOf(
  client: GrantClient,
  entries: readonly Json[],
): Promise<Pick<ChangePage, 'changes' | 'deletedPaths'>> {
  const final = finalStates(entries);
  const folders = new Map<string, string>();
  for (const [path, entry] of final) if (isFolder(entry) && isId(entry['id'])) folders.set(path, entry['id']);
  const parentsOf = createParentLookup(client, folders);
  // An entry replaces the previous item at its path, which may have had another id.
  const deletedPaths = [...new Set(entries.flatMap((entry) => pathOf(entry) ?? []))];
  const changes: Change[] = [];
  for (const entry of final.values()) {
    const item = itemOf(entry, await parentsOf(entry));
    if (item) changes.push({ item });
  }
  return { changes, deletedPaths };
}

/**
 * The change feed of Dropbox: it reports deletions by path, and existing items by id. With a recursive cursor of a
 * team's root, the feed was seen to omit the contents of team folders and shared folders. Accounts of a team are
 * therefore also listed completely at intervals. https://github.com/watermint/toolbox/issues/667
 */
export const dropboxChanges = changeFeed(CHANGE_TOKEN, {
  async now(client) {
    const cursor = cursorOf(await callApi(client, ['files', 'list_folder', 'get_latest_cursor'], EVERYTHING));
    return { ...startSyncCount(), cursor, isUnderWay: false };
  },

  async since(client, token) {
    if (!token.isUnderWay && (await isInTeam(client))) checkSyncCount(token, 'Dropbox');
    let page: Json;
    try {
      page = await callApi(client, ['files', 'list_folder', 'continue'], { cursor: token.cursor });
    } catch (error) {
      // Dropbox reports an unreadable cursor in plain text.
      const isStale = error instanceof Fault && (error.kind === 'bad_response' || error.kind === 'not_found');
      throw isStale
        ? new Fault(
            'stale_cursor',
            'Dropbox no longer has the changes since the last sync. Everything is listed again.',
          )
        : error;
    }
    const changes = await changesOf(client, requireList('Dropbox', page['entries']).map(asObject));
    const more = page['has_more'] === true;
    const next = { ...(more ? token : nextSyncCount(token)), cursor: cursorOf(page), isUnderWay: more };
    return { ...changes, next, more };
  },
});
