/**
 * Names of the fields in the tables "JSON format" of Zendesk's API reference:
 * https://developer.zendesk.com/api-reference/. Zendesk publishes no types.
 */

type Fields<Name extends string> = Record<Name, unknown>;
type Times = 'created_at' | 'updated_at';

/** Fields of any list: pagination, included users, and the tickets of an export. A list has only some of them. */
export type ZendeskList = Fields<
  'meta' | 'links' | 'next_page' | 'previous_page' | 'count' | 'users' | 'tickets' | 'after_cursor' | 'end_of_stream'
>;
export type ZendeskMeta = Fields<'has_more' | 'after_cursor' | 'before_cursor'>;
export type ZendeskIdentity = Fields<'user'>;
export type ZendeskUser = Fields<Times | 'id' | 'name' | 'email' | 'role' | 'active' | 'suspended'>;

type CenterField = Times | 'id' | 'html_url' | 'url' | 'locale' | 'source_locale' | 'name' | 'description' | 'position';
export type ZendeskCategory = Fields<CenterField>;
export type ZendeskSection = Fields<CenterField | 'category_id' | 'parent_section_id'>;
export type ZendeskArticle = Fields<
  | Times
  | 'id'
  | 'section_id'
  | 'html_url'
  | 'url'
  | 'locale'
  | 'source_locale'
  | 'name'
  | 'title'
  | 'body'
  | 'draft'
  | 'edited_at'
  | 'label_names'
>;
export type ZendeskTranslation = Fields<
  Times | 'id' | 'source_id' | 'source_type' | 'locale' | 'title' | 'body' | 'draft'
>;
export type ZendeskTicket = Fields<
  | Times
  | 'id'
  | 'subject'
  | 'raw_subject'
  | 'description'
  | 'status'
  | 'type'
  | 'priority'
  | 'requester_id'
  | 'submitter_id'
  | 'assignee_id'
  | 'tags'
  | 'via'
>;
export type ZendeskVia = Fields<'channel' | 'source'>;
export type ZendeskComment = Fields<
  'id' | 'type' | 'author_id' | 'body' | 'html_body' | 'plain_body' | 'public' | 'attachments' | 'created_at'
>;
export type ZendeskAttachment = Fields<
  'id' | 'file_name' | 'content_type' | 'content_url' | 'size' | 'inline' | 'deleted'
>;
