/**
 * Names of the fields in answers of Slack's Web API, copied from the types of @slack/web-api (8.2.0). That package is
 * not a dependency, because it would install too many others.
 */

type Fields<Name extends string> = Record<Name, unknown>;

/** An answer of any method. */
export type SlackAnswer = Fields<
  | 'ok'
  | 'error'
  | 'warning'
  | 'response_metadata'
  | 'channel'
  | 'channels'
  | 'messages'
  | 'has_more'
  | 'user'
  | 'user_id'
  | 'team'
  | 'team_id'
  | 'url'
>;
export type SlackMetadata = Fields<'next_cursor' | 'messages' | 'warnings'>;
export type SlackConversation = Fields<
  | 'id'
  | 'name'
  | 'name_normalized'
  | 'user'
  | 'created'
  | 'creator'
  | 'context_team_id'
  | 'is_archived'
  | 'is_channel'
  | 'is_ext_shared'
  | 'is_general'
  | 'is_group'
  | 'is_im'
  | 'is_member'
  | 'is_mpim'
  | 'is_org_shared'
  | 'is_private'
  | 'is_shared'
  | 'num_members'
  | 'purpose'
  | 'topic'
>;
export type SlackUser = Fields<'id' | 'team_id' | 'name' | 'real_name' | 'deleted' | 'profile'>;
export type SlackProfile = Fields<'display_name' | 'real_name' | 'email' | 'title'>;
export type SlackMessage = Fields<
  | 'type'
  | 'subtype'
  | 'ts'
  | 'thread_ts'
  | 'user'
  | 'username'
  | 'bot_id'
  | 'bot_profile'
  | 'text'
  | 'blocks'
  | 'attachments'
  | 'files'
  | 'edited'
  | 'reply_count'
  | 'latest_reply'
>;
export type SlackBot = Fields<'id' | 'name' | 'app_id' | 'team_id'>;
export type SlackEdit = Fields<'user' | 'ts'>;
export type SlackFile = Fields<'id' | 'name' | 'title' | 'mimetype' | 'filetype'>;
/** A link preview, or an attachment of an app's message. */
export type SlackAttachment = Fields<'title' | 'text' | 'fallback' | 'pretext' | 'fields' | 'blocks'>;
/** A block of a message, or an element in it. */
export type SlackBlock = Fields<'type' | 'block_id' | 'text' | 'elements' | 'fields'>;
