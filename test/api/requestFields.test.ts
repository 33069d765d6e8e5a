/** Tests of the conversion of request fields to the service's options, field by field. */
import { describe, expect, test } from '@jest/globals';
import Joi from 'joi';

import { selectionOptions } from '../../api/integrations/selectionOptions.js';
import { validate } from '../../api/http/validate.js';
import {
  type SyncOptionsBody,
  syncOptionFields,
  toConnectionOptions,
  toConnectionActions,
} from '../../api/schemas/consent.js';
import { dataSourceListing, toDataSourceListing } from '../../api/schemas/dataSources.js';
import { type IngestBody, ingestFields, stepFields, toIngestOptions } from '../../api/schemas/ingest.js';
import {
  type ConnectedFilesBody,
  documentFields,
  fileSyncConfig,
  incrementalSync,
  type SelectionBody,
  selectionFields,
  syncAttachments,
  toConnectedIngest,
} from '../../api/schemas/integrations.js';
import { changesAutoSync, toLimits, toSources, userSettings } from '../../api/schemas/limits.js';
import {
  fileFilters,
  type FileListingBody,
  listingFields,
  pagination,
  toFileFilters,
  toListing,
  toPage,
} from '../../api/schemas/listing.js';
import { ocrFields } from '../../api/schemas/ocr.js';
import { type PageBody, pageFields, toPageOptions } from '../../api/schemas/pages.js';
import { runsQuery, toRunFilter } from '../../api/schemas/syncRuns.js';
import {
  chunkFields,
  coldStorage,
  readingFields,
  toColdStorage,
  toOcrProperties,
  toUploadIngest,
  type UploadBody,
} from '../../api/schemas/uploads.js';
import { DEFAULT_INGEST_OPTIONS, type IngestOptions } from '../../contract/files/ingestOptions.js';
import type { SourceType } from '../../contract/sources/sources.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import { everyRow } from '../support/everyRow.js';

const RULES = { mayCall: () => true, redirectUriSchemes: [] };
const bodyOf = <T>(schema: Joi.ObjectSchema, given: unknown): T => validate(schema, given, 'body', RULES) as T;
type Row = readonly [given: Record<string, unknown>, expected: Record<string, unknown>];
const nameOf = ([given]: Row): string => JSON.stringify(given);

/** Expects the result of each row to equal that of an empty request, except for the row's expected fields. */
const changes = <T extends object>(mapping: (given: unknown) => T, rows: readonly Row[]) => {
  const usual = mapping({});
  return everyRow(rows, nameOf, ([given, expected]) => expect(mapping(given)).toEqual({ ...usual, ...expected }));
};

/** Options of files that several kinds of operations share. */
const COMMON: Row[] = [
  [{ chunk_size: 700 }, { chunkSize: 700 }],
  [{ chunk_overlap: 70 }, { chunkOverlap: 70 }],
  [{ chunk_overlap: 0 }, { chunkOverlap: 0 }],
  // The default overlap of 20 is reduced.
  [{ chunk_size: 20 }, { chunkSize: 20, chunkOverlap: 19 }],
  [{ chunk_size: 21 }, { chunkSize: 21, chunkOverlap: 20 }],
  [{ chunk_size: null, chunk_overlap: null }, {}],
  [{ skip_embedding_generation: true }, { skipEmbeddingGeneration: true }],
  [{ embedding_model: 'SOLAR_1_MINI' }, { embeddingModel: 'SOLAR_1_MINI' }],
  [{ generate_sparse_vectors: true }, { generateSparseVectors: true }],
  [{ prepend_filename_to_chunks: true }, { prependFilenameToChunks: true }],
];
const STEPS: Row[] = [
  [{ generate_chunks_only: true }, { generateChunksOnly: true }],
  [{ store_file_only: true }, { storeFileOnly: true }],
];
const READING: Row[] = [
  [{ detect_audio_language: true }, { detectAudioLanguage: true }],
  [{ transcription_service: 'deepgram' }, { transcriptionService: 'deepgram' }],
  [{ include_speaker_labels: true }, { includeSpeakerLabels: true }],
  [{ split_rows: true }, { splitRows: true }],
];
const DOCUMENTS: Row[] = [
  [{ set_page_as_boundary: true }, { setPageAsBoundary: true }],
  [{ max_items_per_chunk: 6 }, { maxItemsPerChunk: 6 }],
  [{ parse_pdf_tables_with_ocr: true }, { parsePdfTablesWithOcr: true }],
  [{ ocr_languages: ['deu', 'chi_sim'] }, { ocrLanguages: ['deu', 'chi_sim'] }],
  // A query parameter with a single value becomes a list.
  [{ ocr_languages: 'deu' }, { ocrLanguages: ['deu'] }],
  [{ ocr_languages: null }, {}],
];
/** Options of uploads and connected files that are off by default. */
const DEFAULTS_OFF = {
  ...{ splitRows: false, useOcr: false, parsePdfTablesWithOcr: false, detectAudioLanguage: false },
  ...{ transcriptionService: null, includeSpeakerLabels: false, mediaType: null },
};

describe('options of files', () => {
  test('of pages follow the request', async () => {
    const schema = Joi.object({ ...ingestFields(), ...stepFields() });
    const options = (given: unknown): IngestOptions => toIngestOptions(bodyOf<IngestBody>(schema, given));
    expect(options({})).toEqual(DEFAULT_INGEST_OPTIONS);
    await changes(options, [...COMMON, ...STEPS]);
  });

  test('of uploads follow the request', async () => {
    const schema = Joi.object({ ...chunkFields(), ...readingFields() });
    const options = (given: unknown): IngestOptions => toUploadIngest(bodyOf<UploadBody>(schema, given));
    expect(options({})).toEqual({ ...DEFAULT_INGEST_OPTIONS, ...DEFAULTS_OFF });
    const more: Row[] = [[{ media_type: 'IMAGE' }, { mediaType: 'IMAGE' }]];
    await changes(options, [...COMMON, ...STEPS, ...READING, ...DOCUMENTS, ...more]);
    expect(toUploadIngest(bodyOf<UploadBody>(schema, {}), true)).toEqual({ ...options({}), useOcr: true });
  });

  const connected = () =>
    Joi.object({
      ...{ ...selectionFields(), ...documentFields(), ...ocrFields(), file_sync_config: fileSyncConfig() },
      ...{ sync_attachments: syncAttachments(), incremental_sync: incrementalSync() },
    });

  test('of connected accounts follow the request and its file_sync_config', async () => {
    const options = (given: unknown): IngestOptions =>
      toConnectedIngest(bodyOf<ConnectedFilesBody>(connected(), given));
    expect(options({})).toEqual({ ...DEFAULT_INGEST_OPTIONS, ...DEFAULTS_OFF });
    const configured = [...STEPS, ...READING].map(([given, expected]): Row => [{ file_sync_config: given }, expected]);
    await changes(options, [
      ...[...COMMON, ...DOCUMENTS, ...configured],
      [{ use_ocr: true }, { useOcr: true }],
      [{ ocr_languages: ['kor'] }, { ocrLanguages: ['kor'] }],
      [{ sync_attachments: true }, { syncAttachments: true }],
      [{ file_sync_config: { sync_attachments: true } }, { syncAttachments: true }],
      [{ file_sync_config: { skip_file_processing: true } }, { skipFileProcessing: true }],
      [{ file_sync_config: { auto_synced_source_types: ['TICKET'] } }, { autoSyncedSourceTypes: ['TICKET'] }],
      [{ file_sync_config: { parsed_text_format: 'MARKDOWN' } }, { parsedTextFormat: 'MARKDOWN' }],
      [{ file_sync_config: { parsed_text_format: 'PLAIN_TEXT' } }, {}],
      [{ file_sync_config: null }, {}],
    ]);
  });

  test('of a later selection follow its own fields, and for absent fields those of the connection', () => {
    const kept = {
      ingest: {
        ...DEFAULT_INGEST_OPTIONS,
        ...DEFAULTS_OFF,
        chunkSize: 300,
        chunkOverlap: 100,
        useOcr: true,
        splitRows: true,
      },
      ...{ tags: { of: 'connection' }, requestId: 'kept', incrementalSync: true },
    };
    const selection = (given: Record<string, unknown>, options: unknown = kept) =>
      selectionOptions(bodyOf<SelectionBody>(connected(), given), new Set(Object.keys(given)), {
        options,
      } as DataSourceDoc);
    const usual = {
      ...{ ingest: kept.ingest, tags: kept.tags, incremental: true, requestId: 'kept', dryRun: false },
      maxTokens: undefined,
    };
    expect(selection({})).toEqual(usual);
    const rows: Row[] = [
      [{ chunk_size: 500 }, { chunkSize: 500 }],
      [{ chunk_overlap: 10 }, { chunkOverlap: 10 }],
      [{ chunk_size: 50 }, { chunkSize: 50, chunkOverlap: 49 }],
      [{ use_ocr: false }, { useOcr: false }],
      [{ file_sync_config: {} }, { splitRows: false }],
      [{ file_sync_config: { split_rows: true, sync_attachments: true } }, { syncAttachments: true }],
      ...[...COMMON.slice(6), ...DOCUMENTS],
    ];
    return everyRow(rows, nameOf, ([given, expected]) =>
      expect(selection(given)).toEqual({ ...usual, ingest: { ...kept.ingest, ...expected } }),
    ).then(() => {
      expect(selection({ tags: { own: 1 } })).toEqual({ ...usual, tags: { own: 1 } });
      expect(selection({ incremental_sync: false })).toEqual({ ...usual, incremental: false });
      expect(selection({ request_id: 'own' })).toEqual({ ...usual, requestId: 'own' });
      expect(selection({ request_id: '' })).toEqual(usual);
      expect(selection({ dry_run: true, max_tokens: 5 })).toEqual({ ...usual, dryRun: true, maxTokens: 5 });
      expect(selection({ chunk_size: 500, tags: { own: 1 } }, null)).toMatchObject({
        ...{ ingest: { chunkSize: 500, useOcr: false }, tags: { own: 1 }, incremental: false, requestId: undefined },
      });
    });
  });

  test('of OCR and of cold storage are present only if these are enabled', () => {
    const ocr = (fields: object) => toOcrProperties({ ...DEFAULT_INGEST_OPTIONS, ...fields });
    expect(ocr({ parsePdfTablesWithOcr: true })).toEqual({});
    expect(ocr({ useOcr: true })).toEqual({ use_ocr: true, parse_pdf_tables_with_ocr: false });
    expect(ocr({ useOcr: true, parsePdfTablesWithOcr: true })).toMatchObject({ parse_pdf_tables_with_ocr: true });
    expect(ocr({ useOcr: true, ocrLanguages: ['deu'] })).toMatchObject({ ocr_languages: ['deu'] });
    const cold = (given: unknown) => toColdStorage(bodyOf(coldStorage(), given));
    expect(cold({})).toEqual({ supportsColdStorage: false, hotStorageTimeToLive: null });
    expect(cold({ hot_storage_time_to_live: 9 })).toEqual({ supportsColdStorage: false, hotStorageTimeToLive: null });
    expect(cold({ enable_cold_storage: true })).toEqual({ supportsColdStorage: true, hotStorageTimeToLive: null });
    expect(cold({ enable_cold_storage: true, hot_storage_time_to_live: 9 })).toEqual({
      ...{ supportsColdStorage: true, hotStorageTimeToLive: 9 },
    });
  });
});

test('page options follow the request', () => {
  const options = (given: unknown) => toPageOptions(bodyOf<PageBody>(Joi.object(pageFields()), given));
  return changes(options, [
    [{ html_tags_to_skip: ['nav'] }, { htmlTagsToSkip: ['nav'] }],
    [{ css_classes_to_skip: ['ad'] }, { cssClassesToSkip: ['ad'] }],
    [{ css_selectors_to_skip: ['#top'] }, { cssSelectorsToSkip: ['#top'] }],
    [{ download_css_and_media: true }, { downloadCssAndMedia: true }],
    [{ use_premium_proxies: true }, { usePremiumProxies: true }],
  ]);
});

test('different CSS selectors of a request have at most 5,000 characters in total; repeated ones count once', () => {
  const scrapes = Joi.array().items(Joi.object(pageFields()));
  const problemsOf = (lists: readonly (readonly string[])[]) => {
    const body = lists.map((list) => ({ css_selectors_to_skip: list }));
    return scrapes.validate(body, { abortEarly: false }).error?.details.map(({ path: at }) => at) ?? [];
  };
  const ofLength = (characters: number, nth: number): string => `#a${nth}`.padEnd(characters, 'x');
  const list = (count: number, first = 0) => Array.from({ length: count }, (_, nth) => ofLength(500, first + nth));
  expect(problemsOf([list(10), list(10), ['', ...list(9)]])).toEqual([]);
  expect(problemsOf([list(11), list(11)])).toEqual([[0, 'css_selectors_to_skip', 10]]);
  expect(problemsOf([list(5), list(5, 5), ['b', 'p[']])).toEqual([[2, 'css_selectors_to_skip', 0]]);
});

describe('options of a connection', () => {
  const body = (given: unknown) => bodyOf<SyncOptionsBody>(Joi.object(syncOptionFields()), given);

  test('follow the request', async () => {
    const options = (given: unknown) => toConnectionOptions('NOTION', body(given));
    expect(options({})).toMatchObject({ tags: {}, requestId: null, incrementalSync: false });
    expect(options({ chunk_size: 300 }).ingest.chunkSize).toBe(300);
    await changes(options, [
      [{ tags: { a: 1 } }, { tags: { a: 1 } }],
      [{ tags: 'text' }, {}],
      [{ tags: ['list'] }, {}],
      [{ tags: null }, {}],
      [{ request_id: 'r' }, { requestId: 'r' }],
      [{ request_id: '' }, {}],
      [{ incremental_sync: true }, { incrementalSync: true }],
    ]);
    // A source without incremental sync.
    expect(toConnectionOptions('GURU', body({ incremental_sync: true })).incrementalSync).toBe(false);
  });

  test('determine what happens after connecting, as far as the source supports it', async () => {
    const off = { syncFiles: false, offersChooser: false, opensChooser: false };
    const none = { listItems: true, dataSourceTags: {}, ...off };
    const of = (source: SourceType) => (given: unknown) => toConnectionActions(source, body(given));
    const all = { automatically_open_file_picker: true };
    expect(of('NOTION')(all)).toEqual(none);
    expect(of('ZENDESK')(all)).toEqual({ ...none, syncFiles: true });
    expect(of('BOX')({})).toEqual({ ...none, offersChooser: true });
    await changes(of('ZENDESK'), [
      [{ sync_source_items: false }, { listItems: false }],
      [{ sync_files_on_connection: false }, { syncFiles: false }],
      [{ sync_files_on_connection: null }, {}],
      [{ data_source_tags: { a: 1 } }, { dataSourceTags: { a: 1 } }],
    ]);
    await changes(of('BOX'), [
      [{ enable_file_picker: false }, { offersChooser: false }],
      [all, { opensChooser: true }],
      [{ ...all, enable_file_picker: false }, { offersChooser: false }],
    ]);
  });
});

describe('file filters', () => {
  const filtersOf = (given: unknown) => toFileFilters(bodyOf(fileFilters(), given));
  const usual = { includeAllChildren: false, nonSyncedOnly: false };

  test('map each filter to one condition', () =>
    changes(filtersOf, [
      [{}, usual],
      [{ source: 'BOX' }, { sources: ['BOX'] }],
      [{ source: ['BOX', 'PDF'] }, { sources: ['BOX', 'PDF'] }],
      [{ source: null }, {}],
      [{ name: 'n' }, { name: 'n' }],
      [{ tags: { a: 1 } }, { tags: { a: 1 } }],
      [{ tags_v2: { OR: [{ key: 'a', value: 1 }] } }, { tagTree: { OR: [{ key: 'a', value: 1 }] } }],
      // Trees without conditions.
      [{ tags_v2: { AND: [] } }, {}],
      [{ tags_v2: { AND: [{ OR: [] }] } }, {}],
      [{ ids: [1] }, { ids: [1] }],
      [{ external_file_ids: ['e'] }, { externalFileIds: ['e'] }],
      [{ external_urls: ['u'] }, { externalUrls: ['u'] }],
      [{ sync_statuses: ['READY'] }, { syncStatuses: ['READY'] }],
      [{ parent_file_ids: [2] }, { parentFileIds: [2] }],
      [{ organization_user_data_source_id: [3] }, { dataSourceIds: [3] }],
      [{ embedding_generators: ['OPENAI'] }, { embeddingModels: ['OPENAI'] }],
      [{ root_files_only: true }, { rootFilesOnly: true }],
      [{ include_all_children: true }, { includeAllChildren: true }],
      [{ non_synced_only: true }, { nonSyncedOnly: true }],
      [{ request_ids: ['r'] }, { requestIds: ['r'] }],
      [{ upload_ids: ['p'] }, { uploadIds: ['p'] }],
      [{ sync_error_message: '' }, { syncErrorMessage: '' }],
      [{ include_containers: false }, { includeContainers: false }],
      [{ file_types_at_source: ['TICKET'] }, { fileTypesAtSource: ['TICKET'] }],
    ]));

  test('refuse root files combined with children', () =>
    everyRow(
      [
        { root_files_only: true, include_all_children: true },
        { root_files_only: true, parent_file_ids: [1] },
      ],
      JSON.stringify,
      (given) => expect(() => filtersOf(given)).toThrow(expect.objectContaining({ status: 422 })),
    ));

  test('can be combined with pagination and an order', () => {
    const schema = Joi.object(
      listingFields(fileFilters().default({ include_all_children: false, non_synced_only: false })),
    );
    const listing = (given: unknown) => toListing(bodyOf<FileListingBody>(schema, given));
    const page = { limit: 10, offset: 0, startingId: 0 };
    expect(listing({})).toEqual({ filters: usual, orderBy: 'updated_at', orderDir: 'asc', page });
    return changes(listing, [
      [{ filters: { ids: [1] } }, { filters: { ...usual, ids: [1] } }],
      [{ order_by: 'name' }, { orderBy: 'name' }],
      [{ order_dir: 'desc' }, { orderDir: 'desc' }],
      [{ pagination: { limit: 3 } }, { page: { ...page, limit: 3 } }],
      [{ pagination: { offset: 4 } }, { page: { ...page, offset: 4 } }],
      [{ pagination: { starting_id: 5 } }, { page: { ...page, startingId: 5 } }],
    ]);
  });

  test('can be combined with a pagination limit of 1 to 10,000; a limit outside of this range is refused', () => {
    const limit = (rows: number) => toPage(bodyOf(pagination(), { limit: rows })).limit;
    expect([limit(1), limit(10_000)]).toEqual([1, 10_000]);
    for (const rows of [0, 10_001]) expect(() => limit(rows)).toThrow(expect.objectContaining({ status: 422 }));
  });
});

test('data source filters and orders follow the request', () => {
  const listing = (given: unknown) => toDataSourceListing(bodyOf(dataSourceListing(), given));
  const page = { limit: 10, offset: 0, startingId: 0 };
  expect(listing({})).toEqual({ filters: {}, orderBy: 'updated_at', orderDir: 'asc', page });
  const tree = { AND: [{ key: 'a', value: 1 }] };
  return changes(listing, [
    [{ filters: { source: 'BOX' } }, { filters: { type: 'BOX' } }],
    [{ filters: { ids: [1] } }, { filters: { ids: [1] } }],
    [{ filters: { revoked_access: false } }, { filters: { revokedAccess: false } }],
    [{ filters: { tags: tree } }, { filters: { tagTree: tree } }],
    [{ filters: { tags: {} } }, {}],
    [{ order_by: 'created_at' }, { orderBy: 'created_at' }],
    [{ order_dir: 'desc' }, { orderDir: 'desc' }],
    [{ pagination: { offset: 4 } }, { page: { ...page, offset: 4 } }],
  ]);
});

test('run filters follow the query', () => {
  const filter = (given: unknown) => toRunFilter(validate(runsQuery, given, 'query', RULES));
  expect(filter({})).toEqual({});
  const when = new Date('2026-01-01T00:00:00Z');
  return changes(filter, [
    [{ customer_ids: 'ada' }, { customerIds: ['ada'] }],
    [{ kinds: 'syncFeed' }, { kinds: ['syncFeed'] }],
    [{ statuses: ['paused', 'failed'] }, { states: ['paused', 'failed'] }],
    [{ causes: 'retry' }, { causes: ['retry'] }],
    [{ data_source_id: '1' }, { dataSourceId: 1 }],
    [{ file_id: '2' }, { fileId: 2 }],
    [{ request_id: 'r' }, { requestId: 'r' }],
    [{ parent_run_id: '3' }, { parentRunId: 3 }],
    [{ since: when.toISOString() }, { since: when }],
    [{ until: when.toISOString() }, { until: when }],
  ]);
});

test('user settings: an absent field stays unchanged, -1 removes a limit', () => {
  const body = (given: unknown) => bodyOf<Parameters<typeof toLimits>[0]>(Joi.object(userSettings()), given);
  const limits = { max_files: 1, max_files_per_upload: 2, max_characters: 3, max_characters_per_file: 4 };
  const all = { ...limits, max_characters_per_upload: 5, auto_sync_interval: 6 };
  expect(toLimits(body(all))).toEqual(all);
  expect(toLimits(body({ max_files: -1, max_characters: null }))).toEqual({ max_files: -1 });
  expect(toSources(body({}))).toBeUndefined();
  expect(toSources(body({ auto_sync_enabled_sources: null }))).toBeUndefined();
  expect(toSources(body({ auto_sync_enabled_sources: [] }))).toEqual([]);
  expect(toSources(body({ auto_sync_enabled_sources: 'ALL' }))).toEqual(['ALL']);
  expect(toSources(body({ auto_sync_enabled_sources: ['BOX', 'PDF', 'BOX'] }))).toEqual(['BOX', 'PDF']);
  const moves = [{ auto_sync_enabled_sources: [] }, { auto_sync_interval: 6 }, { max_files: 1 }, {}];
  expect(moves.map((given) => changesAutoSync(body(given)))).toEqual([true, true, false, false]);
});

describe('validation of a request', () => {
  const schema = Joi.object({
    ...{ number: Joi.number().integer().min(1).max(9), text: Joi.string().min(2).max(5), flag: Joi.boolean() },
    ...{ list: Joi.array().items(Joi.number()).min(1).max(2), word: Joi.string().valid('a', 'b') },
    ...{ needed: Joi.any().required(), inner: Joi.object({ known: Joi.any() }) },
  });
  const check = (given: object, where: 'body' | 'query' = 'body') =>
    validate(schema, { needed: 1, ...given }, where, RULES) as Record<string, unknown>;
  const faultOf = (act: () => unknown): unknown => {
    try {
      return act();
    } catch (error) {
      return (error as { detail: unknown }).detail;
    }
  };

  test('reports each error with its path and a known type, never the value', () =>
    everyRow(
      [
        [{ number: 'nine' }, ['number'], 'int_type'],
        [{ number: 1.5 }, ['number'], 'int_type'],
        [{ number: 0 }, ['number'], 'greater_than_equal'],
        [{ number: 10 }, ['number'], 'less_than_equal'],
        [{ text: 5 }, ['text'], 'string_type'],
        [{ text: '' }, ['text'], 'string_too_short'],
        [{ text: 'x' }, ['text'], 'string_too_short'],
        [{ text: 'xxxxxx' }, ['text'], 'string_too_long'],
        [{ flag: 'true' }, ['flag'], 'bool_type'],
        [{ list: 5 }, ['list'], 'list_type'],
        [{ list: [] }, ['list'], 'too_short'],
        [{ list: [1, 2, 3] }, ['list'], 'too_long'],
        [{ list: [1, 'x'] }, ['list', 1], 'int_type'],
        [{ word: 'c' }, ['word'], 'enum'],
        [{ inner: 5 }, ['inner'], 'dict_type'],
        [{ needed: undefined }, ['needed'], 'missing'],
      ] as [object, unknown[], string][],
      JSON.stringify,
      ([given, path, type]) =>
        expect(faultOf(() => check(given))).toEqual([
          { loc: ['body', ...path], type, msg: expect.stringMatching(/^[A-Z][^"]*$/) },
        ]),
    ));

  test('reports all errors of a small body, only the first of one with over 10,000 values', () => {
    const faulty = { number: 0, flag: 'x' };
    expect(faultOf(() => check(faulty))).toHaveLength(2);
    expect(faultOf(() => check({ ...faulty, more: Array.from({ length: 10_001 }, () => 'x') }))).toHaveLength(1);
  });

  test('converts query texts to their types, and omits unknown fields', () => {
    expect(check({ number: '5', flag: 'true' }, 'query')).toEqual({ needed: 1, number: 5, flag: true });
    expect(check({ inner: { known: 1, unknown: 2 }, unknown: 3 })).toEqual({ needed: 1, inner: { known: 1 } });
  });

  test('refuses text that cannot be stored, with its path', () =>
    everyRow(
      [
        [{ text: 'a\0b' }, ['body', 'text']],
        [{ text: 'a\ud800' }, ['body', 'text']],
        [{ inner: { known: ['fine', { 'a\0': 1 }] } }, ['body', 'inner', 'known', 1]],
        [{ inner: { known: ['fine', 'b\0'] } }, ['body', 'inner', 'known', 1]],
        [{ inner: JSON.parse('{"__proto__": {"a": 1}}') }, ['body', 'inner', '__proto__']],
      ] as [object, unknown[]][],
      JSON.stringify,
      ([given, loc]) => expect(faultOf(() => check(given))).toEqual([expect.objectContaining({ loc })]),
    ));
});
