import { count, defineCursor, shapeOf, listOf, nullable, pairOf, string, type CursorOf } from '../../cursors.js';
import { Fault } from '../../../contract/failures.js';
import type { OutlookQuery } from '../../../contract/outlookQuery.js';
import type { ItemPage, SourceClient, SourceItem } from '../../connector.js';
import { byGivenId, type GraphPage, type Query, takeAll, takePage, QUERY_CURSOR, isQuery } from '../graph.js';
import { ATTACHMENT_FIELDS, itemOfAttachment, itemOfFolder, itemOfMessage, MESSAGE_FIELDS } from './adapter.js';
import { allFolders, branchOf, NAME } from './folders.js';
import { odataFilter } from './odata.js';
import { noSuchItem, requireId } from '../../faults.js';
import { asObject, type Json } from '../../json.js';

/** The same id wherever a message is moved to, and bodies as text. */
export const PREFER = 'IdType="ImmutableId", outlook.body-content-type="text"';
const PER_PAGE = '100';
const LISTED: Query = { $select: MESSAGE_FIELDS };
/** Of what is attached to one message. */
const MAX_ATTACHMENTS = 1_000;
/** Times that a listing of a folder may begin anew because Outlook lost its place. */
const MAX_RESTARTS = 3;

const messagesOf = (folder: string): readonly string[] => ['me', 'mailFolders', folder, 'messages'];

const isKind = (error: unknown, kind: Fault['kind']): boolean => error instanceof Fault && error.kind === kind;

/**
 * A page of a folder's feed, from its beginning or from a link. Listings go by it as well: it stays whole while messages come
 * and go, which numbered pages do not.
 */
export const feedPage = (client: SourceClient, folder: string, query: Query | null): Promise<GraphPage> =>
  takePage(client, [...messagesOf(folder), 'delta'], query ?? LISTED, {
    headers: { prefer: `${PREFER}, odata.maxpagesize=${PER_PAGE}` },
  });

export const isRemoved = (message: Json): boolean => message['@removed'] !== undefined;

/** What is attached to a message; nothing once it is not there any more. */
async function attachmentsOf(
  client: SourceClient,
  message: SourceItem,
  hasContent: boolean,
): Promise<readonly SourceItem[]> {
  if (!message.isExpandable) return [];
  const path = ['me', 'messages', message.externalId, 'attachments'];
  try {
    const all = await takeAll(client, path, { $select: ATTACHMENT_FIELDS }, { most: MAX_ATTACHMENTS });
    return all.flatMap((attachment) => itemOfAttachment(attachment, message, hasContent) ?? []);
  } catch (error) {
    if (isKind(error, 'not_found')) return [];
    throw error;
  }
}

/** Messages, each with what is attached to it behind it. @param attachments null: that is left out */
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

/** Where the listing of a folder, and of those in it, goes on. */
const FOLDER_CURSOR = defineCursor(
  shapeOf({
    /** Each folder with its root. */
    open: listOf(pairOf(string, string)),
    at: nullable(isQuery),
    restarts: count,
  }),
);
type FolderCursor = CursorOf<typeof FOLDER_CURSOR>;

const cursorOf = (cursor: FolderCursor): string | null =>
  cursor.open.length === 0 ? null : FOLDER_CURSOR.write(cursor);

/**
 * A page of a folder and of all that lies in it. What is attached to messages is listed, and becomes files only where it is
 * asked for: by itself, by a query that says so, or by the wish for attachments of whoever selects the folder.
 */
export async function belowFolder(client: SourceClient, id: string, text: string | null): Promise<ItemPage> {
  if (text === null) {
    const branch = branchOf(await allFolders(client), id);
    if (branch.length === 0) throw noSuchItem(NAME);
    const open = branch.map((folder) => [folder.id, folder.root] as const);
    return { items: branch.map(itemOfFolder), next: cursorOf({ open, at: null, restarts: 0 }) };
  }
  const cursor = FOLDER_CURSOR.read(text);
  const [folder, ...rest] = cursor.open;
  if (folder === undefined) return { items: [], next: null };
  const behind = cursorOf({ open: rest, at: null, restarts: 0 });
  try {
    const page = await feedPage(client, folder[0], cursor.at);
    const messages = page.values
      .filter((message) => !isRemoved(message))
      .flatMap((message) => itemOfMessage(message, folder[1]) ?? []);
    const items = await withAttachments(client, messages, { hasContent: false });
    return { items, next: page.next === null ? behind : cursorOf({ ...cursor, at: page.next }) };
  } catch (error) {
    // The folder went in the meantime; the others are still there.
    if (isKind(error, 'not_found')) return { items: [], next: behind };
    if (!isKind(error, 'stale_cursor') || cursor.at === null || cursor.restarts >= MAX_RESTARTS) throw error;
    return { items: [], next: cursorOf({ ...cursor, at: null, restarts: cursor.restarts + 1 }) };
  }
}

/** A page of the messages that a query finds. */
export async function belowQuery(
  client: SourceClient,
  { folder, filter, attachments }: OutlookQuery,
  cursor: string | null,
): Promise<ItemPage> {
  const first: Query = {
    ...LISTED,
    $top: PER_PAGE,
    ...(filter === null ? {} : { $filter: odataFilter(filter) }),
  };
  const query = cursor === null ? first : QUERY_CURSOR.read(cursor);
  const { values, next } = await takePage(client, messagesOf(folder), query);
  const messages = values.flatMap((message) => itemOfMessage(message, folder) ?? []);
  return {
    items: await withAttachments(client, messages, attachments ? { hasContent: true } : null),
    next: QUERY_CURSOR.writeNext(next),
  };
}

/** @throws Fault server_error for an answer without an id: as an empty message it would replace or delete what is stored */
export const readMessage = async (client: SourceClient, id: string, fields: string): Promise<Json> =>
  requireId(NAME, await byGivenId(NAME, client.get(['me', 'messages', id], { $select: fields })), 'the message');

/** Returns what Graph says about an attachment. @throws Fault server_error for an answer without an id */
export async function readAttachment(client: SourceClient, message: string, attachment: string): Promise<Json> {
  const path = ['me', 'messages', message, 'attachments', attachment];
  return requireId(NAME, await byGivenId(NAME, client.get(path, { $select: ATTACHMENT_FIELDS })), 'the attachment');
}

/** A message with what is attached to it, or one attachment. */
export async function belowMessage(
  client: SourceClient,
  { message, attachment }: { readonly message: string; readonly attachment: string | null },
): Promise<ItemPage> {
  const json = await readMessage(client, message, MESSAGE_FIELDS);
  const folder = asObject(json)['parentFolderId'];
  const item = itemOfMessage(json, typeof folder === 'string' ? folder : '');
  if (item === null) throw noSuchItem(NAME);
  if (attachment === null) return { items: await withAttachments(client, [item], { hasContent: false }), next: null };
  const found = await readAttachment(client, message, attachment);
  // By itself it is asked for, also where it is within the text or elsewhere: then reading it says why not.
  const itself = itemOfAttachment({ ...found, isInline: false, '@odata.type': '' }, item, true);
  if (itself === null) throw noSuchItem(NAME);
  return { items: [itself], next: null };
}
