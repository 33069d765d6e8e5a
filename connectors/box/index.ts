/** Box: folders and files of an account, and items that others share with it. https://developer.box.com/reference */
import { createHash } from 'node:crypto';

import { Fault } from '../../contract/failures.js';
import { retryAfterMs } from '../../egress/retryAfter.js';
import type { Connector, ItemContent } from '../connector.js';
import type { OAuthGrant } from '../oauthSpec.js';
import type { Refusal, SourceClient } from '../accountClient.js';
import type { ItemPage } from '../sourceItem.js';
import type { ErrorClass } from '../errorClasses.js';
import { folderWalk, nextFolderPage } from '../folderWalk.js';
import { type Answer, asAnswer, asObject, asText, type Json, omitNull } from '../json.js';
import type { BoxItem, BoxItems } from './fields.js';
import { contentOf, idOf, isNote, ITEM_FIELDS, itemOf, type ItemRef, parseItemId, ROOT } from './adapter.js';
import { boxChanges, itemAt } from './changes.js';
import { noteText } from './note.js';
import { bearer } from '../bearer.js';
import { noSuchItem, requireList } from '../faults.js';

const PER_PAGE = '1000';
/** Wait if Box does not state when a file is ready for download. */
const DEFAULT_WAIT_MS = 10_000;

/** Error codes whose meaning differs from their status. */
const CODES: Readonly<Record<string, ErrorClass>> = {
  trashed: 'not_found',
  rate_limit_exceeded: 'rate_limited',
  operation_limit_exceeded: 'rate_limited',
  download_prohibited: 'forbidden_item',
};
function classify({ body }: Refusal): ErrorClass | null {
  const code = asText(asObject(body)['code']) ?? '';
  return Object.hasOwn(CODES, code) ? (CODES[code] ?? null) : null;
}

/** Returns a page of the direct contents of a folder. */
async function listFolder(client: SourceClient, id: string, at: string | null): Promise<ItemPage> {
  const query = { usemarker: 'true', limit: PER_PAGE, fields: ITEM_FIELDS, ...(at === null ? {} : { marker: at }) };
  const answer = asAnswer<BoxItems>(await client.get(['folders', id, 'items'], query));
  const next = asText(answer.next_marker);
  return {
    items: requireList('Box', answer.entries).flatMap((entry) => itemOf(asObject(entry)) ?? []),
    // A marker that equals the current one would repeat the page forever.
    next: next === at ? null : next,
  };
}

/**
 * Resolves an id from a caller. A number alone is a file or else a folder, since Box's URLs contain only the number.
 */
async function resolveItem(
  client: SourceClient,
  externalId: string,
): Promise<{ readonly itemRef: ItemRef; readonly json: Json }> {
  const itemRef = parseItemId(externalId);
  if (itemRef === null) throw noSuchItem('Box');
  try {
    return { itemRef, json: await itemAt(client, itemRef) };
  } catch (error) {
    if (!(error instanceof Fault) || error.kind !== 'not_found' || externalId !== itemRef.id) throw error;
    const folder = { kind: 'folder', id: itemRef.id } as const;
    return { itemRef: folder, json: await itemAt(client, folder) };
  }
}

/**
 * Downloads a file. Box redirects to a URL that is itself a credential, so the request to it has no other credentials.
 */
async function bytesOf(client: SourceClient, id: string, file: Answer<BoxItem>) {
  const answer = await client.content(['files', id, 'content'], {});
  if (answer.status === 202) {
    throw new Fault(
      'server_error',
      'Box has not prepared this file for download yet. The request is retried automatically.',
      { retryAfterMs: retryAfterMs(answer.headers) ?? DEFAULT_WAIT_MS },
    );
  }
  const sha1 = asText(file.sha1);
  if (sha1 !== null && createHash('sha1').update(answer.bytes).digest('hex') !== sha1.toLowerCase())
    throw new Fault(
      'server_error',
      'The file was changed in Box while it was being read. The request is retried automatically.',
    );
  return answer;
}

async function openFile(client: SourceClient, externalId: string): Promise<ItemContent> {
  const { itemRef, json } = await resolveItem(client, externalId);
  if (itemRef.kind === 'folder') {
    // A sync creates a file for a folder only if it could not list the folder. The request is repeated here to get the
    // same error again: it becomes the sync_error_message of that file.
    await listFolder(client, itemRef.id, null);
    throw new Fault('unsupported_type', 'A Box folder has no text of its own: sync the files in it.');
  }
  if (itemRef.kind === 'web_link')
    throw new Fault('unsupported_type', 'A Box link has no content of its own. Scrape the page that it points to.');
  const { bytes, headers } = await bytesOf(client, itemRef.id, json);
  const text = isNote(asText(json['name']) ?? '') ? noteText(bytes) : null;
  return contentOf(json, bytes, headers['content-type'], text);
}

export const box: Connector<OAuthGrant> = {
  about: {
    listed: 'folders, files, links, including those that others share',
    ingested: 'each file; notes as Markdown; links are not read',
    unchangedBy: 'SHA-1, else ETag, and the name',
    deletions: 'items in the trash count as deleted',
    limits: 'Box deletes events after two weeks, so a cursor older than 13 days causes a complete listing',
  },
  oauth: {
    // The app's settings in Box define the widest scopes; this narrows them.
    scopes: ['root_readonly'],
    scopeSeparator: ' ',
    scopeParameter: 'scope',
    pkce: false,
    clientAuth: 'post',
    bodyFormat: 'form',
    authorizeParameters: {},
    rotates: true,
  },
  headers: bearer,
  classify,

  async identify(client) {
    const { id, login, name, enterprise } = await client.get(['users', 'me'], { fields: 'id,login,name,enterprise' });
    const email = asText(login)?.toLowerCase();
    const account = email ?? asText(id);
    if (account === null) throw new Fault('server_error', 'Box returned no user. Try again.');
    const enterpriseId = asText(asObject(enterprise)['id']);
    const metadata = omitNull({ email, user_id: asText(id), user_name: asText(name), enterprise_id: enterpriseId });
    return { account, metadata };
  },

  listRoots: (client, cursor) => listFolder(client, ROOT, cursor),

  async listDescendants(client, externalId, cursor) {
    const list = (folder: string, at: string | null) => listFolder(client, parseItemId(folder)?.id ?? '', at);
    if (cursor !== null) return nextFolderPage(cursor, list);
    if (externalId === ROOT || externalId === idOf({ kind: 'folder', id: ROOT })) {
      const rootFolder = idOf({ kind: 'folder', id: ROOT });
      return nextFolderPage(folderWalk(rootFolder, rootFolder), list);
    }
    const { itemRef, json } = await resolveItem(client, externalId);
    const requestedItem = itemOf(json);
    if (requestedItem === null) throw noSuchItem('Box');
    const next =
      itemRef.kind === 'folder'
        ? folderWalk(requestedItem.externalId, requestedItem.rootExternalId ?? requestedItem.externalId)
        : null;
    return { items: [requestedItem], next };
  },

  changes: boxChanges,
  open: openFile,
};
