/** Freshdesk: the solutions and tickets of an account, read with the key of an agent. https://developers.freshdesk.com/api */
import { Fault } from '../../contract/failures.js';
import type { Connector, ItemPage, SourceClient } from '../connector.js';
import {
  type AccountIds,
  contentOfAttached,
  fetchSigned,
  idOf,
  idsOf,
  itemOfAttached,
  type Wanted,
  wantedOf,
} from '../helpdesk.js';
import { contentOf, contentOfTicket, placeOf, SOLUTIONS, TICKETS } from './adapter.js';
import { NAME } from './api.js';
import { belowCategory, belowFolder, belowSolutions, listRoots, readArticle } from './articles.js';
import { belowTicket, belowTickets, findAttached, readTicket } from './tickets.js';
import { noSuchItem } from '../faults.js';
import { asObject, asText, omitNull } from '../json.js';

/** What its user hands us. */
export interface FreshdeskCredentials {
  /** The first part of the host of the account. */
  readonly domain: string;
  readonly apiKey: string;
}

/** Nothing else is the first part of a host. */
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Each account counts its tickets from one. */
const idsIn = ({ domain }: FreshdeskCredentials): AccountIds => idsOf(domain);

async function listBelow(
  client: SourceClient,
  id: string,
  cursor: string | null,
  signal: AbortSignal,
  wanted: Wanted,
): Promise<ItemPage> {
  const place = placeOf(id);
  switch (place?.kind) {
    case undefined:
      throw noSuchItem(NAME);
    case SOLUTIONS:
      return belowSolutions(client, signal);
    case 'category':
      return belowCategory(client, place.id, cursor, wanted.of('ARTICLE'), signal);
    case 'folder':
      return belowFolder(client, place.id, cursor, wanted.of('ARTICLE'), signal);
    case 'article':
      return { items: [(await readArticle(client, place.id, signal)).item], next: null };
    case TICKETS:
      return belowTickets(client, cursor, wanted, signal);
    case 'ticket':
      return belowTicket(client, place.id, wanted, signal);
    case 'attachment': {
      const { ticket, attached } = await findAttached(client, place, signal);
      return { items: [itemOfAttached(attached, ticket.item, 'TICKET')], next: null };
    }
  }
}

export const freshdesk: Connector<FreshdeskCredentials> = {
  about: {
    listed: 'categories, folders and articles of solutions; tickets and what is attached to them',
    ingested:
      'each published article in the main language, each ticket with what was said; what is attached with `sync_attachments`',
    unchangedBy: 'when it was changed',
    deletions: 'spam counts as deleted',
    limits: 'names of agents are not told with what they say; 20,000 entries of a ticket',
  },
  facts: ({ domain }) => ({ domain: DOMAIN.test(domain) ? domain : '' }),
  // The key is the name, and any word the password.
  headers: ({ apiKey }) => ({ authorization: `Basic ${Buffer.from(`${apiKey}:X`).toString('base64')}` }),

  async identify(client, { domain }, signal) {
    const agent = await client.get(['agents', 'me'], {}, signal);
    const id = idOf(agent['id']);
    if (id === null) throw new Fault('server_error', `${NAME} named no agent. Try again.`);
    const contact = asObject(agent['contact']);
    const facts = omitNull({ user_name: asText(contact['name']), email: asText(contact['email']) });
    return { account: domain.toLowerCase(), metadata: { domain: domain.toLowerCase(), user_id: id, ...facts } };
  },

  roots: async (client, given, cursor, signal) => idsIn(given).page(await listRoots(client, cursor, signal)),

  async below(client, externalId, cursor, signal, given, wishes) {
    const ids = idsIn(given);
    const wanted = wantedOf(wishes);
    const inner = ids.inner(externalId);
    return ids.page(wanted.saidOn(inner, await listBelow(client, inner, cursor, signal, wanted)));
  },

  async open(client, externalId, signal, given) {
    const ids = idsIn(given);
    const place = placeOf(ids.inner(externalId));
    switch (place?.kind) {
      case undefined:
        throw noSuchItem(NAME);
      case 'article': {
        const { article, item } = await readArticle(client, place.id, signal);
        return contentOf(article, item);
      }
      case 'ticket':
        return contentOfTicket(await readTicket(client, place.id, signal));
      case 'attachment': {
        const { ticket, attached } = await findAttached(client, place, signal);
        const answer = await fetchSigned(client, NAME, attached.url, signal);
        const to = { externalId: ids.outer(ticket.item.externalId), url: externalId };
        return contentOfAttached(attached, answer, to);
      }
      case SOLUTIONS:
      case TICKETS:
      case 'category':
      case 'folder':
        throw new Fault('unsupported_type', `This has no text of its own in ${NAME}: sync what lies in it.`);
    }
  },
};
