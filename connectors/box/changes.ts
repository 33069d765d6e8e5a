import { changeFeed, shapeOf, number, string } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { SourceClient } from '../accountClient.js';
import type { Change } from '../sourceItem.js';
import { type Answer, asAnswer, asObject, type Json } from '../json.js';
import type { BoxEvent, BoxEvents } from './fields.js';
import { idOf, ITEM_FIELDS, itemOf, type ItemRef, placeIn } from './adapter.js';
import { noSuchItem, requireId, requireList } from '../faults.js';

/** Position in the event stream of an account. */
const CHANGE_TOKEN = shapeOf({
  position: string,
  /** When the events were read, in milliseconds since 1970. */
  at: number,
});

const EVENTS_PER_PAGE = '200';
/** Maximum number of concurrent requests for the items of events. */
const AT_ONCE = 4;
/** Box stores events for at least two weeks, and does not report that older ones are missing. */
const KNOWN_FOR_MS = 13 * 86_400_000;

const stale = (): Fault =>
  new Fault('stale_cursor', 'Box no longer has the changes since the last sync. Everything is listed again.');

const PATHS: Readonly<Record<ItemRef['kind'], string>> = { file: 'files', folder: 'folders', web_link: 'web_links' };
/** Returns the current state of a Box item. @throws Fault not_found also for items in the trash */
export async function itemAt(client: SourceClient, { kind, id }: ItemRef): Promise<Json> {
  // Without `fields`, the answer for a folder includes a page of its contents. For web links Box does not document
  // `fields`: https://developer.box.com/reference/get-web-links-id
  const json = await client.get([PATHS[kind], id], kind === 'web_link' ? {} : { fields: ITEM_FIELDS });
  requireId('Box', json, 'the item');
  if (itemOf(json) === null) throw noSuchItem('Box');
  return json;
}

/**
 * Returns a page of events and the next stream position. The position is text, because it may exceed the safe integers:
 * `get` returns such integers as text.
 */
async function fetchEvents(
  client: SourceClient,
  position: string,
): Promise<{ readonly entries: readonly Json[]; readonly next: string }> {
  const query = { stream_type: 'changes', stream_position: position, limit: EVENTS_PER_PAGE };
  const answer = asAnswer<BoxEvents>(await client.get(['events'], query));
  const nextPosition = answer.next_stream_position;
  const next = typeof nextPosition === 'number' || typeof nextPosition === 'string' ? String(nextPosition) : '';
  if (!/^\d{1,30}$/.test(next))
    throw new Fault(
      'server_error',
      'Box returned no position in its event stream. The request is retried automatically.',
    );
  return { entries: requireList('Box', answer.entries).map(asObject), next };
}

/** Returns the item of an event, which Box writes in three formats. */
function placeOfEvent(event: Answer<BoxEvent>): ItemRef | null {
  const source = asObject(event.source);
  const { item_type: type, item_id: id, item } = source;
  return placeIn(source) ?? placeIn({ type, id }) ?? placeIn(asObject(item));
}

/** Returns the change of an item that an event names. */
async function changeOf(client: SourceClient, itemRef: ItemRef): Promise<Change> {
  try {
    const item = itemOf(await itemAt(client, itemRef));
    return item === null ? { gone: idOf(itemRef) } : { item };
  } catch (error) {
    // An item that is no longer shared with the account counts as deleted.
    if (error instanceof Fault && (error.kind === 'not_found' || error.kind === 'access_denied'))
      return { gone: idOf(itemRef) };
    throw error;
  }
}

/**
 * Events may be repeated or out of order, so the current state of their items is requested instead.
 * https://developer.box.com/guides/events/user-events/for-user
 */
export const boxChanges = changeFeed(CHANGE_TOKEN, {
  async now(client) {
    const at = Date.now();
    return { position: (await fetchEvents(client, 'now')).next, at };
  },

  async since(client, { position, at: readAt }) {
    const at = Date.now();
    if (at - readAt >= KNOWN_FOR_MS) throw stale();
    let page: Awaited<ReturnType<typeof fetchEvents>>;
    try {
      page = await fetchEvents(client, position);
    } catch (error) {
      throw error instanceof Fault && error.kind === 'bad_response' ? stale() : error;
    }
    const { entries, next } = page;
    const places = new Map<string, ItemRef>();
    for (const event of entries) {
      const itemRef = placeOfEvent(event);
      if (itemRef !== null) places.set(idOf(itemRef), itemRef);
    }
    const touched = [...places.values()];
    const changes: Change[] = [];
    for (let from = 0; from < touched.length; from += AT_ONCE)
      changes.push(
        ...(await Promise.all(touched.slice(from, from + AT_ONCE).map((itemRef) => changeOf(client, itemRef)))),
      );
    return { changes, next: { position: next, at }, more: entries.length > 0 && next !== position };
  },
});
