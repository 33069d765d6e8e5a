import { type PageAt, count, shapeOf, listOf, nullable, string, type Checked } from '../../cursors.js';
import type { SourceClient } from '../../accountClient.js';
import type { SourceItem } from '../../sourceItem.js';
import { asObject } from '../../json.js';
import { takePage } from '../paged.js';
import { FILE_FIELDS, itemOfFile, SHARED_WITH_ME } from './adapter.js';
import { requireList } from '../../faults.js';

/** Position in a listing of folders, level by level. */
export const FOLDER_CURSOR = shapeOf({
  /** Their root item. */
  root: string,
  /** Their shared drive; null: none. */
  driveId: nullable(string),
  /** Of this level: still to be listed. */
  open: listOf(string),
  /** As many of these as are being listed together. */
  group: count,
  /** Of the next level, as far as it is known. */
  below: listOf(string),
  level: count,
  /** Page token of the group. */
  token: nullable(string),
});
type FolderCursor = Checked<typeof FOLDER_CURSOR>;

/** Folders that one request asks for: a query has a bound. */
const FOLDERS_AT_ONCE = 20;
/** Drive nests folders 100 deep; an answer that leads in circles ends here. */
const MAX_LEVELS = 200;
const FILES_PER_PAGE = '1000';
/** What lets shared drives be asked for as well. */
export const ALL_DRIVES = { supportsAllDrives: 'true', includeItemsFromAllDrives: 'true' } as const;

/** Returns the cursor of a walk over all descendants of a folder, before its first page. */
export const walkFrom = (folder: string, root: string, driveId: string | null): FolderCursor => ({
  root,
  driveId,
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

/** The cursor from behind a group; null where nothing is left. */
function behind(cursor: FolderCursor, below: readonly string[]): FolderCursor | null {
  const rest = cursor.open.slice(cursor.group);
  if (rest.length > 0)
    return { ...cursor, open: rest, group: Math.min(FOLDERS_AT_ONCE, rest.length), below, token: null };
  const open = [...new Set(below)];
  if (open.length === 0 || cursor.level >= MAX_LEVELS) return null;
  const group = Math.min(FOLDERS_AT_ONCE, open.length);
  return { ...cursor, open, group, below: [], level: cursor.level + 1, token: null };
}

/** Takes the next page of a listing of folders. */
export async function takeFolders(client: SourceClient, cursor: FolderCursor): Promise<PageAt<FolderCursor>> {
  const { root, driveId, open, group, token } = cursor;
  const query = {
    q: queryOf(open.slice(0, group)),
    pageSize: FILES_PER_PAGE,
    fields: `nextPageToken,files(${FILE_FIELDS})`,
    // Oldest first, so new files do not shift later pages.
    orderBy: 'createdTime',
    ...ALL_DRIVES,
    ...(driveId === null ? {} : { corpora: 'drive', driveId }),
  };
  const page = await takePage(client, ['files'], query, token);
  const items: SourceItem[] = [];
  for (const file of requireList('Google Drive', page.body['files'])) {
    const item = itemOfFile(asObject(file), root);
    if (item) items.push(item);
  }
  const below = [
    ...cursor.below,
    ...items.filter(({ isExpandable }) => isExpandable).map(({ externalId }) => externalId),
  ];
  const next = page.next === null ? behind(cursor, below) : { ...cursor, below, token: page.next };
  return { items, next };
}
