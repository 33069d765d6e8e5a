import { withCursor, shapeOf, listOf, nullable, number, oneOf, string, type Checked } from '../cursors.js';
import { Fault } from '../../contract/failures.js';
import type { SourceClient } from '../accountClient.js';
import type { ItemPage, SourceItem } from '../sourceItem.js';
import { idOf, itemOfAttached } from '../helpdesk.js';
import type { ListRequest } from '../itemsByKind.js';
import { attachedIn, itemOfContainer, itemOfTicket, TICKETS, type Users, usersIn } from './adapter.js';
import { NAME, fetchAll, fetchOne, fetchPage } from './api.js';
import { type Answer, asAnswer, asAnswers, asText } from '../json.js';
import type { ZendeskComment, ZendeskList, ZendeskTicket } from './fields.js';
import { isFault, noSuchItem, requireList } from '../faults.js';

/** Page size of the export, which accepts ten requests per minute and up to 1,000 tickets per page. */
const PER_EXPORT = '500';
/** Age up to which tickets are listed separately. The export omits the last minute; this includes a margin. */
const FRESH_MS = 120_000;
/** Tickets per page whose comments are read, each by a request of its own. */
export const COMMENTS_AT_ONCE = 20;
/** Maximum number of comments; Zendesk closes a ticket at 5,000. */
const MAX_COMMENTS = 10_000;
const WITH_USERS = { include: 'users' };

/**
 * Position in the listing of tickets. The listing reads the export of all tickets, and then the latest tickets, which
 * the export omits. If the account may not export, it reads the list of tickets that are not archived.
 */
export const TICKET_CURSOR = shapeOf({
  /** The list that is being read; `end`: all tickets are read. */
  from: oneOf('export', 'latest', 'list', 'end'),
  /** Cursor of the next page in that list; null: its first page. */
  at: nullable(string),
  /** Time at which the listing began, in milliseconds since 1970. */
  begun: number,
  /** Tickets whose attachments are still to be listed. */
  rest: listOf(string),
});
type Cursor = Checked<typeof TICKET_CURSOR>;

export const agentOf = ({ urls }: SourceClient): string => urls['files'] ?? '';

interface TicketPage {
  readonly values: readonly Answer<ZendeskTicket>[];
  readonly users: Users;
}
interface ListedPage extends TicketPage {
  readonly following: Pick<Cursor, 'from' | 'at'>;
}

/**
 * Returns a page of the export: tickets changed since a time or after a cursor, deleted ones included. @param since
 * in seconds since 1970
 */
export async function exported(
  client: SourceClient,
  since: number,
  at: string | null,
): Promise<TicketPage & { readonly next: string | null; readonly isEnd: boolean }> {
  const path = ['incremental', 'tickets', 'cursor.json'];
  const place: Record<string, string> = at === null ? { start_time: String(since) } : { cursor: at };
  const answer = asAnswer<ZendeskList>(await client.get(path, { ...place, ...WITH_USERS, per_page: PER_EXPORT }));
  const [next, isEnd] = [asText(answer.after_cursor), answer.end_of_stream === true];
  if (!isEnd && (next === null || next === at))
    throw new Fault('server_error', `${NAME} returned an export without its next page. Try again.`);
  const values = asAnswers<ZendeskTicket>(requireList(NAME, answer.tickets, 'tickets'));
  return { values, users: usersIn(answer), next, isEnd };
}

/** Returns a page of the tickets that are not archived; `latest`: of those that the export omits. */
export async function listed(
  client: SourceClient,
  { from, at, begun }: Pick<Cursor, 'from' | 'at' | 'begun'>,
): Promise<ListedPage> {
  const isLatest = from === 'latest';
  const sort = isLatest ? '-updated_at' : 'id';
  const { values, answer, next } = await fetchPage<ZendeskTicket>(client, ['tickets'], at, { ...WITH_USERS, sort });
  const isFresh = (ticket: Answer<ZendeskTicket>): boolean =>
    Date.parse(asText(ticket.updated_at) ?? '') >= begun - FRESH_MS;
  const tickets = isLatest ? values.filter(isFresh) : values;
  const hasNext = next !== null && tickets.length === values.length;
  return {
    values: tickets,
    users: usersIn(answer),
    following: hasNext ? { from, at: next } : { from: 'end', at: null },
  };
}

/** Start time before the first ticket. */
const BEFORE_ALL = 1;

async function nextTickets(client: SourceClient, cursor: Cursor): Promise<ListedPage> {
  if (cursor.from !== 'export') return listed(client, cursor);
  try {
    const { next, isEnd, ...page } = await exported(client, BEFORE_ALL, cursor.at);
    return { ...page, following: isEnd ? { from: 'latest', at: null } : { from: 'export', at: next } };
  } catch (error) {
    // Only administrators may use the export.
    if (cursor.at !== null || !isFault(error, 'access_denied')) throw error;
    return listed(client, { ...cursor, from: 'list' });
  }
}

/** Returns the comments of a ticket in order, with their authors. */
export async function commentsOf(
  client: SourceClient,
  ticket: string,
): Promise<{ readonly comments: readonly Answer<ZendeskComment>[]; readonly users: Users }> {
  const pages = await fetchAll<ZendeskComment>(client, ['tickets', ticket, 'comments'], MAX_COMMENTS, WITH_USERS);
  return {
    comments: pages.flatMap(({ values }) => values),
    users: new Map(pages.flatMap(({ answer }) => [...usersIn(answer)])),
  };
}

type Ticket = Pick<SourceItem, 'externalId' | 'rootExternalId' | 'externalUrl' | 'createdAt'>;

/** Returns the attachments of a ticket; none if it was deleted. */
export async function attachmentsOf(
  client: SourceClient,
  id: string,
  to: Ticket | null,
): Promise<readonly SourceItem[]> {
  const externalUrl = `${agentOf(client)}/agent/tickets/${id}`;
  const ticket = to ?? { externalId: `ticket:${id}`, rootExternalId: TICKETS, externalUrl, createdAt: null };
  try {
    const { comments } = await commentsOf(client, id);
    return comments.flatMap((comment) =>
      attachedIn(comment, id).map((attachment) => itemOfAttached(attachment, ticket, 'TICKET')),
    );
  } catch (error) {
    if (isFault(error, 'not_found')) return [];
    throw error;
  }
}

const unlessEnd = (cursor: Cursor): Cursor | null =>
  cursor.from === 'end' && cursor.rest.length === 0 ? null : cursor;

/** Returns a page of the tickets, or of the attachments of the previous page's tickets. */
export const listTickets = withCursor(
  TICKET_CURSOR,
  async (client: SourceClient, { typeSelection }: ListRequest<unknown>, cursor) => {
    if (cursor === null) {
      const first: Cursor = {
        from: typeSelection.of('TICKET') ? 'export' : 'end',
        at: null,
        begun: Date.now(),
        rest: [],
      };
      return { items: [itemOfContainer(TICKETS)], next: unlessEnd(first) };
    }
    if (cursor.rest.length > 0) {
      const batch = cursor.rest.slice(0, COMMENTS_AT_ONCE);
      const items = await Promise.all(batch.map((id) => attachmentsOf(client, id, null)));
      return { items: items.flat(), next: unlessEnd({ ...cursor, rest: cursor.rest.slice(COMMENTS_AT_ONCE) }) };
    }
    const { values, users, following } = await nextTickets(client, cursor);
    const items = values.flatMap((value) => itemOfTicket(value, users, agentOf(client)) ?? []);
    const rest = typeSelection.attachedTo('TICKET')
      ? items.map(({ externalId }) => externalId.slice('ticket:'.length))
      : [];
    return { items, next: unlessEnd({ ...following, begun: cursor.begun, rest }) };
  },
);

/** Returns a ticket with its item. @throws Fault not_found also for a deleted one */
export async function readTicket(
  client: SourceClient,
  id: string,
): Promise<{ readonly ticket: Answer<ZendeskTicket>; readonly item: SourceItem }> {
  const { value: ticket, answer } = await fetchOne<ZendeskTicket>(client, ['tickets', id], 'ticket', WITH_USERS);
  const item = itemOfTicket(ticket, usersIn(answer), agentOf(client));
  if (item === null || idOf(ticket.id) !== id) throw noSuchItem(NAME);
  return { ticket, item };
}

/** Returns a ticket, with its attachments if they are wanted. */
export async function listTicket(
  client: SourceClient,
  { itemRef: { id }, typeSelection }: ListRequest,
): Promise<ItemPage> {
  const { item } = await readTicket(client, id);
  const attached = typeSelection.attachedTo('TICKET') ? await attachmentsOf(client, id, item) : [];
  return { items: [item, ...attached], next: null };
}

/** Returns one attachment of a ticket. @throws Fault not_found */
export async function findAttached(client: SourceClient, ticket: string, id: string) {
  const { comments } = await commentsOf(client, ticket);
  const found = comments
    .flatMap((comment) => attachedIn(comment, ticket))
    .find(({ externalId }) => externalId === `ticket:${ticket}/${id}`);
  if (!found) throw noSuchItem(NAME);
  return found;
}
