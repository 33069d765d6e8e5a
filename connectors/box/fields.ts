/**
 * Names of the fields that Box publishes: https://github.com/box/box-openapi (2024.0). Box's npm packages are too large
 * to be installed for their types alone.
 */

type Fields<Name extends string> = Record<Name, unknown>;
type Common =
  | 'type'
  | 'id'
  | 'etag'
  | 'name'
  | 'created_at'
  | 'modified_at'
  | 'parent'
  | 'path_collection'
  | 'item_status';
/** A file, a folder or a web link. */
export type BoxItem = Fields<Common | 'size' | 'sha1' | 'url' | 'content_created_at' | 'content_modified_at'>;
export type BoxItems = Fields<'entries' | 'limit' | 'next_marker' | 'prev_marker'>;
export type BoxEvents = Fields<'chunk_size' | 'next_stream_position' | 'entries'>;
export type BoxEvent = Fields<'type' | 'event_id' | 'event_type' | 'created_at' | 'source'>;
