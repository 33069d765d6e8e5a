import type { ItemContent } from '../connector.js';
import type { SkippedItem, SourceItem } from '../sourceItem.js';
import {
  type Attached,
  contentOfArticle,
  contentOfComments,
  dateOf,
  draftOf,
  idOf,
  type Comment,
} from '../helpdesk.js';
import { asObject, asObjects, asText, omitNull, type Json } from '../json.js';
import { createItem } from '../items.js';

/** Id of the root item that contains all tickets. It is ours: Freshdesk has no such object. */
export const TICKETS = 'tickets';
/** Id of the root item that replaces the solution categories if the account may not list them. */
export const SOLUTIONS = 'solutions';

const KINDS = ['category', 'folder', 'article', 'ticket'] as const;
type Kind = (typeof KINDS)[number];

/** A parsed item id; null if it is invalid. */
export type FreshdeskItemRef =
  | { readonly kind: Kind; readonly id: string }
  | { readonly kind: 'attachment'; readonly id: string; readonly ticket: string }
  | { readonly kind: typeof TICKETS | typeof SOLUTIONS }
  | null;

const ID = new RegExp(`^(${KINDS.join('|')}):(\\d{1,20})(?:/(\\d{1,20}))?$`);
/** Parses an item id; null if it is invalid. */
export function parseItemId(id: string): FreshdeskItemRef {
  if (id === TICKETS || id === SOLUTIONS) return { kind: id };
  const [, kind, number = '', attachment] = ID.exec(id) ?? [];
  if (kind === undefined) return null;
  if (attachment === undefined) return { kind: kind as Kind, id: number };
  return kind === 'ticket' ? { kind: 'attachment', id: attachment, ticket: number } : null;
}

/** Returns the item of one of the two root containers. */
export const itemOfContainer = (id: typeof TICKETS | typeof SOLUTIONS): SourceItem =>
  createItem({
    externalId: id,
    name: id === TICKETS ? 'Tickets' : 'Solutions',
    itemType: 'FOLDER',
    isExpandable: true,
  });

const nameOf = (json: Json): string => asText(json['name']) ?? asText(json['title']) ?? '(no name)';

/** Converts a category; null if it is invalid. */
export const itemOfCategory = (json: Json): SourceItem | null => {
  const id = idOf(json['id']);
  return id === null
    ? null
    : createItem({
        externalId: `category:${id}`,
        name: nameOf(json),
        itemType: 'CATEGORY',
        isExpandable: true,
        createdAt: dateOf(json['created_at']),
      });
};

/** A folder with its parent. */
export interface Folder {
  readonly id: string;
  readonly json: Json;
  /** The item id of its parent. */
  readonly parent: string;
}

/** Converts a folder. @param category id of its category */
export const itemOfFolder = ({ id, json, parent }: Folder, category: string): SourceItem =>
  createItem({
    externalId: `folder:${id}`,
    parentExternalId: parent,
    rootExternalId: `category:${category}`,
    name: nameOf(json),
    itemType: 'FOLDER',
    isExpandable: true,
    createdAt: dateOf(json['created_at']),
  });

/** Status of a published article, which everyone with access to it sees. */
const PUBLISHED = 2;
export const isPublished = (article: Json): boolean => article['status'] === PUBLISHED;

export const skippedDraft = (article: Json): SkippedItem | null =>
  isPublished(article) ? null : draftOf(article, nameOf(article));

/** Converts a published article; null for a draft. @param site URL of the account for a user's browser */
export function itemOfArticle(json: Json, site: string): SourceItem | null {
  const [id, folder, category] = [idOf(json['id']), idOf(json['folder_id']), idOf(json['category_id'])];
  if (id === null || folder === null || category === null || !isPublished(json)) return null;
  return createItem({
    externalId: `article:${id}`,
    parentExternalId: `folder:${folder}`,
    rootExternalId: `category:${category}`,
    name: nameOf(json),
    itemType: 'ARTICLE',
    externalUrl: `${site}/a/solutions/articles/${id}`,
    fileFormat: 'HTML',
    hasContent: true,
    createdAt: dateOf(json['created_at']),
    version: asText(json['updated_at']),
    typeAtSource: 'ARTICLE',
  });
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.flatMap((element) => asText(element) ?? []) : [];

/** Returns an article's content, with its metadata. */
export const contentOf = (article: Json, item: SourceItem): ItemContent =>
  contentOfArticle('FRESHDESK', {
    texts: [{ title: asText(article['title']), body: asText(article['description']) ?? '' }],
    url: item.externalUrl ?? item.externalId,
    fileMetadata: {
      type: 'ARTICLE',
      ...omitNull({ folder_id: idOf(article['folder_id']), updated_at: asText(article['updated_at']) }),
      ...(textsIn(article['tags']).length === 0 ? {} : { labels: textsIn(article['tags']) }),
    },
  });

/** Converts a ticket; null for a deleted one and for spam. */
export function itemOfTicket(json: Json, site: string): SourceItem | null {
  const id = idOf(json['id']);
  if (id === null || json['deleted'] === true || json['spam'] === true) return null;
  return createItem({
    externalId: `ticket:${id}`,
    parentExternalId: TICKETS,
    rootExternalId: TICKETS,
    name: asText(json['subject']) ?? `Ticket ${id}`,
    itemType: 'TICKET',
    externalUrl: `${site}/a/tickets/${id}`,
    // The number of attachments is unknown until the ticket itself is requested.
    isExpandable: true,
    hasContent: true,
    createdAt: dateOf(json['created_at']),
    version: asText(json['updated_at']),
    typeAtSource: 'TICKET',
  });
}

/** A ticket with its conversation. */
export interface Ticket {
  readonly json: Json;
  readonly item: SourceItem;
  readonly conversations: readonly Json[];
}

/** Returns the attachments of a ticket and its conversation. */
export const attachedIn = ({ json, item, conversations }: Ticket): readonly (Attached & { readonly url: string })[] =>
  [json, ...conversations].flatMap((message) =>
    asObjects(message['attachments']).flatMap((attachment) => {
      const [id, url] = [idOf(attachment['id']), asText(attachment['attachment_url'])];
      if (id === null || url === null) return [];
      return {
        externalId: `${item.externalId}/${id}`,
        name: asText(attachment['name']),
        contentType: asText(attachment['content_type']),
        version: asText(attachment['updated_at']) ?? id,
        url,
      };
    }),
  );

/** Freshdesk's numeric ticket statuses. */
const STATUS: Readonly<Record<string, string>> = { 2: 'open', 3: 'pending', 4: 'resolved', 5: 'closed' };
const PRIORITY: Readonly<Record<string, string>> = { 1: 'low', 2: 'medium', 3: 'high', 4: 'urgent' };
const wordOf = (words: Readonly<Record<string, string>>, value: unknown): string | null => {
  const number = idOf(value);
  return number === null ? null : (words[number] ?? number);
};

/** Returns a ticket's content: its description and conversation, with its metadata. */
export function contentOfTicket({ json, item, conversations }: Ticket): ItemContent {
  const requester = asObject(json['requester']);
  const asker = asText(requester['name']) ?? asText(requester['email']);
  const authorOf = (message: Json): string => {
    const isAsker = idOf(message['user_id']) !== null && idOf(message['user_id']) === idOf(json['requester_id']);
    const role = message['incoming'] === true ? 'Requester' : 'Agent';
    return (isAsker ? asker : null) ?? asText(message['from_email']) ?? role;
  };
  const comments: Comment[] = [
    { author: asker ?? 'Requester', at: dateOf(json['created_at']), text: asText(json['description_text']) ?? '' },
    ...conversations.map((conversation) => ({
      author: authorOf(conversation),
      at: dateOf(conversation['created_at']),
      text: asText(conversation['body_text']) ?? '',
      isInternal: conversation['private'] === true,
    })),
  ];
  return contentOfComments('FRESHDESK', {
    name: item.name,
    comments,
    url: item.externalUrl ?? item.externalId,
    fileMetadata: {
      type: 'TICKET',
      ticket_id: idOf(json['id']),
      ...omitNull({
        ticket_type: asText(json['type']),
        ticket_status: wordOf(STATUS, json['status']),
        ticket_priority: wordOf(PRIORITY, json['priority']),
        updated_at: asText(json['updated_at']),
      }),
      ...(textsIn(json['tags']).length === 0 ? {} : { labels: textsIn(json['tags']) }),
    },
  });
}
