import type { IngestOptions } from '../../contract/files/ingestOptions.js';
import type { FileRecord, FileStatisticsRecord } from '../../contract/files/records.js';
import { fileTags, tagObject } from '../../contract/files/tags.js';
import type { WorkflowLink } from '../../contract/runs/temporalLinks.js';
import { toOcrProperties } from '../schemas/uploads.js';
import type { FileDoc, FileStatistics } from '../../store/models/files.js';

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

/** Converts statistics. Unknown values are omitted, because the public contract does not allow null for them. */
function statistics(fileStatistics: FileStatistics | null): FileStatisticsRecord | null {
  if (fileStatistics === null) return null;
  return {
    ...(fileStatistics.fileFormat === null ? {} : { file_format: fileStatistics.fileFormat }),
    ...(fileStatistics.fileSize === null ? {} : { file_size: fileStatistics.fileSize }),
    ...(fileStatistics.numCharacters === null ? {} : { num_characters: fileStatistics.numCharacters }),
    ...(fileStatistics.numTokens === null ? {} : { num_tokens: fileStatistics.numTokens }),
    ...(fileStatistics.numEmbeddings === null ? {} : { num_embeddings: fileStatistics.numEmbeddings }),
    ...(fileStatistics.mimeType === null ? {} : { mime_type: fileStatistics.mimeType }),
  };
}

/** Returns the sync options of a file that differ from the defaults. */
function syncProperties(options: IngestOptions): Record<string, unknown> {
  const { autoSyncedSourceTypes: types, transcriptionService: service = null } = options;
  const flags = {
    sync_attachments: options.syncAttachments,
    detect_audio_language: options.detectAudioLanguage,
    include_speaker_labels: options.includeSpeakerLabels,
    split_rows: options.splitRows,
    generate_chunks_only: options.generateChunksOnly,
    store_file_only: options.storeFileOnly,
    skip_file_processing: options.skipFileProcessing,
  };
  return {
    ...(types === undefined ? {} : { auto_synced_source_types: types }),
    ...(service === null ? {} : { transcription_service: service }),
    ...Object.fromEntries(Object.entries(flags).filter(([, isSet]) => isSet === true)),
  };
}

/** Links to a file's stored contents, if requested. */
export interface FileLinks {
  readonly raw: string | null;
  readonly parsed: string | null;
}

/** Converts a stored file to its record: 39 fields of the contract, and our extensions. */
export function presentFile(
  file: FileDoc,
  { workflowLink }: { readonly workflowLink: WorkflowLink },
  links: FileLinks = { raw: null, parsed: null },
): FileRecord {
  const { options } = file;
  // A file with a vector but without text is a picture, whose vector was computed from the image itself.
  const isPicture = file.vectorSpace !== null && !file.hasText;
  return {
    id: file._id,
    source: file.source,
    organization_id: file.organizationId,
    organization_user_id: file.userId,
    organization_supplied_user_id: file.customerId,
    organization_user_data_source_id: file.dataSourceId,
    external_file_id: file.externalFileId,
    external_url: file.externalUrl,
    sync_status: file.syncStatus,
    sync_error_message: file.syncErrorMessage,
    last_sync: iso(file.lastSync),
    tags: tagObject(fileTags(file)),
    file_statistics: statistics(file.statistics),
    file_metadata: file.fileMetadata,
    embedding_properties: {
      [options.embeddingModel]: {
        chunk_size: isPicture ? null : options.chunkSize,
        chunk_overlap: isPicture ? null : options.chunkOverlap,
        ...(file.vectorSpace !== null && file.dimensions !== null
          ? { served_by: file.vectorSpace, dimensions: file.dimensions }
          : {}),
      },
    },
    chunk_size: options.chunkSize,
    chunk_overlap: options.chunkOverlap,
    chunk_properties: {
      set_page_as_boundary: options.setPageAsBoundary,
      prepend_filename_to_chunks: options.prependFilenameToChunks,
      ...(options.maxItemsPerChunk === null ? {} : { max_items_per_chunk: options.maxItemsPerChunk }),
    },
    ocr_properties: { ...toOcrProperties(options), ...file.ocrProperties },
    ocr_job_started_at: iso(file.ocrJobStartedAt ?? null),
    name: file.name,
    parent_id: file.parentId,
    enable_auto_sync: file.enableAutoSync,
    presigned_url: links.raw,
    parsed_text_url: links.parsed,
    additional_presigned_urls: null,
    skip_embedding_generation: options.skipEmbeddingGeneration,
    source_created_at: iso(file.sourceCreatedAt),
    generate_sparse_vectors: options.generateSparseVectors,
    request_id: file.requestId,
    upload_id: file.uploadId,
    sync_properties: { ...file.syncProperties, ...(file.dataSourceId === null ? {} : syncProperties(options)) },
    messages_metadata: file.messagesMetadata,
    file_contents_deleted: file.fileContentsDeleted,
    supports_cold_storage: file.supportsColdStorage,
    hot_storage_time_to_live: file.hotStorageTimeToLive,
    embedding_storage_status: file.embeddingStorageStatus,
    created_at: file.createdAt.toISOString(),
    updated_at: file.updatedAt.toISOString(),
    ...workflowLink(file.workflowId),
  };
}
