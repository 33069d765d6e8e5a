import { type PageAt, withCursor, count, shapeOf, listOf, string, type Checked } from '../cursors.js';
import type { SourceClient } from '../accountClient.js';
import type { ItemPage } from '../sourceItem.js';
import { requireMatchingId, idOf } from '../helpdesk.js';
import type { ListRequest } from '../itemsByKind.js';
import {
  type Folder,
  isPublished,
  itemOfArticle,
  itemOfCategory,
  itemOfContainer,
  itemOfFolder,
  skippedDraft,
  SOLUTIONS,
  TICKETS,
} from './adapter.js';
import { NAME, fetchAll, fetchPage } from './api.js';
import type { Json } from '../json.js';
import { isFault, noSuchItem } from '../faults.js';

/** Maximum number of folders in one list: the folders of a category, or the subfolders of a folder. */
const MAX_FOLDERS = 10_000;
const CATEGORIES = ['solutions', 'categories'];
const FOLDERS = ['solutions', 'folders'];

/** Returns the URL of the account for a user's browser. */
export const siteOf = ({ urls }: SourceClient): string => (urls['api'] ?? '').replace(/\/api\/v2$/, '');

/** Returns a page of the root items: the solution categories, then the tickets. */
export async function listRoots(client: SourceClient, cursor: string | null): Promise<ItemPage> {
  const page = cursor === null ? 1 : Number(cursor);
  const tickets = itemOfContainer(TICKETS);
  try {
    const { values, hasNext } = await fetchPage(client, CATEGORIES, page);
    const items = values.flatMap((value) => itemOfCategory(value) ?? []);
    return hasNext ? { items, next: String(page + 1) } : { items: [...items, tickets], next: null };
  } catch (error) {
    // List a placeholder for the categories: its listing is refused too, so the sync records that it is inaccessible.
    // The page is partial: known categories are root items, and must not count as deleted.
    if (!isFault(error, 'access_denied') || cursor !== null) throw error;
    return { items: [itemOfContainer(SOLUTIONS), tickets], next: null, isPartial: true };
  }
}

/**
 * Lists the placeholder: requests the categories again, and throws if they are still refused. Otherwise this sync lists
 * the placeholder only, and the next one lists the categories.
 */
export async function listSolutions(client: SourceClient): Promise<ItemPage> {
  await fetchPage(client, CATEGORIES, 1);
  return { items: [itemOfContainer(SOLUTIONS)], next: null };
}

const isParent = (folder: Json): boolean => Number(folder['sub_folders_count'] ?? 0) > 0;

/**
 * Returns folders with their subfolders, parents first. The folders of a category may include nested ones, which then
 * have a parent. @param top item that contains the outermost folders
 */
async function descendantFolders(
  client: SourceClient,
  first: readonly Folder[],
  top: string,
): Promise<readonly Folder[]> {
  const all = [...first];
  const visitedIds = new Set(all.map(({ id }) => id));
  for (const { id, json } of all) {
    if (!isParent(json)) continue;
    for (const folder of foldersIn(
      await fetchAll(client, [...FOLDERS, id, 'subfolders'], MAX_FOLDERS),
      `folder:${id}`,
    )) {
      // Invalid answers may contain a cycle: visit each folder once.
      if (!visitedIds.has(folder.id)) all.push(folder);
      visitedIds.add(folder.id);
    }
  }
  return parentsFirst(all, top);
}

const foldersIn = (values: readonly Json[], container: string): readonly Folder[] =>
  values.flatMap((json) => {
    const [id, parentId] = [idOf(json['id']), idOf(json['parent_folder_id'])];
    return id === null ? [] : [{ id, json, parent: parentId === null ? container : `folder:${parentId}` }];
  });

/** Sorts folders, parents first. A folder whose parent is not among them becomes a child of the top item. */
function parentsFirst(folders: readonly Folder[], top: string): readonly Folder[] {
  const sorted: Folder[] = [];
  const placed = new Set([top]);
  let rest = folders;
  while (rest.length > 0) {
    const next = rest.filter(({ parent }) => placed.has(parent));
    const found = next.length > 0 ? next : rest.slice(0, 1).map((folder) => ({ ...folder, parent: top }));
    sorted.push(...found);
    const ids = new Set(found.map(({ id }) => id));
    for (const id of ids) placed.add(`folder:${id}`);
    rest = rest.filter(({ id }) => !ids.has(id));
  }
  return sorted;
}

/** Position in the listing of articles: the remaining folders, and the page number in the first one. */
const CURSOR = shapeOf({ open: listOf(string), page: count });
type Cursor = Checked<typeof CURSOR>;
const unlessEnd = (cursor: Cursor): Cursor | null => (cursor.open.length === 0 ? null : cursor);

async function listArticles(client: SourceClient, { open, page }: Cursor): Promise<PageAt<Cursor>> {
  const [folder = '', ...rest] = open;
  const following = unlessEnd({ open: rest, page: 1 });
  try {
    const { values, hasNext } = await fetchPage(client, [...FOLDERS, folder, 'articles'], page);
    const items = values.flatMap((value) => itemOfArticle(value, siteOf(client)) ?? []);
    const skipped = values.flatMap((value) => skippedDraft(value) ?? []);
    return { items, skipped, next: hasNext ? unlessEnd({ open, page: page + 1 }) : following };
  } catch (error) {
    // The folder was deleted in the meantime; the others still exist.
    if (isFault(error, 'not_found')) return { items: [], next: following };
    throw error;
  }
}

/** Returns a page of a category and its descendants. */
export const listCategory = withCursor(
  CURSOR,
  async (client: SourceClient, { itemRef, typeSelection }: ListRequest, cursor) => {
    const { id } = itemRef;
    const withArticles = typeSelection.of('ARTICLE');
    if (cursor !== null) return listArticles(client, cursor);
    const requestedItem = itemOfCategory(requireMatchingId(NAME, id, await client.get([...CATEGORIES, id], {})));
    if (requestedItem === null) throw noSuchItem(NAME);
    if (!withArticles) return { items: [requestedItem], next: null };
    const outermost = foldersIn(await fetchAll(client, [...CATEGORIES, id, 'folders'], MAX_FOLDERS), `category:${id}`);
    const folders = await descendantFolders(client, outermost, `category:${id}`);
    return {
      items: [requestedItem, ...folders.map((folder) => itemOfFolder(folder, id))],
      next: unlessEnd({ open: folders.map((folder) => folder.id), page: 1 }),
    };
  },
);

/** Returns a page of a folder and its descendants. */
export const listFolder = withCursor(
  CURSOR,
  async (client: SourceClient, { itemRef, typeSelection }: ListRequest, cursor) => {
    const { id } = itemRef;
    const withArticles = typeSelection.of('ARTICLE');
    if (cursor !== null) return listArticles(client, cursor);
    const json = requireMatchingId(NAME, id, await client.get([...FOLDERS, id], {}));
    const [category, parentId] = [idOf(json['category_id']), idOf(json['parent_folder_id'])];
    if (category === null) throw noSuchItem(NAME);
    const parent = parentId === null ? `category:${category}` : `folder:${parentId}`;
    const folders = await descendantFolders(client, [{ id, json, parent }], parent);
    return {
      items: folders.map((folder) => itemOfFolder(folder, category)),
      next: withArticles ? unlessEnd({ open: folders.map((folder) => folder.id), page: 1 }) : null,
    };
  },
);

/** Returns an article with its item. @throws Fault not_found also for a draft */
export async function readArticle(client: SourceClient, id: string) {
  const article = requireMatchingId(NAME, id, await client.get(['solutions', 'articles', id], {}));
  const item = itemOfArticle(article, siteOf(client));
  if (item === null || !isPublished(article)) throw noSuchItem(NAME);
  return { article, item };
}
