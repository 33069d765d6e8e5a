/** Zendesk: the help centre of an account and its tickets. https://developer.zendesk.com/api-reference */
import { Fault } from '../../contract/failures.js';
import type { Connector, ItemPage, OAuthGrant, SourceClient } from '../connector.js';
import { type AccountIds, contentOfAttached, idOf, idsOf, itemOfAttached, type Wanted, wantedOf } from '../helpdesk.js';
import { contentOf, contentOfTicket, parseItemId, TICKETS } from './adapter.js';
import { NAME } from './api.js';
import { articleItem, belowCategory, belowCenter, belowSection, listRoots, readArticle } from './articles.js';
import { ticketChanges } from './changes.js';
import { belowTicket, belowTickets, commentsOf, findAttached, readTicket } from './tickets.js';
import { noSuchItem } from '../faults.js';
import { asObject, asText, omitNull } from '../json.js';
import { bearer } from '../bearer.js';

/** The path of an address that Zendesk gave: its host stays ours, so that an answer leads nowhere else. */
function pathOf(address: string): { readonly path: readonly string[]; readonly query: Record<string, string> } {
  if (!URL.canParse(address)) throw noSuchItem(NAME);
  const { pathname, searchParams } = new URL(address);
  const path = pathname.split('/').filter((part) => part !== '');
  return { path: path.map(decodeURIComponent), query: Object.fromEntries(searchParams) };
}

/** Each account counts its tickets from one. */
const idsIn = ({ facts }: OAuthGrant): AccountIds => idsOf(facts['subdomain'] ?? '');

async function listBelow(client: SourceClient, id: string, cursor: string | null, wanted: Wanted): Promise<ItemPage> {
  const place = parseItemId(id);
  switch (place?.kind) {
    case undefined:
      throw noSuchItem(NAME);
    case 'help_center':
      return belowCenter(client);
    case 'category':
      return belowCategory(client, place.id, cursor, wanted.of('ARTICLE'));
    case 'section':
      return belowSection(client, place.id, cursor, wanted.of('ARTICLE'));
    case 'article':
      return { items: [await articleItem(client, place.id)], next: null };
    case TICKETS:
      return belowTickets(client, cursor, wanted);
    case 'ticket':
      return belowTicket(client, place.id, wanted.attachedTo('TICKET'));
    case 'attachment': {
      const { item } = await readTicket(client, place.ticket);
      const attached = await findAttached(client, place.ticket, place.id);
      return { items: [itemOfAttached(attached, item, 'TICKET')], next: null };
    }
  }
}

export const zendesk: Connector<OAuthGrant> = {
  about: {
    listed: 'categories, sections and articles of the help centre; tickets and what is attached to them',
    ingested:
      'each published article in all its languages, each ticket with its comments; what is attached with `sync_attachments`; nothing attached to articles, no pictures',
    unchangedBy: 'when it was changed',
    deletions: 'so much of tickets, to administrators: the help centre is listed whole each time',
    limits:
      'the export of tickets is for administrators: other agents see those that are not archived; 10,000 comments of a ticket',
  },
  oauth: {
    scopes: ['read'],
    scopeSeparator: ' ',
    scopeParameter: 'scope',
    pkce: true,
    clientAuth: 'post',
    bodyFormat: 'form',
    authorizeParameters: {},
    rotates: true,
  },
  headers: bearer,

  async identify(client) {
    const { facts } = client.credentials;
    const user = asObject((await client.get(['users', 'me.json'], {}))['user']);
    const [id, email] = [idOf(user['id']), asText(user['email'])];
    // Whom it does not know it calls anonymous, and says so with a success.
    if (id === null)
      throw new Fault('access_revoked', `${NAME} no longer takes the credentials of this connection. Connect again.`);
    const subdomain = (facts['subdomain'] ?? '').toLowerCase();
    return {
      account: `${email?.toLowerCase() ?? id}|${subdomain}`,
      metadata: {
        subdomain,
        user_id: id,
        ...omitNull({ user_name: asText(user['name']), role: asText(user['role']) }),
      },
    };
  },

  listRoots: async (client, cursor) => idsIn(client.credentials).page(await listRoots(client, cursor)),

  async listDescendants(client, externalId, cursor, typeFilter) {
    const ids = idsIn(client.credentials);
    const wanted = wantedOf(typeFilter);
    const inner = ids.inner(externalId);
    return ids.page(wanted.withTypes(inner, await listBelow(client, inner, cursor, wanted)));
  },

  changes: {
    now: (client) => ticketChanges.now(client),
    since: (client, point) => ticketChanges.since(client, idsIn(client.credentials), point),
  },

  async open(client, externalId) {
    const ids = idsIn(client.credentials);
    const place = parseItemId(ids.inner(externalId));
    switch (place?.kind) {
      case undefined:
        throw noSuchItem(NAME);
      case 'article': {
        const { article, translations } = await readArticle(client, place.id);
        return contentOf(article, translations, externalId);
      }
      case 'ticket': {
        const { ticket, item } = await readTicket(client, place.id);
        const { comments, users } = await commentsOf(client, place.id);
        return contentOfTicket(ticket, item, comments, users);
      }
      case 'attachment': {
        const attached = await findAttached(client, place.ticket, place.id);
        const { path, query } = pathOf(attached.url);
        const answer = await client.content(path, query, { at: 'files' });
        return contentOfAttached(attached, answer, {
          externalId: ids.outer(`ticket:${place.ticket}`),
          url: externalId,
        });
      }
      case 'help_center':
      case 'category':
      case 'section':
      case 'tickets':
        throw new Fault('unsupported_type', `This has no text of its own in ${NAME}: sync what lies in it.`);
    }
  },
};
