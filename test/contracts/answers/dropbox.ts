/** Answers of Dropbox, from its specification in Stone. Fields without a value are omitted. */
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
  type Shape,
  text,
} from './shape.js';
import type { AnswerTable } from './table.js';

const metadata = each(text, 'name', 'path_lower', 'path_display', 'parent_shared_folder_id', 'preview_url');
const sharing = { read_only: flag, ...each(text, 'parent_shared_folder_id') };
const file = object(
  {
    ...{ ...metadata, id: text, ...each(timestamp, 'client_modified', 'server_modified'), size: integer },
    rev: { ...text, pattern: /^[\da-f]{9,}$/ },
    content_hash: { ...text, pattern: /^[\da-f]{64}$/ },
    ...each(flag, 'is_downloadable', 'has_explicit_shared_members', 'is_restorable'),
    export_info: object({ export_as: text, export_options: listOf(text) }),
    sharing_info: object({ ...sharing, modified_by: text }, ['read_only', 'parent_shared_folder_id']),
    ...each(anyObject, 'media_info', 'symlink_info', 'file_lock_info'),
    property_groups: listOf(anyObject),
  },
  ['name', 'id', 'client_modified', 'server_modified', 'rev', 'size', 'is_downloadable'],
);
const folder = object(
  {
    ...{ ...metadata, ...each(text, 'id', 'shared_folder_id'), property_groups: listOf(anyObject) },
    sharing_info: object({ ...sharing, shared_folder_id: text, ...each(flag, 'traverse_only', 'no_access') }, [
      ...['read_only', 'traverse_only', 'no_access'],
    ]),
  },
  ['name', 'id'],
);
const deleted = object({ ...metadata, is_restorable: flag }, ['name']);
const entry = objectBy('.tag', { file, folder, deleted });
const list = object({ entries: listOf(entry), cursor: text, has_more: flag }, ['entries', 'cursor', 'has_more']);

const empty = object({});
const lookup = objectBy('.tag', {
  malformed_path: object({ malformed_path: text }),
  ...each(
    empty,
    'not_found',
    'not_file',
    'not_folder',
    'restricted_content',
    'unsupported_content_type',
    'locked',
    'other',
  ),
});
/** Errors of the methods, of tokens and of rate limits: files.stone, auth.stone, common.stone. */
const error = objectBy('.tag', {
  path: object({ path: lookup }, ['path']),
  ...each(empty, 'reset', 'unsupported_file', 'non_exportable', 'invalid_export_format', 'retry_error', 'other'),
  ...each(empty, 'invalid_access_token', 'expired_access_token', 'invalid_root', 'no_permission', 'user_suspended'),
  missing_scope: object({ required_scope: text }),
  // The error of a rate limit has no tag.
  undefined: object(
    {
      reason: objectBy('.tag', each(empty, 'too_many_requests', 'too_many_write_operations', 'other')),
      retry_after: integer,
    },
    ['reason'],
  ),
});
const refusal: Shape = object(
  {
    error_summary: text,
    error: { type: 'object', variants: error.variants!, fields: { '.tag': text } },
    user_message: anything,
  },
  ['error_summary', 'error'],
);

const root = each(text, 'root_namespace_id', 'home_namespace_id');
export const dropbox: AnswerTable = {
  name: 'dropbox',
  specification: 'https://github.com/dropbox/dropbox-api-spec',
  version: '0d994ebe',
  takenOn: '2026-11-27',
  refusal,
  // https://www.dropbox.com/developers/documentation/http/documentation#error-handling
  textRefusals: [400],
  operations: {
    'POST /users/get_current_account': object(
      {
        ...each(
          text,
          'account_id',
          'email',
          'profile_photo_url',
          'country',
          'locale',
          'referral_link',
          'team_member_id',
        ),
        name: object(each(text, 'given_name', 'surname', 'familiar_name', 'display_name', 'abbreviated_name'), [
          ...['given_name', 'surname', 'familiar_name', 'display_name', 'abbreviated_name'],
        ]),
        ...each(flag, 'email_verified', 'disabled', 'is_paired'),
        team: { ...object(each(text, 'id', 'name'), ['id', 'name']), others: anything },
        account_type: objectBy('.tag', each(empty, 'basic', 'pro', 'business')),
        root_info: objectBy('.tag', {
          user: object({ ...root, home_path: text }, Object.keys(root)),
          team: object({ ...root, home_path: text }, [...Object.keys(root), 'home_path']),
        }),
      },
      [
        ...['account_id', 'name', 'email', 'email_verified', 'disabled', 'locale', 'referral_link', 'is_paired'],
        ...['account_type', 'root_info'],
      ],
    ),
    'POST /files/list_folder': list,
    'POST /files/list_folder/continue': list,
    'POST /files/list_folder/get_latest_cursor': object({ cursor: text }, ['cursor']),
    'POST /files/get_metadata': entry,
  },
};
