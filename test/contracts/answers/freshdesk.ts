/**
 * Answers of Freshdesk, from the samples and tables of its API reference: "Blank fields are included as null instead of
 * being omitted", so each field of a sample is always present.
 */
import { anyObject, each, flag, integer, listOf, object, orNull, type Shape, text } from './shape.js';
import type { AnswerTable } from './table.js';

const nullableText = orNull(text);
const nullableInteger = orNull(integer);
/** A time in UTC, to the second. */
const time: Shape = { type: 'string', pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/ };
const stamps = { created_at: time, updated_at: time };
/** Returns the shape of an object. @param fields the fields that are always present */
const objectOf = (fields: Readonly<Record<string, Shape>>, optional: Readonly<Record<string, Shape>> = {}): Shape =>
  object({ ...fields, ...optional }, Object.keys(fields));

const attachment = objectOf(
  {
    ...{ id: integer, name: text, content_type: text, size: integer, ...stamps, attachment_url: text },
  },
  { thumb_url: nullableText },
);

const agent = objectOf(
  {
    ...each(flag, 'available', 'occasional'),
    ...{
      signature: nullableText,
      id: integer,
      ticket_scope: integer,
      ...stamps,
      available_since: nullableText,
      type: text,
    },
    ...each(listOf(integer), 'group_ids', 'role_ids', 'skill_ids'),
    contact: objectOf({
      ...{ active: flag, email: text, name: text, language: text, ...stamps },
      ...each(nullableText, 'job_title', 'last_login_at', 'mobile', 'phone', 'time_zone'),
    }),
  },
  { focus_mode: flag },
);

const category = objectOf(
  { id: integer, name: text, description: nullableText, ...stamps },
  { visible_in_portals: listOf(integer) },
);
const hierarchy = listOf(
  objectOf({ level: integer, type: text, data: objectOf({ id: integer, name: text, language: text }) }),
);
const folder = objectOf(
  { id: integer, name: text, description: nullableText, visibility: integer, ...stamps },
  {
    // The next line: only in accounts with the feature of nested folders.
    ...{ parent_folder_id: nullableInteger, hierarchy, articles_count: integer, sub_folders_count: integer },
    category_id: integer,
    ...each(listOf(integer), 'company_ids', 'contact_segment_ids', 'company_segment_ids'),
  },
);
const article = objectOf(
  {
    ...each(
      integer,
      'id',
      'type',
      'category_id',
      'folder_id',
      'thumbs_up',
      'thumbs_down',
      'hits',
      'agent_id',
      'status',
    ),
    ...{ title: text, description: text, description_text: text, seo_data: anyObject, ...stamps },
  },
  { hierarchy, tags: listOf(text) },
);

const ticketFields = {
  ...each(listOf(text), 'cc_emails', 'fwd_emails', 'reply_cc_emails'),
  ...each(flag, 'fr_escalated', 'spam', 'is_escalated'),
  ...each(integer, 'id', 'priority', 'requester_id', 'source', 'status'),
  ...each(nullableInteger, 'email_config_id', 'group_id', 'responder_id', 'product_id'),
  ...{ subject: text, to_emails: orNull(listOf(text)), type: nullableText, ...stamps, due_by: time, fr_due_by: time },
  custom_fields: anyObject,
};
const optionalFields = {
  ...{
    deleted: flag,
    structured_description: anyObject,
    association_type: nullableInteger,
    company_id: nullableInteger,
  },
  ...{
    tags: listOf(text),
    urgent: flag,
    associated_tickets_list: listOf(integer),
    nr_due_by: nullableText,
    stats: anyObject,
  },
};
const requester = objectOf({ id: integer, ...each(nullableText, 'name', 'email', 'mobile', 'phone') });
const listedTicket = objectOf(ticketFields, {
  ...optionalFields,
  requester,
  ...each(text, 'description', 'description_text'),
});
const ticket = objectOf(
  {
    ...{ ...ticketFields, ...each(text, 'description', 'description_text') },
    ...{ tags: listOf(text), company_id: nullableInteger, attachments: listOf(attachment) },
  },
  { ...optionalFields, requester, company: anyObject, conversations: listOf(anyObject) },
);
const conversation = objectOf(
  {
    ...{ body: text, body_text: text, id: integer, incoming: flag, private: flag, user_id: integer },
    ...{ support_email: nullableText, source: integer, ticket_id: integer, ...stamps, from_email: nullableText },
    ...{ to_emails: orNull(listOf(text)), cc_emails: listOf(text), bcc_emails: orNull(listOf(text)) },
    ...{ attachments: listOf(attachment), last_edited_at: orNull(time), last_edited_user_id: nullableInteger },
  },
  { structured_body: anyObject },
);

const refusedField = object({ field: text, message: text, code: text }, ['message', 'code']);

export const freshdesk: AnswerTable = {
  name: 'freshdesk',
  specification: 'https://developers.freshdesk.com/api/',
  version: 'v2',
  takenOn: '2026-11-27',
  refusal: object({
    ...{ description: text, errors: listOf(refusedField) },
    // Refusals that concern no field.
    ...{ code: text, message: text },
  }),
  // Freshdesk answers an unknown id without a body.
  textRefusals: [404],
  operations: {
    'GET /agents/me': agent,
    'GET /solutions/categories': listOf(category),
    'GET /solutions/categories/{id}': category,
    'GET /solutions/categories/{category_id}/folders': listOf(folder),
    'GET /solutions/folders/{id}': { ...folder, required: [...(folder.required ?? []), 'category_id'] },
    'GET /solutions/folders/{folder_id}/subfolders': listOf(folder),
    'GET /solutions/folders/{id}/articles': listOf(article),
    'GET /solutions/articles/{id}': article,
    'GET /tickets': listOf(listedTicket),
    'GET /tickets/{id}': ticket,
    'GET /tickets/{id}/conversations': listOf(conversation),
  },
};
