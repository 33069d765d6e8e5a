import Joi from 'joi';

import { FILE_FORMATS, SERVICE_FORMATS } from '../../contract/files/fileFormats.js';
import { EMBEDDING_STORAGE_STATUSES } from '../../contract/files/statuses.js';
import { byName, integer, nullable, openObject, timestamp } from './fields.js';
import { extension, named } from './reference.js';
import { embeddingModel, sourceType, fileSyncStatus } from './enums.js';
import { storedTags } from './tags.js';

/** Returns the schema of a record that always has every key. */
export const wholeRecord = (fields: Record<string, Joi.Schema>): Joi.ObjectSchema =>
  Joi.object(Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.required()])));

const text = () => Joi.string().allow('');

const fileStatistics = named(
  'FileStatistics',
  Joi.object({
    file_format: named(
      'FileFormats',
      Joi.string()
        .valid(...Object.keys(FILE_FORMATS), ...SERVICE_FORMATS)
        .description(
          'Format of the content of a file, such as `PDF`. For records of a service, the service, such as `SALESFORCE`.',
        ),
    ).description('Format in which the content was read, such as `PDF`, `HTML` or `SALESFORCE`.'),
    file_size: integer().description('Size of the uploaded or fetched content in bytes, not of the extracted text.'),
    num_characters: integer().description('Number of characters of the extracted text, without overlaps of chunks.'),
    num_tokens: integer().description('Number of tokens (cl100k) of the extracted text, without overlaps of chunks.'),
    num_embeddings: integer().description('Number of vectors of the file. It stays while they are in cold storage.'),
    mime_type: text().description('Media type that was detected in the content, such as `application/pdf`.'),
  }).description("Format, size and counts of a file's content. A field is absent while its value is unknown."),
);

const chunkProperties = named(
  'ChunkProperties',
  Joi.object({
    set_page_as_boundary: Joi.boolean()
      .required()
      .description(
        'Whether chunks end at page boundaries, so that no chunk spans two pages. It applies to PDF and pictures only.',
      ),
    prepend_filename_to_chunks: Joi.boolean()
      .required()
      .description('Whether the text of each chunk begins with the name of its file, which is embedded with it.'),
    max_items_per_chunk: integer().description(
      'Maximum number of table rows or JSON objects per chunk. Absent: only the chunk size limits a chunk.',
    ),
  }).description('Options of a file that determine where its chunks begin and end.'),
);

const embeddingProperties = Joi.object().pattern(
  embeddingModel(),
  named(
    'EmbeddingProperties',
    Joi.object({
      chunk_size: nullable(integer())
        .required()
        .description(
          'Maximum number of tokens (cl100k) per chunk. Null for a picture whose vector was computed from the image itself.',
        ),
      chunk_overlap: nullable(integer())
        .required()
        .description(
          'Maximum number of tokens (cl100k) that neighbouring chunks share. Null for a picture whose vector was computed from the image itself.',
        ),
      served_by: extension(text()).description(
        'Name of the vector space of the vectors, such as `openai-3-small-1536`, as in `served_by` of `GET /models`. Absent while the file has no vectors.',
      ),
      dimensions: extension(integer()).description(
        'Number of values in each vector. Absent while the file has no vectors.',
      ),
    }).description('Chunk size and overlap of a file, and the vector space of its vectors.'),
  ),
);

/** Extension fields of records: id and URL of their workflow. */
export const workflowFields = {
  workflow_id: extension(
    nullable(Joi.string()).description(
      'Id of the Temporal workflow that processes the record, or that processed it last. Null if there was none.',
    ),
  ),
  workflow_url: extension(
    nullable(Joi.string()).description(
      "Address of the workflow `workflow_id` in Temporal's Web UI. Null if there is no workflow, or if the server setting `TEMPORAL_UI_URL` is not set.",
    ),
  ),
};

/** Schema of a file record; all keys are in every response. */
export const fileRecord = named(
  'UserFile',
  wholeRecord({
    id: integer().description('Id of the file, for `file_id` and `ids` of requests. Syncs do not change it.'),
    source: sourceType().description('Where the file comes from; for an upload its format, such as `PDF`.'),
    organization_id: integer().description(
      '`id` of the organization that owns the file, as `GET /organization` returns it.',
    ),
    organization_user_id: nullable(integer()).description(
      '`id` of the end user that owns the file, as `POST /list_users` returns it. Never null in this version.',
    ),
    organization_supplied_user_id: Joi.string().description(
      'Your id of the end user that owns the file, as in the header `customer-id`.',
    ),
    organization_user_data_source_id: nullable(integer()).description(
      '`id` of the data source that the file came from; null for uploads and scrapes.',
    ),
    external_file_id: Joi.string().description(
      'Id of the file at its source, unique within its data source. For uploads: 32 random hexadecimal digits.',
    ),
    external_url: nullable(text()).description(
      'URL of the file at its source, where a person can open it. Null if it has none.',
    ),
    sync_status: fileSyncStatus().description(
      'State of the file now. `READY`: it can be searched. `SYNC_ERROR`: see `sync_error_message`.',
    ),
    sync_error_message: nullable(text()).description('Why the file failed or waits, and what to do; null otherwise.'),
    last_sync: nullable(timestamp()).description(
      'When a sync last succeeded; null before. A scheduled sync that finds no change leaves it.',
    ),
    tags: nullable(storedTags()).description(
      'Tags of the data source and of the file; for the same key, that of the file applies. Never null in this version.',
    ),
    file_statistics: nullable(fileStatistics).description(
      'Format, size and counts of the content. Null before they are known.',
    ),
    file_metadata: nullable(openObject()).description(
      'Further facts about the file by name, such as `ocr_pages` or `limit_reached`. Its source and format determine which exist. Null if there are none.',
    ),
    embedding_properties: nullable(embeddingProperties).description(
      'Object with one key, the embedding model of the file, such as `OPENAI`. Its value has the chunk size and the vector space. Never null in this version.',
    ),
    chunk_size: nullable(integer()).description(
      'Maximum number of tokens (cl100k) per chunk, as requested. Never null in this version.',
    ),
    chunk_overlap: nullable(integer()).description(
      'Maximum number of tokens that neighbouring chunks share, as requested. Never null in this version.',
    ),
    chunk_properties: nullable(chunkProperties).description(
      'Options of chunking besides size and overlap, as the latest request set them. Never null in this version.',
    ),
    ocr_properties: openObject().description(
      'Options of OCR as requested, such as `parse_pdf_tables_with_ocr` and `ocr_languages`. Empty without OCR.',
    ),
    ocr_job_started_at: nullable(timestamp()).description('When OCR of the file last started; null if it never did.'),
    name: nullable(text()).description('Name of the uploaded file, or title at its source. Null if it has none.'),
    parent_id: nullable(integer()).description(
      '`id` of the scrape or feed that contains the file, or of the file that it is attached to; null at the top.',
    ),
    enable_auto_sync: nullable(Joi.boolean()).description(
      'Whether the file has its own sync schedule, such as a repeated scrape. Null if no request set it.',
    ),
    presigned_url: nullable(text()).description(
      'Temporary URL of the original. Null unless it was requested and the file has one.',
    ),
    parsed_text_url: nullable(text()).description(
      'Temporary URL of the extracted text. Null unless it was requested and the file has text.',
    ),
    additional_presigned_urls: nullable(byName(Joi.string())).description(
      '`{}` if `include_additional_files` was set, else null: no source stores additional files yet.',
    ),
    skip_embedding_generation: Joi.boolean().description(
      'Whether vectors were omitted, as the upload or sync requested. Chunks of the file can be listed, but searches do not find them.',
    ),
    source_created_at: nullable(timestamp()).description(
      'When the content was created at its source; null if that is unknown.',
    ),
    generate_sparse_vectors: nullable(Joi.boolean()).description(
      'Whether chunks also get sparse vectors, by which `hybrid_search` ranks them by their words. Never null in this version.',
    ),
    request_id: nullable(text()).description(
      'Id of the request that the latest sync belongs to, as events of the file repeat it. Null if there is none.',
    ),
    upload_id: nullable(text()).description(
      'Id of the upload that created or last overwrote the file, by which `upload_ids` of `POST /user_files_v2` filters. Null for files from the web and from connected accounts.',
    ),
    sync_properties: openObject().description(
      'Options of `file_sync_config` that apply to the file and differ from their defaults; only for files of a data source.',
    ),
    messages_metadata: openObject().description('Reserved for compatibility: always `{}` in this version.'),
    file_contents_deleted: Joi.boolean().description(
      '`true`: contents and chunks were deleted with `preserve_file_record`, and only the record is left.',
    ),
    supports_cold_storage: Joi.boolean().description(
      'Whether unused vectors of the file may move to cold storage, after `hot_storage_time_to_live` days.',
    ),
    hot_storage_time_to_live: nullable(integer()).description(
      'Days without use after which the vectors move to cold storage. Null: after 30 days if `supports_cold_storage` is `true`, otherwise never.',
    ),
    embedding_storage_status: named(
      'EmbeddingStorageStatus',
      Joi.string()
        .valid(...EMBEDDING_STORAGE_STATUSES)
        .description(
          'Where vectors are. `HOT_STORAGE` and `HOT_TO_COLD` (about to be moved) are searched, `COLD_STORAGE` and `COLD_TO_HOT` (being moved back) are not.',
        ),
    ).description('Whether searches find the file: its vectors are in hot storage, in cold storage, or moving.'),
    created_at: timestamp().description(
      'When the service created the record, in UTC: before it fetched or processed the content. Later syncs keep it.',
    ),
    updated_at: timestamp().description(
      'When any field of the record last changed, in UTC. Lists can be sorted by it.',
    ),
    ...workflowFields,
  }).description('A file of an end user: its origin, state, options and statistics. All keys are in every response.'),
);

export const chunkRecord = named(
  'EmbeddingAndChunk',
  wholeRecord({
    user_file_id: integer().description(
      '`id` of the file that the chunk is part of, for `ids` of `POST /user_files_v2`.',
    ),
    chunk_index: integer().description('Position of the chunk in its file, counted from 0.'),
    source_content: text().description(
      'Text of the chunk. It is empty for a picture that was embedded without OCR, by a model for images.',
    ),
    embedding: nullable(Joi.array().items(Joi.number())).description(
      'Vector of the chunk. Null unless `include_vectors` is set, and for chunks without vectors or in cold storage.',
    ),
    content_metadata: openObject().description(
      'Position of the chunk in its file: first and last page (`pg_start`, `pg_end`) of a document, or start and end in seconds (`start_offset_sec`, `end_offset_sec`) of a recording.',
    ),
  }).description('A stored chunk of a file, with its place in the file and on request its vector.'),
);

export const documentRecord = named(
  'DocumentResponse',
  Joi.object({
    content: text()
      .required()
      .description(
        'Text of the chunk. It is empty for a picture that was embedded without OCR, by a model for images.',
      ),
    file_id: integer()
      .required()
      .description('`id` of the file that contains the chunk, for `ids` of `POST /user_files_v2`.'),
    parent_file_id: nullable(integer()).description(
      '`id` of the scrape or feed that contains the file, or of the file that it is attached to. Null if none.',
    ),
    source: nullable(text()).description('Name of the file, not its source type. Null if the file has no name.'),
    source_url: nullable(text()).description(
      'Address of the file at its source, where a person can open it. Null if it has none.',
    ),
    source_type: nullable(sourceType()).description(
      'Where the file comes from, such as `WEB_SCRAPE` or `PDF`. Never null in this version.',
    ),
    presigned_url: nullable(text()).description(
      'Temporary address of the original, valid for one hour. Null unless `include_raw_file` is set.',
    ),
    tags: nullable(storedTags()).description(
      'Tags of the file and its data source. Null unless `include_tags` is set.',
    ),
    vector: nullable(Joi.array().items(Joi.number()))
      .required()
      .description('Embedding of the chunk, a list of numbers. Null unless `include_vectors` is set.'),
    score: nullable(Joi.number()).description(
      'How well the chunk matches: cosine similarity; with `hybrid_search` a weighted sum from 0 to 1; with `rerank` the score of the reranker. Never null in this version.',
    ),
    rank: nullable(Joi.number()).description(
      'Position of the chunk in the results, counted from 1. Never null in this version.',
    ),
    content_metadata: nullable(openObject()).description(
      'Where the chunk is in its file; with `include_file_level_metadata` also the metadata of the file. Never null in this version.',
    ),
    chunk_index: nullable(integer()).description(
      'Position of the chunk in its file, counted from 0. Never null in this version.',
    ),
  }).description('A chunk that matches a search, with its score and the file that contains it.'),
);

/**
 * Returns the schema of a page of records with the number of all matches.
 * @param name its name in the reference
 * @param records what the list contains, in the plural
 */
export const listOf = (name: string, record: Joi.Schema, records: string) =>
  named(
    name,
    Joi.object({
      results: Joi.array()
        .items(record)
        .required()
        .description(`The ${records} of this page, in the order of the list. Empty after the last page.`),
      count: integer().required().description(`Number of all ${records} that match, not only of those on this page.`),
    }).description(`One page of a list of ${records}, and the number of all that match.`),
  );

export const success = named(
  'GenericSuccessResponse',
  Joi.object({
    success: Joi.boolean()
      .required()
      .description('`true`: the request was accepted. Work that it started may still be in progress.'),
  }).description(
    'Response of operations that return no record. Errors have another HTTP status and the schema `ErrorResponse`.',
  ),
);
