import type { DataSourceObjectResponse, PageObjectResponse } from '@notionhq/client';

import type { SourceItem } from '../sourceItem.js';
import { idOf } from './api.js';
import { richText } from './richText.js';
import { type Answer, asList, asObject, asText } from '../json.js';
import { createItem } from '../items.js';

/** A page or a database of an answer. */
export type NotionObject = Answer<PageObjectResponse | DataSourceObjectResponse>;

/** The kinds of objects in a workspace. A row of a database is also a page, but its file has another source type. */
export type Kind = 'page' | 'row' | 'database';

export interface ItemRef {
  readonly kind: Kind;
  readonly id: string;
}

const PREFIXES: Readonly<Record<Exclude<Kind, 'page'>, string>> = { row: 'row:', database: 'database:' };

export const externalIdOf = ({ kind, id }: ItemRef): string => (kind === 'page' ? id : `${PREFIXES[kind]}${id}`);
export const isDatabaseRow = (externalId: string): boolean => externalId.startsWith(PREFIXES.row);

/** Parses an item id; null if it is invalid. */
export function parseItemId(externalId: string): ItemRef | null {
  const [kind, prefix] = Object.entries(PREFIXES).find(([, word]) => externalId.startsWith(word)) ?? ['page', ''];
  const id = idOf(externalId.slice(prefix.length));
  return id === null ? null : { kind: kind as Kind, id };
}

/** Returns the reference of a page, row or data source; null for other objects, or without a valid id. */
export function itemRefOf(json: NotionObject): ItemRef | null {
  const id = idOf(json['id']);
  if (id === null) return null;
  if (json['object'] === 'data_source') return { kind: 'database', id };
  if (json['object'] !== 'page') return null;
  const type = asText(asObject(json['parent'])['type']);
  return { kind: type === 'data_source_id' || type === 'database_id' ? 'row' : 'page', id };
}

const MAX_NAME = 1_000;
/** The title that Notion shows for untitled pages. */
const UNTITLED = 'Untitled';

/** Returns the title of a page or a database. */
export function titleOf(json: NotionObject): string {
  const column = Object.values(asObject(json['properties']))
    .map(asObject)
    .find(({ type }) => type === 'title');
  // A database has a title of its own. The `title` in its properties is the definition of a column, not a text.
  const runs = json['object'] === 'data_source' ? json['title'] : column?.['title'];
  const title = richText(asList(runs), 'plain').trim();
  return title === '' ? UNTITLED : title.slice(0, MAX_NAME);
}

export const timestampOf = (value: unknown): string | null => {
  const at = Date.parse(asText(value) ?? '');
  return Number.isNaN(at) ? null : new Date(at).toISOString();
};

/**
 * Minimum age of a change for an item to have a version. Notion's change times have a precision of one minute, so two
 * changes within a minute have the same time. Without a version, the next sync reads the content again.
 */
const SETTLED_AFTER_MS = 120_000;

/**
 * Converts an object to an item.
 * @param parents its parent and its root item; both null for a root item
 */
export function itemOf(
  json: NotionObject,
  itemRef: ItemRef,
  parents: { readonly parent: string | null; readonly root: string | null },
  now = Date.now(),
): SourceItem {
  const isPage = itemRef.kind !== 'database';
  const edited = timestampOf(json['last_edited_time']);
  return createItem({
    externalId: externalIdOf(itemRef),
    parentExternalId: parents.parent,
    rootExternalId: parents.root,
    name: titleOf(json),
    itemType: isPage ? 'PAGE' : 'TABLE',
    externalUrl: asText(json['url']),
    fileFormat: isPage ? 'MD' : null,
    isExpandable: true,
    hasContent: isPage,
    createdAt: timestampOf(json['created_time']),
    version: isPage && edited !== null && now - Date.parse(edited) > SETTLED_AFTER_MS ? edited : null,
  });
}
