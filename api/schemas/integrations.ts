import Joi from 'joi';

import { type IngestOptions } from '../../contract/files/ingestOptions.js';
import { ITEM_ORDERS } from '../../contract/files/items.js';
import { wholeRecord } from './answers.js';
import { integer, nullable, orNull, strings, timestamp } from './fields.js';
import { boundFields } from './bounds.js';
import { type IngestBody, ingestFields } from './ingest.js';
import { idList, MAX_MEMBERS, pagination } from './listing.js';
import { tags } from './tags.js';
import type { ocrFields } from './ocr.js';
import { toUploadIngest } from './uploads.js';
import type { Infer, Shape } from './inferred.js';
import { named } from './reference.js';
import { sourceType, orderDirection, typeAtSource, transcriptionService, parsedTextFormat } from './enums.js';

const flag = () => Joi.boolean().default(false);

/** Returns the field with the data source of an operation that requires one. */
export const accountId = () =>
  integer()
    .required()
    .description(
      'Id of the data source, as `POST /user_data_sources` returns it. A data source of another user returns 404.',
    );

/**
 * Returns the field with the data source of an operation for one source, where the only connected account is the
 * default.
 */
export const optionalAccountId = () =>
  integer().description(
    'Id of the data source. Absent: the only connected account of this source; 404 if there is none, 400 if there are several.',
  );
/** Returns the field of optionalAccountId(), but also accepts null, which counts as absent. */
export const onlyAccountId = () =>
  orNull(optionalAccountId()).description(
    'Id of the data source. Absent or null: the only connected account of this source; 404 if there is none, 400 if there are several.',
  );

/** Returns the field that requests `remote_data`: each record also as the source returned it. */
export const remoteData = () =>
  Joi.boolean()
    .default(false)
    .description('Whether each record has `remote_data`: the record as the source returned it.');

/** Options for reading files of a connection. Options of other sources are accepted and ignored. */
export const fileSyncConfig = () =>
  orNull(
    named(
      'FileSyncConfig',
      Joi.object({
        auto_synced_source_types: Joi.array()
          .items(typeAtSource())
          .description(
            'Types of items that become files, such as `TICKET`, when a container above them is synced; for sources with tickets, articles or tables. Absent: all types. Items that a request names by id always become files.',
          ),
        sync_attachments: flag().description(
          'Whether attachments of messages, tickets and records become files of their own (`parent_id` is the file of the message), for sources that support it.',
        ),
        detect_audio_language: flag().description(
          'Whether the transcription service detects the language of a recording. Otherwise it assumes English.',
        ),
        transcription_service: orNull(transcriptionService()).description(
          'Service that transcribes recordings. Absent or null: the server setting `TRANSCRIPTION_SERVICE`, or the first service with a key if it is not set. With a service without a key, files end in `SYNC_ERROR`.',
        ),
        include_speaker_labels: flag().description(
          'Whether each passage of a transcript begins with the label of its speaker, such as `Speaker 0: `.',
        ),
        split_rows: flag().description(
          'Whether table rows are cut where a chunk is full. Otherwise a row stays whole if it fits a chunk. JSON files ignore it.',
        ),
        generate_chunks_only: flag().description(
          'Whether files get chunks without vectors, even if `skip_embedding_generation` is `false`. Searches do not find them.',
        ),
        store_file_only: flag().description(
          'Whether only the original files are stored. No text, chunks or vectors are created, so searches do not find them.',
        ),
        skip_file_processing: flag().description(
          'Whether only the records of files are created: no content is fetched, and files end as `READY_TO_SYNC` with the event `FILES_SKIPPED`.',
        ),
        parsed_text_format: orNull(parsedTextFormat()).description(
          'Format of the extracted text, for sources that offer both `PLAIN_TEXT` and `MARKDOWN`, such as Notion. Default, also for null: `PLAIN_TEXT`.',
        ),
      }).description(
        'How files of a connected account are selected and read. A source ignores options that it does not support. In a request that syncs items of a connected account, it applies to these items instead of the configuration stored with the connection. The two are not merged, and the stored one does not change.',
      ),
    ),
  ).description(
    'Which items of the account become files, and how they are read. Absent or null in a request that syncs items of a connected account: the configuration stored with the connection. Absent or null in other requests: no attachments, and the defaults of the source.',
  );

/** Options for splitting documents of an account into chunks. */
export const documentFields = () => ({
  max_items_per_chunk: orNull(integer().greater(0)).description(
    'Maximum number of table rows, or of objects of a JSON file, per chunk. It applies to CSV, TSV, XLSX and JSON. Absent or null: only `chunk_size` limits a chunk.',
  ),
  set_page_as_boundary: flag().description(
    'Whether no chunk spans two pages; each chunk then has its page and position in `content_metadata`. For PDF and pictures; other formats have no pages.',
  ),
});
/** Field of file_sync_config, for operations that have it at the top level of the body. */
export const syncAttachments = () =>
  orNull(Joi.boolean(), false).description(
    'Whether attachments become files below their message. `sync_attachments` in `file_sync_config` does the same. Null counts as absent.',
  );
export const incrementalSync = () =>
  flag().description(
    'Whether files that are `READY` with the same options are skipped, even if they changed (event `FILES_SKIPPED`). Sources that do not support it ignore it.',
  );
const ownRequestId = (absent: string) =>
  orNull(Joi.string().allow('').max(500)).description(
    `Id that you choose for this request. Its runs, files and events have it, and \`GET /sync_runs\` filters by it. Absent, null or empty: ${absent}`,
  );
/** Returns the field with the id of a request that connects an account. */
export const requestId = () => ownRequestId('the server creates one.');
/** Returns the field with the id of a request that selects items of a connected account. */
const selectionRequestId = () =>
  ownRequestId('the id given when the account was connected, or one that the server creates.');

interface ConnectedFields extends ReturnType<typeof documentFields>, ReturnType<typeof ocrFields> {
  readonly sync_attachments: ReturnType<typeof syncAttachments>;
  readonly file_sync_config: ReturnType<typeof fileSyncConfig>;
}
/** Options for files of a connected account; not every operation accepts all of them. */
export type ConnectedFilesBody = IngestBody & Partial<Shape<ConnectedFields>>;

/** Fields of every operation that creates files from a selection. */
export const selectionFields = () => ({
  tags: orNull(tags(), {}).description(
    'Tags of every file that this request syncs, for filters of lists and searches. Absent or null: the tags that the account was connected with.',
  ),
  ...ingestFields(),
  ...boundFields(),
  request_id: selectionRequestId(),
});
export type SelectionBody = Shape<ReturnType<typeof selectionFields>> &
  ConnectedFilesBody & { incremental_sync?: Infer<ReturnType<typeof incrementalSync>> };

/**
 * Converts the options of a request to the internal form. An absent field gives the same options as its default value.
 */
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
  // Omitted if false, so that the options equal those of records stored before the option existed.
  ...(attachments || config?.sync_attachments ? { syncAttachments: true } : {}),
  ...(config?.parsed_text_format === 'MARKDOWN' ? { parsedTextFormat: 'MARKDOWN' } : {}),
});

/** Maximum length of a credential. */
const MAX_CREDENTIAL = 4_096;
export const credential = () => Joi.string().max(MAX_CREDENTIAL).required();
/** Returns the body of requests that name a data source only. */
export const dataSourceId = () =>
  named(
    'SyncDirectoryRequest',
    Joi.object({ data_source_id: accountId() }).description(
      'The connected account whose items are listed again at the source. No files are synced.',
    ),
  );
/** Returns the field that requests a listing of a new account immediately after its connection. */
export const syncSourceItems = (fallback: boolean) =>
  Joi.boolean()
    .default(fallback)
    .description(
      'Whether the connection starts a listing of the account, so that `POST /integrations/items/list` returns its items. The event `DATA_SOURCE_READY` reports the end.',
    );
/** Returns the field with the tags of a new data source. */
export const dataSourceTags = () =>
  tags()
    .default({})
    .description(
      'Tags of the data source, which its files have too. Existing tags stay; values of the same key are replaced.',
    );

/** Maximum length of an item's id at its source. */
export const MAX_ITEM_ID = 2_048;
export const itemIds = () => strings(MAX_ITEM_ID);

/** Types of items that the contract allows in filters. */
const ITEM_TYPES = [
  ...['FILE', 'FOLDER', 'TICKET', 'ARTICLE', 'CONVERSATION', 'TABLE', 'INCIDENT', 'ATTACHMENT', 'TICKET_ATTACHMENT'],
  ...['SECTION', 'CATEGORY', 'COLLECTION', 'HELP_CENTER', 'CONTACT', 'ADMIN', 'TEAM', 'SPACE', 'PAGE', 'SHEET'],
  ...['GROUP', 'LINK', 'REPOSITORY', 'DIRECTORY', 'CARD', 'WORKSPACE', 'CALL', 'Container'],
];
/** Formats of files that the contract allows in filters. */
const FILE_FORMATS = [
  ...['TXT', 'CSV', 'TSV', 'PDF', 'DOCX', 'PPTX', 'XLSX', 'XLSM', 'MD', 'RTF', 'JSON', 'HTML', 'JPG', 'PNG', 'MP3'],
  ...['MP2', 'AAC', 'WAV', 'FLAC', 'PCM', 'M4A', 'OGG', 'OPUS', 'MPEG', 'MPG', 'MP4', 'WMV', 'AVI', 'MOV', 'MKV'],
  ...['FLV', 'WEBM', 'EML', 'MSG'],
];
/** Maximum number of types or formats per filter. */
const MAX_NAMED = 50;
const MAX_SUBSTRING = 2_048;

const valuesOf = (name: string, values: readonly string[], description: string) =>
  orNull(
    Joi.array()
      .items(
        named(
          name,
          Joi.string()
            .valid(...values)
            .description(description),
        ),
      )
      .max(MAX_NAMED),
  );

/** Returns the schema of the body of a list of items. */
export const itemListing = () =>
  named(
    'ListDataSourceItemsRequest',
    Joi.object({
      data_source_id: accountId(),
      parent_id: orNull(Joi.string().allow('').max(MAX_ITEM_ID)).description(
        'External id of a container whose direct children are listed. Absent, null or empty: the root items, or with `filters` the items of all levels.',
      ),
      filters: orNull(
        named(
          'ListItemsFilters',
          Joi.object({
            external_ids: orNull(itemIds().max(MAX_MEMBERS)).description(
              'Only items with one of these values of `external_id`, the id at the source; at most 10,000. Null or empty: all items.',
            ),
            ids: orNull(idList()).description(
              'Only items with one of these values of `id`; at most 10,000. Null or empty: all items.',
            ),
            name: orNull(Joi.string().allow('').max(MAX_SUBSTRING)).description(
              'Only items whose name contains this text, ignoring case; at most 2,048 characters. Null or empty: all items.',
            ),
            root_files_only: orNull(Joi.boolean()).description(
              '`true`: only items without a parent. `false`: items at all levels; with no other filter, the whole account. Null: no condition.',
            ),
            file_formats: valuesOf(
              'StorageFileFormats',
              FILE_FORMATS,
              'Format of a file, such as `PDF`, derived from its name or its media type at the source.',
            ).description(
              'Only items with one of these formats, such as `PDF`; at most 50. Items without a format are not returned. Null: all items.',
            ),
            item_types: valuesOf(
              'SourceItemType',
              ITEM_TYPES,
              'Kind of an item at its source, such as `FILE`, `FOLDER` or `TICKET`. Each source uses some of the values.',
            ).description('Only items of one of these kinds, such as `FOLDER`; at most 50. Null: all items.'),
          }).description(
            'Which items of the account to list: by id, name, place, format and kind. An item has to meet every filter that is set.',
          ),
        ),
      ).description(
        'Only items that meet these filters. Absent or null: no filter. Without filters and without `parent_id`, the root items are listed.',
      ),
      order_by: named(
        'ExternalSourceItemsOrderBy',
        Joi.string()
          .valid(...ITEM_ORDERS)
          .description(
            'Order of items. `directories_first` sorts containers before other items in both directions, then by name.',
          ),
      )
        .default('name')
        .description(
          'Field by which items are sorted: `name`, `id`, or `directories_first` (containers, then other items, by name). Equal values are sorted by id.',
        ),
      order_dir: orderDirection()
        .default('asc')
        .description(
          '`asc`: names from A to Z, or the lowest id first. `desc`: the reverse. With `directories_first`, containers come first in both directions.',
        ),
      pagination: pagination(),
    }).description('Which items of a connected account to list, and in which order.'),
  );

export const itemRecord = named(
  'ExternalSourceItem',
  wholeRecord({
    id: integer().description(
      'Id of the item in this service, for `ids` in the filters of `POST /integrations/items/list`. The id at the source is `external_id`.',
    ),
    external_id: Joi.string().description(
      'Id of the item within its account, as `POST /integrations/files/sync` takes it. Its form depends on the source.',
    ),
    source: sourceType().description(
      'Service that the account belongs to, such as `NOTION`: the type of its data source.',
    ),
    name: Joi.string().allow('').description('Name or title that the source shows; empty if it has none.'),
    synced_at: timestamp().description('When a listing last found the item at its source, in UTC.'),
    is_selectable: nullable(Joi.boolean()).description(
      'Whether `POST /integrations/files/sync` can create files of the item. Never null in this version.',
    ),
    is_expandable: nullable(Joi.boolean()).description(
      'Whether the item is a container that can have items in it. Never null in this version.',
    ),
    organization_id: integer().description(
      '`id` of the organization that owns the data source, as `GET /organization` returns it.',
    ),
    organization_supplied_user_id: Joi.string().description(
      'Your id of the end user who owns the account, as in the header `customer-id`.',
    ),
    organization_user_id: integer().description(
      '`id` of the end user who owns the account, as `POST /list_users` returns it.',
    ),
    organization_user_data_source_id: integer().description(
      '`id` of the data source whose account contains the item: `data_source_id` of the request.',
    ),
    organization_user_file_to_sync_id: nullable(integer()).description(
      '`id` of the file that was created from the item. Null if it was never synced.',
    ),
    parent_external_id: nullable(Joi.string().allow('')).description(
      'External id of the container that the item is in. `null`: it is a root item.',
    ),
    item_type: nullable(Joi.string()).description(
      'Kind of the item at its source, such as `FOLDER` or `TICKET`. Never null in this version.',
    ),
    root_external_id: nullable(Joi.string().allow('')).description(
      'External id of the root container above the item, such as its drive or space. `null` if there is none.',
    ),
    external_url: nullable(Joi.string().allow('')).description(
      'Address at which the source shows the item; `null` if it has none.',
    ),
    file_format: nullable(Joi.string()).description(
      'Format in which the content is read, such as `PDF`. `null` for containers and unknown formats.',
    ),
    created_at: timestamp().description(
      'When a listing found the item for the first time, in UTC; not when it was created at the source.',
    ),
    updated_at: timestamp().description(
      'When a listing last wrote the record of the item, in UTC, also if nothing had changed.',
    ),
  }).description('Item of a connected account as its last listing found it: a file, a container or another object.'),
);
