import { Fault } from '../../contract/failures.js';
import type { GrantClient } from '../accountClient.js';
import type { ItemPage } from '../sourceItem.js';
import { asObject, asText, type Json } from '../json.js';
import { type EntryParents, isId, itemOf, pathOf, ancestorPaths } from './adapter.js';
import { callApi } from './api.js';
import { noSuchItem, incompleteAnswer, requireList } from '../faults.js';

/** Page size; Dropbox may return fewer entries. */
const PER_PAGE = 2_000;

/** Returns a file or folder by its id or path. @throws Fault not_found */
export async function entryAt(client: GrantClient, name: string): Promise<Json> {
  const isPath = /^\/[^/]/.test(name);
  if (!isPath && !isId(name)) throw noSuchItem('Dropbox');
  const path = isPath ? name.replace(/\/+$/, '') : name;
  const entry = await callApi(client, ['files', 'get_metadata'], { path });
  if (asText(entry['.tag']) === null) throw incompleteAnswer('Dropbox', 'the requested entry');
  if (!isId(entry['id'])) throw noSuchItem('Dropbox');
  return entry;
}

/** Creates a lookup of the ids of the folders above an entry; folders in the map are not requested. */
export function createParentLookup(client: GrantClient, folders: ReadonlyMap<string, string> = new Map()) {
  const idsByPath = new Map<string, string | null>(folders);
  /** Null for a folder that was deleted in the meantime: its contents no longer exist either. */
  const idAt = async (path: string): Promise<string | null> => {
    const found = idsByPath.get(path);
    if (found !== undefined) return found;
    let id: string | null = null;
    try {
      id = asText((await entryAt(client, path))['id']);
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'not_found') throw error;
    }
    idsByPath.set(path, id);
    return id;
  };
  return async (entry: Json): Promise<EntryParents> => {
    const above = ancestorPaths(pathOf(entry) ?? '');
    const [outermost] = above;
    const inner = above.at(-1);
    if (outermost === undefined || inner === undefined) return { parent: null, root: null };
    return { parent: await idAt(inner), root: await idAt(outermost) };
  };
}

/** Requests a page of a folder, or the page after a cursor. */
const fetchPage = (client: GrantClient, folder: string, at: string | null): Promise<Json> =>
  at === null
    ? callApi(client, ['files', 'list_folder'], {
        path: folder,
        recursive: false,
        include_deleted: false,
        limit: PER_PAGE,
      })
    : callApi(client, ['files', 'list_folder', 'continue'], { cursor: at });

/**
 * Returns a page of the direct contents of a folder.
 * @param folder its id; '' for the root @param root id of the root item of its entries; '' or null: they have none
 */
export async function listFolder(
  client: GrantClient,
  folder: string,
  at: string | null,
  root: string | null,
): Promise<ItemPage> {
  let page: Json;
  try {
    page = await fetchPage(client, folder, at);
  } catch (error) {
    // The cursor expired: list the folder again from its first page. A sync stores items by id, so items that are
    // returned twice do no harm.
    if (at === null || !(error instanceof Fault) || error.kind !== 'stale_cursor') throw error;
    page = await fetchPage(client, folder, null);
  }
  const parents = { parent: folder || null, root: folder === '' ? null : root || null };
  const next = page['has_more'] === true ? asText(page['cursor']) : null;
  if (page['has_more'] === true && next === null) throw incompleteAnswer('Dropbox', 'the cursor of the next page');
  return {
    items: requireList('Dropbox', page['entries']).flatMap((entry) => itemOf(asObject(entry), parents) ?? []),
    next,
  };
}
