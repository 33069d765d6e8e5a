import { Fault } from '../../contract/failures.js';
import type { ItemPage } from '../connector.js';
import { asObject, asText, type Json } from '../json.js';
import { type Around, isId, itemOf, pathOf, pathsAbove } from './adapter.js';
import { ask, type Call } from './api.js';
import { noSuchItem, incompleteAnswer, requireList } from '../faults.js';

/** Entries of a page; Dropbox gives fewer where it likes. */
const PER_PAGE = 2_000;

/** A file or folder, by its id or its path. @throws Fault not_found */
export async function entryAt(call: Call, name: string): Promise<Json> {
  const isPath = /^\/[^/]/.test(name);
  if (!isPath && !isId(name)) throw noSuchItem('Dropbox');
  const path = isPath ? name.replace(/\/+$/, '') : name;
  const entry = await ask(call, ['files', 'get_metadata'], { path });
  if (asText(entry['.tag']) === null) throw incompleteAnswer('Dropbox', 'what lies there');
  if (!isId(entry['id'])) throw noSuchItem('Dropbox');
  return entry;
}

/** Finds the folders around paths; those that are known are not asked for. */
export function createAround(call: Call, folders: ReadonlyMap<string, string> = new Map()) {
  const known = new Map<string, string | null>(folders);
  /** Of a folder that went meanwhile there is no id: what lay in it goes as well. */
  const idAt = async (path: string): Promise<string | null> => {
    const found = known.get(path);
    if (found !== undefined) return found;
    let id: string | null = null;
    try {
      id = asText((await entryAt(call, path))['id']);
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'not_found') throw error;
    }
    known.set(path, id);
    return id;
  };
  return async (entry: Json): Promise<Around> => {
    const above = pathsAbove(pathOf(entry) ?? '');
    const [outermost] = above;
    const inner = above.at(-1);
    if (outermost === undefined || inner === undefined) return { parent: null, root: null };
    return { parent: await idAt(inner), root: await idAt(outermost) };
  };
}

/** A page of a folder, or of what follows a cursor. */
const askPage = (call: Call, folder: string, at: string | null): Promise<Json> =>
  at === null
    ? ask(call, ['files', 'list_folder'], { path: folder, recursive: false, include_deleted: false, limit: PER_PAGE })
    : ask(call, ['files', 'list_folder', 'continue'], { cursor: at });

/**
 * A page of what lies directly in a folder.
 * @param folder its id; '' for the outermost @param root the outermost thing it lies in; '' or null: each is one itself
 */
export async function listFolder(
  call: Call,
  folder: string,
  at: string | null,
  root: string | null,
): Promise<ItemPage> {
  let page: Json;
  try {
    page = await askPage(call, folder, at);
  } catch (error) {
    // Cursors end; what is listed twice is the same.
    if (at === null || !(error instanceof Fault) || error.kind !== 'stale_cursor') throw error;
    page = await askPage(call, folder, null);
  }
  const around = { parent: folder || null, root: folder === '' ? null : root || null };
  const next = page['has_more'] === true ? asText(page['cursor']) : null;
  return {
    items: requireList('Dropbox', page['entries']).flatMap((entry) => itemOf(asObject(entry), around) ?? []),
    next,
  };
}
