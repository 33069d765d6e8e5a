/**
 * Dropbox: files and folders of an account and its team, and those shared with it.
 * https://www.dropbox.com/developers/documentation/http
 */
import { Fault } from '../../contract/failures.js';
import type { Connector, ItemContent } from '../connector.js';
import type { OAuthGrant } from '../oauthSpec.js';
import type { GrantClient } from '../accountClient.js';
import { folderWalk, nextFolderPage } from '../folderWalk.js';
import { asName, asObject, asText, omitNull } from '../json.js';
import { contentHash, contentOf, exportOf, isFolder, itemOf } from './adapter.js';
import { classify, currentAccount, download, waitMs } from './api.js';
import { dropboxChanges } from './changes.js';
import { createParentLookup, entryAt, listFolder } from './tree.js';
import { bearer } from '../bearer.js';
import { noSuchItem } from '../faults.js';

/** Ids that callers may use for the root folder. */
const ROOT_IDS: readonly string[] = ['', '/'];

async function openFile(client: GrantClient, externalId: string): Promise<ItemContent> {
  const file = await entryAt(client, externalId);
  if (isFolder(file)) {
    // A sync treats a folder as a file only if it could not be listed. If this listing fails too, its error becomes
    // the message of the file.
    await listFolder(client, asText(file['id']) ?? '', null, null);
    throw new Fault('unsupported_type', 'A Dropbox folder has no text of its own: sync the files in it.');
  }
  const path = asText(file['id']) ?? '';
  const exported = exportOf(file);
  if (exported === 'none')
    throw new Fault(
      'unsupported_type',
      'Dropbox cannot export this type of document in a readable format. Export it there, then upload the file.',
    );
  if (exported !== null) {
    const fields = exported.format === null ? { path } : { path, export_format: exported.format };
    const { bytes, result } = await download(client, 'export', fields);
    const defaultFormat = asText(asObject(file['export_info'])['export_as']);
    const exportName =
      exported.format === 'markdown'
        ? 'a.md'
        : (asName(asObject(result['export_metadata'])['name']) ?? `a.${defaultFormat}`);
    return contentOf(file, bytes, exportName);
  }
  const { bytes, result } = await download(client, 'download', { path });
  // The downloaded version may be newer than the listed one.
  const metadata = result['id'] === file['id'] ? result : file;
  const hash = asText(metadata['content_hash']);
  if (hash !== null && hash !== contentHash(bytes))
    throw new Fault(
      'server_error',
      'The file from Dropbox is incomplete, or changed during the download. The request is retried automatically.',
    );
  return contentOf(metadata, bytes, null);
}

export const dropbox: Connector<OAuthGrant> = {
  about: {
    listed: 'folders and files, including shared and mounted ones, and those of a team',
    ingested: 'each file; Paper and other documents exported',
    unchangedBy: 'content hash, else revision, and the name',
    limits: 'content that the account may not read, and documents without an export format, cannot be selected',
  },
  oauth: {
    scopes: ['account_info.read', 'files.metadata.read', 'files.content.read'],
    scopeSeparator: ' ',
    scopeParameter: 'scope',
    pkce: true,
    clientAuth: 'post',
    bodyFormat: 'form',
    // Without token_access_type there is no refresh token.
    authorizeParameters: { token_access_type: 'offline' },
    rotates: false,
  },
  headers: bearer,
  classify,
  waitMs,

  async identify(client) {
    const user = await currentAccount(client);
    const accountId = asText(user['account_id']);
    const email = asText(user['email'])?.toLowerCase();
    const account = email ?? accountId;
    if (account === null) throw new Fault('server_error', 'Dropbox returned no user. Try again.');
    const metadata = omitNull({
      email,
      account_id: accountId,
      user_name: asText(asObject(user['name'])['display_name']),
      team_name: asText(asObject(user['team'])['name']),
    });
    return { account, metadata };
  },

  listRoots: (client, cursor) => listFolder(client, '', cursor, null),

  async listDescendants(client, externalId, cursor) {
    const list = (folder: string, at: string | null, root: string) => listFolder(client, folder, at, root);
    if (cursor !== null) return nextFolderPage(cursor, list);
    if (ROOT_IDS.includes(externalId)) return nextFolderPage(folderWalk('', ''), list);
    const entry = await entryAt(client, externalId);
    const requestedItem = itemOf(entry, await createParentLookup(client)(entry));
    if (requestedItem === null) throw noSuchItem('Dropbox');
    const { externalId: id, rootExternalId: root, isExpandable } = requestedItem;
    return { items: [requestedItem], next: isExpandable ? folderWalk(id, root ?? id) : null };
  },

  changes: dropboxChanges,
  open: (client, externalId) => openFile(client, externalId),
};
