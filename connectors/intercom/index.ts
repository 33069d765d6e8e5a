/**
 * Intercom: the articles, conversations and tickets of a workspace.
 * https://developers.intercom.com/docs/references/rest-api
 */
import { Fault } from '../../contract/failures.js';
import type { Connector } from '../connector.js';
import type { OAuthGrant } from '../oauthSpec.js';
import type { SourceClient } from '../accountClient.js';
import { contentOfAttached, fetchSigned, itemOfAttached } from '../helpdesk.js';
import { itemsByKind, pageOf, type ItemKind } from '../itemsByKind.js';
import { contentOf, contentOfParts, type IntercomItemRef, parseItemId, type ThreadKind, TYPE_OF } from './adapter.js';
import { NAME } from './api.js';
import { articleItem, listCollection, listLooseArticles, listRoots, readArticle } from './articles.js';
import { threadChanges } from './changes.js';
import { listThreads, listThread, findAttached, readThread } from './threads.js';
import { asAnswer, asText, omitNull } from '../json.js';
import type { IntercomApp, IntercomIdentity } from './fields.js';
import { bearer } from '../bearer.js';

/** API version. Without it, the settings of each app decide the format of answers. */
const VERSION = '2.14';

/** Returns the functions that list and read one conversation or ticket: both kinds differ by name only. */
const thread = (kind: ThreadKind): ItemKind<SourceClient, { readonly id: string }> => ({
  list: (client, { itemRef, typeSelection }) => listThread(client, kind, itemRef.id, typeSelection),
  async open(client, { itemRef }) {
    const { json, item } = await readThread(client, kind, itemRef.id);
    return contentOfParts(json, item, kind);
  },
});
const allThreads = (kind: ThreadKind): ItemKind<SourceClient, unknown> => ({
  list: (client, { typeSelection }, cursor) => listThreads(client, { kind, typeSelection }, cursor),
});

const kinds = itemsByKind<OAuthGrant, NonNullable<IntercomItemRef>>({
  name: NAME,
  parseItemId,
  kinds: {
    collection: { list: listCollection },
    articles: { list: listLooseArticles },
    article: {
      list: (client, { itemRef }) => pageOf(articleItem(client, itemRef.id)),
      open: async (client, { itemRef, externalId }) => contentOf(await readArticle(client, itemRef.id), externalId),
    },
    conversations: allThreads('conversation'),
    conversation: thread('conversation'),
    tickets: allThreads('ticket'),
    ticket: thread('ticket'),
    attachment: {
      async list(client, { itemRef, externalId }) {
        const { attached, item } = await findAttached(client, itemRef, externalId);
        return { items: [itemOfAttached(attached, item, TYPE_OF[itemRef.of])], next: null };
      },
      async open(client, { itemRef, externalId }) {
        const { attached } = await findAttached(client, itemRef, externalId);
        return contentOfAttached(attached, await fetchSigned(client, NAME, attached.url), externalId);
      },
    },
  },
});

export const intercom: Connector<OAuthGrant> = {
  about: {
    listed: 'collections and articles; conversations and tickets with their attachments',
    ingested:
      'each published article in all its languages, each conversation, each ticket; attachments with `sync_attachments`',
    unchangedBy: 'time of change',
    feedOmitsDeletions: true,
    deletions:
      'for conversations and tickets, a lower count than at the last sync causes a complete listing; ' +
      'articles are listed completely in each sync',
    limits:
      'Intercom returns at most 500 parts of a conversation, and the text of the file lacks the others; ' +
      'listing a collection reads all articles of the workspace; ' +
      'the default host, in the United States, forwards requests to other regions; SOURCE_URLS can name the host of a region',
  },
  oauth: {
    // Permissions are chosen in the app's settings, so there are no scopes.
    scopes: [],
    scopeSeparator: ' ',
    scopeParameter: null,
    pkce: false,
    clientAuth: 'post',
    bodyFormat: 'form',
    authorizeParameters: {},
    // Tokens are valid until they are revoked.
    rotates: false,
  },
  headers: (grant) => ({ ...bearer(grant), 'intercom-version': VERSION }),
  // Intercom's rate limit header contains seconds since 1970 instead of a duration.
  waitMs({ headers }, now) {
    const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN);
    return Number.isFinite(reset) && headers['retry-after'] === undefined ? Math.max(0, reset * 1000 - now) : null;
  },

  async identify(client) {
    const me = asAnswer<IntercomIdentity>(await client.get(['me'], {}));
    const app = asAnswer<IntercomApp>(me.app);
    const account = asText(app.id_code);
    if (account === null) throw new Fault('server_error', `${NAME} returned no workspace. Try again.`);
    const facts = { workspace_name: app.name, region: app.region, user_name: me.name, email: me.email };
    const texts = Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, asText(value)]));
    return { account, metadata: { workspace_id: account, ...omitNull(texts) } };
  },

  listRoots,

  changes: threadChanges,
  ...kinds,
};
