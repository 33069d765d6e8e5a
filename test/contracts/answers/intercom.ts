/**
 * Answers of Intercom, from its OpenAPI document, which marks almost no field as required. Required here are the fields
 * that identify an object or lead to the next page.
 */
import { anyObject, each, flag, integer, listOf, object, oneOf, orNull, type Shape, text } from './shape.js';
import type { AnswerTable } from './table.js';

const nullableText = orNull(text);
const nullableInteger = orNull(integer);
const nullableObject = orNull(anyObject);
/** Times are seconds since 1970. */
const stamps = each(integer, 'created_at', 'updated_at');

const adminFields = {
  ...each(text, 'type', 'id', 'name', 'email', 'job_title'),
  ...each(flag, 'away_mode_enabled', 'away_mode_reassign', 'has_inbox_seat'),
  ...{ team_ids: listOf(integer), away_status_reason_id: nullableInteger, team_priority_level: nullableObject },
};
const admin = object({ ...adminFields, avatar: nullableText }, ['type', 'id', 'name', 'email']);
const app = object(
  { ...each(text, 'type', 'id_code', 'name', 'region', 'timezone'), created_at: integer, identity_verification: flag },
  ['type', 'id_code'],
);
const team = object(
  {
    ...each(text, 'type', 'id', 'name'),
    ...{
      admin_ids: listOf(integer),
      admin_priority_level: nullableObject,
      assignment_limit: nullableInteger,
      distribution_method: nullableText,
    },
  },
  ['type', 'id', 'name'],
);
const contact = object(
  {
    ...each(text, 'type', 'id', 'workspace_id', 'role', 'email', 'email_domain'),
    ...each(nullableText, 'external_id', 'phone', 'name', 'language_override', 'browser', 'browser_language', 'os'),
    ...each(flag, 'has_hard_bounced', 'marked_email_as_spam', 'unsubscribed_from_emails'),
    ...stamps,
    ...each(nullableInteger, 'owner_id', 'signed_up_at', 'last_seen_at', 'last_replied_at', 'last_contacted_at'),
    ...each(nullableObject, 'avatar', 'companies', 'custom_attributes', 'location', 'notes', 'social_profiles', 'tags'),
  },
  ['type', 'id'],
);

const state = oneOf('published', 'draft');
const translation = object({
  ...{
    type: orNull(oneOf('article_content')),
    ...each(text, 'title', 'description', 'body', 'url'),
    author_id: integer,
  },
  ...{ state, ...stamps },
});
const article = object(
  {
    ...{ type: oneOf('article'), ...each(text, 'id', 'workspace_id', 'title', 'default_locale'), state, ...stamps },
    ...each(nullableText, 'description', 'body', 'url', 'parent_type'),
    ...{ author_id: integer, parent_id: nullableInteger, parent_ids: listOf(integer), tags: anyObject },
    // One translation per language, next to the field `type`.
    translated_content: orNull({
      ...object({ type: orNull(oneOf('article_translated_content')) }),
      others: orNull(translation),
    }),
  },
  ['type', 'id', 'title', 'state', 'created_at', 'updated_at', 'parent_id'],
);
const collection = object(
  {
    ...each(text, 'id', 'workspace_id', 'name', 'default_locale'),
    ...each(nullableText, 'description', 'url', 'icon', 'parent_id'),
    ...{ ...stamps, order: integer, help_center_id: nullableInteger, translated_content: nullableObject },
  },
  ['id', 'name', 'created_at', 'updated_at', 'parent_id'],
);

const reference = object({ type: text, id: nullableText }, ['type']);
const contacts = object(
  {
    type: oneOf('contact.list'),
    contacts: listOf(object({ type: oneOf('contact'), id: text, external_id: nullableText })),
  },
  ['contacts'],
);
const attachment = object(
  { ...each(text, 'type', 'name', 'url', 'content_type'), ...each(integer, 'filesize', 'width', 'height') },
  ['type', 'name', 'url', 'content_type', 'filesize'],
);
const authorOf = (type: Shape): Shape =>
  object({ type, id: text, name: nullableText, email: text, ...each(flag, 'from_ai_agent', 'is_ai_answer') }, [
    'type',
    'id',
  ]);
const part = {
  ...each(text, 'type', 'id', 'part_type', 'app_package_code'),
  ...{ body: nullableText, ...stamps, attachments: listOf(attachment), external_id: nullableText, redacted: flag },
  assigned_to: orNull(reference),
};
const requiredPartFields = ['type', 'id', 'part_type', 'body', 'created_at', 'author', 'attachments'];
const conversationPart = object(
  {
    ...{ ...part, author: authorOf(text), notified_at: integer, state: oneOf('open', 'closed', 'snoozed') },
    ...{ tags: orNull(listOf(anyObject)), app_package_code: nullableText },
    ...each(anyObject, 'email_message_metadata', 'event_details', 'metadata'),
  },
  requiredPartFields,
);
const ticketState = oneOf('submitted', 'in_progress', 'waiting_on_customer', 'resolved');
const ticketPart = object(
  {
    ...{ ...part, author: authorOf(oneOf('admin', 'bot', 'team', 'user')), updated_attribute_data: nullableObject },
    ...each(ticketState, 'previous_ticket_state', 'ticket_state'),
  },
  requiredPartFields,
);
const partsOf = (name: string, items: Shape): Shape =>
  object({ type: oneOf(name.replace(/s$/, '.list')), [name]: listOf(items), total_count: integer }, [
    name,
    'total_count',
  ]);

const source = object(
  {
    type: oneOf(
      ...['conversation', 'email', 'facebook', 'instagram', 'phone_call', 'phone_switch', 'push', 'sms', 'twitter'],
      ...['whatsapp'],
    ),
    ...each(text, 'id', 'delivered_as', 'subject', 'body'),
    ...{ author: authorOf(text), attachments: listOf(attachment), url: nullableText, redacted: flag },
  },
  ['type', 'id', 'subject', 'body', 'author', 'attachments'],
);
const conversationFields = {
  ...each(text, 'type', 'id'),
  ...{ title: nullableText, ...stamps, source, contacts },
  ...each(nullableInteger, 'waiting_since', 'snoozed_until', 'admin_assignee_id', 'team_assignee_id'),
  ...each(flag, 'open', 'read', 'ai_agent_participated'),
  ...{ state: oneOf('open', 'closed', 'snoozed'), priority: oneOf('priority', 'not_priority') },
  ...each(
    nullableObject,
    'ai_agent',
    'conversation_rating',
    'custom_attributes',
    'first_contact_reply',
    'linked_objects',
  ),
  ...each(nullableObject, 'sla_applied', 'statistics', 'tags', 'teammates'),
};
const requiredConversationFields = ['type', 'id', 'created_at', 'updated_at', 'state', 'source'];
const conversation = object(
  { ...conversationFields, conversation_parts: partsOf('conversation_parts', conversationPart) },
  [...requiredConversationFields, 'conversation_parts'],
);

const category = oneOf('Customer', 'Back-office', 'Tracker');
const ticket = object(
  {
    ...{ type: oneOf('ticket'), ...each(text, 'id', 'ticket_id'), category, ...stamps, contacts },
    ticket_attributes: anyObject,
    ticket_state: orNull(
      object({ ...each(text, 'type', 'id', 'internal_label', 'external_label'), category: ticketState }, ['category']),
    ),
    ticket_type: orNull(
      object({
        ...{ ...each(text, 'type', 'id', 'name', 'description', 'icon', 'workspace_id'), category, archived: flag },
        ...{ ...stamps, ...each(anyObject, 'ticket_type_attributes', 'ticket_states') },
      }),
    ),
    ...each(text, 'admin_assignee_id', 'team_assignee_id'),
    ...{ ...each(flag, 'open', 'is_shared'), snoozed_until: integer, linked_objects: anyObject },
    ticket_parts: partsOf('ticket_parts', ticketPart),
  },
  ['type', 'id', 'ticket_id', 'category', 'ticket_attributes', 'ticket_state', 'created_at', 'updated_at'],
);

const pages = orNull(
  object({
    ...{ type: oneOf('pages'), ...each(integer, 'page', 'per_page', 'total_pages') },
    next: orNull(object({ per_page: integer, starting_after: nullableText })),
  }),
);
const pagedList = (type: string, name: string, items: Shape): Shape =>
  object({ type: oneOf(type), [name]: listOf(items), total_count: integer, pages }, [name, 'total_count', 'pages']);
const unpagedList = (name: string, items: Shape): Shape =>
  object({ type: oneOf(name.replace(/s$/, '.list')), [name]: listOf(items) }, [name]);

export const intercom: AnswerTable = {
  name: 'intercom',
  specification: 'https://github.com/intercom/Intercom-OpenAPI',
  version: '2.14, 8889625a',
  takenOn: '2026-11-27',
  refusal: object(
    {
      ...{ type: oneOf('error.list'), request_id: nullableText },
      errors: listOf(object({ code: text, message: nullableText, field: nullableText }, ['code'])),
    },
    ['type', 'errors'],
  ),
  operations: {
    'GET /me': object({ ...adminFields, avatar: anyObject, email_verified: orNull(flag), app: orNull(app) }, [
      ...['type', 'id', 'name', 'email', 'app'],
    ]),
    'GET /admins': unpagedList('admins', admin),
    'GET /teams': unpagedList('teams', team),
    'GET /contacts/{contact_id}': contact,
    'GET /articles': pagedList('list', 'data', article),
    'GET /articles/{article_id}': article,
    'GET /help_center/collections': pagedList('list', 'data', collection),
    'GET /conversations/{conversation_id}': conversation,
    'POST /conversations/search': pagedList(
      'conversation.list',
      'conversations',
      object(conversationFields, requiredConversationFields),
    ),
    'GET /tickets/{ticket_id}': ticket,
    'POST /tickets/search': pagedList('ticket.list', 'tickets', ticket),
  },
};
