/** Records of the public interface, as it returns them. Only these, Joi schemas and presenters use snake case. */
import type { EmbeddingModelId } from '../vectors/embeddingModels.js';
import type { SourceType } from '../sources/sources.js';
import type { DataSourceAction, DataSourceSyncStatus, EmbeddingStorageStatus, FileSyncStatus } from './statuses.js';

/** Values a tag may have. */
export type TagValue = string | number | boolean | readonly string[] | readonly number[] | readonly boolean[];

export interface FileStatisticsRecord {
  file_format?: string;
  file_size?: number;
  num_characters?: number;
  num_tokens?: number;
  num_embeddings?: number;
  mime_type?: string;
}

export interface EmbeddingPropertiesRecord {
  chunk_size: number | null;
  chunk_overlap: number | null;
  /** Name of the vector space that contains the file's vectors; absent while the file has no vectors. */
  served_by?: string;
  dimensions?: number;
}

export interface FileRecord {
  id: number;
  source: SourceType;
  organization_id: number;
  organization_user_id: number | null;
  organization_supplied_user_id: string;
  organization_user_data_source_id: number | null;
  external_file_id: string;
  external_url: string | null;
  sync_status: FileSyncStatus;
  sync_error_message: string | null;
  last_sync: string | null;
  tags: Record<string, TagValue> | null;
  file_statistics: FileStatisticsRecord | null;
  file_metadata: Record<string, unknown> | null;
  embedding_properties: Partial<Record<EmbeddingModelId, EmbeddingPropertiesRecord>> | null;
  chunk_size: number | null;
  chunk_overlap: number | null;
  chunk_properties: {
    set_page_as_boundary: boolean;
    prepend_filename_to_chunks: boolean;
    max_items_per_chunk?: number;
  } | null;
  ocr_properties: Record<string, unknown>;
  ocr_job_started_at: string | null;
  name: string | null;
  parent_id: number | null;
  enable_auto_sync: boolean | null;
  presigned_url: string | null;
  parsed_text_url: string | null;
  additional_presigned_urls: Record<string, string> | null;
  skip_embedding_generation: boolean;
  source_created_at: string | null;
  generate_sparse_vectors: boolean | null;
  request_id: string | null;
  upload_id: string | null;
  sync_properties: Record<string, unknown>;
  messages_metadata: Record<string, unknown>;
  file_contents_deleted: boolean;
  supports_cold_storage: boolean;
  hot_storage_time_to_live: number | null;
  embedding_storage_status: EmbeddingStorageStatus;
  created_at: string;
  updated_at: string;
  /** Not in the hosted Carbon API: the workflow that owns the file, or owned it last. */
  workflow_id: string | null;
  workflow_url: string | null;
}

export interface DataSourceRecord {
  id: number;
  data_source_external_id: string | null;
  data_source_type: SourceType;
  token: Record<string, unknown> | null;
  sync_status: DataSourceSyncStatus;
  source_items_synced_at: string | null;
  organization_user_id: number;
  organization_id: number;
  organization_supplied_user_id: string;
  revoked_access: boolean;
  last_synced_at: string;
  last_sync_action: DataSourceAction;
  enable_auto_sync: boolean | null;
  created_at: string;
  updated_at: string;
  files_synced_at: string | null;
  data_source_metadata: Record<string, unknown>;
  tags: Record<string, TagValue>;
  /** Not in the hosted Carbon API: the workflow that lists the data source's items. */
  workflow_id: string | null;
  workflow_url: string | null;
}

export interface ChunkRecord {
  user_file_id: number;
  chunk_index: number;
  source_content: string;
  embedding: number[] | null;
  content_metadata: Record<string, unknown>;
}

/** One hit of POST /embeddings. */
export interface DocumentRecord {
  content: string;
  file_id: number;
  parent_file_id: number | null;
  source: string | null;
  source_url: string | null;
  source_type: SourceType | null;
  presigned_url: string | null;
  tags: Record<string, TagValue> | null;
  vector: number[] | null;
  score: number | null;
  rank: number | null;
  content_metadata: Record<string, unknown> | null;
  chunk_index: number | null;
}
