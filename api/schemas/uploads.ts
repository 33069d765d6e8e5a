import Joi from 'joi';

import { DEFAULT_EMBEDDING_MODEL } from '../../contract/embeddingModels.js';
import { DEFAULT_INGEST_OPTIONS, type IngestOptions } from '../../contract/ingestOptions.js';
import { MEDIA_TYPES } from '../../contract/mediaTypes.js';
import { TRANSCRIPTION_SERVICES } from '../../contract/uploads.js';
import { integer, orNull } from './fields.js';
import { embeddingModel, stepFields } from './ingest.js';
import type { Shape } from './inferred.js';

const defaults = DEFAULT_INGEST_OPTIONS;
const flag = () => Joi.boolean().default(false);

/** What every operation that takes a file's content lets its caller choose. */
export const chunkFields = () => ({
  chunk_size: orNull(integer().min(1), defaults.chunkSize),
  // As for scrapes: only a given overlap can be wrong.
  chunk_overlap: orNull(integer().min(0).less(Joi.ref('chunk_size')), defaults.chunkOverlap),
  skip_embedding_generation: flag(),
  ...stepFields(),
});

/** How a file is to be read: the options of those that may be of any type. */
export const readingFields = () => ({
  embedding_model: embeddingModel().default(DEFAULT_EMBEDDING_MODEL),
  generate_sparse_vectors: flag(),
  set_page_as_boundary: flag(),
  prepend_filename_to_chunks: flag(),
  max_items_per_chunk: orNull(integer().greater(0)),
  parse_pdf_tables_with_ocr: flag(),
  detect_audio_language: flag(),
  transcription_service: orNull(Joi.string().valid(...TRANSCRIPTION_SERVICES)),
  include_speaker_labels: flag(),
  media_type: orNull(Joi.string().valid(...MEDIA_TYPES)),
  split_rows: flag(),
});

/** Days that vectors stay at hand after they were last asked for. */
export const coldStorageFields = () => ({
  enable_cold_storage: flag(),
  hot_storage_time_to_live: orNull(integer().min(1)),
});

export const coldStorage = () => Joi.object(coldStorageFields()).default({ enable_cold_storage: false });

export type ColdStorageBody = Shape<ReturnType<typeof coldStorageFields>>;

/** Some operations have no options for reading. */
export type UploadBody = Shape<ReturnType<typeof chunkFields>> &
  Pick<ReadingBody, 'embedding_model' | 'generate_sparse_vectors'> &
  Partial<ReadingBody>;
type ReadingBody = Shape<ReturnType<typeof readingFields>>;

/** The wire's options in our words. @param useOcr has another name in each operation */
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

/** What a record says of OCR: nothing where none was asked for. */
export const toOcrProperties = ({ useOcr = false, parsePdfTablesWithOcr = false }: IngestOptions) =>
  useOcr ? { use_ocr: true, parse_pdf_tables_with_ocr: parsePdfTablesWithOcr } : {};

/** A time to live means nothing where vectors are never put away. */
export const toColdStorage = ({ enable_cold_storage: enabled, hot_storage_time_to_live: days }: ColdStorageBody) => ({
  supportsColdStorage: enabled,
  hotStorageTimeToLive: enabled ? (days ?? null) : null,
});
