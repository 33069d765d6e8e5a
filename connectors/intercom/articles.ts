import { count, defineCursor, shapeOf, nullable, recordOf, string, type CursorOf } from '../cursors.js';
import type { ItemPage, SourceClient, SourceItem } from '../connector.js';
import { answerAbout, idOf } from '../helpdesk.js';
import {
  collectionOf,
  CONTAINERS,
  type Container,
  itemOfArticle,
  itemOfCollection,
  itemOfContainer,
  skippedDraft,
} from './adapter.js';
import { NAME, takeAll, takeNumbered } from './api.js';
import { noSuchItem } from '../faults.js';
import type { Json } from '../json.js';

const COLLECTIONS = ['help_center', 'collections'];
const MAX_COLLECTIONS = 20_000;
/** Times that a list begins anew because something was taken out of it meanwhile: pages behind that have moved up. */
const MAX_RESTARTS = 3;

/** A page of the outermost things: collections that lie in none, then what Intercom has no place for. */
export async function listRoots(client: SourceClient, cursor: string | null): Promise<ItemPage> {
  const { values, next } = await takeNumbered(client, COLLECTIONS, cursor === null ? 1 : Number(cursor));
  const outermost = values.filter((one) => idOf(one['parent_id']) === null);
  const items = outermost.flatMap((one) => itemOfCollection(one, idOf(one['id']) ?? '') ?? []);
  const containers = Object.keys(CONTAINERS).map((id) => itemOfContainer(id as Container));
  return next === null ? { items: [...items, ...containers], next: null } : { items, next: String(next) };
}

/** All collections, with the outermost one that each lies in. */
async function collectionsOf(client: SourceClient) {
  const all = new Map<string, Json>();
  for (const one of await takeAll(client, COLLECTIONS, MAX_COLLECTIONS)) {
    const id = idOf(one['id']);
    if (id !== null) all.set(id, one);
  }
  /** A collection and those that it lies in; one that lies in itself, by a fault of the source, is passed once. */
  const pathOf = (id: string): readonly string[] => {
    const path: string[] = [];
    for (let at: string | null = id; at !== null && all.has(at) && !path.includes(at);) {
      path.push(at);
      at = idOf(all.get(at)?.['parent_id']);
    }
    return path;
  };
  return { all, pathOf };
}

/** Where the listing of articles goes on. */
const CURSOR = defineCursor(
  shapeOf({
    /** The outermost collection of each that is meant; null: those in none are. */
    roots: nullable(recordOf(string)),
    page: count,
    total: nullable(count),
    restarts: count,
  }),
);
type Cursor = CursorOf<typeof CURSOR>;

/** A page of all articles, of which those are taken that lie where it is meant: Intercom lists them in no other way. */
async function listArticles(client: SourceClient, cursor: Cursor): Promise<ItemPage> {
  const { roots, page, restarts } = cursor;
  const { values, next, total } = await takeNumbered(client, ['articles'], page);
  const isShorter = total !== null && cursor.total !== null && total < cursor.total;
  const meant = values.flatMap((article): { article: Json; root: string | null }[] => {
    const above = collectionOf(article);
    if (roots === null) return above === null ? [{ article, root: null }] : [];
    const root = above !== null && Object.hasOwn(roots, above) ? roots[above] : undefined;
    return root === undefined ? [] : [{ article, root }];
  });
  const items = meant.flatMap(({ article, root }) => itemOfArticle(article, root) ?? []);
  const skipped = meant.flatMap(({ article }) => skippedDraft(article) ?? []);
  if (isShorter && restarts < MAX_RESTARTS)
    return {
      items,
      skipped,
      next: CURSOR.write({ roots, page: 1, total: null, restarts: restarts + 1 }),
    };
  return {
    items,
    skipped,
    next: next === null ? null : CURSOR.write({ roots, page: next, total, restarts }),
  };
}

const begin = (roots: Cursor['roots']): string => CURSOR.write({ roots, page: 1, total: null, restarts: 0 });

/** A page of a collection and of all that lies in it. @param wanted whether its articles are */
export async function belowCollection(
  client: SourceClient,
  id: string,
  cursor: string | null,
  wanted: boolean,
): Promise<ItemPage> {
  if (cursor !== null) return listArticles(client, CURSOR.read(cursor));
  const { all, pathOf } = await collectionsOf(client);
  if (!all.has(id)) throw noSuchItem(NAME);
  const branch = [...all].flatMap(([one, json]) => {
    const path = pathOf(one);
    return path.includes(id) ? [{ one, json, root: path.at(-1) ?? one }] : [];
  });
  const items = branch.flatMap(({ json, root }) => itemOfCollection(json, root) ?? []);
  const roots = Object.fromEntries(branch.map(({ one, root }) => [one, root]));
  return { items, next: wanted ? begin(roots) : null };
}

/** A page of the articles that lie in no collection. */
export async function belowLoose(client: SourceClient, cursor: string | null, wanted: boolean): Promise<ItemPage> {
  if (cursor === null) return { items: [itemOfContainer('articles')], next: wanted ? begin(null) : null };
  return listArticles(client, CURSOR.read(cursor));
}

/** An article. @throws Fault not_found also for a draft */
export async function readArticle(client: SourceClient, id: string): Promise<Json> {
  const article = answerAbout(NAME, id, await client.get(['articles', id], {}));
  if (article['state'] !== 'published') throw noSuchItem(NAME);
  return article;
}

export async function articleItem(client: SourceClient, id: string): Promise<SourceItem> {
  const article = await readArticle(client, id);
  const above = collectionOf(article);
  const root = above === null ? null : ((await collectionsOf(client)).pathOf(above).at(-1) ?? above);
  const item = itemOfArticle(article, root);
  if (item === null) throw noSuchItem(NAME);
  return item;
}
