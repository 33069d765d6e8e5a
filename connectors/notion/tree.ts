/**
 * Lists the contents of a page or database. Notion's API returns only the blocks of a page and the rows of a database.
 * Nested pages and databases are found by their blocks, which may be inside other blocks.
 */
import {
  type Checked,
  listOf,
  nullable,
  oneOf,
  optional,
  shapeOf,
  string,
  withCursor,
  withRootsCursor,
} from '../cursors.js';
import { randomUUID } from 'node:crypto';

import type { BlockObjectResponse, DatabaseObjectResponse } from '@notionhq/client';

import { Fault } from '../../contract/failures.js';
import type { GrantClient } from '../accountClient.js';
import type { SkippedItem, SourceItem } from '../sourceItem.js';
import { externalIdOf, itemOf, type ItemRef, itemRefOf, type NotionObject } from './adapter.js';
import { fetchPage, idOf, isInaccessible, isTrashed, missing, postPage } from './api.js';
import { ParentFinder } from './places.js';
import { fetchRows, rowsQuery } from './rows.js';
import { type Answer, asAnswer, asObject, asText, type Json } from '../json.js';
import { requireId, requireList } from '../faults.js';

/** A page, block or database whose children are still to be listed. Stored cursors have these field names. */
const openObject = shapeOf({
  /** What is listed: the blocks of a page or block, or the rows of a database. */
  room: oneOf('blocks', 'rows'),
  id: string,
  /** External id of the item that is the parent of the listed items. */
  owner: string,
  at: nullable(string),
  /** The query of the rows; unset: the first one. */
  rows: optional(rowsQuery),
});
type OpenObject = Checked<typeof openObject>;
const TREE_CURSOR = shapeOf({ root: string, open: listOf(openObject) });
type TreeCursor = Checked<typeof TREE_CURSOR>;

/** Types of blocks that contain no pages, or whose children Notion's API refuses to list (see blocks.ts). */
const WITHOUT_PAGES: ReadonlySet<string> = new Set(['table', 'unsupported']);

/** Whether a block may contain pages. A synced copy does not: its pages are listed with the original. */
const holdsPages = (block: Answer<BlockObjectResponse>): boolean => {
  const type = asText(block['type']) ?? '';
  const original = type === 'synced_block' ? asObject(block['synced_block'])['synced_from'] : null;
  const isCopy = typeof original === 'object' && original !== null;
  return block['has_children'] === true && !WITHOUT_PAGES.has(type) && !isCopy;
};

/** An item, and the object whose children are its contents. */
interface FoundItem {
  readonly item: SourceItem;
  readonly open: OpenObject;
}

const foundItem = (json: NotionObject, itemRef: ItemRef, parent: string, root: string): FoundItem => ({
  item: itemOf(json, itemRef, { parent, root }),
  open: {
    room: itemRef.kind === 'database' ? 'rows' : 'blocks',
    id: itemRef.id,
    owner: externalIdOf(itemRef),
    at: null,
    rows: undefined,
  },
});

/**
 * Returns a fetched object; null if it is inaccessible or in the trash. @param otherKind another kind of Fault that
 * means, for this request, that the object is inaccessible
 */
async function orNull(request: Promise<Json>, otherKind?: Fault['kind']): Promise<Json | null> {
  try {
    const json = requireId('Notion', await request, 'the requested item');
    return isTrashed(json) ? null : json;
  } catch (error) {
    if (isInaccessible(error) || (error instanceof Fault && error.kind === otherKind)) return null;
    throw error;
  }
}

/** The pages or databases that a block represents, and entries for inaccessible ones. */
interface Represented {
  readonly objects: readonly NotionObject[];
  readonly skipped: readonly SkippedItem[];
}
const UNLISTED =
  "Notion's API does not list the contents of this block. Move its pages elsewhere in Notion, then sync again.";
const NONE: Represented = { objects: [], skipped: [] };
const inaccessible = (id: string, title: unknown, reason: string): Represented => ({
  objects: [],
  skipped: [{ externalId: id, name: asText(title) ?? id, reason }],
});

/** Returns the page or the databases that a block represents. */
async function representedBy(client: GrantClient, block: Answer<BlockObjectResponse>): Promise<Represented> {
  const id = idOf(block['id']);
  if (id === null) return NONE;
  if (block['type'] === 'child_page') {
    const page = await orNull(client.get(['pages', id], {}), 'bad_response');
    const { title } = asObject(block['child_page']);
    return page === null
      ? inaccessible(
          id,
          title,
          "This page is not shared with the connection, was deleted, or cannot be read by Notion's API. Share it in Notion, then sync again.",
        )
      : { objects: [page], skipped: [] };
  }
  if (block['type'] !== 'child_database') return NONE;
  // For a linked view of another database, the API returns no database.
  const database = await orNull(client.get(['databases', id], {}), 'bad_response');
  if (database === null)
    return inaccessible(
      id,
      asObject(block['child_database'])['title'],
      'This is a view of another database, or the database is not shared. Share the database, and sync it separately.',
    );
  const sourceIds = requireList(
    'Notion',
    asAnswer<DatabaseObjectResponse>(database).data_sources,
    'the data sources of a database',
  ).flatMap((source) => idOf(asObject(source)['id']) ?? []);
  const sources = await Promise.all(sourceIds.map((sourceId) => orNull(client.get(['data_sources', sourceId], {}))));
  return { objects: sources.filter((source) => source !== null), skipped: [] };
}

/** Some of the items in a page, block or database, and the objects to list next. */
interface ListedItems {
  readonly items: readonly SourceItem[];
  readonly skipped: readonly SkippedItem[];
  readonly refused?: readonly string[];
  /** Pages, blocks and databases whose children are still to be listed, in order. */
  readonly open: readonly OpenObject[];
}

const foundIn = (objects: readonly NotionObject[], { owner }: OpenObject, root: string): readonly FoundItem[] =>
  objects.flatMap((json) => {
    const itemRef = itemRefOf(json);
    return itemRef === null ? [] : [foundItem(json, itemRef, owner, root)];
  });

const UNLISTED_ROWS =
  'This database has more rows that were created in one minute than Notion returns. Move some of them to another database, then sync again.';

async function listRows(client: GrantClient, parentObject: OpenObject, root: string): Promise<ListedItems> {
  const { id, owner, at, rows } = parentObject;
  const { values, next, isCut } = await fetchRows(client, id, at, rows);
  const foundItems = foundIn(
    values.filter((row) => !isTrashed(row)),
    parentObject,
    root,
  );
  return {
    items: foundItems.map(({ item }) => item),
    skipped: isCut ? [{ externalId: id, name: id, reason: UNLISTED_ROWS }] : [],
    // Marks the list as incomplete, so that rows that Notion does not return are not deleted.
    ...(isCut ? { refused: [owner] } : {}),
    open: [...foundItems.map(({ open }) => open), ...(next === null ? [] : [{ ...parentObject, ...next }])],
  };
}

async function listBlocks(client: GrantClient, parentObject: OpenObject, root: string): Promise<ListedItems> {
  const { room, id, owner, at } = parentObject;
  const page = await fetchPage(client, ['blocks', id, 'children'], at);
  const represented = await Promise.all(page.values.map((block) => representedBy(client, block)));
  const all = foundIn(
    represented.flatMap(({ objects }) => objects),
    parentObject,
    root,
  );
  const isPage = ({ type }: Answer<BlockObjectResponse>): boolean => type === 'child_page' || type === 'child_database';
  const nestedBlocks = page.values.flatMap((block): OpenObject[] => {
    const inner = idOf(block['id']);
    return inner !== null && !isPage(block) && holdsPages(block)
      ? [{ room, id: inner, owner, at: null, rows: undefined }]
      : [];
  });
  return {
    items: all.map(({ item }) => item),
    skipped: represented.flatMap(({ skipped }) => skipped),
    open: [
      ...nestedBlocks,
      ...all.map(({ open }) => open),
      ...(page.next === null ? [] : [{ ...parentObject, at: page.next }]),
    ],
  };
}

const unlessEnd = (cursor: TreeCursor): TreeCursor | null => (cursor.open.length === 0 ? null : cursor);

/** Requests a page or database. */
async function fetchItem(client: GrantClient, { kind, id }: ItemRef): Promise<Json> {
  const json = await client.get([kind === 'database' ? 'data_sources' : 'pages', id], {});
  requireId('Notion', json, 'the page');
  if (isTrashed(json) || itemRefOf(json) === null) throw missing();
  return json;
}

/** Returns one result page of an item's descendants at any depth; the first result page includes the item itself. */
export const listChildren = withCursor(TREE_CURSOR, async (client: GrantClient, requestedRef: ItemRef, cursor) => {
  if (cursor === null) {
    const json = await fetchItem(client, requestedRef);
    // The kind in the answer takes precedence: an id without a prefix may be that of a row.
    const itemRef = itemRefOf(json) ?? requestedRef;
    const parents = await new ParentFinder(client, randomUUID()).parentsOf(json);
    const { open } = foundItem(json, itemRef, '', '');
    const root = parents.root ?? externalIdOf(itemRef);
    return { items: [itemOf(json, itemRef, parents)], next: unlessEnd({ root, open: [open] }) };
  }
  const { root, open } = cursor;
  const [current, ...rest] = open;
  if (current === undefined) return { items: [], next: null };
  try {
    const list = current.room === 'blocks' ? listBlocks : listRows;
    const { open: deeper, ...page } = await list(client, current, root);
    // Depth first, so that `open` stays short.
    return { ...page, next: unlessEnd({ root, open: [...deeper, ...rest] }) };
  } catch (error) {
    // If the object is a page, reading its content fails too, and its file then has the error.
    if (isInaccessible(error)) return { items: [], next: unlessEnd({ root, open: rest }) };
    // Notion rejects the request for the children of some blocks with 400: list the remaining objects.
    if (!(error instanceof Fault) || error.kind !== 'bad_response') throw error;
    const skipped = [{ externalId: current.id, name: current.id, reason: UNLISTED }];
    return { items: [], skipped, next: unlessEnd({ root, open: rest }) };
  }
});

const SEARCH_CURSOR = shapeOf({
  /** Identifies this listing in the cache of ParentFinder. */
  listing: string,
  at: nullable(string),
});

/**
 * Returns one result page of all shared items, each with its parent. The search returns rows, and pages at any depth.
 */
export const searchAll = withRootsCursor(SEARCH_CURSOR, async (client: GrantClient, cursor) => {
  const { listing, at } = cursor ?? { listing: randomUUID(), at: null };
  // Sorted by change time, ascending: an item that changes during the listing is listed twice rather than skipped.
  const body = { sort: { timestamp: 'last_edited_time', direction: 'ascending' } };
  const page = await postPage(client, ['search'], body, at);
  const parentFinder = new ParentFinder(client, listing);
  const items: SourceItem[] = [];
  for (const json of page.values) {
    const itemRef = itemRefOf(json);
    if (itemRef === null || isTrashed(json)) continue;
    items.push(itemOf(json, itemRef, await parentFinder.parentsOf(json)));
  }
  return {
    items,
    next: page.next === null ? null : { listing, at: page.next },
    isDeep: true as const,
    ...(page.isPartial ? { isPartial: true as const } : {}),
  };
});
