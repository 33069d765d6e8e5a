/**
 * Answers of Zendesk, from the tables "JSON format" of its API reference. Required here are the few fields that the
 * reference describes as always present, and those that lead to the next page.
 */
import {
  anyObject,
  anything,
  each,
  flag,
  integer,
  listOf,
  timestamp,
  object,
  oneOf,
  orNull,
  type Shape,
  text,
} from './shape.js';
import type { AnswerTable } from './table.js';

const nullableText = orNull(text);
const nullableId = orNull(integer);

const user = object(
  {
    id: integer,
    ...each(text, 'name', 'url', 'time_zone', 'iana_time_zone', 'locale'),
    ...each(nullableText, 'email', 'alias', 'details', 'external_id', 'notes', 'phone', 'signature'),
    role: oneOf('end-user', 'agent', 'admin'),
    ...each(flag, 'active', 'chat_only', 'moderator', 'only_private_comments', 'report_csv', 'restricted_agent'),
    ...each(flag, 'shared', 'shared_agent', 'suspended', 'two_factor_auth_enabled', 'verified'),
    ...each(nullableId, 'custom_role_id', 'default_group_id', 'locale_id', 'organization_id', 'role_type'),
    ...each(orNull(timestamp), 'created_at', 'last_login_at', 'updated_at'),
    ...each(anything, 'photo', 'remote_photo_url', 'shared_phone_number', 'tags', 'ticket_restriction', 'user_fields'),
  },
  ['id', 'name', 'email', 'role'],
);
const users = listOf(user);

const ids = listOf(integer);
const ticket = object(
  {
    ...each(integer, 'id', 'requester_id', 'generated_timestamp'),
    ...each(nullableId, 'submitter_id', 'assignee_id', 'brand_id', 'custom_status_id', 'forum_topic_id', 'group_id'),
    ...each(nullableId, 'macro_id', 'organization_id', 'problem_id', 'ticket_form_id', 'attribute_value_ids'),
    ...each(nullableText, 'subject', 'raw_subject', 'description', 'external_id', 'recipient', 'url', 'encoded_id'),
    status: oneOf('new', 'open', 'pending', 'hold', 'solved', 'closed', 'deleted'),
    type: orNull(oneOf('problem', 'incident', 'question', 'task')),
    priority: orNull(oneOf('urgent', 'high', 'normal', 'low')),
    ...each(
      ids,
      'collaborator_ids',
      'email_cc_ids',
      'follower_ids',
      'followup_ids',
      'macro_ids',
      'sharing_agreement_ids',
    ),
    ...each(flag, 'allow_attachments', 'allow_channelback', 'from_messaging_channel', 'has_incidents', 'is_public'),
    ...each(listOf(anyObject), 'custom_fields', 'fields', 'email_ccs', 'followers'),
    ...each(orNull(anyObject), 'satisfaction_rating'),
    via: object({ channel: text, source: anyObject }, ['channel']),
    tags: listOf(text),
    ...each(timestamp, 'created_at', 'updated_at'),
    due_at: orNull(timestamp),
  },
  ['id', 'created_at', 'updated_at', 'requester_id', 'status', 'subject', 'tags', 'via'],
);

const attachment = object(
  {
    id: integer,
    ...each(text, 'content_type', 'content_url', 'file_name', 'url', 'malware_scan_result', 'mapped_content_url'),
    size: integer,
    ...each(flag, 'deleted', 'inline', 'malware_access_override'),
    ...each(nullableId, 'height', 'width'),
    thumbnails: listOf(anyObject),
  },
  ['id', 'content_type', 'content_url', 'file_name', 'size', 'inline', 'deleted'],
);
const comment = object(
  {
    id: integer,
    ...each(nullableId, 'audit_id', 'author_id'),
    type: oneOf('Comment', 'VoiceComment'),
    ...each(text, 'body', 'html_body', 'plain_body'),
    public: flag,
    attachments: listOf(attachment),
    created_at: timestamp,
    ...each(anyObject, 'metadata', 'via'),
    uploads: listOf(text),
  },
  ['id', 'type', 'author_id', 'body', 'html_body', 'plain_body', 'public', 'attachments', 'created_at'],
);

const centerItem = {
  id: integer,
  ...each(text, 'html_url', 'url', 'locale', 'source_locale', 'name'),
  ...each(timestamp, 'created_at', 'updated_at'),
  description: nullableText,
  outdated: flag,
  position: integer,
};
const category = object(centerItem, ['id', 'locale', 'name', 'created_at']);
const section = object(
  { ...centerItem, category_id: integer, parent_section_id: nullableId, ...each(nullableText, 'theme_template') },
  [...['id', 'locale', 'name', 'category_id', 'parent_section_id', 'created_at']],
);
const article = object(
  {
    ...each(integer, 'id', 'section_id', 'position', 'vote_count', 'vote_sum'),
    ...each(nullableId, 'author_id', 'permission_group_id', 'user_segment_id'),
    ...each(text, 'html_url', 'url', 'locale', 'source_locale', 'name', 'title'),
    body: nullableText,
    ...each(flag, 'comments_disabled', 'draft', 'outdated', 'promoted'),
    ...each(timestamp, 'created_at', 'edited_at', 'updated_at'),
    ...each(listOf(text), 'label_names', 'outdated_locales', 'content_tag_ids'),
    user_segment_ids: ids,
  },
  ['id', 'section_id', 'locale', 'source_locale', 'title', 'body', 'draft', 'created_at', 'updated_at', 'html_url'],
);
const translation = object(
  {
    ...each(integer, 'id', 'source_id', 'created_by_id', 'updated_by_id'),
    source_type: oneOf('Article', 'Section', 'Category'),
    ...each(text, 'locale', 'title', 'html_url', 'url'),
    body: nullableText,
    ...each(flag, 'draft', 'outdated', 'hidden'),
    ...each(timestamp, 'created_at', 'updated_at'),
  },
  ['id', 'source_id', 'source_type', 'locale', 'title', 'body', 'draft'],
);

/** A page by cursor or by number: https://developer.zendesk.com/api-reference/introduction/pagination/. */
const pageOf = (name: string, items: Shape): Shape =>
  object(
    {
      [name]: listOf(items),
      users,
      meta: object({ has_more: flag, ...each(nullableText, 'after_cursor', 'before_cursor') }, ['has_more']),
      links: object(each(nullableText, 'next', 'prev'), ['next', 'prev']),
      ...each(integer, 'count', 'page', 'page_count', 'per_page'),
      ...each(nullableText, 'next_page', 'previous_page', 'sort_by', 'sort_order'),
    },
    [name],
  );

export const zendesk: AnswerTable = {
  name: 'zendesk',
  specification: 'https://developer.zendesk.com/api-reference/',
  version: 'API v2',
  takenOn: '2026-11-26',
  // https://developer.zendesk.com/documentation/api-basics/troubleshooting-and-faq/: `error` is either a code or an
  // object with a title and a message.
  refusal: object({ error: anything, ...each(anything, 'description', 'details', 'error_description') }, ['error']),
  operations: {
    'GET /users/me.json': object({ user }, ['user']),
    'GET /help_center/categories.json': pageOf('categories', category),
    'GET /help_center/categories/{id}.json': object({ category }, ['category']),
    'GET /help_center/categories/{id}/sections.json': pageOf('sections', section),
    'GET /help_center/categories/{id}/articles.json': pageOf('articles', article),
    'GET /help_center/sections/{id}.json': object({ section }, ['section']),
    'GET /help_center/sections/{id}/articles.json': pageOf('articles', article),
    'GET /help_center/articles/{id}.json': object({ article }, ['article']),
    'GET /help_center/articles/{id}/translations.json': pageOf('translations', translation),
    'GET /incremental/tickets/cursor.json': object(
      {
        ...each(nullableText, 'after_cursor', 'after_url', 'before_cursor', 'before_url'),
        end_of_stream: flag,
        tickets: listOf(ticket),
        users,
      },
      ['after_cursor', 'after_url', 'before_cursor', 'before_url', 'end_of_stream', 'tickets'],
    ),
    'GET /tickets.json': pageOf('tickets', ticket),
    'GET /tickets/{id}.json': object({ ticket, users }, ['ticket']),
    'GET /tickets/{id}/comments.json': pageOf('comments', comment),
  },
};
