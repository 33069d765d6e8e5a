/**
 * Finds parent items: answers contain the direct parent, which may be a column block, or not be shared with the
 * connection.
 */
import type { GrantClient } from '../accountClient.js';

import { Fault } from '../../contract/failures.js';
import { externalIdOf, placeOfJson, type NotionObject } from './adapter.js';
import { idOf, isInaccessible, isTrashed } from './api.js';
import { asObject, asText, type Json } from '../json.js';
import { requireId } from '../faults.js';

/** A known place in one listing: its parent, or null if it is inaccessible. */
type Known = { readonly externalId: string; readonly parent: string | null } | null;

/** Cached by listing and id, because each listing needs the same parents often. */
interface CachedPlace {
  readonly found: Known;
}

/** Maximum nesting. Real pages are less deep; the limit also ends a walk through cyclic answers. */
const MAX_DEPTH = 200;

export class Places {
  private readonly client: GrantClient;
  private readonly listing: string;

  /** Creates a lookup for one listing. @param listing key of the cache, unique for the listing */
  constructor(client: GrantClient, listing: string) {
    this.client = client;
    this.listing = listing;
  }

  /** Returns an item's parent and root item. */
  async around(json: NotionObject): Promise<{ parent: string | null; root: string | null }> {
    const ownPlace = await this.learn(json);
    let root: string | null = null;
    let up = ownPlace?.parent ?? null;
    for (let depth = 0; up !== null && depth < MAX_DEPTH; depth += 1) {
      root = up;
      up = (await this.byExternalId(up))?.parent ?? null;
    }
    return { parent: ownPlace?.parent ?? null, root };
  }

  /** Caches and returns the place of an object in an answer. */
  private async learn(json: NotionObject): Promise<Known> {
    const place = placeOfJson(json);
    if (place === null || isTrashed(json)) return null;
    const above = await this.above(json);
    const found = { externalId: externalIdOf(place), parent: above?.externalId ?? null };
    this.remember(found.externalId, found);
    return found;
  }

  private remember(name: string, found: Known): Known {
    this.client.cache.set(`${this.listing} ${name}`, { found } satisfies CachedPlace);
    return found;
  }

  private async byExternalId(externalId: string): Promise<Known> {
    const id = externalId.slice(externalId.indexOf(':') + 1);
    return externalId.startsWith('database:') ? this.itemById('data_sources', id) : this.itemById('pages', id);
  }

  /** Returns the place of a page or database, by its id. */
  private async itemById(collection: 'pages' | 'data_sources', id: string): Promise<Known> {
    for (const name of collection === 'pages' ? [id, `row:${id}`] : [`database:${id}`]) {
      const kept = this.client.cache.get(`${this.listing} ${name}`) as CachedPlace | undefined;
      if (kept) return kept.found;
    }
    const json = await this.fetchJson([collection, id]);
    const found = json === null ? null : await this.learn(json);
    return found ?? this.remember(collection === 'pages' ? id : `database:${id}`, null);
  }

  /** Null for a page that does not exist or is not shared. */
  private async fetchJson(path: readonly string[]): Promise<Json | null> {
    try {
      return requireId('Notion', await this.client.get(path, {}), 'the requested item');
    } catch (error) {
      if (isInaccessible(error)) return null;
      throw error;
    }
  }

  /** Returns the nearest accessible ancestor; null if there is none. */
  private async above(json: NotionObject): Promise<Known> {
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
    throw new Fault('server_error', 'Notion returned a page that contains itself. It is retried automatically.');
  }
}
