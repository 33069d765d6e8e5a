/** Answers of Box, from its OpenAPI document. If a request selects fields, the answer also has the type and the id. */
import {
  anyObject,
  anything,
  each,
  flag,
  integer,
  listOf,
  timestamp,
  object,
  objectBy,
  oneOf,
  orNull,
  text,
} from './shape.js';
import type { AnswerTable } from './table.js';

const nullableText = orNull(text);
const user = object({ id: text, type: oneOf('user'), ...each(text, 'name', 'login') }, ['id', 'type']);
const folderMini = object(
  { id: text, type: oneOf('folder'), etag: nullableText, ...each(nullableText, 'sequence_id', 'name') },
  ['id', 'type'],
);
const version = object({ id: text, type: oneOf('file_version'), sha1: text }, ['id', 'type']);
const level = oneOf('open', 'company', 'collaborators');
const link = object(
  {
    ...{ url: text, access: level, effective_access: text, effective_permission: text },
    ...each(nullableText, 'download_url', 'vanity_url', 'vanity_name'),
    ...{ unshared_at: orNull(timestamp), permissions: anyObject },
    ...{ is_password_enabled: flag, download_count: integer, preview_count: integer },
  },
  ['url', 'effective_access', 'effective_permission', 'is_password_enabled', 'download_count', 'preview_count'],
);
const common = {
  id: text,
  name: text,
  description: text,
  sequence_id: nullableText,
  path_collection: object({ total_count: integer, entries: listOf(folderMini) }, ['total_count', 'entries']),
  parent: orNull(folderMini),
  item_status: oneOf('active', 'trashed', 'deleted'),
  ...each(user, 'created_by', 'modified_by', 'owned_by'),
  shared_link: orNull(link),
  ...each(orNull(timestamp), 'trashed_at', 'purged_at'),
};
const stamps = each(orNull(timestamp), 'created_at', 'modified_at', 'content_created_at', 'content_modified_at');
const shared = {
  ...each(anyObject, 'permissions', 'metadata', 'classification', 'watermark_info'),
  ...each(flag, 'has_collaborations', 'is_externally_owned', 'is_accessible_via_shared_link'),
  ...each(flag, 'is_associated_with_app_item'),
  ...each(listOf(text), 'tags', 'allowed_invitee_roles'),
};
const fileFields = {
  ...{ ...common, ...stamps, ...shared, type: oneOf('file'), etag: nullableText, sha1: text, size: integer },
  ...{ file_version: version, lock: orNull(anyObject), comment_count: integer, is_package: flag },
  ...each(text, 'version_number', 'extension', 'uploader_display_name'),
  ...each(orNull(timestamp), 'expires_at', 'disposition_at'),
  ...each(anyObject, 'expiring_embed_link', 'representations'),
  shared_link_permission_options: listOf(text),
};
const folderFields = {
  ...{ ...common, ...stamps, ...shared, type: oneOf('folder'), etag: nullableText, size: integer },
  ...{ folder_upload_email: orNull(anyObject), item_collection: anyObject },
  sync_state: oneOf('synced', 'not_synced', 'partially_synced'),
  ...each(flag, 'can_non_owners_invite', 'can_non_owners_view_collaborators'),
  is_collaboration_restricted_to_enterprise: flag,
  allowed_shared_link_access_levels: listOf(level),
};
const linkFields = {
  ...{ ...common, type: oneOf('web_link'), etag: text, url: text },
  ...each(timestamp, 'created_at', 'modified_at'),
};
const identifying = ['id', 'type'];
const [file, folder, webLink] = [
  object(fileFields, identifying),
  object(folderFields, identifying),
  object(linkFields, identifying),
];
const item = objectBy('type', { file, folder, web_link: webLink }, { id: text }, ['id']);
/** The source of an event that has no field `type`: it names an item by `item_type` and `item_id`. */
const eventSource = object(
  {
    ...{ item_type: oneOf('file', 'folder'), ...each(text, 'item_id', 'item_name') },
    ...{ classification: anyObject, parent: orNull(folderMini), owned_by: user },
  },
  ['item_type', 'item_id', 'item_name'],
);
const event = object({
  ...each(text, 'type', 'event_id', 'session_id'),
  ...each(timestamp, 'created_at', 'recorded_at'),
  created_by: user,
  event_type: { ...text, pattern: /^[A-Z][A-Z\d_]+$/ },
  source: {
    type: 'object',
    variants: { by: 'type', of: { file, folder, web_link: webLink, user, undefined: eventSource } },
  },
  additional_details: anyObject,
});

export const box: AnswerTable = {
  name: 'box',
  specification: 'https://github.com/box/box-openapi',
  version: '2024.0, c9a878a9',
  takenOn: '2026-11-27',
  selection: 'fields',
  refusal: object({
    type: oneOf('error'),
    status: integer,
    code: oneOf(
      ...['bad_request', 'unauthorized', 'forbidden', 'not_found', 'method_not_allowed', 'conflict'],
      ...['precondition_failed', 'too_many_requests', 'internal_server_error', 'unavailable', 'item_name_invalid'],
      // Further ones: https://developer.box.com/guides/api-calls/permissions-and-errors/common-errors
      ...['insufficient_scope', 'access_denied_insufficient_permissions', 'rate_limit_exceeded', 'trashed'],
    ),
    ...each(text, 'message', 'help_url', 'request_id'),
    context_info: orNull(anyObject),
  }),
  operations: {
    'GET /users/me': {
      ...object(
        {
          id: text,
          type: oneOf('user'),
          ...each(text, 'name', 'login', 'language', 'timezone'),
          enterprise: anyObject,
        },
        ['id', 'type'],
      ),
      others: anything,
    },
    // The position may be a number beyond those that JavaScript represents.
    'GET /events': object({ chunk_size: integer, next_stream_position: anything, entries: listOf(event) }),
    'GET /files/{file_id}': file,
    'GET /folders/{folder_id}': folder,
    'GET /folders/{folder_id}/items': {
      ...object({
        ...each(integer, 'limit', 'offset', 'total_count'),
        ...each(nullableText, 'next_marker', 'prev_marker'),
        ...{ entries: listOf(item), order: listOf(anyObject) },
      }),
      isPage: true,
    },
    'GET /web_links/{web_link_id}': webLink,
  },
};
