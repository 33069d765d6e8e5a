import Joi from 'joi';

import { DEFAULT_EMBEDDING_MODEL } from '../../contract/embeddingModels.js';
import { DEFAULT_INGEST_OPTIONS, type IngestOptions } from '../../contract/ingestOptions.js';
import { integer, orNull } from './fields.js';
import { stepFields } from './ingest.js';
import type { Shape } from './inferred.js';
import { named } from './reference.js';
import { embeddingModel, mediaType, transcriptionService } from './enums.js';

const defaults = DEFAULT_INGEST_OPTIONS;
const flag = () => Joi.boolean().default(false);

/** Options of every operation that accepts a file's content. */
export const chunkFields = () => ({
  chunk_size: orNull(integer().min(1), defaults.chunkSize),
  // As for scrapes: only a given overlap can be invalid.
  chunk_overlap: orNull(integer().min(0).less(Joi.ref('chunk_size')), defaults.chunkOverlap),
  skip_embedding_generation: flag(),
  ...stepFields(),
});

/** Options for reading files of any type. */
export const readingFields = () => ({
  embedding_model: embeddingModel().default(DEFAULT_EMBEDDING_MODEL),
  generate_sparse_vectors: flag(),
  set_page_as_boundary: flag(),
  prepend_filename_to_chunks: flag(),
  max_items_per_chunk: orNull(integer().greater(0)),
  parse_pdf_tables_with_ocr: flag(),
  detect_audio_language: flag(),
  transcription_service: orNull(transcriptionService()),
  include_speaker_labels: flag(),
  media_type: orNull(mediaType()),
  split_rows: flag(),
});

/** Days for which unused vectors stay in hot storage. */
export const coldStorageFields = () => ({
  enable_cold_storage: flag(),
  hot_storage_time_to_live: orNull(integer().min(1)),
});

export const coldStorage = () =>
  named('ColdStorageProps', Joi.object(coldStorageFields())).default({ enable_cold_storage: false });

export type ColdStorageBody = Shape<ReturnType<typeof coldStorageFields>>;

/** For operations without options for reading. */
export type UploadBody = Shape<ReturnType<typeof chunkFields>> &
  Pick<ReadingBody, 'embedding_model' | 'generate_sparse_vectors'> &
  Partial<ReadingBody>;
type ReadingBody = Shape<ReturnType<typeof readingFields>>;

/** Converts the options of a request to ours. @param useOcr its field name differs between operations */
export const toUploadIngest = (body: UploadBody, useOcr = false): IngestOptions => ({
  ...defaults,
  chunkSize: body.chunk_size,
  chunkOverlap: Math.min(body.chunk_overlap, body.chunk_size - 1),
  embeddingModel: body.embedding_model,
  skipEmbeddingGeneration: body.skip_embedding_generation,
  generateChunksOnly: body.generate_chunks_only,
  storeFileOnly: body.store_file_only,
  generateSparseVectors: body.generate_sparse_vectors,
  prependFilenameToChunks: body.prepend_filename_to_chunks ?? false,
  setPageAsBoundary: body.set_page_as_boundary ?? false,
  maxItemsPerChunk: body.max_items_per_chunk ?? null,
  splitRows: body.split_rows ?? false,
  useOcr,
  parsePdfTablesWithOcr: body.parse_pdf_tables_with_ocr ?? false,
  detectAudioLanguage: body.detect_audio_language ?? false,
  transcriptionService: body.transcription_service ?? null,
  includeSpeakerLabels: body.include_speaker_labels ?? false,
  mediaType: body.media_type ?? null,
});

/** OCR settings of a record; absent unless OCR was requested. */
export const toOcrProperties = ({ useOcr = false, parsePdfTablesWithOcr = false }: IngestOptions) =>
  useOcr ? { use_ocr: true, parse_pdf_tables_with_ocr: parsePdfTablesWithOcr } : {};

/** A time to live without cold storage has no effect. */
export const toColdStorage = ({ enable_cold_storage: enabled, hot_storage_time_to_live: days }: ColdStorageBody) => ({
  supportsColdStorage: enabled,
  hotStorageTimeToLive: enabled ? (days ?? null) : null,
});
