import Joi from 'joi';

import { DEFAULT_EMBEDDING_MODEL } from '../../contract/vectors/embeddingModels.js';
import { DEFAULT_INGEST_OPTIONS, type IngestOptions } from '../../contract/files/ingestOptions.js';
import { integer, orNull } from './fields.js';
import { stepFields } from './ingest.js';
import type { Shape } from './inferred.js';
import { named } from './reference.js';
import { embeddingModel, mediaType, transcriptionService } from './enums.js';
import { ocrLanguages } from './ocr.js';

const defaults = DEFAULT_INGEST_OPTIONS;
const flag = () => Joi.boolean().default(false);

/** Options of /uploadfile, /upload_text and /upload_file_from_url. */
export const chunkFields = () => ({
  chunk_size: orNull(integer().min(1), defaults.chunkSize).description(
    'Maximum number of tokens (cl100k) per chunk, a prepended file name included. Null means the default.',
  ),
  // Only an overlap that the request contains can be invalid: the default is reduced for a small chunk_size.
  chunk_overlap: orNull(integer().min(0).less(Joi.ref('chunk_size')), defaults.chunkOverlap).description(
    'Maximum number of tokens that neighbouring chunks share. It must be less than `chunk_size` (422); the default is reduced for a smaller `chunk_size`. Null means the default.',
  ),
  skip_embedding_generation: flag().description(
    '`true`: the file is chunked but gets no vectors, so searches do not find it. Its chunks can be listed.',
  ),
  ...stepFields(),
});

/** Options for reading files of any type. */
export const readingFields = () => ({
  embedding_model: embeddingModel()
    .default(DEFAULT_EMBEDDING_MODEL)
    .description(
      'Model that embeds the chunks. Searches find the file only if they name the same model. A picture without OCR is embedded with `VERTEX_MULTIMODAL` instead.',
    ),
  generate_sparse_vectors: flag().description(
    '`true`: chunks also get sparse vectors, by which a search with `hybrid_search` ranks chunks by their words. It has no effect with `skip_embedding_generation` or `generate_chunks_only`.',
  ),
  set_page_as_boundary: flag().description(
    '`true`: no chunk spans two pages, and each has its page and position in `content_metadata`. For PDF and pictures; other formats have no pages.',
  ),
  prepend_filename_to_chunks: flag().description(
    '`true`: each chunk begins with the name of the file, which counts in `chunk_size` and is embedded with it.',
  ),
  max_items_per_chunk: orNull(integer().greater(0)).description(
    'Maximum number of rows, or of objects, per chunk for CSV, TSV, XLSX and JSON; other formats ignore it. Null: as many as `chunk_size` allows.',
  ),
  parse_pdf_tables_with_ocr: flag().description(
    '`true`: OCR also finds tables, on scanned pages and on pages with text, and their rows become separate chunks. It has an effect only with OCR.',
  ),
  ocr_languages: ocrLanguages(),
  detect_audio_language: flag().description(
    '`true`: the transcription service detects the spoken language. Otherwise it assumes English.',
  ),
  transcription_service: orNull(transcriptionService()).description(
    'Service that transcribes a recording. Null: the server setting `TRANSCRIPTION_SERVICE`, or the first service with a key if it is not set. With a service without a key, the file ends in `SYNC_ERROR`.',
  ),
  include_speaker_labels: flag().description(
    '`true`: each passage of a transcript begins with the label of its speaker, such as `Speaker 0: `, and chunks have `speakers` in `content_metadata`.',
  ),
  media_type: orNull(mediaType()).description(
    'Accepted for compatibility and without effect: the content of a file determines its kind. It may be null.',
  ),
  split_rows: flag().description(
    '`true`: rows of tables are cut where a chunk is full. Otherwise a row stays whole if it fits a chunk. JSON ignores it.',
  ),
});

/** Returns the fields with the settings of cold storage. */
export const coldStorageFields = () => ({
  enable_cold_storage: flag().description(
    '`true`: vectors that no search has used for some days move to cold storage. Searches do not find them until they are moved back.',
  ),
  hot_storage_time_to_live: orNull(integer().min(1)).description(
    'Days without use after which vectors move to cold storage. Null means 30. It has no effect without `enable_cold_storage`.',
  ),
});

/** Returns the options of cold storage in requests that create one file. */
export const coldStorage = () =>
  named(
    'ColdStorageProps',
    Joi.object(coldStorageFields()).description('Whether, and when, the vectors of a file may move to cold storage.'),
  )
    .default({ enable_cold_storage: false })
    .description(
      'Whether, and after how many days without use, vectors move to cold storage, where searches do not find them. Default: never.',
    );

export type ColdStorageBody = Shape<ReturnType<typeof coldStorageFields>>;

/** Body of an operation that accepts a file's content; not every operation has all options for reading. */
export type UploadBody = Shape<ReturnType<typeof chunkFields>> &
  Pick<ReadingBody, 'embedding_model' | 'generate_sparse_vectors'> &
  Partial<ReadingBody>;
type ReadingBody = Shape<ReturnType<typeof readingFields>>;

/**
 * Converts the options of a request to the internal form.
 * @param useOcr whether OCR is requested; a parameter, because the field's name differs between operations
 */
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
  // Omitted if absent, so that the options equal those of records stored before the option existed.
  ...(body.ocr_languages ? { ocrLanguages: body.ocr_languages } : {}),
  detectAudioLanguage: body.detect_audio_language ?? false,
  transcriptionService: body.transcription_service ?? null,
  includeSpeakerLabels: body.include_speaker_labels ?? false,
  mediaType: body.media_type ?? null,
});

/** Returns the OCR settings of a record; absent unless OCR was requested. */
export const toOcrProperties = ({
  useOcr = false,
  parsePdfTablesWithOcr = false,
  ocrLanguages: languages,
}: IngestOptions) =>
  useOcr
    ? {
        use_ocr: true,
        parse_pdf_tables_with_ocr: parsePdfTablesWithOcr,
        ...(languages ? { ocr_languages: languages } : {}),
      }
    : {};

/** Returns the settings of cold storage. A time to live without cold storage has no effect. */
export const toColdStorage = ({ enable_cold_storage: enabled, hot_storage_time_to_live: days }: ColdStorageBody) => ({
  supportsColdStorage: enabled,
  hotStorageTimeToLive: enabled ? (days ?? null) : null,
});
