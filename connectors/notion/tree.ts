/** Lists the contents of a page or database. Notion returns only blocks and rows as children. */
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
import { externalIdOf, itemOf, type ItemRef, placeOfJson, type NotionObject } from './adapter.js';
import { fetchPage, idOf, isInaccessible, isTrashed, missing, postPage } from './api.js';
import { Places } from './places.js';
import { fetchRows, rowsQuery } from './rows.js';
import { type Answer, asAnswer, asObject, asText, type Json } from '../json.js';
import { requireId, requireList } from '../faults.js';

/** A page, block or database whose children are still to be listed. */
const openPlace = shapeOf({
  room: oneOf('blocks', 'rows'),
  id: string,
  /** The parent item of the found items. */
  owner: string,
  at: nullable(string),
  /** The query of the rows; unset: the first one. */
  rows: optional(rowsQuery),
});
type Open = Checked<typeof openPlace>;
const TREE_CURSOR = shapeOf({ root: string, open: listOf(openPlace) });
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

/** An item, and the places to search for its contents. */
interface Found {
  readonly item: SourceItem;
  readonly open: Open;
}

const found = (json: NotionObject, place: ItemRef, parent: string, root: string): Found => ({
  item: itemOf(json, place, { parent, root }),
  open: {
    room: place.kind === 'database' ? 'rows' : 'blocks',
    id: place.id,
    owner: externalIdOf(place),
    at: null,
    rows: undefined,
  },
});

/**
 * Returns null for an inaccessible object. @param otherKind another kind of Fault that means the same for this request
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

/** The items that a block represents, and entries for inaccessible ones. */
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
          'This page is not shared with the connection, was deleted, or cannot be read by its API. Share it at Notion, then sync again.',
        )
      : { objects: [page], skipped: [] };
  }
  if (block['type'] !== 'child_database') return NONE;
  // The API has no database for a linked view of another database.
  const database = await orNull(client.get(['databases', id], {}), 'bad_response');
  if (database === null)
    return inaccessible(
      id,
      asObject(block['child_database'])['title'],
      'This is a view of another database, or of one that is not shared. Share that database, and sync it separately.',
    );
  const all = requireList(
    'Notion',
    asAnswer<DatabaseObjectResponse>(database).data_sources,
    'the data sources of a database',
  ).flatMap((source) => idOf(asObject(source)['id']) ?? []);
  const sources = await Promise.all(all.map((sourceId) => orNull(client.get(['data_sources', sourceId], {}))));
  return { objects: sources.filter((source) => source !== null), skipped: [] };
}

/** The items directly inside of a place, and where to continue. */
interface Inside {
  readonly items: readonly SourceItem[];
  readonly skipped: readonly SkippedItem[];
  readonly refused?: readonly string[];
  /** Places to search, in order. */
  readonly open: readonly Open[];
}

const foundIn = (objects: readonly NotionObject[], { owner }: Open, root: string): readonly Found[] =>
  objects.flatMap((json) => {
    const place = placeOfJson(json);
    return place === null ? [] : [found(json, place, owner, root)];
  });

const UNLISTED_ROWS =
  'This database has more rows of one minute than Notion returns. Move some of them to another database, then sync again.';

async function listRows(client: GrantClient, place: Open, root: string): Promise<Inside> {
  const { id, owner, at, rows } = place;
  const { values, next, isCut } = await fetchRows(client, id, at, rows);
  const all = foundIn(
    values.filter((row) => !isTrashed(row)),
    place,
    root,
  );
  return {
    items: all.map(({ item }) => item),
    skipped: isCut ? [{ externalId: id, name: id, reason: UNLISTED_ROWS }] : [],
    // Rows that are not returned are not deleted.
    ...(isCut ? { refused: [owner] } : {}),
    open: [...all.map(({ open }) => open), ...(next === null ? [] : [{ ...place, ...next }])],
  };
}

async function listBlocks(client: GrantClient, place: Open, root: string): Promise<Inside> {
  const { room, id, owner, at } = place;
  const page = await fetchPage(client, ['blocks', id, 'children'], at);
  const shown = await Promise.all(page.values.map((block) => representedBy(client, block)));
  const all = foundIn(
    shown.flatMap(({ objects }) => objects),
    place,
    root,
  );
  const isPage = ({ type }: Answer<BlockObjectResponse>): boolean => type === 'child_page' || type === 'child_database';
  const within = page.values.flatMap((block): Open[] => {
    const inner = idOf(block['id']);
    return inner !== null && !isPage(block) && holdsPages(block)
      ? [{ room, id: inner, owner, at: null, rows: undefined }]
      : [];
  });
  return {
    items: all.map(({ item }) => item),
    skipped: shown.flatMap(({ skipped }) => skipped),
    open: [...within, ...all.map(({ open }) => open), ...(page.next === null ? [] : [{ ...place, at: page.next }])],
  };
}

const unlessEnd = (cursor: TreeCursor): TreeCursor | null => (cursor.open.length === 0 ? null : cursor);

/** Requests a page or database. */
async function itself(client: GrantClient, { kind, id }: ItemRef): Promise<Json> {
  const json = await client.get([kind === 'database' ? 'data_sources' : 'pages', id], {});
  requireId('Notion', json, 'the page');
  if (isTrashed(json) || placeOfJson(json) === null) throw missing();
  return json;
}

/** Returns a page of an item's descendants at any depth; the first one includes the item itself. */
export const listChildren = withCursor(TREE_CURSOR, async (client: GrantClient, given: ItemRef, cursor) => {
  if (cursor === null) {
    const json = await itself(client, given);
    // The kind in the answer takes precedence: an id without a prefix may be that of a row.
    const place = placeOfJson(json) ?? given;
    const parents = await new Places(client, randomUUID()).around(json);
    const { open } = found(json, place, '', '');
    const root = parents.root ?? externalIdOf(place);
    return { items: [itemOf(json, place, parents)], next: unlessEnd({ root, open: [open] }) };
  }
  const { root, open } = cursor;
  const [first, ...rest] = open;
  if (first === undefined) return { items: [], next: null };
  try {
    const list = first.room === 'blocks' ? listBlocks : listRows;
    const { open: deeper, ...page } = await list(client, first, root);
    // Depth first, so that the list of open places stays short.
    return { ...page, next: unlessEnd({ root, open: [...deeper, ...rest] }) };
  } catch (error) {
    // The file of an inaccessible item has the reason.
    if (isInaccessible(error)) return { items: [], next: unlessEnd({ root, open: rest }) };
    // Notion rejects some requests for children with 400: the others still exist.
    if (!(error instanceof Fault) || error.kind !== 'bad_response') throw error;
    const skipped = [{ externalId: first.id, name: first.id, reason: UNLISTED }];
    return { items: [], skipped, next: unlessEnd({ root, open: rest }) };
  }
});

const SEARCH_CURSOR = shapeOf({
  /** Key of this listing in the cache of places. */
  listing: string,
  at: nullable(string),
});

/** Returns a page of all shared items, each with its parent. One search returns rows, and pages at any depth. */
export const searchAll = withRootsCursor(SEARCH_CURSOR, async (client: GrantClient, cursor) => {
  const { listing, at } = cursor ?? { listing: randomUUID(), at: null };
  // Sorted by change time, ascending: an item that changes during the listing is listed twice rather than skipped.
  const body = { sort: { timestamp: 'last_edited_time', direction: 'ascending' } };
  const page = await postPage(client, ['search'], body, at);
  const places = new Places(client, listing);
  const items: SourceItem[] = [];
  for (const json of page.values) {
    const place = placeOfJson(json);
    if (place === null || isTrashed(json)) continue;
    items.push(itemOf(json, place, await places.around(json)));
  }
  return {
    items,
    next: page.next === null ? null : { listing, at: page.next },
    isDeep: true as const,
    ...(page.isPartial ? { isPartial: true as const } : {}),
  };
});
