import type { TagValue } from '../../../contract/files/records.js';
import type { ItemContent } from '../../connector.js';
import type { SourceItem } from '../../sourceItem.js';
import { type Answer, asAnswer, asList, asText } from '../../json.js';
import type { GmailHeader, GmailLabel, GmailMessage, GmailPart } from '../vendorTypes.js';
import { createItem, createContainer } from '../../items.js';

/** A message of Gmail's API; every field is unverified. */
export type MessageJson = Answer<GmailMessage>;

/** The message fields to request in listings. */
export const MESSAGE_FIELDS = 'id,threadId,labelIds,internalDate,historyId,payload/headers';

const ID = /^[\w-]{1,100}$/;
export const isMailId = (id: unknown): id is string => typeof id === 'string' && ID.test(id);

const LABEL = 'label:';
const THREAD = 'thread:';
/** Id of the folder for mail that is neither in the inbox, nor sent, nor labelled. No label has this id. */
export const OTHER_MAIL = 'mail.other';
/** Gmail's system labels that work as folders; its other system labels only mark messages. */
const FOLDER_LABELS = ['INBOX', 'SENT'];

/** Returns the id of a label or thread in an item id; null for other ids. */
const withoutPrefix = (prefix: string, externalId: string): string | null => {
  const id = externalId.startsWith(prefix) ? externalId.slice(prefix.length) : null;
  return isMailId(id) ? id : null;
};
export const labelIn = (externalId: string): string | null => withoutPrefix(LABEL, externalId);
export const threadIn = (externalId: string): string | null => withoutPrefix(THREAD, externalId);

const folderItem = (externalId: string, name: string): SourceItem =>
  createContainer({
    externalId,
    name,
    itemType: 'FOLDER',
  });
export const otherMail = (): SourceItem => folderItem(OTHER_MAIL, 'Other mail');

/** Converts a label that works as a folder; null for one that only marks messages. */
export function itemOfLabel(label: Answer<GmailLabel>): SourceItem | null {
  const { id, name, type } = label;
  if (!isMailId(id) || (type !== 'user' && !FOLDER_LABELS.includes(id))) return null;
  return folderItem(`${LABEL}${id}`, asText(name) ?? id);
}

const labelsOf = (message: MessageJson): string[] =>
  asList(message.labelIds).filter((id): id is string => typeof id === 'string');
/** Whether a message is spam or in the trash; both count as deleted. */
export const isTrashOrSpam = (message: MessageJson): boolean =>
  labelsOf(message).some((id) => id === 'TRASH' || id === 'SPAM');

/**
 * Returns the one folder that a message is listed in. It depends on the message alone, so every listing returns the
 * same.
 */
function parentIdOf(message: MessageJson): string {
  const labels = labelsOf(message);
  const label = labels.filter((id) => id.startsWith('Label_') && isMailId(id)).toSorted()[0];
  const folderLabel = label ?? FOLDER_LABELS.find((id) => labels.includes(id));
  return folderLabel === undefined ? OTHER_MAIL : `${LABEL}${folderLabel}`;
}

const MAX_HEADER_LENGTH = 500;
const MAX_PEOPLE = 100;

/** Returns the value of the first header that has the given name, in upper or lower case; null if there is none. */
function headerOf(message: MessageJson, name: string): string | null {
  for (const given of asList(asAnswer<GmailPart>(message.payload).headers)) {
    const header = asAnswer<GmailHeader>(given);
    if (asText(header.name)?.toLowerCase() === name) return asText(header.value);
  }
  return null;
}

/** Returns the distinct addresses in a header such as `Ada <ada@example.org>, "B, C" <b@example.org>`. */
export function addressesIn(header: string | null): string[] {
  const found = (header ?? '').match(/(?:"(?:[^"\\]|\\.)*"|[^,"])+/g) ?? [];
  const addresses = found.map((address) =>
    (/<([^<>]+)>\s*$/.exec(address.trim())?.[1] ?? address).trim().slice(0, MAX_HEADER_LENGTH),
  );
  return [...new Set(addresses.filter((address) => address !== ''))].slice(0, MAX_PEOPLE);
}

/** Returns sender and recipients as tags of the message's file. */
function tagsOf(message: MessageJson): Record<string, TagValue> {
  const [sender] = addressesIn(headerOf(message, 'from'));
  const [recipient, cc] = [addressesIn(headerOf(message, 'to')), addressesIn(headerOf(message, 'cc'))];
  return {
    ...(sender === undefined ? {} : { sender }),
    ...(recipient.length === 0 ? {} : { recipient }),
    ...(cc.length === 0 ? {} : { cc }),
  };
}

function dateOf(message: MessageJson): string | null {
  const at = Number(message.internalDate ?? Number.NaN);
  return Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : null;
}

const urlOf = (id: string): string => `https://mail.google.com/mail/#all/${id}`;

/** Converts a message; null for an invalid answer, and for deleted messages. */
export function itemOfMessage(message: MessageJson): SourceItem | null {
  const { id } = message;
  if (!isMailId(id) || isTrashOrSpam(message)) return null;
  const within = parentIdOf(message);
  return createItem({
    externalId: id,
    parentExternalId: within,
    rootExternalId: within,
    name: headerOf(message, 'subject')?.slice(0, MAX_HEADER_LENGTH) ?? '(no subject)',
    itemType: 'FILE',
    externalUrl: urlOf(id),
    fileFormat: 'EML',
    hasContent: true,
    createdAt: dateOf(message),
    // The text never changes, but the labels do, and they are part of the metadata.
    version: asText(message.historyId),
    tags: tagsOf(message),
  });
}

/**
 * Returns a message in the MIME format.
 * @param repliesTo id of the previous message in its thread; null: none, or unknown
 */
export function contentOf(message: MessageJson, bytes: Uint8Array, repliesTo: string | null): ItemContent {
  const id = asText(message.id) ?? '';
  const thread = asText(message.threadId) ?? id;
  return {
    bytes,
    contentType: 'message/rfc822',
    format: 'GMAIL',
    mimeType: 'message/rfc822',
    name: null,
    url: urlOf(id),
    fileMetadata: {
      type: 'FILE',
      is_message: true,
      start_of_thread: repliesTo === null,
      thread_id: thread,
      // A thread has the id of its first message.
      root_external_file_id: thread,
      parent_external_file_id: repliesTo,
      labels: labelsOf(message),
    },
    attachmentsOnRequest: true,
  };
}
