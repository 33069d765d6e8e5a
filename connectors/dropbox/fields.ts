/** Names of the fields of entries that Dropbox publishes: https://github.com/dropbox/dropbox-api-spec (files.stone). */
export type DropboxEntry = Record<
  | '.tag'
  | 'id'
  | 'name'
  | 'path_lower'
  | 'path_display'
  | 'client_modified'
  | 'server_modified'
  | 'rev'
  | 'size'
  | 'content_hash'
  | 'is_downloadable'
  | 'export_info'
  | 'sharing_info',
  unknown
>;
export type ExportInfo = Record<'export_as' | 'export_options', unknown>;
export type SharingInfo = Record<
  'read_only' | 'parent_shared_folder_id' | 'shared_folder_id' | 'modified_by' | 'traverse_only' | 'no_access',
  unknown
>;
/** A page of a folder or of changes. */
export type DropboxPage = Record<'entries' | 'cursor' | 'has_more', unknown>;
