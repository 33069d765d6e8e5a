import Joi from 'joi';

import { type IngestOptions } from '../../contract/ingestOptions.js';
import { ITEM_ORDERS } from '../../contract/items.js';
import { wholeRecord } from './answers.js';
import { integer, nullable, orNull, strings, timestamp } from './fields.js';
import { boundFields } from './bounds.js';
import { type IngestBody, ingestFields } from './ingest.js';
import { idList, MAX_MEMBERS, pagination } from './listing.js';
import { tags } from './tags.js';
import { toUploadIngest } from './uploads.js';
import type { Infer, Shape } from './inferred.js';
import { named } from './reference.js';
import { sourceType, orderDirection, typeAtSource, transcriptionService, parsedTextFormat } from './enums.js';

const flag = () => Joi.boolean().default(false);

/** Options for reading files of a connection. Options of other sources are accepted and ignored. */
export const fileSyncConfig = () =>
  orNull(
    named(
      'FileSyncConfig',
      Joi.object({
        // If absent, all types are included.
        auto_synced_source_types: Joi.array().items(typeAtSource()),
        sync_attachments: flag(),
        detect_audio_language: flag(),
        transcription_service: orNull(transcriptionService()),
        include_speaker_labels: flag(),
        split_rows: flag(),
        generate_chunks_only: flag(),
        store_file_only: flag(),
        skip_file_processing: flag(),
        parsed_text_format: orNull(parsedTextFormat()),
      }),
    ),
  );

/** Options for splitting documents of an account into chunks. */
export const documentFields = () => ({
  max_items_per_chunk: orNull(integer().greater(0)),
  set_page_as_boundary: flag(),
});
export const ocrFields = () => ({
  use_ocr: orNull(Joi.boolean(), false),
  parse_pdf_tables_with_ocr: orNull(Joi.boolean(), false),
});
/** Fields of file_sync_config, for operations that have them at the top level. */
export const syncAttachments = () => orNull(Joi.boolean(), false);
export const incrementalSync = flag;
export const requestId = () => orNull(Joi.string().allow('').max(500));

interface ConnectedFields extends ReturnType<typeof documentFields>, ReturnType<typeof ocrFields> {
  readonly sync_attachments: ReturnType<typeof syncAttachments>;
  readonly file_sync_config: ReturnType<typeof fileSyncConfig>;
}
/** Options for files of a connected account; not every operation accepts all of them. */
export type ConnectedFilesBody = IngestBody & Partial<Shape<ConnectedFields>>;

/** Fields of every operation that creates files from a selection. */
export const selectionFields = () => ({
  tags: orNull(tags(), {}),
  ...ingestFields(),
  ...boundFields(),
  request_id: requestId(),
});
export type SelectionBody = Shape<ReturnType<typeof selectionFields>> &
  ConnectedFilesBody & { incremental_sync?: Infer<ReturnType<typeof incrementalSync>> };

/** Converts the options of a request to ours. All options are set, so equal requests have equal options. */
export const toConnectedIngest = ({
  file_sync_config: config,
  use_ocr: useOcr = false,
  sync_attachments: attachments = false,
  ...body
}: ConnectedFilesBody): IngestOptions => ({
  ...toUploadIngest(
    {
      ...body,
      ...config,
      generate_chunks_only: config?.generate_chunks_only ?? false,
      store_file_only: config?.store_file_only ?? false,
    },
    useOcr,
  ),
  skipFileProcessing: config?.skip_file_processing ?? false,
  ...(config?.auto_synced_source_types ? { autoSyncedSourceTypes: config.auto_synced_source_types } : {}),
  // Omitted if false, as in records that predate the option.
  ...(attachments || config?.sync_attachments ? { syncAttachments: true } : {}),
  ...(config?.parsed_text_format === 'MARKDOWN' ? { parsedTextFormat: 'MARKDOWN' } : {}),
});

/** Maximum length of a credential. */
const MAX_CREDENTIAL = 4_096;
export const credential = () => Joi.string().max(MAX_CREDENTIAL).required();
export const dataSourceId = () => named('SyncDirectoryRequest', Joi.object({ data_source_id: integer().required() }));

/** Maximum length of an item's id at its source. */
export const MAX_ITEM_ID = 2_048;
export const itemIds = () => strings(MAX_ITEM_ID);

/** Item types of sources and formats of their files, as listed in the contract. */
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
/** Maximum number of types or formats per filter. */
const MAX_NAMED = 50;
const MAX_SUBSTRING = 2_048;

const someOf = (name: string, values: readonly string[]) =>
  orNull(
    Joi.array()
      .items(named(name, Joi.string().valid(...values)))
      .max(MAX_NAMED),
  );

/** The body of a list of items. */
export const itemListing = () =>
  named(
    'ListDataSourceItemsRequest',
    Joi.object({
      data_source_id: integer().required(),
      parent_id: orNull(Joi.string().allow('').max(MAX_ITEM_ID)),
      filters: orNull(
        named(
          'ListItemsFilters',
          Joi.object({
            external_ids: orNull(itemIds().max(MAX_MEMBERS)),
            ids: orNull(idList()),
            name: orNull(Joi.string().allow('').max(MAX_SUBSTRING)),
            root_files_only: orNull(Joi.boolean()),
            file_formats: someOf('StorageFileFormats', FILE_FORMATS),
            item_types: someOf('SourceItemType', ITEM_TYPES),
          }),
        ),
      ),
      order_by: named('ExternalSourceItemsOrderBy', Joi.string().valid(...ITEM_ORDERS)).default('name'),
      order_dir: orderDirection().default('asc'),
      pagination: pagination(),
    }),
  );

export const itemRecord = named(
  'ExternalSourceItem',
  wholeRecord({
    id: integer(),
    external_id: Joi.string(),
    source: sourceType(),
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
  }),
);
