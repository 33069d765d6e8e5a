/**
 * Confluence Cloud: the spaces of one site, with their pages, folders and blog posts.
 * https://developer.atlassian.com/cloud/confluence/rest/v2/
 */
import { Fault } from '../../contract/failures.js';
import type { Connector } from '../connector.js';
import type { OAuthGrant } from '../oauthSpec.js';
import type { ItemPage } from '../sourceItem.js';
import { contentOf, itemOfSpace, parseItemId } from './adapter.js';
import { fetchObject, asText, atlassianOAuth, type Call, classify, siteOf, fetchPage, waitMs } from './api.js';
import { listChildren, listSpace } from './tree.js';
import { bearer } from '../bearer.js';
import { noSuchItem } from '../faults.js';

export const confluence: Connector<OAuthGrant> = {
  about: {
    listed: 'spaces, folders, pages in pages, blog posts',
    ingested: 'each page and blog post; no attachments, comments, whiteboards, databases',
    unchangedBy: 'version number',
    deletions: 'archived spaces and pages, and drafts, count as deleted',
    limits: 'one site per connection; empty folders are not listed; macros that include other content have no text',
  },
  oauth: atlassianOAuth,
  headers: bearer,
  classify,
  waitMs,

  async identify(client) {
    const user = await client.get(['me'], {});
    const id = asText(user['account_id']);
    if (id === null) throw new Fault('server_error', 'Atlassian returned no user. Try again.');
    const { cloudId, subdomain, url } = await siteOf(client);
    const name = asText(user['name']);
    return {
      // The email address may be hidden from apps.
      account: `${asText(user['email'])?.toLowerCase() ?? id}|${cloudId}/${subdomain}`,
      metadata: { account_id: id, cloud_id: cloudId, site_url: url, ...(name === null ? {} : { user_name: name }) },
    };
  },

  async listRoots(client, cursor): Promise<ItemPage> {
    const site = await siteOf(client);
    const call: Call = { client, site };
    const { values, next } = await fetchPage(call, ['spaces'], { status: 'current', sort: 'id' }, cursor);
    return { items: values.flatMap((space) => itemOfSpace(site, space) ?? []), next };
  },

  async listDescendants(client, externalId, cursor) {
    const itemRef = parseItemId(externalId);
    if (itemRef === null) throw noSuchItem('Confluence');
    const call: Call = { client, site: await siteOf(client) };
    return itemRef.kind === 'spaces' ? listSpace(call, itemRef.id, cursor) : listChildren(call, itemRef, cursor);
  },

  async open(client, externalId) {
    const itemRef = parseItemId(externalId);
    if (itemRef === null) throw noSuchItem('Confluence');
    const call: Call = { client, site: await siteOf(client) };
    const { kind, id } = itemRef;
    if (kind === 'spaces' || kind === 'folders') {
      // A sync treats a space or folder as a file only if it could not be listed. If it still cannot be read, this request
      // throws the cause, which becomes the error of the file.
      await fetchObject(call, [kind, id]);
      throw new Fault('unsupported_type', 'A space or folder of Confluence has no text of its own: sync its pages.');
    }
    const json = await fetchObject(call, [kind, id], { 'body-format': 'storage' });
    // The API still returns deleted pages for some time.
    if ((asText(json['status']) ?? 'current') !== 'current') throw noSuchItem('Confluence');
    return contentOf(call.site, json, externalId);
  },
};
