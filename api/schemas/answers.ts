import Joi from 'joi';

import { FILE_FORMATS } from '../../contract/fileFormats.js';
import { EMBEDDING_STORAGE_STATUSES } from '../../contract/statuses.js';
import { integer, nullable, timestamp } from './fields.js';
import { extension, named } from './reference.js';
import { embeddingModel, sourceType, fileSyncStatus } from './enums.js';

/** Returns the schema of a record that always has every key. */
export const wholeRecord = (fields: Record<string, Joi.Schema>): Joi.ObjectSchema =>
  Joi.object(Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, schema.required()])));

const object = () => Joi.object().unknown();
const text = () => Joi.string().allow('');

/** File formats of connected sources, in addition to the upload formats, as listed in the contract. */
const SERVICE_FORMATS = [
  ...[
    'NOTION',
    'GOOGLE_DOCS',
    'GOOGLE_SHEETS',
    'GOOGLE_SLIDES',
    'INTERCOM',
    'CONFLUENCE',
    'RSS_FEED',
    'GMAIL',
    'OUTLOOK',
  ],
  ...['ZENDESK', 'FRESHDESK', 'WEB_SCRAPE', 'GITBOOK', 'SALESFORCE', 'GITHUB', 'SLACK', 'GURU', 'SERVICENOW', 'GONG'],
  'DOCUMENT360',
];

const fileStatistics = named(
  'FileStatistics',
  Joi.object({
    file_format: named(
      'FileFormats',
      Joi.string()
        .valid(...Object.keys(FILE_FORMATS), ...SERVICE_FORMATS)
        .description(
          'Format of a file as its content shows it, whatever its name says; for items of connected sources the service.',
        ),
    ),
    file_size: integer().description('Size of the original in bytes.'),
    num_characters: integer().description('Length of the extracted text in characters.'),
    num_tokens: integer().description(
      'Length of the extracted text in cl100k tokens, as most embedding providers count them.',
    ),
    num_embeddings: integer().description('Number of chunks that have a vector.'),
    mime_type: text().description('Media type of the original, such as `application/pdf`.'),
  }).description('Size and length of a file. Fields that are not known yet are absent.'),
);

const chunkProperties = named(
  'ChunkProperties',
  Joi.object({
    set_page_as_boundary: Joi.boolean().required().description('Whether a chunk ends at the end of each page.'),
    prepend_filename_to_chunks: Joi.boolean()
      .required()
      .description('Whether each chunk begins with the name of its file.'),
    max_items_per_chunk: integer().description(
      'Most rows or items of a table or JSON file in one chunk. Absent if there is no limit.',
    ),
  }).description('Options with which the text of a file was split.'),
);

const embeddingProperties = Joi.object().pattern(
  embeddingModel(),
  named(
    'EmbeddingProperties',
    Joi.object({
      chunk_size: nullable(integer())
        .required()
        .description('Largest length of a chunk in tokens; null for a picture, which has no chunks.'),
      chunk_overlap: nullable(integer())
        .required()
        .description('Tokens that a chunk repeats from the one before; null for a picture.'),
      served_by: extension(text()).description(
        'Vector space that holds the vectors, such as `local/all-minilm-l6-v2/384`. Absent until vectors exist.',
      ),
      dimensions: extension(integer()).description('Numbers per vector. Absent until vectors exist.'),
    }).description('How the chunks of a file were made and embedded.'),
  ),
);

/** Fields that we add to records: their workflow and its URL. */
export const workflowFields = {
  workflow_id: extension(
    nullable(Joi.string()).description(
      'Id of the workflow that works on the record, else of the last one that did. Null if there was none.',
    ),
  ),
  workflow_url: extension(
    nullable(Joi.string()).description(
      "Address of that workflow in Temporal's Web UI. Null if the operator has not set TEMPORAL_UI_URL.",
    ),
  ),
};

/** Schema of a file record; all keys are in every response. */
export const fileRecord = named(
  'UserFile',
  wholeRecord({
    id: integer().description('Number that identifies the file in all requests. It never changes.'),
    source: sourceType(),
    organization_id: integer().description('Number of the organization that owns the file.'),
    organization_user_id: nullable(integer()).description('Number of the end user who owns the file.'),
    organization_supplied_user_id: Joi.string().description(
      'Your own name for that end user, as sent in `customer-id`.',
    ),
    organization_user_data_source_id: nullable(integer()).description(
      'Data source (connected account or feed) that the file came from; null for uploads and scrapes.',
    ),
    external_file_id: Joi.string().description(
      'Id of the file at its source: an address for web pages, 32 random hex digits for uploads. Unique within the data source.',
    ),
    external_url: nullable(text()).description(
      'Address at which people open the file at its source; null if it has none.',
    ),
    sync_status: fileSyncStatus(),
    sync_error_message: nullable(text()).description(
      'Why the last sync failed and what to do next; null if it did not fail. Show it to people: its words may change.',
    ),
    last_sync: nullable(timestamp()).description('When the content was last read with success; null if it never was.'),
    tags: nullable(object()).description(
      "Tags of the file, with those of its data source. The file's own tags take precedence.",
    ),
    file_statistics: nullable(fileStatistics).description(
      'Size and length of the content; null until the file was read.',
    ),
    file_metadata: nullable(object()).description(
      'Facts about the content that depend on its format and source, such as `ocr_pages`, `duration_sec` or `attachments_skipped`.',
    ),
    embedding_properties: nullable(embeddingProperties).description(
      'Chunk lengths and vector space of the file, by the id of its embedding model.',
    ),
    chunk_size: nullable(integer()).description('Largest length of a chunk in tokens.'),
    chunk_overlap: nullable(integer()).description('Tokens that each chunk repeats from the one before.'),
    chunk_properties: nullable(chunkProperties).description('Further options with which the text was split.'),
    ocr_properties: object().description('Options and results of OCR; empty without OCR.'),
    ocr_job_started_at: nullable(timestamp()).description('When OCR of the file last started; null if it never did.'),
    name: nullable(text()).description('Name of the file, or title of the page; null if it has none.'),
    parent_id: nullable(integer()).description(
      'File that this one belongs to: the scrape of a page, the mail of an attachment, the folder of an item. Null for root files.',
    ),
    enable_auto_sync: nullable(Joi.boolean()).description(
      'Whether the file is synced again automatically; null if its source decides.',
    ),
    presigned_url: nullable(text()).description(
      'Link to the original, valid without credentials until it expires. Null unless the request asked for it and the original is stored.',
    ),
    parsed_text_url: nullable(text()).description(
      'Link to the extracted text, valid without credentials until it expires. Null unless the request asked for it and the text exists.',
    ),
    additional_presigned_urls: nullable(object()).description(
      'Links to further contents by their names. Null unless the request asked for them; no source stores any yet.',
    ),
    skip_embedding_generation: Joi.boolean().description(
      '`true` if the file has chunks without vectors, so that searches do not find it.',
    ),
    source_created_at: nullable(timestamp()).description(
      'When the file was created at its source; null if the source does not say.',
    ),
    generate_sparse_vectors: nullable(Joi.boolean()).description(
      'Whether chunks also have sparse vectors, which `hybrid_search` uses.',
    ),
    request_id: nullable(text()).description(
      'Id of the request that created or last synced the file: the one you sent, or one that the server made.',
    ),
    upload_id: nullable(text()).description(
      'Id of the upload or selection that the file was created with; null if there is none.',
    ),
    sync_properties: object().description(
      'Options of the sync that differ from their defaults. Only for files of data sources.',
    ),
    messages_metadata: object().description(
      'Facts about the conversation of a message, such as participants; empty for other files.',
    ),
    file_contents_deleted: Joi.boolean().description(
      '`true` after a deletion with `preserve_file_record`: the record stays, its content is gone.',
    ),
    supports_cold_storage: Joi.boolean().description(
      'Whether vectors move to cold storage when no search has used them for some time.',
    ),
    hot_storage_time_to_live: nullable(integer()).description(
      'Days without use after which vectors move to cold storage; null without cold storage.',
    ),
    embedding_storage_status: named(
      'EmbeddingStorageStatus',
      Joi.string()
        .valid(...EMBEDDING_STORAGE_STATUSES)
        .description(
          'Where the vectors of a file are. Searches find `HOT_STORAGE` and `HOT_TO_COLD`; `COLD_STORAGE` and `COLD_TO_HOT` are not searched.',
        ),
    ),
    created_at: timestamp().description('When the record was created.'),
    updated_at: timestamp().description('When the record last changed.'),
    ...workflowFields,
  }).description(
    'A file of an end user: an upload, a web page, a scrape as a whole, or an item of a connected account. All fields are always present.',
  ),
);

export const chunkRecord = named(
  'EmbeddingAndChunk',
  wholeRecord({
    user_file_id: integer().description('`id` of the file that the chunk belongs to.'),
    chunk_index: integer().description('Position of the chunk in its file, counted from 0.'),
    source_content: text().description('Text of the chunk that was embedded.'),
    embedding: nullable(Joi.array().items(Joi.number())).description(
      'Vector of the chunk. Null unless the request has `include_vectors: true`, and for chunks without a vector or in cold storage.',
    ),
    content_metadata: object().description(
      'Where the chunk is in its file: pages (`pg_start`, `pg_end`) and boxes, headings, or seconds of a recording. Empty if the format has none.',
    ),
  }).description('A chunk of a file: a part of its text, with its vector on request.'),
);

export const documentRecord = named(
  'DocumentResponse',
  Joi.object({
    content: text().required().description('Text of the chunk; empty for a picture that was embedded as a picture.'),
    file_id: integer().required().description('`id` of the file that the chunk belongs to.'),
    parent_file_id: nullable(integer()).description(
      '`id` of the parent of that file, such as the scrape of a page; null for root files.',
    ),
    source: nullable(text()).description('Name of the file, or title of the page.'),
    source_url: nullable(text()).description(
      'Address at which people open the file at its source; null if it has none. Link to it in citations.',
    ),
    source_type: nullable(sourceType()),
    presigned_url: nullable(text()).description(
      'Link to the original, valid for an hour. Null without `include_raw_file`.',
    ),
    tags: nullable(object()).description('Tags of the file and of its data source. Null without `include_tags`.'),
    vector: nullable(Joi.array().items(Joi.number()))
      .required()
      .description('Vector of the chunk. Null without `include_vectors`.'),
    score: nullable(Joi.number()).description(
      'How well the chunk matches, higher is better: cosine similarity; with `hybrid_search` a weighted sum from 0 to 1; with `rerank` the score of the reranker. Compare scores only within one answer.',
    ),
    rank: nullable(Joi.number()).description('Position in the answer, counted from 1.'),
    content_metadata: nullable(object()).description(
      'Where the chunk is in its file: pages (`pg_start`, `pg_end`) and boxes, headings, or seconds of a recording; with `include_file_level_metadata` also facts about the file.',
    ),
    chunk_index: nullable(integer()).description('Position of the chunk in its file, counted from 0.'),
  }).description('A chunk that a search found, with its file and score.'),
);

/** Returns the schema of a page of records with the number of all matches. @param name its name in the reference */
export const listOf = (name: string, record: Joi.Schema) =>
  named(
    name,
    Joi.object({
      results: Joi.array().items(record).required().description('Records of this page, in the requested order.'),
      count: integer().required().description('Number of all matching records, not only those of this page.'),
    }).description('A page of a list, with the number of all matches.'),
  );

export const success = named(
  'GenericSuccessResponse',
  Joi.object({
    success: Joi.boolean()
      .required()
      .description('`true`: the request was accepted. Work that it started may still be in progress.'),
  }).description('Confirmation of a request that returns no record.'),
);
