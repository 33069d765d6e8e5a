import { type PageAt, count, shapeOf, listOf, nullable, pairOf, string, type Checked } from '../../cursors.js';
import type { SourceClient } from '../../accountClient.js';
import type { SourceItem } from '../../sourceItem.js';
import { Fault } from '../../../contract/failures.js';
import { withCallerId, type GraphPage, isQuery, type Query, fetchPage } from '../graph.js';
import { isFolder, isRoot, ITEM_FIELDS, itemId, itemOf, itemOfDrive, type DriveListing, remoteOf } from './adapter.js';
import { noSuchItem, requireId } from '../../faults.js';
import { asText, type Json } from '../../json.js';

/** Page size; Graph may return fewer items. */
const PER_PAGE = '200';
export const LISTED: Query = { $top: PER_PAGE, $select: ITEM_FIELDS };

/** Position in the listing of a drive or a folder. */
export const DRIVE_CURSOR = shapeOf({
  drive: string,
  rootId: nullable(string),
  /** Next page of the drive's feed, which lists all its items in few pages; null: read to its end, or not used. */
  feed: nullable(isQuery),
  /** Folders still to be listed, each with its drive, the next one last. */
  open: listOf(pairOf(string, string)),
  /** The next page of the current folder; null: its first. */
  at: nullable(isQuery),
  /** Number of restarts after the feed lost its position. */
  restarts: count,
});
type DriveCursor = Checked<typeof DRIVE_CURSOR>;
type DrivePage = PageAt<DriveCursor>;

const MAX_RESTARTS = 3;
const isKind = (error: unknown, ...kinds: readonly Fault['kind'][]): boolean =>
  error instanceof Fault && kinds.includes(error.kind);

export const driveOf = (client: SourceClient, drive: string): Promise<Json> =>
  client
    .get(['drives', drive], { $select: 'id,name,webUrl,createdDateTime,driveType' })
    .then((json) => requireId('Microsoft', json, 'the drive'));

export async function rootIdOf(client: SourceClient, drive: string): Promise<string | null> {
  const root = await client.get(['drives', drive, 'root'], { $select: 'id' });
  return asText(requireId('Microsoft', root, 'the root folder of a drive')['id']);
}

/**
 * Converts a page, with the folders in it. Shared folders are followed only if the listed drive shows them, not if
 * another shared folder does: shared folders may form a cycle.
 */
function pageOf(
  { values }: Pick<GraphPage, 'values'>,
  place: DriveListing,
  main: string,
): Pick<DriveCursor, 'open'> & { items: SourceItem[] } {
  const items: SourceItem[] = [];
  const open: (readonly [string, string])[] = [];
  for (const value of values) {
    const item = itemOf(value, place);
    if (item === null) continue;
    items.push(item);
    if (!isFolder(value)) continue;
    const remote = remoteOf(value);
    if (remote === null) open.push([place.drive, asText(value['id']) ?? '']);
    else if (place.drive === main) open.push([remote.drive, remote.item]);
  }
  return { items, open };
}

const pageAt = (items: readonly SourceItem[], cursor: DriveCursor): DrivePage => ({
  items,
  next: cursor.feed === null && cursor.open.length === 0 ? null : cursor,
});

/** Returns the first page of the listing of a drive: the drive itself. The next pages list its contents. */
export async function listDrive(client: SourceClient, drive: string, name: string): Promise<DrivePage> {
  const requestedItem = itemOfDrive(await withCallerId(name, driveOf(client, drive)));
  if (requestedItem === null) throw noSuchItem(name);
  const rootId = await rootIdOf(client, drive);
  return pageAt([requestedItem], { drive, rootId, feed: LISTED, open: [], at: null, restarts: 0 });
}

/** Returns the first page of the listing of an item: the item itself. The next pages list a folder's contents. */
export async function listItem(
  client: SourceClient,
  { drive, item }: { readonly drive: string; readonly item: string },
  name: string,
): Promise<DrivePage> {
  const request = client.get(['drives', drive, 'items', item], { $select: ITEM_FIELDS });
  const found = requireId('Microsoft', await withCallerId(name, request), 'the item');
  if (isRoot(found)) return listDrive(client, drive, name);
  const place = { drive, rootId: null, root: drive, parent: null };
  const requestedItem = itemOf(found, place);
  if (requestedItem === null) throw noSuchItem(name);
  // An item that is requested by its id becomes a file even without content: the error of the file gives the reason.
  if (!requestedItem.isExpandable) return { items: [{ ...requestedItem, hasContent: true }], next: null };
  const { open } = pageOf({ values: [found] }, place, drive);
  return pageAt([requestedItem], { drive, rootId: null, feed: null, open, at: null, restarts: 0 });
}

/** Returns the next page of a drive's feed. */
async function nextFeedPage(client: SourceClient, cursor: DriveCursor, feed: Query): Promise<DrivePage> {
  const { drive, rootId, open } = cursor;
  try {
    const page = await fetchPage(client, ['drives', drive, 'root', 'delta'], feed);
    const found = pageOf(page, { drive, rootId, root: drive, parent: null }, drive);
    // The feed already includes the drive's own folders.
    const shared = found.open.filter(([where]) => where !== drive);
    return pageAt(found.items, { ...cursor, feed: page.next, open: [...open, ...shared] });
  } catch (error) {
    if (!isKind(error, 'stale_cursor') || cursor.restarts >= MAX_RESTARTS) throw error;
    // The repeated feed finds the shared folders again.
    return pageAt([], { ...cursor, feed: LISTED, open: [], restarts: cursor.restarts + 1 });
  }
}

/** Returns the next page of the feed or of the next folder, according to the cursor. */
export async function nextPage(client: SourceClient, cursor: DriveCursor): Promise<DrivePage> {
  const { drive, open } = cursor;
  if (cursor.feed !== null) return nextFeedPage(client, cursor, cursor.feed);
  const folder = open.at(-1);
  if (folder === undefined) return { items: [], next: null };
  const [where, id] = folder;
  const rest = open.slice(0, -1);
  let page: GraphPage;
  try {
    page = await fetchPage(client, ['drives', where, 'items', id, 'children'], cursor.at ?? LISTED);
  } catch (error) {
    // The folder was deleted, or is no longer shared; the others still exist.
    const isOver = isKind(error, 'not_found') || (where !== drive && isKind(error, 'access_denied'));
    if (!isOver) throw error;
    return pageAt([], { ...cursor, open: rest, at: null });
  }
  const found = pageOf(page, { drive: where, rootId: null, root: drive, parent: itemId(where, id) }, drive);
  const remaining = page.next === null ? [...rest, ...found.open] : [...rest, ...found.open, folder];
  return pageAt(found.items, { ...cursor, open: remaining, at: page.next });
}
