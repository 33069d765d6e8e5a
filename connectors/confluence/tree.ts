/** Lists the contents of a space, a page or a folder of Confluence. */
import { withCursor, shapeOf, listOf, nullable, oneOf, string, type Checked } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { SourceItem } from '../sourceItem.js';
import { parentFolderId, KINDS, itemOfContent, itemOfSpace, skippedOf, type ItemRef, parseItemId } from './adapter.js';
import { fetchObject, asText, type Call, fetchPage } from './api.js';
import type { Json } from '../json.js';
import { noSuchItem } from '../faults.js';

const isMissing = (error: unknown): boolean => error instanceof Fault && error.kind === 'not_found';

/** Lists of a space, in the order in which they are read. */
const PARTS = ['pages', 'blogposts'] as const;

const SPACE_CURSOR = shapeOf({
  part: oneOf(...PARTS),
  at: nullable(string),
  /**
   * Folders that were already listed. The list is capped: folders beyond the cap are listed again, which is harmless.
   */
  folders: listOf(string),
});
type SpaceCursor = Checked<typeof SPACE_CURSOR>;
const MAX_LISTED_FOLDERS = 500;

/**
 * Returns the folders above pages of a space, up to the root, except those in `listedIds`. The API has no list of the
 * folders of a space, so they are found only through their contents.
 */
async function findParentFolders(
  call: Call,
  space: string,
  pages: readonly Json[],
  listedIds: ReadonlySet<string>,
): Promise<SourceItem[]> {
  const items: SourceItem[] = [];
  const visitedIds = new Set(listedIds);
  const open = pages.map(parentFolderId);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === null || visitedIds.has(id)) continue;
    visitedIds.add(id);
    try {
      const json = await fetchObject(call, ['folders', id]);
      const item = itemOfContent(call.site, 'folders', json, space);
      if (item !== null) items.push(item);
      open.push(parentFolderId(json));
    } catch (error) {
      // The folder was deleted in the meantime, with its contents.
      if (!isMissing(error)) throw error;
    }
  }
  return items;
}

/**
 * Lists a space, then its pages at any depth, then its blog posts: the entries of one response of the API per call.
 * Each call also returns the folders above its items, except those that an earlier call returned.
 */
export const listSpace = withCursor(SPACE_CURSOR, async (call: Call, id: string, given) => {
  const { part, at, folders }: SpaceCursor = given ?? { part: 'pages', at: null, folders: [] };
  const ownItem = given === null ? itemOfSpace(call.site, await fetchObject(call, ['spaces', id])) : null;
  // Sorted by id, so that concurrent changes do not shift later pages.
  const { values, next } = await fetchPage(call, ['spaces', id, part], { status: 'current', sort: 'id' }, at);
  const parentFolders = await findParentFolders(call, id, values, new Set(folders));
  const items = values.flatMap((json) => itemOfContent(call.site, part, json) ?? []);
  const remembered = [
    ...folders,
    ...parentFolders.map(({ externalId }) => externalId.slice(externalId.indexOf(':') + 1)),
  ];
  const later = PARTS[PARTS.indexOf(part) + 1];
  const cursor: SpaceCursor | null =
    next !== null
      ? { part, at: next, folders: remembered.slice(-MAX_LISTED_FOLDERS) }
      : later === undefined
        ? null
        : { part: later, at: null, folders: [] };
  return {
    items: [...(ownItem === null ? [] : [ownItem]), ...parentFolders, ...items],
    next: cursor,
  };
});

/** Pages and folders whose children are still to be listed; `at` is the position in the children of the first one. */
const TREE_CURSOR = shapeOf({ open: listOf(shapeOf({ kind: oneOf(...KINDS), id: string })), at: nullable(string) });
type TreeCursor = Checked<typeof TREE_CURSOR>;

const unlessEnd = (cursor: TreeCursor): TreeCursor | null => (cursor.open.length === 0 ? null : cursor);

/** Returns the space of a folder, which only its children name; null for an empty folder. */
async function spaceOfFolder(call: Call, id: string): Promise<string | null> {
  const { values } = await fetchPage(call, ['folders', id, 'direct-children'], {}, null);
  return values.map((child) => asText(child['spaceId'])).find((space) => space !== null) ?? null;
}

/** Returns the item of a page, folder or blog post. */
async function fetchItem(call: Call, { kind, id }: ItemRef): Promise<SourceItem> {
  if (kind === 'spaces') throw noSuchItem('Confluence');
  const json = await fetchObject(call, [kind, id]);
  const item = itemOfContent(call.site, kind, json, kind === 'folders' ? await spaceOfFolder(call, id) : null);
  if (item === null) throw noSuchItem('Confluence');
  return item;
}

/**
 * Converts listed children to items. Pages are requested again, because the list of children contains neither their
 * parents nor their versions.
 */
async function wholeItems(call: Call, children: readonly Json[], parent: ItemRef): Promise<SourceItem[]> {
  const parentType = parent.kind === 'folders' ? 'folder' : 'page';
  const folders = children
    .filter(({ type }) => type === 'folder')
    .flatMap((json) => itemOfContent(call.site, 'folders', { ...json, parentId: parent.id, parentType }) ?? []);
  const ids = children.flatMap((json) => (json['type'] === 'page' ? (asText(json['id']) ?? []) : []));
  if (ids.length === 0) return folders;
  const pages: Json[] = [];
  for (let at: string | null | undefined; at !== null;) {
    const page = await fetchPage(call, ['pages'], { id: ids.join(','), status: 'current', sort: 'id' }, at ?? null);
    pages.push(...page.values);
    at = page.next;
  }
  return [...folders, ...pages.flatMap((json) => itemOfContent(call.site, 'pages', json) ?? [])];
}

/**
 * Lists an item and its descendants. The first call returns only the item itself; each later call returns children of
 * one page or folder.
 */
export const listChildren = withCursor(TREE_CURSOR, async (call: Call, itemRef: ItemRef, cursor) => {
  if (cursor === null) {
    const item = await fetchItem(call, itemRef);
    return { items: [item], next: unlessEnd({ open: item.isExpandable ? [itemRef] : [], at: null }) };
  }
  const { open, at } = cursor;
  const [first, ...rest] = open;
  if (first === undefined) return { items: [], next: null };
  try {
    const children = await fetchPage(call, [first.kind, first.id, 'direct-children'], {}, at);
    const items = await wholeItems(call, children.values, first);
    // Depth first, so that the list of open containers stays short.
    const later = [...items.flatMap(({ externalId }) => parseItemId(externalId) ?? []), ...rest];
    const isWhole = children.next === null;
    const skipped = children.values.flatMap((child) => skippedOf(child) ?? []);
    return { items, skipped, next: unlessEnd({ open: isWhole ? later : [first, ...later], at: children.next }) };
  } catch (error) {
    // This page or folder was deleted in the meantime: skip it, and continue with the others in `open`.
    if (!isMissing(error)) throw error;
    return { items: [], next: unlessEnd({ open: rest, at: null }) };
  }
});
