/**
 * Freshdesk: the solutions and tickets of an account, read with an agent's API key.
 * https://developers.freshdesk.com/api
 */
import { Fault } from '../../contract/failures.js';
import type { Connector } from '../connector.js';
import { type AccountIds, contentOfAttached, fetchSigned, idOf, idsOf, itemOfAttached } from '../helpdesk.js';
import { itemsByKind, pageOf } from '../itemsByKind.js';
import { contentOf, contentOfTicket, type FreshdeskItemRef, parseItemId } from './adapter.js';
import { NAME } from './api.js';
import { listCategory, listFolder, listSolutions, listRoots, readArticle } from './articles.js';
import { listTicket, listTickets, findAttached, readTicket } from './tickets.js';
import { asObject, asText, omitNull } from '../json.js';

/** Credentials supplied by the caller. */
export interface FreshdeskCredentials {
  /** The first label of the account's host name. */
  readonly domain: string;
  readonly apiKey: string;
}

/** Valid host labels. */
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Returns item ids that are unique across accounts: each account numbers its tickets from 1. */
const idsIn = ({ domain }: FreshdeskCredentials): AccountIds => idsOf(domain);

const kinds = itemsByKind<FreshdeskCredentials, NonNullable<FreshdeskItemRef>>({
  name: NAME,
  idsIn,
  parseItemId,
  kinds: {
    solutions: { list: listSolutions },
    category: { list: listCategory },
    folder: { list: listFolder },
    article: {
      list: (client, { itemRef }) => pageOf(readArticle(client, itemRef.id).then(({ item }) => item)),
      async open(client, { itemRef }) {
        const { article, item } = await readArticle(client, itemRef.id);
        return contentOf(article, item);
      },
    },
    tickets: { list: listTickets },
    ticket: {
      list: listTicket,
      open: async (client, { itemRef }) => contentOfTicket(await readTicket(client, itemRef.id)),
    },
    attachment: {
      async list(client, { itemRef }) {
        const { ticket, attached } = await findAttached(client, itemRef);
        return { items: [itemOfAttached(attached, ticket.item, 'TICKET')], next: null };
      },
      async open(client, { itemRef, externalId }) {
        const { attached } = await findAttached(client, itemRef);
        return contentOfAttached(attached, await fetchSigned(client, NAME, attached.url), externalId);
      },
    },
  },
});

export const freshdesk: Connector<FreshdeskCredentials> = {
  about: {
    listed: 'categories, folders and articles of solutions; tickets and their attachments',
    ingested:
      'each published article in the main language, each ticket with its conversation; attachments with `sync_attachments`',
    unchangedBy: 'time of change',
    deletions: 'spam counts as deleted, and so do archived tickets, which Freshdesk no longer lists',
    limits: 'comments do not name the agent; 20,000 entries per ticket',
  },
  urlParameters: ({ domain }) => ({ domain: DOMAIN.test(domain) ? domain : '' }),
  // HTTP Basic: the key is the user name, the password can be any text.
  headers: ({ apiKey }) => ({ authorization: `Basic ${Buffer.from(`${apiKey}:X`).toString('base64')}` }),

  async identify(client) {
    const { domain } = client.credentials;
    const agent = await client.get(['agents', 'me'], {});
    const id = idOf(agent['id']);
    if (id === null) throw new Fault('server_error', `${NAME} returned no agent. Try again.`);
    const contact = asObject(agent['contact']);
    const facts = omitNull({ user_name: asText(contact['name']), email: asText(contact['email']) });
    return { account: domain.toLowerCase(), metadata: { domain: domain.toLowerCase(), user_id: id, ...facts } };
  },

  listRoots: async (client, cursor) => idsIn(client.credentials).page(await listRoots(client, cursor)),
  ...kinds,
};
