import type { Attachment, EmailAddress, ItemBody, Message, Recipient } from '@microsoft/microsoft-graph-types';

import type { MailFolder } from '../../../contract/sources/liveReads.js';
import { formatOfName } from '../../../contract/files/fileFormats.js';
import type { ItemContent } from '../../connector.js';
import type { SourceItem } from '../../sourceItem.js';
import { dateOf } from '../graph.js';
import { type Answer, asAnswer, asObjects, asText } from '../../json.js';
import { createItem, createContainer, fileBytes } from '../../items.js';

/** Message fields for listings, and all fields for reading. */
export const MESSAGE_FIELDS =
  'id,subject,receivedDateTime,sentDateTime,changeKey,webLink,hasAttachments,parentFolderId,isDraft';
export const WHOLE_MESSAGE = `${MESSAGE_FIELDS},body,from,sender,toRecipients,ccRecipients,internetMessageId,conversationId,categories,importance,flag,isRead`;
export const ATTACHMENT_FIELDS = 'id,name,contentType,size,isInline,lastModifiedDateTime';

/** An attachment with its type, whose field Microsoft's types omit. */
type Attached = Answer<Attachment & { '@odata.type': string }>;

const ID = /^[\w=-]{1,600}$/;
export const isMailId = (text: string): boolean => ID.test(text);

const FOLDER = 'folder:';
export const folderItemId = (folder: string): string => `${FOLDER}${folder}`;

/** A parsed item id: a folder, a message, or an attachment; null if it is invalid. */
export type MailItemRef =
  | { readonly folder: string }
  | { readonly message: string; readonly attachment: string | null }
  | null;

/** Parses an item id. */
export function parseItemId(externalId: string): MailItemRef {
  if (externalId.startsWith(FOLDER)) {
    const folder = externalId.slice(FOLDER.length);
    return isMailId(folder) ? { folder } : null;
  }
  const [message = '', attachment, ...more] = externalId.split('/');
  if (!isMailId(message) || more.length > 0 || (attachment !== undefined && !isMailId(attachment))) return null;
  return { message, attachment: attachment ?? null };
}

/** Converts a mail folder. */
export const itemOfFolder = ({ id, name, parent, root }: MailFolder): SourceItem =>
  createContainer({
    externalId: folderItemId(id),
    parentExternalId: parent === null ? null : folderItemId(parent),
    rootExternalId: parent === null ? null : folderItemId(root),
    name,
    itemType: 'FOLDER',
  });

const subjectOf = (message: Answer<Message>): string => asText(message.subject) ?? '(no subject)';

/** Converts a message; null for an answer without an id. */
export function itemOfMessage(message: Answer<Message>, root: string): SourceItem | null {
  const id = asText(message.id);
  if (id === null || !isMailId(id)) return null;
  return createItem({
    externalId: id,
    parentExternalId: folderItemId(asText(message.parentFolderId) ?? root),
    rootExternalId: folderItemId(root),
    name: subjectOf(message),
    itemType: 'FILE',
    externalUrl: asText(message.webLink),
    isExpandable: message.hasAttachments === true,
    hasContent: true,
    createdAt: dateOf(message.receivedDateTime) ?? dateOf(message.sentDateTime),
    version: asText(message.changeKey),
  });
}

/** Skip reason of an attachment that is a link. */
export const ELSEWHERE =
  'The attachment is a link to a file elsewhere. Connect the account that has the file, and sync it there.';

/**
 * Converts an attachment; null for inline images.
 * @param hasContent whether the attachment becomes a file without `sync_attachments` too: its id, or a query with
 * attachments, was requested
 */
export function itemOfAttachment(attachment: Attached, message: SourceItem, hasContent: boolean): SourceItem | null {
  const id = asText(attachment.id);
  if (id === null || !isMailId(id) || attachment.isInline === true) return null;
  const isReference = isLink(attachment);
  const name = asText(attachment.name) ?? 'attachment';
  return createItem({
    externalId: `${message.externalId}/${id}`,
    parentExternalId: message.externalId,
    rootExternalId: message.rootExternalId,
    name,
    itemType: 'ATTACHMENT',
    externalUrl: message.externalUrl,
    fileFormat: isMessage(attachment) ? 'EML' : formatOfName(name),
    isSelectable: !isReference,
    hasContent: hasContent && !isReference,
    // A requested link must not have `isAttachment`: a sync without `sync_attachments` does not report that it skipped
    // an item with that field.
    ...(isReference && hasContent ? {} : { isAttachment: true as const }),
    createdAt: message.createdAt,
    version: dateOf(attachment.lastModifiedDateTime),
    ...(isReference ? { skipReason: ELSEWHERE } : {}),
  });
}

const kindOf = (attachment: Attached): string => asText(attachment['@odata.type']) ?? '';
/** Whether an attachment is a link to a file elsewhere. */
export const isLink = (attachment: Attached): boolean => kindOf(attachment) === '#microsoft.graph.referenceAttachment';
/** Whether an attachment is a message, event or contact, which Graph returns as MIME. */
export const isMessage = (attachment: Attached): boolean => kindOf(attachment) === '#microsoft.graph.itemAttachment';

function personOf(value: unknown): string | null {
  const { name, address } = asAnswer<EmailAddress>(asAnswer<Recipient>(value).emailAddress);
  const [called, at] = [asText(name), asText(address)];
  if (at === null) return called;
  return called === null || called === at ? at : `${called} <${at}>`;
}
const peopleOf = (value: unknown): readonly string[] =>
  asObjects(value)
    .map(personOf)
    .filter((person) => person !== null);

/** Removes absent metadata of a message. */
const withoutNulls = (facts: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(facts).filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0)),
  );

/** Returns a message as text: its subject and its body; sender and recipients are metadata. */
export function contentOfMessage(message: Answer<Message>, externalId: string): ItemContent {
  const { content, contentType } = asAnswer<ItemBody>(message.body);
  const body = asText(content) ?? '';
  const subject = asText(message.subject);
  const isHtml = asText(contentType)?.toLowerCase() === 'html';
  // The request prefers plain text. If Graph returns HTML nevertheless, the HTML parser converts it.
  const heading = subject === null ? '' : isHtml ? `<h1>${subject.replaceAll('<', '&lt;')}</h1>` : `# ${subject}`;
  const type = isHtml ? 'text/html' : 'text/plain';
  return {
    bytes: Buffer.from([heading, body.replaceAll('\r\n', '\n').trim()].filter((part) => part !== '').join('\n\n')),
    contentType: `${type}; charset=utf-8`,
    format: 'OUTLOOK',
    mimeType: type,
    name: subjectOf(message),
    url: asText(message.webLink) ?? externalId,
    fileMetadata: {
      is_message: true,
      ...withoutNulls({
        parent_external_file_id: asText(message.parentFolderId),
        subject,
        from: personOf(message.from) ?? personOf(message.sender),
        to: peopleOf(message.toRecipients),
        cc: peopleOf(message.ccRecipients),
        sent_at: dateOf(message.sentDateTime),
        received_at: dateOf(message.receivedDateTime),
        message_id: asText(message.internetMessageId),
        conversation_id: asText(message.conversationId),
        categories: Array.isArray(message.categories) ? message.categories.map(asText).filter(Boolean) : [],
        importance: asText(message.importance),
      }),
    },
  };
}

/** Returns an attachment's content. Its type is the declared one; if no parser supports it, the name decides. */
export function contentOfAttachment(attachment: Attached, externalId: string, bytes: Uint8Array): ItemContent {
  const name = asText(attachment.name);
  const declared = isMessage(attachment) ? 'message/rfc822' : asText(attachment.contentType);
  return {
    ...fileBytes(bytes, declared, name),
    name,
    url: externalId,
    fileMetadata: { type: 'ATTACHMENT', parent_external_file_id: externalId.slice(0, externalId.indexOf('/')) },
  };
}
