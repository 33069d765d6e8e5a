import { type PageAt, withCursor, count, shapeOf, listOf, nullable, number, string, type Checked } from '../cursors.js';
import type { GrantClient, SourceClient } from '../accountClient.js';
import type { ItemPage, SourceItem } from '../sourceItem.js';
import { type Collection, itemOfGroup, itemOfJson, itemOfLibrary, type ItemRef, readCollection } from './adapter.js';
import { type KeyOwner, listAll, listPage, ownerOf, readItem } from './api.js';
import { incompleteAnswer, noSuchItem } from '../faults.js';
import type { Json } from '../json.js';

const MAX_COLLECTIONS = 20_000;
/** Maximum number of restarts because the library changed during the listing; then the result is accepted. */
const MAX_RESTARTS = 3;
/** Sorted by creation date, so that new items come last. */
const IN_ORDER = { sort: 'dateAdded', direction: 'asc', itemType: '-annotation' };

const pathOf = (library: string): string[] => library.split('/');

const ownLibrary = ({ id, name }: KeyOwner): SourceItem =>
  itemOfLibrary(`users/${id}`, name === '' ? 'My library' : `${name}'s library`, null);

/** Returns a page of the accessible libraries: the owner's, then those of groups. */
export async function listLibraries(client: SourceClient, owner: KeyOwner, cursor: string | null): Promise<ItemPage> {
  const { values, next } = await listPage(client, ['users', owner.id, 'groups'], {}, Number(cursor ?? 0));
  const groups = values.flatMap((json) => itemOfGroup(json) ?? []);
  const ownLibraries = cursor === null && owner.hasLibrary ? [ownLibrary(owner)] : [];
  return { items: [...ownLibraries, ...groups], next: next === null ? null : String(next) };
}

/** Returns the item of a library. @throws Fault not_found, access_denied */
async function libraryAt(client: SourceClient, library: string, owner: KeyOwner): Promise<SourceItem> {
  if (library === `users/${owner.id}`) return ownLibrary(owner);
  // The API has no address `users/<id>`, and only the owner's library is listed.
  if (library.startsWith('users/')) throw noSuchItem('Zotero');
  const json = await client.get(pathOf(library), {});
  const group = itemOfGroup(json);
  if (group?.externalId !== library) throw incompleteAnswer('Zotero', 'the group');
  return group;
}

const collectionsOf = async (client: SourceClient, library: string): Promise<readonly Collection[]> => {
  const all = await listAll(client, [...pathOf(library), 'collections'], {}, MAX_COLLECTIONS);
  return all.flatMap((json) => readCollection(json, library) ?? []);
};

/** Returns a collection with its subcollections. */
function branchOf(all: readonly Collection[], key: string): readonly Collection[] {
  const found = all.filter((collection) => collection.key === key);
  const visitedIds = new Set([key]);
  // Invalid answers may contain a cycle: each collection is visited once.
  for (const { key: parent } of found)
    for (const collection of all)
      if (collection.parent === parent && !visitedIds.has(collection.key)) {
        visitedIds.add(collection.key);
        found.push(collection);
      }
  return found;
}

/** Position in the listing of a library, or of some collections. */
const CURSOR = shapeOf({
  /** Collections whose items are still to be listed; `''` means all items of the library. */
  open: listOf(string),
  start: count,
  /** Version of the library at the first page; null: before that. */
  version: nullable(number),
  restarts: count,
});
type Cursor = Checked<typeof CURSOR>;
const unlessEnd = (cursor: Cursor): Cursor | null => (cursor.open.length === 0 ? null : cursor);
const beginning = (open: readonly string[]): Cursor => ({ open, start: 0, version: null, restarts: 0 });

const itemsOf = (values: readonly Json[], library: string): SourceItem[] =>
  values.flatMap((json) => itemOfJson(json, library) ?? []);

async function nextItems(client: SourceClient, library: string, cursor: Cursor): Promise<PageAt<Cursor>> {
  const [collection, ...rest] = cursor.open;
  if (collection === undefined) return { items: [], next: null };
  const collectionPath = collection === '' ? [] : ['collections', collection];
  const page = await listPage(client, [...pathOf(library), ...collectionPath, 'items'], IN_ORDER, cursor.start);
  const items = itemsOf(page.values, library);
  const hasChanged = cursor.version !== null && cursor.version !== page.version && cursor.restarts < MAX_RESTARTS;
  // Items that were deleted in the meantime shift others to pages that were already read, so the list is read again.
  if (hasChanged)
    return { items, next: unlessEnd({ ...cursor, start: 0, version: null, restarts: cursor.restarts + 1 }) };
  const next =
    page.next === null
      ? { ...beginning(rest), restarts: cursor.restarts }
      : { ...cursor, start: page.next, version: cursor.version ?? page.version };
  return { items, next: unlessEnd(next) };
}

/** Returns a page of a library, or of a collection, with all its contents. @throws Fault not_found */
export const listContainer = withCursor(
  CURSOR,
  async (client: GrantClient, { library, kind, key }: ItemRef, cursor) => {
    if (cursor !== null) return nextItems(client, library, cursor);
    if (kind === 'library') {
      const requestedItem = await libraryAt(client, library, await ownerOf(client));
      const collections = await collectionsOf(client, library);
      return { items: [requestedItem, ...collections.map(({ item }) => item)], next: unlessEnd(beginning([''])) };
    }
    // Throws if the collection is inaccessible or does not exist.
    await client.get([...pathOf(library), 'collections', key], {});
    const branch = branchOf(await collectionsOf(client, library), key);
    return {
      items: branch.map(({ item }) => item),
      next: unlessEnd(beginning(branch.map((collection) => collection.key))),
    };
  },
);

/** Returns an item with its attachments. @throws Fault not_found */
export async function listItem(client: SourceClient, { library, key }: ItemRef): Promise<ItemPage> {
  const path = [...pathOf(library), 'items', key];
  const json = await readItem(client, path);
  const item = itemOfJson(json, library);
  if (item === null) return { items: [], next: null };
  const children = item.isExpandable ? await listAll(client, [...path, 'children'], {}, MAX_COLLECTIONS) : [];
  return { items: [item, ...itemsOf(children, library)], next: null };
}
