import { type PageAt, count, shapeOf, listOf, nullable, optional, string, type Checked } from '../../cursors.js';
import type { SourceClient } from '../../accountClient.js';
import type { SourceItem } from '../../sourceItem.js';
import { asAnswer } from '../../json.js';
import type { DriveFile, DriveFileList } from '../vendorTypes.js';
import { fetchPage } from '../paged.js';
import { FILE_FIELDS, itemOfFile, SHARED_WITH_ME, withKeys } from './adapter.js';
import { requireList } from '../../faults.js';

/** Position in a breadth-first listing of folders. */
export const FOLDER_CURSOR = shapeOf({
  /** Id of the root item of the folders. */
  root: string,
  /** Id of the shared drive of the folders; null: none. */
  driveId: nullable(string),
  /** Folders of the current level that are still to be listed. */
  open: listOf(string),
  /** Number of these folders in the current request. */
  group: count,
  /** Folders of the next level that were found so far. */
  below: listOf(string),
  level: count,
  /** Page token of the group. */
  token: nullable(string),
  /** Resource keys that the requests need. Absent in cursors of version 0.2.0. */
  keys: optional(nullable(string)),
});
type FolderCursor = Checked<typeof FOLDER_CURSOR>;

/** Folders per request; the length of a query is limited. */
const FOLDERS_AT_ONCE = 20;
/** Maximum depth. Drive allows 100 levels; the limit also ends a walk through cyclic answers. */
export const MAX_LEVELS = 200;
const FILES_PER_PAGE = '1000';
/** Parameters that include shared drives. */
export const ALL_DRIVES = { supportsAllDrives: 'true', includeItemsFromAllDrives: 'true' } as const;

/**
 * Returns the cursor of a walk over all descendants of a folder, before its first page.
 * @param driveId its shared drive; null if it is in none, or, with the root SHARED_WITH_ME, if the account is not a
 * member of that drive
 */
export const walkFrom = (
  folder: string,
  { root, driveId = null, keys = null }: Pick<FolderCursor, 'root'> & Partial<Pick<FolderCursor, 'driveId' | 'keys'>>,
): FolderCursor => ({
  root,
  driveId,
  keys,
  open: [folder],
  group: 1,
  below: [],
  level: 0,
  token: null,
});

const queryOf = (folders: readonly string[]): string =>
  folders[0] === SHARED_WITH_ME
    ? 'sharedWithMe = true and trashed = false'
    : `(${folders.map((id) => `'${id}' in parents`).join(' or ')}) and trashed = false`;

/** Returns the cursor after a group of folders; null if none are left. */
function cursorAfterGroup(cursor: FolderCursor, below: readonly string[]): FolderCursor | null {
  const rest = cursor.open.slice(cursor.group);
  if (rest.length > 0)
    return { ...cursor, open: rest, group: Math.min(FOLDERS_AT_ONCE, rest.length), below, token: null };
  const open = [...new Set(below)];
  if (open.length === 0 || cursor.level >= MAX_LEVELS) return null;
  const group = Math.min(FOLDERS_AT_ONCE, open.length);
  return { ...cursor, open, group, below: [], level: cursor.level + 1, token: null };
}

/**
 * Returns the parameters that choose where Drive searches. Folders of a shared drive may be shared with accounts that
 * are not members of it. To them the drive does not exist ("Shared drive not found"), and only a search of all drives
 * finds the contents.
 * https://developers.google.com/workspace/drive/api/guides/enable-shareddrives#search_for_content_on_a_shared_drive
 * https://github.com/tidyverse/googledrive/issues/439
 */
function corpusOf({ root, driveId, open }: FolderCursor): Readonly<Record<string, string>> {
  if (driveId !== null) return { corpora: 'drive', driveId };
  return root === SHARED_WITH_ME && open[0] !== SHARED_WITH_ME ? { corpora: 'allDrives' } : {};
}

/** Returns the next page of a listing of folders. */
export async function nextFoldersPage(client: SourceClient, cursor: FolderCursor): Promise<PageAt<FolderCursor>> {
  const { root, open, group, token, keys = null } = cursor;
  const query = {
    q: queryOf(open.slice(0, group)),
    pageSize: FILES_PER_PAGE,
    fields: `nextPageToken,incompleteSearch,files(${FILE_FIELDS})`,
    // Oldest first, so new files do not shift later pages.
    orderBy: 'createdTime',
    ...ALL_DRIVES,
    ...corpusOf(cursor),
  };
  const page = await fetchPage<DriveFileList>(client, ['files'], query, token, withKeys(keys));
  const items: SourceItem[] = [];
  for (const file of requireList('Google Drive', page.body.files)) {
    const item = itemOfFile(asAnswer<DriveFile>(file), root);
    if (item) items.push(item);
  }
  const below = [
    ...cursor.below,
    ...items.filter(({ isExpandable }) => isExpandable).map(({ externalId }) => externalId),
  ];
  const next = page.next === null ? cursorAfterGroup(cursor, below) : { ...cursor, below, token: page.next };
  // Drive could not search everything: the known contents must not be deleted.
  const refused = page.body.incompleteSearch === true ? { refused: open.slice(0, group) } : {};
  return { items, next, ...refused };
}
