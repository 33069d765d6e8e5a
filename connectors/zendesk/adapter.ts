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
  tagsOf,
} from '../helpdesk.js';
import { type Answer, asAnswer, asAnswers, asText, omitNull } from '../json.js';
import type {
  ZendeskArticle,
  ZendeskAttachment,
  ZendeskCategory,
  ZendeskComment,
  ZendeskList,
  ZendeskSection,
  ZendeskTicket,
  ZendeskTranslation,
  ZendeskUser,
  ZendeskVia,
} from './fields.js';
import { createItem } from '../items.js';

/** Id of the root item that contains all tickets. Only this connector uses it: Zendesk has no such object. */
export const TICKETS = 'tickets';
/** Id of the root item that replaces the help centre's categories if the account may not list them. */
export const HELP_CENTER = 'help_center';

const KINDS = ['category', 'section', 'article', 'ticket'] as const;
type Kind = (typeof KINDS)[number];

/** A parsed item id; null if it is invalid. */
export type ZendeskItemRef =
  | { readonly kind: Kind; readonly id: string }
  | { readonly kind: 'attachment'; readonly id: string; readonly ticket: string }
  | { readonly kind: typeof TICKETS | typeof HELP_CENTER }
  | null;

const ID = new RegExp(`^(${KINDS.join('|')}):(\\d{1,20})(?:/(\\d{1,20}))?$`);
/** Parses an item id; null if it is invalid. */
export function parseItemId(externalId: string): ZendeskItemRef {
  if (externalId === TICKETS || externalId === HELP_CENTER) return { kind: externalId };
  const [, kind, id = '', attachment] = ID.exec(externalId) ?? [];
  if (kind === undefined) return null;
  if (attachment === undefined) return { kind: kind as Kind, id };
  return kind === 'ticket' ? { kind: 'attachment', id: attachment, ticket: id } : null;
}

const nameOf = (json: Answer<ZendeskCategory | ZendeskSection | ZendeskArticle>): string =>
  asText(json.name) ?? asText(json.title) ?? '(no name)';

/** Returns the item of one of the two root containers. */
export const itemOfContainer = (externalId: typeof TICKETS | typeof HELP_CENTER): SourceItem =>
  createItem({
    externalId,
    name: externalId === TICKETS ? 'Tickets' : 'Help center',
    itemType: 'FOLDER',
    isExpandable: true,
  });

/** Converts a category; null if it is invalid. */
export const itemOfCategory = (json: Answer<ZendeskCategory>): SourceItem | null => {
  const id = idOf(json.id);
  return id === null
    ? null
    : createItem({
        externalId: `category:${id}`,
        name: nameOf(json),
        itemType: 'CATEGORY',
        externalUrl: asText(json.html_url),
        isExpandable: true,
        createdAt: dateOf(json.created_at),
      });
};

/** Converts a section. @param category its category's id */
export const itemOfSection = (json: Answer<ZendeskSection>, category: string): SourceItem | null => {
  const [id, parentId] = [idOf(json.id), idOf(json.parent_section_id)];
  return id === null
    ? null
    : createItem({
        externalId: `section:${id}`,
        parentExternalId: parentId === null ? `category:${category}` : `section:${parentId}`,
        rootExternalId: `category:${category}`,
        name: nameOf(json),
        itemType: 'SECTION',
        externalUrl: asText(json.html_url),
        isExpandable: true,
        createdAt: dateOf(json.created_at),
      });
};

export const isDraft = (article: Answer<ZendeskArticle>): boolean => article.draft === true;
export const skippedDraft = (article: Answer<ZendeskArticle>): SkippedItem | null =>
  isDraft(article) ? draftOf(article, nameOf(article)) : null;

/** Converts an article; null for a draft. @param category id of its category */
export const itemOfArticle = (json: Answer<ZendeskArticle>, category: string): SourceItem | null => {
  const [id, section] = [idOf(json.id), idOf(json.section_id)];
  return id === null || isDraft(json)
    ? null
    : createItem({
        externalId: `article:${id}`,
        parentExternalId: section === null ? `category:${category}` : `section:${section}`,
        rootExternalId: `category:${category}`,
        name: nameOf(json),
        itemType: 'ARTICLE',
        externalUrl: asText(json.html_url),
        fileFormat: 'HTML',
        hasContent: true,
        createdAt: dateOf(json.created_at),
        version: asText(json.updated_at),
        typeAtSource: 'ARTICLE',
      });
};

/** Returns an article's content with its published translations, the article's own language first. */
export function contentOf(
  article: Answer<ZendeskArticle>,
  translations: readonly Answer<ZendeskTranslation>[],
  externalId: string,
): ItemContent {
  const sourceLocale = asText(article.source_locale) ?? asText(article.locale);
  const isOther = ({ locale }: Answer<ZendeskTranslation>): number => (locale === sourceLocale ? 0 : 1);
  const open = translations.filter(({ draft }) => draft !== true).toSorted((a, b) => isOther(a) - isOther(b));
  const texts: readonly Pick<Answer<ZendeskTranslation>, 'title' | 'body'>[] = open.length > 0 ? open : [article];
  const labels = Array.isArray(article.label_names) ? article.label_names.filter(asText) : [];
  return contentOfArticle('ZENDESK', {
    texts: texts.map((text) => ({ title: asText(text.title), body: asText(text.body) ?? '' })),
    url: asText(article.html_url) ?? externalId,
    fileMetadata: {
      type: 'ARTICLE',
      ...omitNull({
        locale: sourceLocale,
        section_id: idOf(article.section_id),
        updated_at: asText(article.updated_at),
      }),
      ...(labels.length === 0 ? {} : { labels }),
    },
  });
}

/** Names of users by id; `label` for tags is the email address if it is known, else the name. */
export type Users = ReadonlyMap<string, { readonly name: string; readonly label: string }>;

/** Returns the users included in an answer. */
export const usersIn = (answer: Pick<Answer<ZendeskList>, 'users'>): Users =>
  new Map(
    asAnswers<ZendeskUser>(answer.users).flatMap((user) => {
      const id = idOf(user.id);
      const [name, address] = [asText(user.name), asText(user.email)];
      const label = address ?? name;
      return id === null || label === null ? [] : [[id, { name: name ?? label, label }] as const];
    }),
  );

const labelOf = (users: Users, id: unknown): string | null => users.get(idOf(id) ?? '')?.label ?? idOf(id);

/** Converts a ticket; null for a deleted one. @param agent URL of the account for a user's browser */
export function itemOfTicket(json: Answer<ZendeskTicket>, users: Users, agent: string): SourceItem | null {
  const id = idOf(json.id);
  if (id === null || json.status === 'deleted') return null;
  return createItem({
    externalId: `ticket:${id}`,
    parentExternalId: TICKETS,
    rootExternalId: TICKETS,
    name: asText(json.subject) ?? asText(json.raw_subject) ?? `Ticket ${id}`,
    itemType: 'TICKET',
    externalUrl: `${agent}/agent/tickets/${id}`,
    // The number of attachments is unknown until the comments are requested.
    isExpandable: true,
    hasContent: true,
    createdAt: dateOf(json.created_at),
    version: asText(json.updated_at),
    typeAtSource: 'TICKET',
    tags: tagsOf({
      ticket_type: asText(json.type),
      ticket_status: asText(json.status),
      ticket_priority: asText(json.priority),
      ticket_assignee: labelOf(users, json.assignee_id),
      ticket_requester: labelOf(users, json.requester_id),
      ticket_submitter: labelOf(users, json.submitter_id),
    }),
  });
}

/** Returns the attachments of a comment with their URLs, without inline images. */
export const attachedIn = (
  comment: Answer<ZendeskComment>,
  ticket: string,
): readonly (Attached & { readonly url: string })[] =>
  asAnswers<ZendeskAttachment>(comment.attachments).flatMap((json) => {
    const [id, url] = [idOf(json.id), asText(json.content_url)];
    if (id === null || url === null || json.inline === true || json.deleted === true) return [];
    return {
      externalId: `ticket:${ticket}/${id}`,
      name: asText(json.file_name),
      contentType: asText(json.content_type),
      // An attachment never changes; it can only be deleted.
      version: id,
      url,
    };
  });

const readComment = (comment: Answer<ZendeskComment>, users: Users): Comment => ({
  author: users.get(idOf(comment.author_id) ?? '')?.name ?? null,
  at: dateOf(comment.created_at),
  text: asText(comment.plain_body) ?? asText(comment.body) ?? '',
  isInternal: comment.public === false,
});

/** Returns a ticket's content: its comments in order, with its metadata. */
export const contentOfTicket = (
  ticket: Answer<ZendeskTicket>,
  item: SourceItem,
  comments: readonly Answer<ZendeskComment>[],
  users: Users,
): ItemContent =>
  contentOfComments('ZENDESK', {
    name: item.name,
    comments: comments.map((comment) => readComment(comment, users)),
    url: item.externalUrl ?? item.externalId,
    fileMetadata: {
      type: 'TICKET',
      ticket_id: idOf(ticket.id),
      ...omitNull({ channel: asText(asAnswer<ZendeskVia>(ticket.via).channel), updated_at: asText(ticket.updated_at) }),
      ...(Array.isArray(ticket.tags) && ticket.tags.length > 0 ? { labels: ticket.tags.filter(asText) } : {}),
    },
  });
