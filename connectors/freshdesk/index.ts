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
import { contentOf, contentOfTicket, parseItemId, SOLUTIONS, TICKETS } from './adapter.js';
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

async function listBelow(client: SourceClient, id: string, cursor: string | null, wanted: Wanted): Promise<ItemPage> {
  const place = parseItemId(id);
  switch (place?.kind) {
    case undefined:
      throw noSuchItem(NAME);
    case SOLUTIONS:
      return belowSolutions(client);
    case 'category':
      return belowCategory(client, place.id, cursor, wanted.of('ARTICLE'));
    case 'folder':
      return belowFolder(client, place.id, cursor, wanted.of('ARTICLE'));
    case 'article':
      return { items: [(await readArticle(client, place.id)).item], next: null };
    case TICKETS:
      return belowTickets(client, cursor, wanted);
    case 'ticket':
      return belowTicket(client, place.id, wanted);
    case 'attachment': {
      const { ticket, attached } = await findAttached(client, place);
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

  async identify(client) {
    const { domain } = client.credentials;
    const agent = await client.get(['agents', 'me'], {});
    const id = idOf(agent['id']);
    if (id === null) throw new Fault('server_error', `${NAME} named no agent. Try again.`);
    const contact = asObject(agent['contact']);
    const facts = omitNull({ user_name: asText(contact['name']), email: asText(contact['email']) });
    return { account: domain.toLowerCase(), metadata: { domain: domain.toLowerCase(), user_id: id, ...facts } };
  },

  listRoots: async (client, cursor) => idsIn(client.credentials).page(await listRoots(client, cursor)),

  async listDescendants(client, externalId, cursor, typeFilter) {
    const ids = idsIn(client.credentials);
    const wanted = wantedOf(typeFilter);
    const inner = ids.inner(externalId);
    return ids.page(wanted.withTypes(inner, await listBelow(client, inner, cursor, wanted)));
  },

  async open(client, externalId) {
    const ids = idsIn(client.credentials);
    const place = parseItemId(ids.inner(externalId));
    switch (place?.kind) {
      case undefined:
        throw noSuchItem(NAME);
      case 'article': {
        const { article, item } = await readArticle(client, place.id);
        return contentOf(article, item);
      }
      case 'ticket':
        return contentOfTicket(await readTicket(client, place.id));
      case 'attachment': {
        const { ticket, attached } = await findAttached(client, place);
        const answer = await fetchSigned(client, NAME, attached.url);
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
