import { Fault } from '../../contract/failures.js';
import type { GrantClient, Change, ChangeFeed, ChangePage, OAuthGrant } from '../connector.js';
import { asObject, asText, type Json } from '../json.js';
import { isDeleted, isFolder, isId, itemOf, pathOf } from './adapter.js';
import { ask } from './api.js';
import { createAround } from './tree.js';
import { requireList } from '../faults.js';

/** Of all that the account sees. */
const WHOLE = { path: '', recursive: true, include_deleted: true };

const cursorOf = (answer: Json): string => {
  const cursor = asText(answer['cursor']);
  if (cursor === null)
    throw new Fault('server_error', 'Dropbox named no point of its changes. It is tried again by itself.');
  return cursor;
};

/** What is there after all entries of a page, in their order, by path. */
function lastOf(entries: readonly Json[]): Map<string, Json> {
  const last = new Map<string, Json>();
  for (const entry of entries) {
    const path = pathOf(entry);
    if (path === null) continue;
    // An entry that is not a folder replaces a folder with its contents.
    if (!isFolder(entry)) for (const one of last.keys()) if (one.startsWith(`${path}/`)) last.delete(one);
    last.delete(path);
    if (!isDeleted(entry)) last.set(path, entry);
  }
  return last;
}

async function changesOf(
  client: GrantClient,
  entries: readonly Json[],
): Promise<Pick<ChangePage, 'changes' | 'deletedPaths'>> {
  const last = lastOf(entries);
  const folders = new Map<string, string>();
  for (const [path, entry] of last) if (isFolder(entry) && isId(entry['id'])) folders.set(path, entry['id']);
  const around = createAround(client, folders);
  // Each entry at a path ends the previous item there, which may be another one.
  const deletedPaths = [...new Set(entries.flatMap((entry) => pathOf(entry) ?? []))];
  const changes: Change[] = [];
  for (const entry of last.values()) {
    const item = itemOf(entry, await around(entry));
    if (item) changes.push({ item });
  }
  return { changes, deletedPaths };
}

/** Dropbox tells by paths what went, and by ids what is there. */
export const dropboxChanges: ChangeFeed<OAuthGrant> = {
  async now(client) {
    return cursorOf(await ask(client, ['files', 'list_folder', 'get_latest_cursor'], WHOLE));
  },

  async since(client, point) {
    let page: Json;
    try {
      page = await ask(client, ['files', 'list_folder', 'continue'], { cursor: point });
    } catch (error) {
      // A cursor that Dropbox can't read is refused in plain text.
      const isStale = error instanceof Fault && (error.kind === 'bad_response' || error.kind === 'not_found');
      throw isStale
        ? new Fault(
            'stale_cursor',
            'Dropbox no longer has the changes since the last sync. Everything is listed again.',
          )
        : error;
    }
    const told = await changesOf(client, requireList('Dropbox', page['entries']).map(asObject));
    return { ...told, next: cursorOf(page), more: page['has_more'] === true };
  },
};
