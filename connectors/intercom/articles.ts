import {
  type PageAt,
  withCursor,
  boolean,
  count,
  shapeOf,
  nullable,
  optional,
  recordOf,
  string,
  type Checked,
} from '../cursors.js';
import type { SourceClient } from '../accountClient.js';
import type { ItemPage, SourceItem } from '../sourceItem.js';
import { requireMatchingId, idOf } from '../helpdesk.js';
import type { ListRequest } from '../itemsByKind.js';
import {
  collectionOf,
  CONTAINERS,
  type Container,
  itemOfArticle,
  itemOfCollection,
  itemOfContainer,
  skippedDraft,
} from './adapter.js';
import { NAME, fetchCollections, fetchNumberedPage, newestOf, pageAfter } from './api.js';
import { noSuchItem } from '../faults.js';
import { type Answer, asAnswer } from '../json.js';
import type { IntercomArticle, IntercomCollection } from './fields.js';

const MAX_COLLECTIONS = 20_000;
/**
 * Maximum number of restarts of a list. A restart is needed if an entry was removed, because later pages then shift.
 */
const MAX_RESTARTS = 3;

/** Returns the root items: root collections, then containers for items without a collection. */
export async function listRoots(client: SourceClient): Promise<ItemPage> {
  const { all } = await collectionsOf(client);
  const outermost = [...all].filter(([, collection]) => idOf(collection.parent_id) === null);
  const items = outermost.flatMap(([id, collection]) => itemOfCollection(collection, id) ?? []);
  const containers = Object.keys(CONTAINERS).map((id) => itemOfContainer(id as Container));
  return { items: [...items, ...containers], next: null };
}

/** Returns all collections by id, and a function that returns the path from a collection up to its root collection. */
async function collectionsOf(client: SourceClient) {
  const all = new Map<string, Answer<IntercomCollection>>();
  for (const collection of await fetchCollections(client, MAX_COLLECTIONS)) {
    const id = idOf(collection.id);
    if (id !== null) all.set(id, collection);
  }
  /** Returns a collection and its ancestors. Invalid answers may contain a cycle: each collection is visited once. */
  const pathOf = (id: string): readonly string[] => {
    const path: string[] = [];
    for (let at: string | null = id; at !== null && all.has(at) && !path.includes(at);) {
      path.push(at);
      at = idOf(all.get(at)?.parent_id);
    }
    return path;
  };
  return { all, pathOf };
}

/** Position in the listing of articles. */
const CURSOR = shapeOf({
  /** Root collection of each selected collection; null: the articles without a collection are selected. */
  roots: nullable(recordOf(string)),
  page: count,
  total: nullable(count),
  restarts: count,
  /** Time of change of the first article when the listing began. Absent in cursors of version 0.2.0. */
  newest: optional(nullable(count)),
  /** Whether the first pages are read again, for articles that were changed meanwhile. */
  isRepeated: optional(boolean),
});
type Cursor = Checked<typeof CURSOR>;

/** Returns a page of all articles, filtered by collection: Intercom has no list per collection. */
async function listArticles(client: SourceClient, cursor: Cursor): Promise<PageAt<Cursor>> {
  const { roots, page, restarts } = cursor;
  const taken = await fetchNumberedPage<IntercomArticle>(client, ['articles'], page);
  const { values, total } = taken;
  const isShorter = total !== null && cursor.total !== null && total < cursor.total;
  const selected = values.flatMap((article): { article: Answer<IntercomArticle>; root: string | null }[] => {
    const parentId = collectionOf(article);
    if (roots === null) return parentId === null ? [{ article, root: null }] : [];
    const root = parentId !== null && Object.hasOwn(roots, parentId) ? roots[parentId] : undefined;
    return root === undefined ? [] : [{ article, root }];
  });
  const items = selected.flatMap(({ article, root }) => itemOfArticle(article, root) ?? []);
  const skipped = selected.flatMap(({ article }) => skippedDraft(article) ?? []);
  if (isShorter && restarts < MAX_RESTARTS)
    return { items, skipped, next: { ...begin(roots), restarts: restarts + 1 } };
  const { isRepeated = false } = cursor;
  const newest = page === 1 && !isRepeated ? newestOf(values) : (cursor.newest ?? null);
  const next = pageAfter(taken, page, { newest, isRepeated });
  return { items, skipped, next: next && { roots, total, restarts, newest, ...next } };
}

const begin = (roots: Cursor['roots']): Cursor => ({
  ...{ roots, page: 1, total: null, restarts: 0 },
  ...{ newest: null, isRepeated: false },
});

/** Returns a page of a collection and its descendants. */
export const listCollection = withCursor(
  CURSOR,
  async (client: SourceClient, { itemRef, typeSelection }: ListRequest, cursor) => {
    const { id } = itemRef;
    const withArticles = typeSelection.of('ARTICLE');
    if (cursor !== null) return listArticles(client, cursor);
    const { all, pathOf } = await collectionsOf(client);
    if (!all.has(id)) throw noSuchItem(NAME);
    const branch = [...all].flatMap(([collectionId, json]) => {
      const path = pathOf(collectionId);
      return path.includes(id) ? [{ collectionId, json, root: path.at(-1) ?? collectionId }] : [];
    });
    const items = branch.flatMap(({ json, root }) => itemOfCollection(json, root) ?? []);
    const roots = Object.fromEntries(branch.map(({ collectionId, root }) => [collectionId, root]));
    return { items, next: withArticles ? begin(roots) : null };
  },
);

/** Returns a page of the articles without a collection. */
export const listLooseArticles = withCursor(
  CURSOR,
  async (client: SourceClient, { typeSelection }: ListRequest<unknown>, cursor) => {
    const withArticles = typeSelection.of('ARTICLE');
    if (cursor === null) return { items: [itemOfContainer('articles')], next: withArticles ? begin(null) : null };
    return listArticles(client, cursor);
  },
);

/** Returns an article. @throws Fault not_found also for a draft */
export async function readArticle(client: SourceClient, id: string): Promise<Answer<IntercomArticle>> {
  const article = asAnswer<IntercomArticle>(requireMatchingId(NAME, id, await client.get(['articles', id], {})));
  if (article.state !== 'published') throw noSuchItem(NAME);
  return article;
}

/** Returns an article as an item. @throws Fault not_found also for drafts */
export async function articleItem(client: SourceClient, id: string): Promise<SourceItem> {
  const article = await readArticle(client, id);
  const parentId = collectionOf(article);
  const root = parentId === null ? null : ((await collectionsOf(client)).pathOf(parentId).at(-1) ?? parentId);
  const item = itemOfArticle(article, root);
  if (item === null) throw noSuchItem(NAME);
  return item;
}
