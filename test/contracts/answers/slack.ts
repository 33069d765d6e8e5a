/**
 * Answers of Slack's Web API. Names and types are those of the types of @slack/web-api and of the archived
 * specification, which alone states what is always present. A field is required here if that specification requires it
 * and the examples of the current reference contain it.
 */
import {
  always,
  anyObject,
  anything,
  each,
  eitherOf,
  flag,
  integer,
  listOf,
  number,
  object,
  orNull,
  type Shape,
  text,
} from './shape.js';
import type { AnswerTable } from './table.js';

const textMatching = (pattern: RegExp): Shape => ({ ...text, pattern });
const userId = textMatching(/^[UW][A-Z0-9]{2,}$/);
const teamId = textMatching(/^[TE][A-Z0-9]{2,}$/);
const ts = textMatching(/^\d{10}\.\d{6}$/);
const objects = listOf(anyObject);
const texts = listOf(text);

/** The refusals of all methods, most with status 200. https://docs.slack.dev/apis/web-api/#responses */
const refused = object(
  {
    ok: always(false),
    ...each(text, 'error', 'warning', 'needed', 'provided', 'callstack', 'arg'),
    response_metadata: object(each(texts, 'messages', 'warnings', 'acceptedScopes', 'scopes')),
  },
  ['ok', 'error'],
);
/**
 * The cursor of the next page is empty or missing after the last one. https://docs.slack.dev/apis/web-api/pagination
 */
const paging = object({ next_cursor: text, ...each(texts, 'messages', 'warnings', 'acceptedScopes', 'scopes') });
/** Returns the shape of a success or a refusal. @param required the fields of a success that are always present */
const answer = (fields: Readonly<Record<string, Shape>>, ...required: readonly string[]): Shape =>
  eitherOf(
    object({ ok: always(true), warning: text, response_metadata: paging, ...fields }, ['ok', ...required]),
    refused,
  );

const topicOrPurpose = object({ creator: text, last_set: integer, value: text }, ['creator', 'last_set', 'value']);
const anyConversation = {
  created: integer,
  ...each(integer, 'updated', 'unlinked', 'is_moved', 'num_members', 'version', 'timezone_count'),
  ...each(integer, 'unread_count', 'unread_count_display', 'pin_count'),
  ...each(flag, 'is_archived', 'is_ext_shared', 'is_frozen', 'is_im', 'is_open', 'is_org_shared', 'is_shared'),
  ...each(flag, 'is_pending_ext_shared', 'is_starred', 'has_pins'),
  ...each(text, 'context_team_id', 'conversation_host_id', 'locale', 'last_read', 'enterprise_id'),
  ...each(anything, 'latest', 'parent_conversation', 'shares', 'properties'),
  priority: number,
};
/** A channel, or a direct message among several users. */
const channel = object(
  {
    ...anyConversation,
    id: textMatching(/^[CG][A-Z0-9]+$/),
    creator: userId,
    is_im: always(false),
    ...each(flag, 'is_channel', 'is_general', 'is_global_shared', 'is_group', 'is_member', 'is_mpim', 'is_private'),
    ...each(flag, 'is_non_threadable', 'is_org_default', 'is_org_mandatory', 'is_read_only', 'is_thread_only'),
    ...each(text, 'name', 'name_normalized', 'use_case'),
    ...each(
      texts,
      'connected_limited_team_ids',
      'connected_team_ids',
      'internal_team_ids',
      'members',
      'previous_names',
    ),
    ...each(texts, 'pending_connected_team_ids', 'pending_shared', 'shared_team_ids'),
    ...each(topicOrPurpose, 'purpose', 'topic'),
    ...each(anything, 'accepted_user', 'display_counts', 'user'),
  },
  [
    ...['id', 'created', 'creator', 'name', 'name_normalized', 'purpose', 'topic'],
    ...['is_archived', 'is_channel', 'is_general', 'is_group', 'is_im', 'is_mpim'],
    ...['is_org_shared', 'is_private', 'is_shared'],
  ],
);
/** A direct message, which has neither a name nor the flags of channels. */
const directMessage = object(
  { ...anyConversation, id: textMatching(/^D[A-Z0-9]+$/), is_im: always(true), is_user_deleted: flag, user: userId },
  ['id', 'created', 'is_im', 'is_org_shared', 'priority', 'user'],
);
const conversation = eitherOf(channel, directMessage);

const message = object(
  {
    type: text,
    ts,
    ...each(
      text,
      'text',
      'subtype',
      'username',
      'client_msg_id',
      'inviter',
      'name',
      'old_name',
      'permalink',
      'purpose',
    ),
    ...each(text, 'topic', 'item_type', 'bot_link', 'streaming_state', 'channel'),
    user: userId,
    parent_user_id: userId,
    ...each(text, 'team', 'source_team', 'user_team', 'app_id'),
    bot_id: orNull(text),
    bot_profile: object({
      ...each(text, 'id', 'app_id', 'name', 'team_id', 'user_id'),
      deleted: flag,
      updated: integer,
      icons: anyObject,
    }),
    ...each(ts, 'thread_ts', 'latest_reply', 'last_read'),
    ...each(integer, 'reply_count', 'reply_users_count', 'unread_count'),
    reply_users: listOf(userId),
    edited: object({ user: userId, ts }, ['user', 'ts']),
    ...each(
      flag,
      'display_as_bot',
      'hidden',
      'is_delayed_message',
      'is_intro',
      'is_locked',
      'is_starred',
      'subscribed',
    ),
    ...each(flag, 'is_thread_broadcast', 'no_notifications', 'unfurl_links', 'unfurl_media', 'upload', 'wibblr'),
    ...each(objects, 'attachments', 'blocks', 'files', 'reactions', 'replies'),
    ...each(texts, 'pinned_to', 'x_files'),
    ...each(anyObject, 'agent_session', 'assistant_app_thread', 'comment', 'file', 'icons', 'item', 'language'),
    ...each(anyObject, 'metadata', 'room', 'root', 'user_profile'),
  },
  ['type', 'ts', 'text'],
);

const profile = object(
  {
    ...each(text, 'avatar_hash', 'display_name', 'display_name_normalized', 'real_name', 'real_name_normalized'),
    ...each(text, 'api_app_id', 'bot_id', 'huddle_state', 'phone', 'pronouns', 'skype', 'start_date', 'status_emoji'),
    ...each(text, 'status_emoji_url', 'status_text', 'team', 'title', 'user_id'),
    ...each(orNull(text), 'email', 'first_name', 'guest_invited_by', 'last_name', 'status_text_canonical', 'username'),
    ...each(orNull(text), 'image_24', 'image_32', 'image_48', 'image_72', 'image_192', 'image_512', 'image_1024'),
    image_original: orNull(text),
    ...each(flag, 'always_active', 'is_custom_image'),
    ...each(orNull(integer), 'guest_expiration_ts', 'huddle_state_expiration_ts', 'status_expiration'),
    ...each(anything, 'fields', 'status_emoji_display_info'),
  },
  ['avatar_hash', 'display_name', 'display_name_normalized', 'real_name', 'real_name_normalized'],
);
const user = object(
  {
    id: userId,
    ...each(text, 'name', 'real_name', 'color', 'enterprise_id', 'enterprise_name', 'locale', 'tz_label'),
    ...each(text, 'two_factor_type', 'who_can_share_contact_card'),
    team_id: teamId,
    teams: listOf(teamId),
    tz: orNull(text),
    tz_offset: number,
    updated: integer,
    profile,
    enterprise_user: anyObject,
    ...each(flag, 'deleted', 'has_2fa', 'is_admin', 'is_app_user', 'is_bot', 'is_connector_bot', 'is_email_confirmed'),
    ...each(flag, 'is_invited_user', 'is_owner', 'is_primary_owner', 'is_restricted', 'is_stranger'),
    ...each(flag, 'is_ultra_restricted', 'is_workflow_bot', 'is_forgotten', 'is_external'),
  },
  ['id', 'name', 'profile', 'is_app_user', 'is_bot', 'updated'],
);

const messages = { messages: listOf(message), has_more: flag };

export const slack: AnswerTable = {
  name: 'slack',
  specification: 'https://github.com/slackapi/slack-api-specs',
  version: 'bc08db49 (archived in 2021); @slack/web-api 8.2.0',
  takenOn: '2026-11-27',
  refusal: refused,
  operations: {
    'POST /auth.test': answer(
      {
        ...each(text, 'url', 'team', 'user', 'app_id', 'app_name', 'bot_id', 'enterprise_id'),
        team_id: teamId,
        user_id: userId,
        expires_in: integer,
        is_enterprise_install: flag,
      },
      ...['url', 'team', 'user', 'team_id', 'user_id'],
    ),
    'POST /conversations.history': answer(
      {
        ...messages,
        ...each(integer, 'channel_actions_count', 'pin_count'),
        channel_actions_ts: orNull(integer),
        ...each(text, 'latest', 'oldest'),
      },
      ...['messages', 'has_more', 'pin_count'],
    ),
    'POST /conversations.info': answer({ channel: conversation }, 'channel'),
    'POST /conversations.list': answer({ channels: listOf(conversation) }, 'channels'),
    'POST /conversations.replies': answer(messages, 'messages', 'has_more'),
    'POST /users.info': answer({ user }, 'user'),
  },
};
