/** Intercom: the articles, conversations and tickets of a workspace. https://developers.intercom.com/docs/references/rest-api */
import { Fault } from '../../contract/failures.js';
import type { Connector, ItemPage, OAuthGrant, SourceClient } from '../connector.js';
import { contentOfAttached, fetchSigned, itemOfAttached, type Wanted, wantedOf } from '../helpdesk.js';
import { contentOf, contentOfParts, parseItemId, TYPE_OF } from './adapter.js';
import { NAME } from './api.js';
import { articleItem, belowCollection, belowLoose, listRoots, readArticle } from './articles.js';
import { threadChanges } from './changes.js';
import { belowAll, belowOne, findAttached, readThread } from './threads.js';
import { noSuchItem } from '../faults.js';
import { asObject, asText, omitNull } from '../json.js';
import { bearer } from '../bearer.js';

/** Without it the settings of each app decide what answers look like. */
const VERSION = '2.14';

async function listBelow(
  client: SourceClient,
  externalId: string,
  cursor: string | null,
  wanted: Wanted,
): Promise<ItemPage> {
  const place = parseItemId(externalId);
  switch (place?.kind) {
    case undefined:
      throw noSuchItem(NAME);
    case 'collection':
      return belowCollection(client, place.id, cursor, wanted.of('ARTICLE'));
    case 'articles':
      return belowLoose(client, cursor, wanted.of('ARTICLE'));
    case 'article':
      return { items: [await articleItem(client, place.id)], next: null };
    case 'conversations':
      return belowAll(client, 'conversation', cursor, wanted);
    case 'tickets':
      return belowAll(client, 'ticket', cursor, wanted);
    case 'conversation':
    case 'ticket':
      return belowOne(client, place.kind, place.id, wanted);
    case 'attachment': {
      const { attached, item } = await findAttached(client, place, externalId);
      return { items: [itemOfAttached(attached, item, TYPE_OF[place.of])], next: null };
    }
  }
}

export const intercom: Connector<OAuthGrant> = {
  about: {
    listed: 'collections and articles; conversations and tickets, and what is attached to them',
    ingested:
      'each published article in all its languages, each conversation, each ticket; what is attached with `sync_attachments`',
    unchangedBy: 'when it was changed',
    deletions:
      'so much of conversations and tickets, by a count after which all is listed; articles are listed whole each time',
    limits:
      '500 parts of a conversation are given out; each collection costs a reading of all articles; hosts of other regions by SOURCE_URLS',
  },
  oauth: {
    // What an app may do is chosen with the app.
    scopes: [],
    scopeSeparator: ' ',
    scopeParameter: null,
    pkce: false,
    clientAuth: 'post',
    bodyFormat: 'form',
    authorizeParameters: {},
    // Tokens live until they are taken back.
    rotates: false,
  },
  headers: (grant) => ({ ...bearer(grant), 'intercom-version': VERSION }),
  // Seconds since 1970, where others write a number of seconds into Retry-After.
  waitMs({ headers }, now) {
    const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN);
    return Number.isFinite(reset) && headers['retry-after'] === undefined ? Math.max(0, reset * 1000 - now) : null;
  },

  async identify(client) {
    const me = await client.get(['me'], {});
    const app = asObject(me['app']);
    const account = asText(app['id_code']);
    if (account === null) throw new Fault('server_error', `${NAME} named no workspace. Try again.`);
    const facts = { workspace_name: app['name'], region: app['region'], user_name: me['name'], email: me['email'] };
    const told = Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, asText(value)]));
    return { account, metadata: { workspace_id: account, ...omitNull(told) } };
  },

  listRoots: (client, cursor) => listRoots(client, cursor),

  async listDescendants(client, externalId, cursor, typeFilter) {
    const wanted = wantedOf(typeFilter);
    return wanted.withTypes(externalId, await listBelow(client, externalId, cursor, wanted));
  },

  changes: threadChanges,

  async open(client, externalId) {
    const place = parseItemId(externalId);
    switch (place?.kind) {
      case undefined:
        throw noSuchItem(NAME);
      case 'article':
        return contentOf(await readArticle(client, place.id), externalId);
      case 'conversation':
      case 'ticket': {
        const { json, item } = await readThread(client, place.kind, place.id);
        return contentOfParts(json, item, place.kind);
      }
      case 'attachment': {
        const { attached, item } = await findAttached(client, place, externalId);
        const answer = await fetchSigned(client, NAME, attached.url);
        return contentOfAttached(attached, answer, { externalId: item.externalId, url: externalId });
      }
      case 'articles':
      case 'conversations':
      case 'tickets':
      case 'collection':
        throw new Fault('unsupported_type', `This has no text of its own in ${NAME}: sync what lies in it.`);
    }
  },
};
