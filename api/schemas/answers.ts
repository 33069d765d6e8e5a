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
    file_format: named('FileFormats', Joi.string().valid(...Object.keys(FILE_FORMATS), ...SERVICE_FORMATS)),
    file_size: integer(),
    num_characters: integer(),
    num_tokens: integer(),
    num_embeddings: integer(),
    mime_type: text(),
  }),
);

const chunkProperties = named(
  'ChunkProperties',
  Joi.object({
    set_page_as_boundary: Joi.boolean().required(),
    prepend_filename_to_chunks: Joi.boolean().required(),
    max_items_per_chunk: integer(),
  }),
);

const embeddingProperties = Joi.object().pattern(
  embeddingModel(),
  named(
    'EmbeddingProperties',
    Joi.object({
      chunk_size: nullable(integer()).required(),
      chunk_overlap: nullable(integer()).required(),
      served_by: extension(text()),
      dimensions: extension(integer()),
    }),
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
    id: integer(),
    source: sourceType(),
    organization_id: integer(),
    organization_user_id: nullable(integer()),
    organization_supplied_user_id: Joi.string(),
    organization_user_data_source_id: nullable(integer()),
    external_file_id: Joi.string(),
    external_url: nullable(text()),
    sync_status: fileSyncStatus(),
    sync_error_message: nullable(text()),
    last_sync: nullable(timestamp()),
    tags: nullable(object()),
    file_statistics: nullable(fileStatistics),
    file_metadata: nullable(object()),
    embedding_properties: nullable(embeddingProperties),
    chunk_size: nullable(integer()),
    chunk_overlap: nullable(integer()),
    chunk_properties: nullable(chunkProperties),
    ocr_properties: object(),
    ocr_job_started_at: nullable(timestamp()),
    name: nullable(text()),
    parent_id: nullable(integer()),
    enable_auto_sync: nullable(Joi.boolean()),
    presigned_url: nullable(text()),
    parsed_text_url: nullable(text()),
    additional_presigned_urls: nullable(object()),
    skip_embedding_generation: Joi.boolean(),
    source_created_at: nullable(timestamp()),
    generate_sparse_vectors: nullable(Joi.boolean()),
    request_id: nullable(text()),
    upload_id: nullable(text()),
    sync_properties: object(),
    messages_metadata: object(),
    file_contents_deleted: Joi.boolean(),
    supports_cold_storage: Joi.boolean(),
    hot_storage_time_to_live: nullable(integer()),
    embedding_storage_status: named('EmbeddingStorageStatus', Joi.string().valid(...EMBEDDING_STORAGE_STATUSES)),
    created_at: timestamp(),
    updated_at: timestamp(),
    ...workflowFields,
  }),
);

export const chunkRecord = named(
  'EmbeddingAndChunk',
  wholeRecord({
    user_file_id: integer(),
    chunk_index: integer(),
    source_content: text(),
    embedding: nullable(Joi.array().items(Joi.number())),
    content_metadata: object(),
  }),
);

export const documentRecord = named(
  'DocumentResponse',
  Joi.object({
    content: text().required(),
    file_id: integer().required(),
    parent_file_id: nullable(integer()),
    source: nullable(text()),
    source_url: nullable(text()),
    source_type: nullable(sourceType()),
    presigned_url: nullable(text()),
    tags: nullable(object()),
    vector: nullable(Joi.array().items(Joi.number())).required(),
    score: nullable(Joi.number()),
    rank: nullable(Joi.number()),
    content_metadata: nullable(object()),
    chunk_index: nullable(integer()),
  }),
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
