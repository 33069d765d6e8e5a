/**
 * Finds the parent items of pages and databases. Notion returns only the direct parent, which may be a block in the
 * layout of a page, or an object that is not shared with the connection.
 */
import type { GrantClient } from '../accountClient.js';

import { Fault } from '../../contract/failures.js';
import { externalIdOf, itemRefOf, type NotionObject } from './adapter.js';
import { idOf, isInaccessible, isTrashed } from './api.js';
import { asObject, asText, type Json } from '../json.js';
import { requireId } from '../faults.js';

/** An item and its parent item; null if the item is inaccessible. */
type ItemWithParent = { readonly externalId: string; readonly parent: string | null } | null;

/** An entry of the cache; each listing needs the same parents often. The key is the listing and the item's id. */
interface CachedItem {
  readonly item: ItemWithParent;
}

/** Maximum nesting. Real pages are less deep; the limit also ends a walk through cyclic answers. */
const MAX_DEPTH = 200;

export class ParentFinder {
  private readonly client: GrantClient;
  private readonly listing: string;

  /** Creates a lookup for one listing. @param listing key of the cache, unique for the listing */
  constructor(client: GrantClient, listing: string) {
    this.client = client;
    this.listing = listing;
  }

  /** Returns an item's parent and root item. */
  async parentsOf(json: NotionObject): Promise<{ parent: string | null; root: string | null }> {
    const item = await this.findItem(json);
    let root: string | null = null;
    let ancestor = item?.parent ?? null;
    for (let depth = 0; ancestor !== null && depth < MAX_DEPTH; depth += 1) {
      root = ancestor;
      ancestor = (await this.byExternalId(ancestor))?.parent ?? null;
    }
    return { parent: item?.parent ?? null, root };
  }

  /** Finds the parent of an object that Notion returned, and caches it. */
  private async findItem(json: NotionObject): Promise<ItemWithParent> {
    const itemRef = itemRefOf(json);
    if (itemRef === null || isTrashed(json)) return null;
    const parent = await this.nearestAncestor(json);
    const externalId = externalIdOf(itemRef);
    return this.store(externalId, { externalId, parent: parent?.externalId ?? null });
  }

  private store(externalId: string, item: ItemWithParent): ItemWithParent {
    this.client.cache.set(`${this.listing} ${externalId}`, { item } satisfies CachedItem);
    return item;
  }

  private async byExternalId(externalId: string): Promise<ItemWithParent> {
    const id = externalId.slice(externalId.indexOf(':') + 1);
    return externalId.startsWith('database:') ? this.itemById('data_sources', id) : this.itemById('pages', id);
  }

  /** Returns a page or database by its id at Notion, from the cache if possible. */
  private async itemById(collection: 'pages' | 'data_sources', id: string): Promise<ItemWithParent> {
    for (const externalId of collection === 'pages' ? [id, `row:${id}`] : [`database:${id}`]) {
      const cached = this.client.cache.get(`${this.listing} ${externalId}`) as CachedItem | undefined;
      if (cached) return cached.item;
    }
    const json = await this.fetchJson([collection, id]);
    const item = json === null ? null : await this.findItem(json);
    return item ?? this.store(collection === 'pages' ? id : `database:${id}`, null);
  }

  /** Fetches an object; null if it does not exist or is not shared with the connection. */
  private async fetchJson(path: readonly string[]): Promise<Json | null> {
    try {
      return requireId('Notion', await this.client.get(path, {}), 'the requested item');
    } catch (error) {
      if (isInaccessible(error)) return null;
      throw error;
    }
  }

  /** Returns the nearest accessible ancestor; null if there is none. */
  private async nearestAncestor(json: NotionObject): Promise<ItemWithParent> {
    // The parent of a data source is its database; the ancestor is the database's parent.
    let parent = asObject(
      json['object'] === 'data_source' && json['database_parent'] ? json['database_parent'] : json['parent'],
    );
    for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
      const type = asText(parent['type']) ?? '';
      const id = idOf(parent[type]);
      if (id === null) return null;
      if (type === 'page_id') return this.itemById('pages', id);
      if (type === 'data_source_id') return this.itemById('data_sources', id);
      const collection = type === 'block_id' ? 'blocks' : type === 'database_id' ? 'databases' : null;
      const between = collection === null ? null : await this.fetchJson([collection, id]);
      if (between === null) return null;
      parent = asObject(between['parent']);
    }
    throw new Fault(
      'server_error',
      'Notion returned a page that contains itself. The request is retried automatically.',
    );
  }
}
