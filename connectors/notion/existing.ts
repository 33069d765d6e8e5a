/**
 * Finds items that a search omitted although they exist. Notion does not guarantee that a search returns everything,
 * and indexes new pages with a delay (https://developers.notion.com/reference/search-optimizations-and-limitations).
 */
import pLimit from 'p-limit';

import { Fault } from '../../contract/failures.js';
import type { GrantClient } from '../accountClient.js';
import { isFault, requireId } from '../faults.js';
import { asObject, asText, type Json } from '../json.js';
import { externalIdOf, itemRefOf, parseItemId } from './adapter.js';
import { idOf, isTrashed } from './api.js';

/**
 * Maximum number of concurrent requests. It must equal `requestsAtOnce` of Notion in
 * `contract/sources/connectedSources.ts`, the number of requests that the account's rate limiter permits at once. More
 * requests would wait for a slot. That wait counts towards the time limit of a request, so after a
 * long wait even a short pause for a rate limit would fail the request.
 */
const AT_ONCE = 3;
/** Maximum nesting that is followed. It also ends a walk through cyclic answers. */
const MAX_DEPTH = 200;
const COLLECTIONS: Readonly<Record<string, string>> = {
  page_id: 'pages',
  data_source_id: 'data_sources',
  database_id: 'databases',
  block_id: 'blocks',
};

/**
 * Returns an object, or the Fault with which Notion refuses this object. 404: it does not exist or is not shared. 403
 * and 400 do not mean that it was deleted. https://developers.notion.com/reference/status-codes
 */
async function fetchObject(client: GrantClient, path: readonly string[]): Promise<Json | Fault> {
  try {
    return requireId('Notion', await client.get(path, {}), 'the requested item');
  } catch (error) {
    if (error instanceof Fault && isFault(error, 'not_found', 'access_denied', 'bad_response')) return error;
    throw error;
  }
}

/**
 * Returns the ids of the items that exist and are shared with the connection. An item that Notion refuses to show
 * counts as existing, unless the refusal is a 404. @throws Fault that concerns the connection or Notion as a whole
 */
export async function findExisting(client: GrantClient, externalIds: readonly string[]): Promise<readonly string[]> {
  const ancestors = new Map<string, Promise<Json | Fault>>();
  const fetchAncestor = (path: readonly string[]): Promise<Json | Fault> => {
    const key = path.join('/');
    const ancestor = ancestors.get(key) ?? fetchObject(client, path);
    ancestors.set(key, ancestor);
    return ancestor;
  };
  /**
   * Whether an object or one of its ancestors is in the trash. Notion returns objects in the trash with `in_trash`, and
   * with its older name `archived` (https://developers.notion.com/reference/trash-page). Notion does not document
   * whether the objects inside an object in the trash have these fields too, so the ancestors are checked. An ancestor
   * that Notion refuses counts as not in the trash: it may not be shared with the connection, although the object is.
   */
  const isInTrash = async (object: Json): Promise<boolean> => {
    let current: Json | Fault = object;
    for (let depth = 0; depth < MAX_DEPTH && !(current instanceof Fault); depth += 1) {
      if (isTrashed(current)) return true;
      const parent = asObject(current['parent']);
      const type = asText(parent['type']) ?? '';
      const [collection, id] = [COLLECTIONS[type], idOf(parent[type])];
      if (collection === undefined || id === null) return false;
      current = await fetchAncestor([collection, id]);
    }
    return false;
  };
  const exists = async (externalId: string): Promise<boolean> => {
    const itemRef = parseItemId(externalId);
    if (itemRef === null) return false;
    const object = await fetchObject(client, [itemRef.kind === 'database' ? 'data_sources' : 'pages', itemRef.id]);
    if (object instanceof Fault) return object.kind !== 'not_found';
    const found = itemRefOf(object);
    // A row that was moved out of its database has another external id (without the prefix `row:`), so the row's item
    // no longer exists.
    return found !== null && externalIdOf(found) === externalId && !(await isInTrash(object));
  };
  const limit = pLimit(AT_ONCE);
  try {
    const answers = await Promise.all(externalIds.map((externalId) => limit(() => exists(externalId))));
    return externalIds.filter((_externalId, index) => answers[index]);
  } finally {
    // After an error, do not send the remaining requests.
    limit.clearQueue();
  }
}
