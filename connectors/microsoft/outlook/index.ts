/**
 * Outlook: the messages of a user, selected by folder or query.
 * https://learn.microsoft.com/graph/api/resources/mail-api-overview
 */
import type { LiveReads } from '../../../contract/sources/liveReads.js';
import { withRootsCursor, shapeOf, nullable, string } from '../../cursors.js';
import { Fault } from '../../../contract/failures.js';
import { isSelection } from '../../../contract/sources/filterTree.js';
import { outlookQueryOf } from '../../../contract/sources/outlookQuery.js';
import type { Connector, LiveRead } from '../../connector.js';
import type { OAuthGrant } from '../../oauthSpec.js';
import type { SourceClient } from '../../accountClient.js';
import { appLimit, classify, identifyUser, microsoftOAuth, isQuery, fetchAll, fetchPage } from '../graph.js';
import {
  contentOfAttachment,
  contentOfMessage,
  ELSEWHERE,
  isLink,
  itemOfFolder,
  parseItemId,
  WHOLE_MESSAGE,
} from './adapter.js';
import { mailChanges } from './changes.js';
import { allFolders, binOf, FOLDER_FIELDS, folderOf, foldersByName, NAME } from './folders.js';
import { listFolder, listMessage, listQueryResults, PREFER, readAttachment, readMessage } from './messages.js';
import { asText } from '../../json.js';
import { noSuchItem } from '../../faults.js';
import { bearer } from '../../bearer.js';

/** Position in the listing of the root folders. */
const ROOTS_CURSOR = shapeOf({ query: isQuery, bin: nullable(string) });

const MAX_CATEGORIES = 1_000;

/** Returns all folders, or those to which `reference` may refer. */
const folders: LiveRead<OAuthGrant, LiveReads['folders']> = (client, { reference }) =>
  reference === undefined ? allFolders(client) : foldersByName(client, reference);

const categories: LiveRead<OAuthGrant, LiveReads['categories']> = async (client, _query) => {
  const path = ['me', 'outlook', 'masterCategories'];
  return (await fetchAll(client, path, {}, { maxEntries: MAX_CATEGORIES })).flatMap((category) => {
    const name = asText(category['displayName']);
    return name === null ? [] : [{ id: asText(category['id']) ?? name, name, color: asText(category['color']) }];
  });
};

export const outlook: Connector<OAuthGrant> = {
  about: {
    listed: 'mail folders, messages, attachments',
    ingested: 'each message; attachments with `sync_attachments`',
    unchangedBy: 'changeKey',
    deletions: 'messages in Deleted Items count as deleted',
    limits: '10,000 folders; 1,000 attachments per message; search folders are skipped',
  },
  // Categories are part of the mailbox settings.
  oauth: microsoftOAuth(['Mail.Read', 'MailboxSettings.Read']),
  headers: (grant) => ({ ...bearer(grant), prefer: PREFER }),
  classify,
  sharedLimit: appLimit,
  identify: identifyUser,

  listRoots: withRootsCursor(ROOTS_CURSOR, async (client: SourceClient, storedCursor) => {
    const cursor = storedCursor ?? { query: FOLDER_FIELDS, bin: await binOf(client) };
    const { values, next } = await fetchPage(client, ['me', 'mailFolders'], cursor.query);
    return {
      items: values.flatMap((json) => {
        const folder = folderOf(json, null, cursor.bin);
        return folder === null ? [] : [itemOfFolder(folder)];
      }),
      next: next && { ...cursor, query: next },
    };
  }),

  async listDescendants(client, externalId, cursor) {
    if (isSelection(externalId)) {
      const query = outlookQueryOf(externalId);
      const itemRef = query === null ? null : parseItemId(`folder:${query.folder}`);
      if (query === null || itemRef === null) throw noSuchItem(NAME);
      return listQueryResults(client, query, cursor);
    }
    const itemRef = parseItemId(externalId);
    if (itemRef === null) throw noSuchItem(NAME);
    return 'folder' in itemRef ? listFolder(client, itemRef.folder, cursor) : listMessage(client, itemRef);
  },

  async open(client, externalId) {
    const itemRef = isSelection(externalId) ? null : parseItemId(externalId);
    if (itemRef === null) throw noSuchItem(NAME);
    if ('folder' in itemRef)
      throw new Fault('unsupported_type', 'An Outlook folder has no text of its own: sync the messages in it.');
    const { message, attachment } = itemRef;
    if (attachment === null) return contentOfMessage(await readMessage(client, message, WHOLE_MESSAGE), externalId);
    const found = await readAttachment(client, message, attachment);
    if (isLink(found)) throw new Fault('unsupported_type', ELSEWHERE);
    const { bytes } = await client.content(['me', 'messages', message, 'attachments', attachment, '$value'], {});
    return contentOfAttachment(found, externalId, bytes);
  },

  changes: mailChanges,
  reads: { folders, categories },
};
