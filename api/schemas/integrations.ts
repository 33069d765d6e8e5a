import Joi from 'joi';

import type { IngestOptions } from '../../contract/ingestOptions.js';
import { ITEM_ORDERS } from '../../contract/items.js';
import { ORDER_DIRECTIONS } from '../../contract/fileFilters.js';
import { SOURCE_TYPES } from '../../contract/sources.js';
import { TRANSCRIPTION_SERVICES, type TranscriptionService } from '../../contract/uploads.js';
import { wholeRecord } from './answers.js';
import { integer, nullable, orNull, strings, timestamp } from './fields.js';
import { HELPDESK_FILE_TYPES, idList, MAX_MEMBERS, pagination } from './listing.js';

const flag = () => Joi.boolean().default(false);

/** How files of a connection are to be read; what only other sources have is taken and means nothing to the rest. */
export interface FileSyncConfigBody {
  detect_audio_language: boolean;
  transcription_service?: TranscriptionService;
  include_speaker_labels: boolean;
  split_rows: boolean;
  generate_chunks_only: boolean;
  store_file_only: boolean;
  skip_file_processing: boolean;
}

export const fileSyncConfig = () =>
  orNull(
    Joi.object({
      auto_synced_source_types: Joi.array()
        .items(Joi.string().valid(...HELPDESK_FILE_TYPES))
        .default(['ARTICLE']),
      sync_attachments: flag(),
      detect_audio_language: flag(),
      transcription_service: orNull(Joi.string().valid(...TRANSCRIPTION_SERVICES)),
      include_speaker_labels: flag(),
      split_rows: flag(),
      generate_chunks_only: flag(),
      store_file_only: flag(),
      skip_file_processing: flag(),
      parsed_text_format: orNull(Joi.string().valid('PLAIN_TEXT', 'MARKDOWN')),
    }),
  );

/** The options of the files with what the configuration adds to them. */
export const withSyncConfig = (options: IngestOptions, config: FileSyncConfigBody | undefined): IngestOptions =>
  config === undefined
    ? options
    : {
        ...options,
        detectAudioLanguage: config.detect_audio_language,
        transcriptionService: config.transcription_service ?? null,
        includeSpeakerLabels: config.include_speaker_labels,
        splitRows: config.split_rows,
        generateChunksOnly: config.generate_chunks_only,
        storeFileOnly: config.store_file_only,
        skipFileProcessing: config.skip_file_processing,
      };

export const requestId = () => orNull(Joi.string().allow('').max(500));
export const success = Joi.object({ success: Joi.boolean().required() });
export const dataSourceId = () => Joi.object({ data_source_id: integer().required() });

/** Longest id that a source gives an item. */
const MAX_ITEM_ID = 2_048;
export const itemIds = () => strings(MAX_ITEM_ID);

/** Types that items of sources may have, and formats of their files: as the contract lists them. */
const ITEM_TYPES = [
  ...['FILE', 'FOLDER', 'TICKET', 'ARTICLE', 'CONVERSATION', 'TABLE', 'INCIDENT', 'ATTACHMENT', 'TICKET_ATTACHMENT'],
  ...['SECTION', 'CATEGORY', 'COLLECTION', 'HELP_CENTER', 'CONTACT', 'ADMIN', 'TEAM', 'SPACE', 'PAGE', 'SHEET'],
  ...['GROUP', 'LINK', 'REPOSITORY', 'DIRECTORY', 'CARD', 'WORKSPACE', 'CALL', 'Container'],
];
const FILE_FORMATS = [
  ...['TXT', 'CSV', 'TSV', 'PDF', 'DOCX', 'PPTX', 'XLSX', 'XLSM', 'MD', 'RTF', 'JSON', 'HTML', 'JPG', 'PNG', 'MP3'],
  ...['MP2', 'AAC', 'WAV', 'FLAC', 'PCM', 'M4A', 'OGG', 'OPUS', 'MPEG', 'MPG', 'MP4', 'WMV', 'AVI', 'MOV', 'MKV'],
  ...['FLV', 'WEBM', 'EML', 'MSG'],
];
/** Types, or formats, that one filter names at most. */
const MAX_NAMED = 50;
const MAX_SUBSTRING = 2_048;

const oneOf = (values: readonly string[]) =>
  orNull(
    Joi.array()
      .items(Joi.string().valid(...values))
      .max(MAX_NAMED),
  );

export const itemListing = () =>
  Joi.object({
    data_source_id: integer().required(),
    parent_id: orNull(Joi.string().allow('').max(MAX_ITEM_ID)),
    filters: orNull(
      Joi.object({
        external_ids: orNull(itemIds().max(MAX_MEMBERS)),
        ids: orNull(idList()),
        name: orNull(Joi.string().allow('').max(MAX_SUBSTRING)),
        root_files_only: orNull(Joi.boolean()),
        file_formats: oneOf(FILE_FORMATS),
        item_types: oneOf(ITEM_TYPES),
      }),
    ),
    order_by: Joi.string()
      .valid(...ITEM_ORDERS)
      .default('name'),
    order_dir: Joi.string()
      .valid(...ORDER_DIRECTIONS)
      .default('asc'),
    pagination: pagination(),
  });

export const itemRecord = wholeRecord({
  id: integer(),
  external_id: Joi.string(),
  source: Joi.string().valid(...SOURCE_TYPES),
  name: Joi.string().allow(''),
  synced_at: timestamp(),
  is_selectable: nullable(Joi.boolean()),
  is_expandable: nullable(Joi.boolean()),
  organization_id: integer(),
  organization_supplied_user_id: Joi.string(),
  organization_user_id: integer(),
  organization_user_data_source_id: integer(),
  organization_user_file_to_sync_id: nullable(integer()),
  parent_external_id: nullable(Joi.string().allow('')),
  item_type: nullable(Joi.string()),
  root_external_id: nullable(Joi.string().allow('')),
  external_url: nullable(Joi.string().allow('')),
  file_format: nullable(Joi.string()),
  created_at: timestamp(),
  updated_at: timestamp(),
});
