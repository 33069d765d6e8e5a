import type { ItemContent } from '../connector.js';
import type { SkippedItem, SourceItem } from '../sourceItem.js';
import {
  type Attached,
  contentOfArticle,
  contentOfComments,
  dateOf,
  draftOf,
  idOf,
  plainOf,
  type Comment,
  tagsOf,
} from '../helpdesk.js';
import { type Answer, asAnswer, asAnswers, asObject, asText, omitNull } from '../json.js';
import type {
  IntercomArticle,
  IntercomAttachment,
  IntercomCollection,
  IntercomContacts,
  IntercomConversation,
  IntercomPart,
  IntercomParts,
  IntercomPerson,
  IntercomSource,
  IntercomText,
  IntercomTicket,
  IntercomTicketAttributes,
  IntercomTicketState,
  IntercomTicketType,
} from './fields.js';
import { createItem } from '../items.js';

/** Root items that Intercom does not have: for articles without a collection, for conversations, and for tickets. */
export const CONTAINERS = {
  articles: 'Articles in no collection',
  conversations: 'Conversations',
  tickets: 'Tickets',
} as const;
export type Container = keyof typeof CONTAINERS;
export const isContainer = (id: string): id is Container => Object.hasOwn(CONTAINERS, id);

const KINDS = ['collection', 'article', 'conversation', 'ticket'] as const;
type Kind = (typeof KINDS)[number];
/** Kinds with attachments. */
export type ThreadKind = Extract<Kind, 'conversation' | 'ticket'>;
export const TYPE_OF = { conversation: 'CONVERSATION', ticket: 'TICKET' } as const satisfies Record<ThreadKind, string>;

/** A parsed item id; null if it is invalid. */
export type IntercomItemRef =
  | { readonly kind: Container }
  | { readonly kind: Kind; readonly id: string }
  | { readonly kind: 'attachment'; readonly of: ThreadKind; readonly id: string }
  | null;

const ID = new RegExp(`^(${KINDS.join('|')}):(\\d{1,20})(/[\\w-]{1,60})?$`);
/** Parses an item id; null if it is invalid. */
export function parseItemId(externalId: string): IntercomItemRef {
  if (isContainer(externalId)) return { kind: externalId };
  const [, kind, id = '', attachment] = ID.exec(externalId) ?? [];
  if (kind === undefined) return null;
  if (attachment === undefined) return { kind: kind as Kind, id };
  return kind === 'conversation' || kind === 'ticket' ? { kind: 'attachment', of: kind, id } : null;
}

export const itemOfContainer = (id: Container): SourceItem =>
  createItem({ externalId: id, name: CONTAINERS[id], itemType: 'FOLDER', isExpandable: true });

/** A conversation or a ticket, with the fields of both types; those of the other type are absent. */
export type ThreadJson = Answer<IntercomConversation | IntercomTicket>;

/** Converts a collection. @param root id of its root collection */
export function itemOfCollection(json: Answer<IntercomCollection>, root: string): SourceItem | null {
  const [id, parentId] = [idOf(json.id), idOf(json.parent_id)];
  if (id === null) return null;
  return createItem({
    externalId: `collection:${id}`,
    parentExternalId: parentId === null ? null : `collection:${parentId}`,
    rootExternalId: parentId === null ? null : `collection:${root}`,
    name: asText(json.name) ?? '(no name)',
    itemType: 'COLLECTION',
    externalUrl: asText(json.url),
    isExpandable: true,
    createdAt: dateOf(json.created_at),
  });
}

/** Returns the collection of an article; null without one. */
export const collectionOf = (article: Answer<IntercomArticle>): string | null => idOf(article.parent_id);

const versionOf = (json: Pick<Answer<IntercomArticle>, 'updated_at'>): string | null => idOf(json.updated_at);

const isPublished = (article: Pick<Answer<IntercomText>, 'state'>): boolean => article.state === 'published';
export const skippedDraft = (article: Answer<IntercomArticle>): SkippedItem | null =>
  isPublished(article) ? null : draftOf(article, asText(article.title));

/** Converts an article; null for a draft. @param root id of its root collection; null without a collection */
export function itemOfArticle(json: Answer<IntercomArticle>, root: string | null): SourceItem | null {
  const [id, parentId] = [idOf(json.id), collectionOf(json)];
  if (id === null || !isPublished(json)) return null;
  const isLoose = root === null || parentId === null;
  return createItem({
    externalId: `article:${id}`,
    parentExternalId: isLoose ? 'articles' : `collection:${parentId}`,
    rootExternalId: isLoose ? 'articles' : `collection:${root}`,
    name: asText(json.title) ?? '(no title)',
    itemType: 'ARTICLE',
    externalUrl: asText(json.url),
    fileFormat: 'HTML',
    hasContent: true,
    createdAt: dateOf(json.created_at),
    version: versionOf(json),
    typeAtSource: 'ARTICLE',
  });
}

/** Returns an article's content in all published languages, the default one first. */
export function contentOf(article: Answer<IntercomArticle>, externalId: string): ItemContent {
  const defaultLocale = asText(article.default_locale);
  const translated = Object.entries(asObject(article.translated_content))
    .filter(([locale, translation]) => locale !== defaultLocale && isPublished(asAnswer<IntercomText>(translation)))
    .map(([, translation]) => asAnswer<IntercomText>(translation));
  const texts: readonly Answer<IntercomText>[] = [article, ...translated];
  return contentOfArticle('INTERCOM', {
    texts: texts.map((text) => ({ title: asText(text.title), body: asText(text.body) ?? '' })),
    url: asText(article.url) ?? externalId,
    fileMetadata: { type: 'ARTICLE', ...omitNull({ locale: defaultLocale, updated_at: dateOf(article.updated_at) }) },
  });
}

const MAX_NAME = 100;
const firstLine = (html: string | null): string | null =>
  plainOf(html ?? '')
    .split('\n')[0]
    ?.slice(0, MAX_NAME) || null;

/** Converts a conversation; null if it is invalid. */
export function itemOfConversation(json: ThreadJson): SourceItem | null {
  const id = idOf(json.id);
  if (id === null) return null;
  const source = asAnswer<IntercomSource>(json.source);
  return createItem({
    externalId: `conversation:${id}`,
    parentExternalId: 'conversations',
    rootExternalId: 'conversations',
    name:
      asText(json.title) ?? firstLine(asText(source.subject)) ?? firstLine(asText(source.body)) ?? `Conversation ${id}`,
    itemType: 'CONVERSATION',
    // The number of attachments is unknown until the parts are requested.
    isExpandable: true,
    hasContent: true,
    createdAt: dateOf(json.created_at),
    version: versionOf(json),
    typeAtSource: 'CONVERSATION',
  });
}

/** Names, by id, of the users that tickets refer to. */
export interface People {
  readonly admins: ReadonlyMap<string, string>;
  readonly teams: ReadonlyMap<string, string>;
  readonly contacts: ReadonlyMap<string, string>;
}
export const NO_PEOPLE: People = { admins: new Map(), teams: new Map(), contacts: new Map() };

export const submitterOf = (ticket: ThreadJson): string | null =>
  asText(asAnswers<IntercomPerson>(asAnswer<IntercomContacts>(ticket.contacts).contacts)[0]?.id);

const labelOf = (names: ReadonlyMap<string, string>, id: unknown): string | null => {
  const given = asText(id) ?? idOf(id);
  // Intercom uses 0 for no user.
  return given === null || given === '0' ? null : (names.get(given) ?? given);
};
const stateOf = (ticket: ThreadJson): string | null => {
  const state = asAnswer<IntercomTicketState>(ticket.ticket_state);
  return asText(state.internal_label) ?? asText(state.category) ?? asText(ticket.ticket_state);
};

/** Converts a ticket, with the names of its people as tags; null if it is invalid. */
export function itemOfTicket(json: ThreadJson, { admins, teams, contacts }: People): SourceItem | null {
  const id = idOf(json.id);
  if (id === null) return null;
  const type = asAnswer<IntercomTicketType>(json.ticket_type);
  return createItem({
    externalId: `ticket:${id}`,
    parentExternalId: 'tickets',
    rootExternalId: 'tickets',
    name:
      asText(asAnswer<IntercomTicketAttributes>(json.ticket_attributes)._default_title_) ??
      `Ticket ${asText(json.ticket_id) ?? id}`,
    itemType: 'TICKET',
    isExpandable: true,
    hasContent: true,
    createdAt: dateOf(json.created_at),
    version: versionOf(json),
    typeAtSource: 'TICKET',
    tags: tagsOf({
      ticket_type: asText(type.name),
      ticket_status: stateOf(json),
      ticket_category: asText(json.category) ?? asText(type.category),
      ticket_submitter: labelOf(contacts, submitterOf(json)),
      ticket_assigned_team: labelOf(teams, json.team_assignee_id),
      ticket_assigned_admin: labelOf(admins, json.admin_assignee_id),
    }),
  });
}

/** The messages of a conversation or ticket, and the number of further parts that Intercom omits. */
interface Parts {
  readonly parts: readonly Answer<IntercomPart>[];
  readonly omitted: number;
}
function partsOf(json: ThreadJson, kind: ThreadKind): Parts {
  const name = `${kind}_parts` as const;
  const list = asAnswer<IntercomParts>(json[name]);
  const parts = asAnswers<IntercomPart>(list[name]);
  const total = list.total_count;
  // The first message is not among the parts, and has other field names.
  const first =
    kind === 'conversation' ? [{ ...asAnswer<IntercomSource>(json.source), created_at: json.created_at, id: 's' }] : [];
  return { parts: [...first, ...parts], omitted: typeof total === 'number' ? Math.max(0, total - parts.length) : 0 };
}

/** Returns the attachments of a conversation or ticket. They have no ids of their own. */
export const attachedIn = (json: ThreadJson, kind: ThreadKind): readonly (Attached & { readonly url: string })[] =>
  partsOf(json, kind).parts.flatMap((part) =>
    asAnswers<IntercomAttachment>(part.attachments).flatMap((attachment, index) => {
      const [url, name] = [asText(attachment.url), asText(attachment.name)];
      const partId = part.id === 's' ? 's' : idOf(part.id);
      if (url === null || partId === null) return [];
      return {
        externalId: `${kind}:${idOf(json.id)}/${partId}-${index}`,
        name,
        contentType: asText(attachment.content_type),
        // The URL has a new signature each time, so it is not part of the version. An attachment never changes.
        version: `${name ?? ''} ${idOf(attachment.filesize) ?? ''}`,
        url,
      };
    }),
  );

const personOf = (author: Answer<IntercomPerson>): string | null => asText(author.name) ?? asText(author.email);
const readComment = (part: Answer<IntercomPart>): Comment => ({
  author: personOf(asAnswer<IntercomPerson>(part.author)),
  at: dateOf(part.created_at),
  text: plainOf(asText(part.body) ?? ''),
  isInternal: part.part_type === 'note',
});

/** Returns the content of a conversation or ticket. */
export function contentOfParts(json: ThreadJson, item: SourceItem, kind: ThreadKind): ItemContent {
  const { parts, omitted } = partsOf(json, kind);
  const description = asText(asAnswer<IntercomTicketAttributes>(json.ticket_attributes)._default_description_);
  const described: Comment[] =
    description === null ? [] : [{ author: 'Description', at: dateOf(json.created_at), text: plainOf(description) }];
  return contentOfComments('INTERCOM', {
    name: item.name,
    comments: [...described, ...parts.map(readComment)],
    url: item.externalId,
    fileMetadata: {
      type: TYPE_OF[kind],
      ...omitNull({ updated_at: dateOf(json.updated_at), state: asText(json.state) }),
      ...(omitted > 0 ? { parts_left_out: omitted } : {}),
    },
  });
}
