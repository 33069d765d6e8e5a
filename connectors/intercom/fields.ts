/**
 * Names of the fields in Intercom's OpenAPI document: https://github.com/intercom/Intercom-OpenAPI (2.14). They are not
 * imported from Intercom's package intercom-client, because it has 6 MB and does not offer the types of one API version
 * separately.
 */

type Fields<Name extends string> = Record<Name, unknown>;
type TimeFields = 'created_at' | 'updated_at';

export type IntercomList = Fields<
  'type' | 'data' | 'pages' | 'total_count' | 'conversations' | 'tickets' | 'admins' | 'teams'
>;
export type IntercomPages = Fields<'type' | 'page' | 'per_page' | 'total_pages' | 'next'>;
export type IntercomNextPage = Fields<'per_page' | 'starting_after'>;
export type IntercomIdentity = Fields<'type' | 'id' | 'name' | 'email' | 'app'>;
export type IntercomApp = Fields<'type' | 'id_code' | 'name' | 'region' | 'timezone'>;
/** An admin, a team, a contact, or the author of a part. */
export type IntercomPerson = Fields<'type' | 'id' | 'name' | 'email'>;
export type IntercomCollection = Fields<TimeFields | 'id' | 'name' | 'description' | 'url' | 'order' | 'parent_id'>;
/** An article in one language. */
export type IntercomText = Fields<TimeFields | 'type' | 'title' | 'description' | 'body' | 'state' | 'url'>;
export type IntercomArticle = IntercomText &
  Fields<'id' | 'author_id' | 'default_locale' | 'parent_id' | 'parent_type' | 'translated_content'>;
export type IntercomConversation = Fields<
  TimeFields | 'type' | 'id' | 'title' | 'state' | 'open' | 'source' | 'contacts' | 'conversation_parts'
>;
/** The first message of a conversation. */
export type IntercomSource = Fields<'type' | 'id' | 'subject' | 'body' | 'author' | 'attachments' | 'url'>;
export type IntercomTicket = Fields<
  | TimeFields
  | 'type'
  | 'id'
  | 'ticket_id'
  | 'category'
  | 'ticket_attributes'
  | 'ticket_state'
  | 'ticket_type'
  | 'contacts'
  | 'admin_assignee_id'
  | 'team_assignee_id'
  | 'ticket_parts'
>;
/** The attributes that every ticket has. */
export type IntercomTicketAttributes = Fields<'_default_title_' | '_default_description_'>;
export type IntercomTicketState = Fields<'id' | 'category' | 'internal_label' | 'external_label'>;
export type IntercomTicketType = Fields<'id' | 'name' | 'category'>;
export type IntercomContacts = Fields<'type' | 'contacts'>;
/** The parts of a conversation or ticket. */
export type IntercomParts = Fields<'type' | 'conversation_parts' | 'ticket_parts' | 'total_count'>;
export type IntercomPart = Fields<
  TimeFields | 'type' | 'id' | 'part_type' | 'body' | 'author' | 'attachments' | 'redacted'
>;
export type IntercomAttachment = Fields<'type' | 'name' | 'url' | 'content_type' | 'filesize'>;
