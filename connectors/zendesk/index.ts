/** Zendesk: the help centre of an account and its tickets. https://developer.zendesk.com/api-reference */
import { Fault } from '../../contract/failures.js';
import type { Connector } from '../connector.js';
import type { OAuthGrant } from '../oauthSpec.js';
import { contentOfAttached, idOf, itemOfAttached } from '../helpdesk.js';
import { itemsByKind, pageOf } from '../itemsByKind.js';
import { contentOf, contentOfTicket, parseItemId, type ZendeskItemRef } from './adapter.js';
import { NAME } from './api.js';
import { articleItem, listCategory, listHelpCenter, listSection, listRoots, readArticle } from './articles.js';
import { idsIn, ticketChanges } from './changes.js';
import { listTicket, listTickets, commentsOf, findAttached, readTicket } from './tickets.js';
import { noSuchItem } from '../faults.js';
import { asAnswer, asText, omitNull } from '../json.js';
import type { ZendeskIdentity, ZendeskUser } from './fields.js';
import { bearer } from '../bearer.js';

/** Returns path and query of a URL from Zendesk. Its host is ignored, so that an answer cannot redirect requests. */
function pathOf(address: string): { readonly path: readonly string[]; readonly query: Record<string, string> } {
  if (!URL.canParse(address)) throw noSuchItem(NAME);
  const { pathname, searchParams } = new URL(address);
  const path = pathname.split('/').filter((part) => part !== '');
  return { path: path.map(decodeURIComponent), query: Object.fromEntries(searchParams) };
}

const kinds = itemsByKind<OAuthGrant, NonNullable<ZendeskItemRef>>({
  name: NAME,
  idsIn,
  parseItemId,
  kinds: {
    help_center: { list: listHelpCenter },
    category: { list: listCategory },
    section: { list: listSection },
    article: {
      list: (client, { itemRef }) => pageOf(articleItem(client, itemRef.id)),
      async open(client, { itemRef, externalId }) {
        const { article, translations } = await readArticle(client, itemRef.id);
        return contentOf(article, translations, externalId);
      },
    },
    tickets: { list: listTickets },
    ticket: {
      list: listTicket,
      async open(client, { itemRef }) {
        const { ticket, item } = await readTicket(client, itemRef.id);
        const { comments, users } = await commentsOf(client, itemRef.id);
        return contentOfTicket(ticket, item, comments, users);
      },
    },
    attachment: {
      async list(client, { itemRef }) {
        const { item } = await readTicket(client, itemRef.ticket);
        const attached = await findAttached(client, itemRef.ticket, itemRef.id);
        return { items: [itemOfAttached(attached, item, 'TICKET')], next: null };
      },
      async open(client, { itemRef, externalId }) {
        const attached = await findAttached(client, itemRef.ticket, itemRef.id);
        const { path, query } = pathOf(attached.url);
        return contentOfAttached(attached, await client.content(path, query, { at: 'files' }), externalId);
      },
    },
  },
});

export const zendesk: Connector<OAuthGrant> = {
  about: {
    listed: 'categories, sections and articles of the help centre; tickets and their attachments',
    ingested:
      'each published article in all its languages, each ticket with its comments; attachments of tickets with `sync_attachments`; no attachments of articles, no pictures',
    unchangedBy: 'time of change',
    deletions:
      'the feed contains only tickets, and only administrators may read it; the help centre, and the tickets for other agents, are listed completely in each sync',
    limits:
      'only administrators can export tickets: other agents see tickets that are not archived; 10,000 comments per ticket',
  },
  oauth: {
    scopes: ['read'],
    scopeSeparator: ' ',
    scopeParameter: 'scope',
    pkce: true,
    clientAuth: 'post',
    bodyFormat: 'form',
    authorizeParameters: {},
    // OAuth clients that are older than Zendesk's refresh tokens get none unless the request sets a lifetime. The
    // values are Zendesk's maximum for the access token, 48 hours, and for the refresh token, 90 days.
    // https://support.zendesk.com/hc/en-us/articles/9182123625370 https://github.com/NangoHQ/nango/pull/6763
    tokenParameters: { expires_in: '172800', refresh_token_expires_in: '7776000' },
    rotates: true,
  },
  headers: bearer,

  async identify(client) {
    const { facts } = client.credentials;
    const me = asAnswer<ZendeskIdentity>(await client.get(['users', 'me.json'], {}));
    const user = asAnswer<ZendeskUser>(me.user);
    const [id, email] = [idOf(user.id), asText(user.email)];
    // Zendesk returns an anonymous user to unknown credentials, with status 200.
    if (id === null)
      throw new Fault('access_revoked', `${NAME} no longer accepts the credentials of this connection. Connect again.`);
    const subdomain = (facts['subdomain'] ?? '').toLowerCase();
    return {
      account: `${email?.toLowerCase() ?? id}|${subdomain}`,
      metadata: {
        subdomain,
        user_id: id,
        ...omitNull({ user_name: asText(user.name), role: asText(user.role) }),
      },
    };
  },

  listRoots: async (client, cursor) => idsIn(client.credentials).page(await listRoots(client, cursor)),

  changes: ticketChanges,
  ...kinds,
};
