import { Fault } from '../../../contract/failures.js';
import type { SourceClient } from '../../accountClient.js';
import { type Query, fetchAll } from '../graph.js';
import type { MailFolder } from '../../../contract/sources/liveReads.js';
import { isMailId } from './adapter.js';
import { requireId } from '../../faults.js';
import { asText, type Json } from '../../json.js';

export const NAME = 'Outlook';
const FOLDERS = ['me', 'mailFolders'];
/**
 * Without includeHiddenFolders, Graph omits hidden folders. Outlook does not show these to the user; most contain data
 * of programs. https://learn.microsoft.com/graph/api/user-list-mailfolders#optional-query-parameters
 */
export const FOLDER_FIELDS: Query = {
  $select: 'id,displayName,parentFolderId,childFolderCount,totalItemCount',
  $top: '100',
};
/** Maximum number of folders of one mailbox. */
const MAX_FOLDERS = 10_000;
/** Graph's well-known folder names, the same in every language; in lower case, without spaces. */
const WELL_KNOWN: ReadonlySet<string> = new Set(['inbox', 'drafts', 'sentitems', 'archive', 'junkemail', 'outbox']);

/** Returns the id of a folder that Graph knows by the same name in any language. Null if the mailbox has none. */
async function wellKnownId(client: SourceClient, name: string): Promise<string | null> {
  try {
    const folder = await client.get([...FOLDERS, name], { $select: 'id' });
    return asText(requireId(NAME, folder, 'the folder')['id']);
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not_found') return null;
    throw error;
  }
}

/** Returns the id of the folder of deleted items, which count as deleted. Null if there is none. */
export const binOf = (client: SourceClient): Promise<string | null> => wellKnownId(client, 'deleteditems');

const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0);

/** Converts a folder; null for Deleted Items, and for searches that are shown as folders. */
export function folderOf(json: Json, above: MailFolder | null, deletedItemsId: string | null): MailFolder | null {
  const id = asText(json['id']);
  const isSearch = asText(json['@odata.type']) === '#microsoft.graph.mailSearchFolder';
  if (id === null || !isMailId(id) || id === deletedItemsId || isSearch) return null;
  return {
    id,
    name: asText(json['displayName']) ?? id,
    parent: above?.id ?? null,
    root: above?.root ?? id,
    messages: count(json['totalItemCount']),
  };
}

/** Returns all folders of the mailbox, parents first. */
export async function allFolders(client: SourceClient): Promise<readonly MailFolder[]> {
  const bin = await binOf(client);
  const all: MailFolder[] = [];
  const visitedIds = new Set<string>();
  const open: (MailFolder | null)[] = [null];
  for (let above = open.shift(); above !== undefined; above = open.shift()) {
    const path = above === null ? FOLDERS : [...FOLDERS, above.id, 'childFolders'];
    for (const json of await fetchAll(client, path, FOLDER_FIELDS, { maxEntries: MAX_FOLDERS })) {
      const folder = folderOf(json, above, bin);
      if (folder === null || visitedIds.has(folder.id)) continue;
      visitedIds.add(folder.id);
      all.push(folder);
      if (count(json['childFolderCount']) > 0) open.push(folder);
      if (all.length > MAX_FOLDERS)
        throw new Fault('too_large', `A mailbox of Outlook with more than ${MAX_FOLDERS} folders is not read.`);
    }
  }
  return all;
}

/** Returns a folder and its descendants. */
export function branchOf(all: readonly MailFolder[], id: string): readonly MailFolder[] {
  const selectedIds = new Set([id]);
  // Parents precede their subfolders.
  return all.filter((folder) => {
    if (folder.id !== id && (folder.parent === null || !selectedIds.has(folder.parent))) return false;
    selectedIds.add(folder.id);
    return true;
  });
}

/**
 * Returns the folders that a caller's text may refer to. The text is an id, a name that Outlook accepts in any
 * language, a display name, or a path. A path consists of display names from the root, separated by slashes.
 */
export async function foldersByName(client: SourceClient, word: string): Promise<readonly MailFolder[]> {
  const all = await allFolders(client);
  const given = word.trim().toLowerCase();
  const byId = all.filter(({ id }) => id === word.trim());
  if (byId.length > 0) return byId;
  const plain = given.replaceAll(' ', '');
  if (WELL_KNOWN.has(plain)) {
    const id = await wellKnownId(client, plain);
    const wellKnown = all.filter((folder) => folder.id === id);
    if (wellKnown.length > 0) return wellKnown;
  }
  const byFolder = new Map(all.map((folder) => [folder.id, folder]));
  const pathOf = ({ name, parent }: MailFolder): string => {
    const above = parent === null ? undefined : byFolder.get(parent);
    return above === undefined ? name.toLowerCase() : `${pathOf(above)}/${name.toLowerCase()}`;
  };
  const byPath = all.filter((folder) => pathOf(folder) === given);
  return byPath.length > 0 ? byPath : all.filter(({ name }) => name.toLowerCase() === given);
}
