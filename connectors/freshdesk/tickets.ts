import { withCursor, boolean, count, shapeOf, listOf, string, type Checked } from '../cursors.js';
import type { SourceClient } from '../accountClient.js';
import type { ItemPage, SourceItem } from '../sourceItem.js';
import { requireMatchingId, itemOfAttached } from '../helpdesk.js';
import type { ListRequest } from '../itemsByKind.js';
import { attachedIn, itemOfContainer, itemOfTicket, type Ticket, TICKETS } from './adapter.js';
import { NAME, fetchAll, fetchPage } from './api.js';
import { siteOf } from './articles.js';
import { asText } from '../json.js';
import { isFault, noSuchItem } from '../faults.js';

/** Lower limit of the change date. Without a limit, Freshdesk lists only tickets of the last month. */
const EARLIEST = '2000-01-01T00:00:00Z';
const ORDER = { order_by: 'updated_at', order_type: 'asc' };
/** Maximum number of concurrent ticket requests. */
const AT_ONCE = 10;
const MAX_CONVERSATIONS = 20_000;

/** Position in the listing of tickets. */
const CURSOR = shapeOf({
  /**
   * Lower limit of the change date in the next request. The list is read by date because it has at most 300 pages and
   * shifts while tickets change.
   */
  since: string,
  page: count,
  isEnd: boolean,
  /** Tickets whose attachments are still to be listed. */
  rest: listOf(string),
});
type Cursor = Checked<typeof CURSOR>;
const unlessEnd = (cursor: Cursor): Cursor | null => (cursor.isEnd && cursor.rest.length === 0 ? null : cursor);

/** Returns the time one second earlier: Freshdesk does not document whether the given second is included. */
const oneSecondBefore = (date: string): string =>
  new Date(Date.parse(date) - 1_000).toISOString().replace(/\.\d+Z$/, 'Z');

const attachedItems = (ticket: Ticket): readonly SourceItem[] =>
  attachedIn(ticket).map((attachment) => itemOfAttached(attachment, ticket.item, 'TICKET'));

/** Returns a ticket with its conversation. @throws Fault not_found also for a deleted one */
export async function readTicket(client: SourceClient, id: string): Promise<Ticket> {
  const json = requireMatchingId(NAME, id, await client.get(['tickets', id], { include: 'requester' }));
  const item = itemOfTicket(json, siteOf(client));
  if (item === null) throw noSuchItem(NAME);
  const conversations = await fetchAll(client, ['tickets', id, 'conversations'], MAX_CONVERSATIONS);
  return { json, item, conversations };
}

/** Returns the attachments of a ticket. A ticket that the account may list but not read is returned in `refused`. */
async function attachedTo(client: SourceClient, id: string): Promise<Pick<ItemPage, 'items' | 'refused'>> {
  try {
    return { items: attachedItems(await readTicket(client, id)) };
  } catch (error) {
    if (isFault(error, 'not_found')) return { items: [] };
    // https://github.com/singer-io/tap-freshdesk/pull/18
    if (isFault(error, 'access_denied')) return { items: [], refused: [`ticket:${id}`] };
    throw error;
  }
}

/** Returns a page of the tickets, or of the attachments of the previous page's tickets. */
export const listTickets = withCursor(
  CURSOR,
  async (client: SourceClient, { typeSelection }: ListRequest<unknown>, cursor) => {
    if (cursor === null) {
      const first: Cursor = { since: EARLIEST, page: 1, isEnd: !typeSelection.of('TICKET'), rest: [] };
      return { items: [itemOfContainer(TICKETS)], next: unlessEnd(first) };
    }
    if (cursor.rest.length > 0) {
      const pages = await Promise.all(cursor.rest.slice(0, AT_ONCE).map((id) => attachedTo(client, id)));
      return {
        items: pages.flatMap(({ items }) => items),
        refused: pages.flatMap(({ refused = [] }) => refused),
        next: unlessEnd({ ...cursor, rest: cursor.rest.slice(AT_ONCE) }),
      };
    }
    const { since, page } = cursor;
    const { values, hasNext } = await fetchPage(client, ['tickets'], page, { ...ORDER, updated_since: since });
    const items = values.flatMap((value) => itemOfTicket(value, siteOf(client)) ?? []);
    const last = asText(values.at(-1)?.['updated_at']);
    const later = last === null || Number.isNaN(Date.parse(last)) ? since : oneSecondBefore(last);
    // If a page has tickets of a single second only, continue by page number.
    const place = Date.parse(later) > Date.parse(since) ? { since: later, page: 1 } : { since, page: page + 1 };
    const rest = typeSelection.attachedTo('TICKET')
      ? items.map(({ externalId }) => externalId.slice('ticket:'.length))
      : [];
    return { items, next: unlessEnd({ ...place, isEnd: !hasNext || values.length === 0, rest }) };
  },
);

/** Returns a ticket, with its attachments if they are wanted. */
export async function listTicket(
  client: SourceClient,
  { itemRef: { id }, typeSelection }: ListRequest,
): Promise<ItemPage> {
  const ticket = await readTicket(client, id);
  return { items: [ticket.item, ...(typeSelection.attachedTo('TICKET') ? attachedItems(ticket) : [])], next: null };
}

/** Returns one attachment of a ticket, with its ticket. @throws Fault not_found */
export async function findAttached(
  client: SourceClient,
  { ticket: ticketId, id }: { readonly ticket: string; readonly id: string },
) {
  const ticket = await readTicket(client, ticketId);
  const attached = attachedIn(ticket).find(({ externalId }) => externalId === `ticket:${ticketId}/${id}`);
  if (!attached) throw noSuchItem(NAME);
  return { ticket, attached };
}
