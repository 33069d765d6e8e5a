import { formatOfName, formatOfType, mimeTypeOf } from '../../../contract/fileFormats.js';
import type { ItemContent, SourceItem } from '../../connector.js';
import { dateOf, type Json, objectOf, objectsOf, textOf } from '../graph.js';

/** What listings ask of a message, and what reading it asks for besides. */
export const MESSAGE_FIELDS =
  'id,subject,receivedDateTime,sentDateTime,changeKey,webLink,hasAttachments,parentFolderId,isDraft';
export const WHOLE_MESSAGE = `${MESSAGE_FIELDS},body,from,sender,toRecipients,ccRecipients,internetMessageId,conversationId,categories,importance,flag,isRead`;
export const ATTACHMENT_FIELDS = 'id,name,contentType,size,isInline,lastModifiedDateTime';

const ID = /^[\w=-]{1,600}$/;
export const isMailId = (text: string): boolean => ID.test(text);

const FOLDER = 'folder:';
export const folderItemId = (folder: string): string => `${FOLDER}${folder}`;

/** What an id of ours means: a folder, a message, or what is attached to one; null for none of them. */
export type MailPlace =
  | { readonly folder: string }
  | { readonly message: string; readonly attachment: string | null }
  | null;

export function mailPlaceOf(externalId: string): MailPlace {
  if (externalId.startsWith(FOLDER)) {
    const folder = externalId.slice(FOLDER.length);
    return isMailId(folder) ? { folder } : null;
  }
  const [message = '', attachment, ...more] = externalId.split('/');
  if (!isMailId(message) || more.length > 0 || (attachment !== undefined && !isMailId(attachment))) return null;
  return { message, attachment: attachment ?? null };
}

/** A folder of the mailbox with its place in the tree. */
export interface MailFolder {
  readonly id: string;
  readonly name: string;
  /** Null for an outermost one. */
  readonly parent: string | null;
  /** The outermost one it lies in, or itself. */
  readonly root: string;
  readonly messages: number;
}

export const itemOfFolder = ({ id, name, parent, root }: MailFolder): SourceItem => ({
  externalId: folderItemId(id),
  parentExternalId: parent === null ? null : folderItemId(parent),
  rootExternalId: parent === null ? null : folderItemId(root),
  name,
  itemType: 'FOLDER',
  externalUrl: null,
  fileFormat: null,
  isSelectable: true,
  isExpandable: true,
  hasContent: false,
  createdAt: null,
  version: null,
});

const subjectOf = (message: Json): string => textOf(message['subject']) ?? '(no subject)';

/** A message; null for an answer that names none. */
export function itemOfMessage(message: Json, root: string): SourceItem | null {
  const id = textOf(message['id']);
  if (id === null || !isMailId(id)) return null;
  return {
    externalId: id,
    parentExternalId: folderItemId(textOf(message['parentFolderId']) ?? root),
    rootExternalId: folderItemId(root),
    name: subjectOf(message),
    itemType: 'FILE',
    externalUrl: textOf(message['webLink']),
    fileFormat: null,
    isSelectable: true,
    isExpandable: message['hasAttachments'] === true,
    hasContent: true,
    createdAt: dateOf(message['receivedDateTime']) ?? dateOf(message['sentDateTime']),
    version: textOf(message['changeKey']),
  };
}

/** What there is to say of a link. */
export const ELSEWHERE =
  'What is attached is a link to a file elsewhere. Connect the account that it lies in, and sync it there.';

/** What is attached to a message; null for pictures within its text. @param hasContent whether it was asked for */
export function itemOfAttachment(attachment: Json, message: SourceItem, hasContent: boolean): SourceItem | null {
  const id = textOf(attachment['id']);
  if (id === null || !isMailId(id) || attachment['isInline'] === true) return null;
  const isElsewhere = isLink(attachment);
  const name = textOf(attachment['name']) ?? 'attachment';
  return {
    externalId: `${message.externalId}/${id}`,
    parentExternalId: message.externalId,
    rootExternalId: message.rootExternalId,
    name,
    itemType: 'ATTACHMENT',
    externalUrl: message.externalUrl,
    fileFormat: isMessage(attachment) ? 'EML' : formatOfName(name),
    isSelectable: !isElsewhere,
    isExpandable: false,
    hasContent: hasContent && !isElsewhere,
    // Asked for by a query, it is attached to what was asked for.
    ...(isElsewhere && hasContent ? {} : { isAttachment: true as const }),
    createdAt: message.createdAt,
    version: dateOf(attachment['lastModifiedDateTime']),
    ...(isElsewhere ? { leftOut: ELSEWHERE } : {}),
  };
}

const kindOf = (attachment: Json): string => textOf(attachment['@odata.type']) ?? '';
/** A file that lies elsewhere. */
export const isLink = (attachment: Json): boolean => kindOf(attachment) === '#microsoft.graph.referenceAttachment';
/** A message, an event or a contact, which is given out as MIME. */
export const isMessage = (attachment: Json): boolean => kindOf(attachment) === '#microsoft.graph.itemAttachment';

function personOf(value: unknown): string | null {
  const { name, address } = objectOf(objectOf(value)['emailAddress']);
  const [called, at] = [textOf(name), textOf(address)];
  if (at === null) return called;
  return called === null || called === at ? at : `${called} <${at}>`;
}
const peopleOf = (value: unknown): readonly string[] =>
  objectsOf(value)
    .map(personOf)
    .filter((person) => person !== null);

/** Facts of a message that are there, without those that are not. */
const known = (facts: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(facts).filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0)),
  );

/** A message as a text of its own: its subject and its body; who wrote it to whom are facts beside it. */
export function contentOfMessage(message: Json, externalId: string): ItemContent {
  const { content, contentType } = objectOf(message['body']);
  const body = textOf(content) ?? '';
  const subject = textOf(message['subject']);
  const isHtml = textOf(contentType)?.toLowerCase() === 'html';
  // Text was asked for; where it comes as HTML in spite of that, its reader makes text of it.
  const heading = subject === null ? '' : isHtml ? `<h1>${subject.replaceAll('<', '&lt;')}</h1>` : `# ${subject}`;
  const type = isHtml ? 'text/html' : 'text/plain';
  return {
    bytes: Buffer.from([heading, body.replaceAll('\r\n', '\n').trim()].filter((part) => part !== '').join('\n\n')),
    contentType: `${type}; charset=utf-8`,
    format: 'OUTLOOK',
    mimeType: type,
    name: subjectOf(message),
    url: textOf(message['webLink']) ?? externalId,
    facts: {
      is_message: true,
      ...known({
        parent_external_file_id: textOf(message['parentFolderId']),
        subject,
        from: personOf(message['from']) ?? personOf(message['sender']),
        to: peopleOf(message['toRecipients']),
        cc: peopleOf(message['ccRecipients']),
        sent_at: dateOf(message['sentDateTime']),
        received_at: dateOf(message['receivedDateTime']),
        message_id: textOf(message['internetMessageId']),
        conversation_id: textOf(message['conversationId']),
        categories: Array.isArray(message['categories']) ? message['categories'].map(textOf).filter(Boolean) : [],
        importance: textOf(message['importance']),
      }),
    },
  };
}

/** The bytes of an attachment, as it is declared, or else as its name says. */
export function contentOfAttachment(attachment: Json, externalId: string, bytes: Uint8Array): ItemContent {
  const name = textOf(attachment['name']);
  const declared = isMessage(attachment) ? 'message/rfc822' : textOf(attachment['contentType']);
  const named = name === null ? null : formatOfName(name);
  const type = (formatOfType(declared) === null && named ? mimeTypeOf(named) : declared) ?? 'application/octet-stream';
  return {
    bytes,
    contentType: type,
    format: null,
    mimeType: type.split(';')[0]?.trim() ?? type,
    name,
    url: externalId,
    facts: { type: 'ATTACHMENT', parent_external_file_id: externalId.slice(0, externalId.indexOf('/')) },
  };
}
