/**
 * Zotero: bibliographic libraries of users and groups, with files and notes.
 * https://www.zotero.org/support/dev/web_api/v3/basics
 */
import { Fault } from '../../contract/failures.js';
import type { Connector } from '../connector.js';
import type { OAuthGrant } from '../oauthSpec.js';
import { contentOf, isStoredFile, explainMissing, parseItemId } from './adapter.js';
import { fetchKeyOwner, classify, ownerOf, readItem, backoffMs } from './api.js';
import { zoteroChanges } from './changes.js';
import { listContainer, listItem, listLibraries } from './listing.js';
import { noSuchItem } from '../faults.js';
import { headerToken } from '../bearer.js';

export const zotero: Connector<OAuthGrant> = {
  about: {
    listed: 'libraries, collections, items, notes, attachments',
    ingested:
      'each item with its title, metadata and abstract; notes; stored files; no annotations, linked files, files on a WebDAV server or web links',
    unchangedBy: 'MD5 of a file, else the version',
    deletions: 'a deleted collection causes a complete listing',
    limits: '10,000 groups; 20,000 collections per library',
  },
  oauth: {
    isOAuth1: true,
    scopes: ['library_access=1', 'notes_access=1', 'all_groups=read'],
    scopeSeparator: ' ',
    scopeParameter: null,
    pkce: false,
    clientAuth: 'post',
    bodyFormat: 'form',
    authorizeParameters: { name: 'Search', write_access: '0' },
    rotates: false,
  },
  headers: ({ accessToken }) => ({
    'zotero-api-version': '3',
    'zotero-api-key': headerToken(accessToken),
  }),
  classify,
  restMs: backoffMs,

  async identify(client) {
    const { id, name } = await fetchKeyOwner(client);
    return { account: id, metadata: { user_id: id, ...(name === '' ? {} : { username: name }) } };
  },

  listRoots: async (client, cursor) => listLibraries(client, await ownerOf(client), cursor),

  async listDescendants(client, externalId, cursor) {
    const itemRef = parseItemId(externalId);
    if (itemRef === null) throw noSuchItem('Zotero');
    if (itemRef.kind === 'item') return listItem(client, itemRef);
    return listContainer(client, itemRef, cursor);
  },

  async open(client, externalId) {
    const itemRef = parseItemId(externalId);
    if (itemRef === null) throw noSuchItem('Zotero');
    if (itemRef.kind !== 'item')
      throw new Fault(
        'unsupported_type',
        'A Zotero library or collection has no text of its own: sync the items in it.',
      );
    const path = [...itemRef.library.split('/'), 'items', itemRef.key];
    const json = await readItem(client, path);
    const lack = explainMissing(json);
    if (lack !== null) throw new Fault('unsupported_type', lack);
    if (!isStoredFile(json)) return contentOf(json, itemRef.library, null);
    const { bytes } = await client.content([...path, 'file'], {});
    return contentOf(json, itemRef.library, bytes);
  },

  changes: zoteroChanges,
};
