import { withCursor, count, shapeOf, listOf, nullable, pairOf, string, type Checked } from '../../cursors.js';
import { Fault } from '../../../contract/failures.js';
import type { OutlookQuery } from '../../../contract/sources/outlookQuery.js';
import type { SourceClient } from '../../accountClient.js';
import type { ItemPage, SourceItem } from '../../sourceItem.js';
import { withCallerId, type GraphPage, type Query, fetchAll, fetchPage, isQuery } from '../graph.js';
import { ATTACHMENT_FIELDS, itemOfAttachment, itemOfFolder, itemOfMessage, MESSAGE_FIELDS } from './adapter.js';
import { allFolders, branchOf, NAME } from './folders.js';
import { odataFilter } from './odata.js';
import { noSuchItem, requireId } from '../../faults.js';
import { asObject, type Json } from '../../json.js';

/** Header that requests ids that survive a move of the message, and bodies as plain text. */
export const PREFER = 'IdType="ImmutableId", outlook.body-content-type="text"';
const PER_PAGE = '100';
const LISTED: Query = { $select: MESSAGE_FIELDS };
/** Maximum number of attachments of one message. */
const MAX_ATTACHMENTS = 1_000;
/** Maximum number of restarts of a folder's listing after Outlook lost the position. */
const MAX_RESTARTS = 3;

const messagesOf = (folder: string): readonly string[] => ['me', 'mailFolders', folder, 'messages'];

const isKind = (error: unknown, kind: Fault['kind']): boolean => error instanceof Fault && error.kind === kind;

/**
 * Returns a page of a folder's feed, from its beginning or from a link. Listings of a folder use it too: unlike
 * numbered pages, it skips nothing while messages arrive or are deleted.
 */
export const feedPage = (client: SourceClient, folder: string, query: Query | null): Promise<GraphPage> =>
  fetchPage(client, [...messagesOf(folder), 'delta'], query ?? LISTED, {
    headers: { prefer: `${PREFER}, odata.maxpagesize=${PER_PAGE}` },
  });

export const isRemoved = (message: Json): boolean => message['@removed'] !== undefined;

/** Returns the attachments of a message; none if it was deleted. */
async function attachmentsOf(
  client: SourceClient,
  message: SourceItem,
  hasContent: boolean,
): Promise<readonly SourceItem[]> {
  if (!message.isExpandable) return [];
  const path = ['me', 'messages', message.externalId, 'attachments'];
  try {
    const all = await fetchAll(client, path, { $select: ATTACHMENT_FIELDS }, { maxEntries: MAX_ATTACHMENTS });
    return all.flatMap((attachment) => itemOfAttachment(attachment, message, hasContent) ?? []);
  } catch (error) {
    if (isKind(error, 'not_found')) return [];
    throw error;
  }
}

/** Returns messages, each followed by its attachments. @param attachments null: without attachments */
export async function withAttachments(
  client: SourceClient,
  messages: readonly SourceItem[],
  attachments: { readonly hasContent: boolean } | null,
): Promise<readonly SourceItem[]> {
  if (attachments === null) return messages;
  const all = messages.map(async (message) => [
    message,
    ...(await attachmentsOf(client, message, attachments.hasContent)),
  ]);
  return (await Promise.all(all)).flat();
}

/** Position in the listing of a folder and its subfolders. */
const FOLDER_CURSOR = shapeOf({
  /** Folders still to be listed, each with its root folder. */
  open: listOf(pairOf(string, string)),
  at: nullable(isQuery),
  restarts: count,
});
type FolderCursor = Checked<typeof FOLDER_CURSOR>;

const unlessEnd = (cursor: FolderCursor): FolderCursor | null => (cursor.open.length === 0 ? null : cursor);

/**
 * Returns a page of a folder with all its contents. Attachments of messages are listed, but become files only if they
 * are requested: by their own ids, by a query with attachments, or by a selection with `sync_attachments`.
 */
export const listFolder = withCursor(FOLDER_CURSOR, async (client: SourceClient, id: string, cursor) => {
  if (cursor === null) {
    const branch = branchOf(await allFolders(client), id);
    if (branch.length === 0) throw noSuchItem(NAME);
    const open = branch.map((folder) => [folder.id, folder.root] as const);
    return { items: branch.map(itemOfFolder), next: unlessEnd({ open, at: null, restarts: 0 }) };
  }
  const [folder, ...rest] = cursor.open;
  if (folder === undefined) return { items: [], next: null };
  const following = unlessEnd({ open: rest, at: null, restarts: 0 });
  try {
    const page = await feedPage(client, folder[0], cursor.at);
    const messages = page.values
      .filter((message) => !isRemoved(message))
      .flatMap((message) => itemOfMessage(message, folder[1]) ?? []);
    const items = await withAttachments(client, messages, { hasContent: false });
    return { items, next: page.next === null ? following : unlessEnd({ ...cursor, at: page.next }) };
  } catch (error) {
    // The folder was deleted in the meantime; the others still exist.
    if (isKind(error, 'not_found')) return { items: [], next: following };
    if (!isKind(error, 'stale_cursor') || cursor.at === null || cursor.restarts >= MAX_RESTARTS) throw error;
    return { items: [], next: unlessEnd({ ...cursor, at: null, restarts: cursor.restarts + 1 }) };
  }
});

/** Returns a page of the messages that match a query. */
export const listQueryResults = withCursor(
  isQuery,
  async (client: SourceClient, { folder, filter, attachments }: OutlookQuery, cursor) => {
    const first: Query = {
      ...LISTED,
      $top: PER_PAGE,
      ...(filter === null ? {} : { $filter: odataFilter(filter) }),
    };
    const { values, next } = await fetchPage(client, messagesOf(folder), cursor ?? first);
    const messages = values.flatMap((message) => itemOfMessage(message, folder) ?? []);
    return {
      items: await withAttachments(client, messages, attachments ? { hasContent: true } : null),
      next,
    };
  },
);

/**
 * Reads a message. @throws Fault server_error for an answer without an id: an empty message would replace the stored
 * one
 */
export const readMessage = async (client: SourceClient, id: string, fields: string): Promise<Json> =>
  requireId(NAME, await withCallerId(NAME, client.get(['me', 'messages', id], { $select: fields })), 'the message');

/** Reads the metadata of an attachment. @throws Fault server_error for an answer without an id */
export async function readAttachment(client: SourceClient, message: string, attachment: string): Promise<Json> {
  const path = ['me', 'messages', message, 'attachments', attachment];
  return requireId(NAME, await withCallerId(NAME, client.get(path, { $select: ATTACHMENT_FIELDS })), 'the attachment');
}

/** Returns a message with its attachments, or one attachment. */
export async function listMessage(
  client: SourceClient,
  { message, attachment }: { readonly message: string; readonly attachment: string | null },
): Promise<ItemPage> {
  const json = await readMessage(client, message, MESSAGE_FIELDS);
  const folder = asObject(json)['parentFolderId'];
  const item = itemOfMessage(json, typeof folder === 'string' ? folder : '');
  if (item === null) throw noSuchItem(NAME);
  if (attachment === null) return { items: await withAttachments(client, [item], { hasContent: false }), next: null };
  const found = await readAttachment(client, message, attachment);
  // An attachment that is requested by its id becomes a file even if it is inline or a link. For a link, the
  // sync_error_message of the file asks the user to connect the account that has the content.
  const requestedItem = itemOfAttachment({ ...found, isInline: false, '@odata.type': '' }, item, true);
  if (requestedItem === null) throw noSuchItem(NAME);
  return { items: [requestedItem], next: null };
}
