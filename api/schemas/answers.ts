import Joi from 'joi';

import { EMBEDDING_MODEL_IDS } from '../../contract/embeddingModels.js';
import { FILE_FORMATS } from '../../contract/fileFormats.js';
import { SOURCE_TYPES } from '../../contract/sources.js';
import { EMBEDDING_STORAGE_STATUSES, FILE_SYNC_STATUSES } from '../../contract/statuses.js';
import { integer, nullable, timestamp } from './fields.js';

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

const fileStatistics = Joi.object({
  file_format: Joi.string().valid(...Object.keys(FILE_FORMATS), ...SERVICE_FORMATS),
  file_size: integer(),
  num_characters: integer(),
  num_tokens: integer(),
  num_embeddings: integer(),
  mime_type: text(),
});

const chunkProperties = Joi.object({
  set_page_as_boundary: Joi.boolean().required(),
  prepend_filename_to_chunks: Joi.boolean().required(),
  max_items_per_chunk: integer(),
});

const embeddingProperties = Joi.object().pattern(
  Joi.string().valid(...EMBEDDING_MODEL_IDS),
  Joi.object({
    chunk_size: nullable(integer()).required(),
    chunk_overlap: nullable(integer()).required(),
    served_by: text(),
    dimensions: integer(),
  }),
);

/** Fields that we add to records: their workflow and its URL. */
export const workflowFields = { workflow_id: nullable(Joi.string()), workflow_url: nullable(Joi.string()) };

/** Schema of a file record; all keys are in every response. */
export const fileRecord = wholeRecord({
  id: integer(),
  source: Joi.string().valid(...SOURCE_TYPES),
  organization_id: integer(),
  organization_user_id: nullable(integer()),
  organization_supplied_user_id: Joi.string(),
  organization_user_data_source_id: nullable(integer()),
  external_file_id: Joi.string(),
  external_url: nullable(text()),
  sync_status: Joi.string().valid(...FILE_SYNC_STATUSES),
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
  embedding_storage_status: Joi.string().valid(...EMBEDDING_STORAGE_STATUSES),
  created_at: timestamp(),
  updated_at: timestamp(),
  ...workflowFields,
});

export const chunkRecord = wholeRecord({
  user_file_id: integer(),
  chunk_index: integer(),
  source_content: text(),
  embedding: nullable(Joi.array().items(Joi.number())),
  content_metadata: object(),
});

export const documentRecord = Joi.object({
  content: text().required(),
  file_id: integer().required(),
  parent_file_id: nullable(integer()),
  source: nullable(text()),
  source_url: nullable(text()),
  source_type: nullable(Joi.string().valid(...SOURCE_TYPES)),
  presigned_url: nullable(text()),
  tags: nullable(object()),
  vector: nullable(Joi.array().items(Joi.number())).required(),
  score: nullable(Joi.number()),
  rank: nullable(Joi.number()),
  content_metadata: nullable(object()),
  chunk_index: nullable(integer()),
});

/** Returns the schema of a page of records with the number of all matches. */
export const listOf = (record: Joi.Schema) =>
  Joi.object({ results: Joi.array().items(record).required(), count: integer().required() });
