import { type PageAt, withCursor, shapeOf, listOf, nullable, pairOf, string, type Checked } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { GrantClient } from '../accountClient.js';
import type { ItemPage, SourceItem } from '../sourceItem.js';
import {
  ARTICLE_FIELDS,
  FILE_FIELDS,
  itemOfArticle,
  itemOfFile,
  itemOfFolder,
  itemOfKnowledge,
  itemOfLibrary,
  itemOfLooseFiles,
  type ItemParents,
  LOOSE_FILES,
} from './adapter.js';
import { runQuery, fetchPage, isId, quote } from './soql.js';
import { asText, type Json } from '../json.js';
import { noSuchItem } from '../faults.js';

/** Returns the URL of the organization for a user's browser. */
export const siteOf = ({ urls }: GrantClient): string => (urls['api'] ?? '').replace(/\/services\/data\/[^/]+$/, '');

/** Returns the result of a call; null if the organization does not have the requested feature. */
async function ifThere<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not_found') return null;
    throw error;
  }
}

const LIBRARIES = { fields: ['Id', 'Name', 'RootContentFolderId'], from: 'ContentWorkspace', where: [] };
const ARTICLES = { fields: ARTICLE_FIELDS, from: 'Knowledge__kav', where: ["PublishStatus = 'Online'"] };

/**
 * Returns a page of the root items: the libraries; after the last one, the container of files outside of libraries, and
 * the container of articles if the organization has them.
 */
export async function listRoots(client: GrantClient, cursor: string | null): Promise<ItemPage> {
  const page = await ifThere(fetchPage(client, LIBRARIES, cursor ?? ''));
  const items = (page?.rows ?? []).map((row) => itemOfLibrary(row, siteOf(client)));
  if (page && page.next !== null) return { items, next: page.next };
  const articles = await ifThere(runQuery(client, 'SELECT Id FROM Knowledge__kav LIMIT 1'));
  return { items: [...items, itemOfLooseFiles(), ...(articles === null ? [] : [itemOfKnowledge()])], next: null };
}

/** Returns the files with the given ids, sorted by id. Ids without a file are omitted. */
export async function filesOf(client: GrantClient, ids: readonly string[]): Promise<readonly Json[]> {
  if (ids.length === 0) return [];
  const query = { fields: FILE_FIELDS, from: 'ContentDocument', where: [`Id IN (${ids.map(quote).join(', ')})`] };
  const rows: Json[] = [];
  for (let after: string | null = ''; after !== null;) {
    const page: Awaited<ReturnType<typeof fetchPage>> = await fetchPage(client, query, after);
    rows.push(...page.rows);
    after = page.next;
  }
  return rows;
}

/** A folder still to be listed, with the parent of its items. */
type Open = readonly [folder: string, parent: string];

/** Position in the listing of a folder and its subfolders. */
const CURSOR = shapeOf({ root: nullable(string), open: listOf(pairOf(string, string)), after: string });
type FolderCursor = Checked<typeof CURSOR>;

const unlessEnd = (cursor: FolderCursor): FolderCursor | null => (cursor.open.length === 0 ? null : cursor);

/** Returns a page of the contents of the first open folder. */
async function listFolders(client: GrantClient, cursor: FolderCursor): Promise<PageAt<FolderCursor>> {
  const [first, ...rest] = cursor.open;
  if (!first) return { items: [], next: null };
  const [folder, parent] = first;
  const { root } = cursor;
  const wanted = {
    fields: ['Id', 'Title', 'IsFolder'],
    from: 'ContentFolderItem',
    where: [`ParentContentFolderId = ${quote(folder)}`],
  };
  const { rows, next } = await fetchPage(client, wanted, cursor.after);
  const itemPlace: ItemParents = { parent, root };
  const entries = rows.flatMap((row) => {
    const id = asText(row['Id']) ?? '';
    return isId(id) ? [{ id, isFolder: row['IsFolder'] === true, title: asText(row['Title']) ?? id }] : [];
  });
  const folders = entries.filter(({ isFolder }) => isFolder);
  const ids = entries.filter(({ isFolder }) => !isFolder).map(({ id }) => id);
  const files = await filesOf(client, ids);
  const items: SourceItem[] = [
    ...folders.map(({ id, title }) => itemOfFolder(id, title, itemPlace)),
    ...files.map((row) => itemOfFile(row, itemPlace, siteOf(client))),
  ];
  const inside = folders.map(({ id }): Open => [id, `folder:${id}`]);
  const open = next === null ? [...rest, ...inside] : [first, ...rest, ...inside];
  return { items, next: unlessEnd({ root, open, after: next ?? '' }) };
}

interface Container {
  readonly kind: 'library' | 'folder';
  readonly id: string;
}

/** Returns a library, or a folder in one, with all its contents. */
export const listContainer = withCursor(CURSOR, async (client: GrantClient, { kind, id }: Container, cursor) => {
  if (cursor !== null) return listFolders(client, cursor);
  const itself = `${kind}:${id}`;
  const [fields, from] =
    kind === 'library'
      ? [LIBRARIES.fields, LIBRARIES.from]
      : [['Id', 'Name', 'ParentContentFolderId'], 'ContentFolder'];
  const [row] = (await fetchPage(client, { fields, from, where: [`Id = ${quote(id)}`] }, '')).rows;
  if (!row) throw noSuchItem('Salesforce');
  if (kind === 'library') {
    const folder = asText(row['RootContentFolderId']);
    const open: readonly Open[] = folder === null ? [] : [[folder, itself]];
    return { items: [itemOfLibrary(row, siteOf(client))], next: unlessEnd({ root: itself, open, after: '' }) };
  }
  const parentId = asText(row['ParentContentFolderId']);
  const itemPlace = { parent: parentId === null ? null : `folder:${parentId}`, root: null };
  const items = [itemOfFolder(id, asText(row['Name']) ?? id, itemPlace)];
  return { items, next: unlessEnd({ root: null, open: [[id, itself]], after: '' }) };
});

/** Returns a page of the files outside of libraries. The first page begins with their container. */
export async function listLooseFiles(client: GrantClient, cursor: string | null): Promise<ItemPage> {
  const { items, next } = await looseFiles(client, [], cursor ?? '');
  return { items: cursor === null ? [itemOfLooseFiles(), ...items] : items, next };
}

/** Returns a page of the files outside of libraries that satisfy conditions. */
export async function looseFiles(
  client: GrantClient,
  conditions: readonly string[],
  afterId: string,
): Promise<ItemPage> {
  const wanted = { fields: FILE_FIELDS, from: 'ContentDocument', where: ['ParentId = null', ...conditions] };
  const { rows, next } = await fetchPage(client, wanted, afterId);
  const itemPlace = { parent: LOOSE_FILES, root: LOOSE_FILES };
  return { items: rows.map((row) => itemOfFile(row, itemPlace, siteOf(client))), next };
}

/** Returns a page of the published articles. The first page begins with their container. */
export async function listKnowledge(client: GrantClient, cursor: string | null): Promise<ItemPage> {
  const { rows, next } = await fetchPage(client, ARTICLES, cursor ?? '');
  const articles = rows.flatMap((row) => itemOfArticle(row, siteOf(client)) ?? []);
  return { items: cursor === null ? [itemOfKnowledge(), ...articles] : articles, next };
}

/** Returns a file by its id. @throws Fault not_found */
export async function fileAt(client: GrantClient, id: string): Promise<Json> {
  const [row] = await filesOf(client, [id]);
  if (!row) throw noSuchItem('Salesforce');
  return row;
}

/** Returns a published article in one language, with further fields. @throws Fault not_found */
export async function articleAt(
  client: GrantClient,
  { id, language }: { readonly id: string; readonly language: string },
  fields: readonly string[],
): Promise<Json> {
  const where = [...ARTICLES.where, `KnowledgeArticleId = ${quote(id)}`, `Language = ${quote(language)}`];
  const wanted = { ...ARTICLES, fields: [...ARTICLE_FIELDS, ...fields], where };
  const [row] = (await fetchPage(client, wanted, '')).rows;
  if (!row) throw noSuchItem('Salesforce');
  return row;
}
