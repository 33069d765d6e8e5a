/** Tests of the conversion of records to API answers, field by field. All values differ, so that swaps are detected. */
import { describe, expect, test } from '@jest/globals';

import { presentChunk } from '../../api/presenters/chunk.js';
import { presentDataSource } from '../../api/presenters/dataSource.js';
import { presentFile } from '../../api/presenters/file.js';
import { presentItem } from '../../api/presenters/item.js';
import { presentRunItem, presentRun } from '../../api/presenters/syncRun.js';
import { presentAggregates, presentSources, presentUser, presentWholeUser } from '../../api/presenters/user.js';
import { presentDelivery, presentWebhook } from '../../api/presenters/webhook.js';
import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import { REMEDIES } from '../../contract/runs/ledger.js';
import { AUTO_SYNC_SOURCES } from '../../contract/sources/sources.js';
import type { WorkflowLink } from '../../contract/runs/temporalLinks.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { FileDoc } from '../../store/models/files.js';
import type { ItemDoc } from '../../store/models/items.js';
import type { LedgerItem } from '../../store/ledger/queries.js';
import type { OrganizationDoc } from '../../store/models/organizations.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { UserDoc } from '../../store/models/users.js';
import type { DeliveryDoc, WebhookDoc } from '../../store/models/webhooks.js';
import { everyRow } from '../support/everyRow.js';

const workflowLink: WorkflowLink = (key) => ({ workflow_id: key ?? null, workflow_url: key ? `at ${key}` : null });
const deps = { workflowLink };
const on = (day: number) => new Date(Date.UTC(2026, 0, day));
const at = (day: number) => on(day).toISOString();

const FILE = {
  ...{ _id: 1, organizationId: 2, userId: 3, customerId: 'ada', dataSourceId: 4, accountId: 5, source: 'BOX' },
  ...{ externalFileId: 'e', externalUrl: 'u', name: 'n', parentId: 6, isContainer: false, syncStatus: 'READY' },
  ...{ syncErrorMessage: 'm', lastSync: on(1), sourceCreatedAt: on(2), createdAt: on(3), updatedAt: on(4) },
  ...{
    tags: [{ key: 'both', value: 'own' }],
    fileMetadata: { a: 1 },
    ocrProperties: { b: 2 },
    syncProperties: { c: 3 },
  },
  sourceTags: [
    { key: 'both', value: 'of the source' },
    { key: 'source', value: true },
  ],
  options: { ...DEFAULT_INGEST_OPTIONS, chunkSize: 700, chunkOverlap: 70, generateSparseVectors: true },
  ...{ vectorSpace: 'space', dimensions: 384, hasText: true, ocrJobStartedAt: on(5), enableAutoSync: true },
  statistics: { fileFormat: 'PDF', fileSize: 11, numCharacters: 12, numTokens: 13, numEmbeddings: 14, mimeType: 'x/y' },
  ...{ requestId: 'r', uploadId: 'p', messagesMetadata: { d: 4 }, fileContentsDeleted: true, workflowId: 'w' },
  ...{ supportsColdStorage: true, hotStorageTimeToLive: 9, embeddingStorageStatus: 'HOT_TO_COLD' },
} as unknown as FileDoc;

describe('a file in an answer', () => {
  test('has all values of its record', () => {
    expect(presentFile(FILE, deps, { raw: 'raw link', parsed: 'parsed link' })).toEqual({
      ...{ id: 1, source: 'BOX', organization_id: 2, organization_user_id: 3, organization_supplied_user_id: 'ada' },
      ...{ organization_user_data_source_id: 4, external_file_id: 'e', external_url: 'u', sync_status: 'READY' },
      ...{ sync_error_message: 'm', last_sync: at(1), tags: { both: 'own', source: true } },
      file_statistics: {
        ...{ file_format: 'PDF', file_size: 11, num_characters: 12, num_tokens: 13, num_embeddings: 14 },
        mime_type: 'x/y',
      },
      file_metadata: { a: 1 },
      embedding_properties: {
        OPENAI: { chunk_size: 700, chunk_overlap: 70, served_by: 'space', dimensions: 384 },
      },
      ...{ chunk_size: 700, chunk_overlap: 70 },
      chunk_properties: { set_page_as_boundary: false, prepend_filename_to_chunks: false },
      ocr_properties: { b: 2 },
      ...{ ocr_job_started_at: at(5), name: 'n', parent_id: 6, enable_auto_sync: true },
      ...{ presigned_url: 'raw link', parsed_text_url: 'parsed link', additional_presigned_urls: null },
      ...{ skip_embedding_generation: false, source_created_at: at(2), generate_sparse_vectors: true },
      ...{ request_id: 'r', upload_id: 'p', sync_properties: { c: 3 }, messages_metadata: { d: 4 } },
      ...{ file_contents_deleted: true, supports_cold_storage: true, hot_storage_time_to_live: 9 },
      ...{ embedding_storage_status: 'HOT_TO_COLD', created_at: at(3), updated_at: at(4) },
      ...{ workflow_id: 'w', workflow_url: 'at w' },
    });
  });

  test('has null for unknown values, and links only if given', () => {
    const bare = { ...FILE, lastSync: null, sourceCreatedAt: null, ocrJobStartedAt: undefined, statistics: null };
    expect(presentFile({ ...bare, workflowId: null } as unknown as FileDoc, deps)).toMatchObject({
      ...{ last_sync: null, source_created_at: null, ocr_job_started_at: null, file_statistics: null },
      ...{ presigned_url: null, parsed_text_url: null, workflow_id: null, workflow_url: null },
    });
  });

  test('omits an unknown value of its statistics', () => {
    const figures = { file_format: 'fileFormat', file_size: 'fileSize', num_characters: 'numCharacters' } as const;
    const otherFields = { num_tokens: 'numTokens', num_embeddings: 'numEmbeddings', mime_type: 'mimeType' } as const;
    return everyRow(
      Object.entries({ ...figures, ...otherFields }),
      ([name]) => name,
      ([name, stored]) => {
        const { file_statistics: shown } = presentFile(
          { ...FILE, statistics: { ...FILE.statistics!, [stored]: null } },
          deps,
        );
        expect(Object.keys(shown ?? {})).toHaveLength(5);
        expect(shown).not.toHaveProperty(name);
      },
    );
  });

  test('names the embedding space and the dimensions of its vectors, and has no chunk sizes for a picture', () => {
    const propertiesOf = (fields: object) =>
      presentFile({ ...FILE, ...fields } as FileDoc, deps).embedding_properties?.['OPENAI'];
    const cut = { chunk_size: 700, chunk_overlap: 70 };
    expect(propertiesOf({ vectorSpace: null })).toEqual(cut);
    expect(propertiesOf({ dimensions: null })).toEqual(cut);
    expect(propertiesOf({ vectorSpace: null, hasText: false })).toEqual(cut);
    const served = { served_by: 'space', dimensions: 384 };
    expect(propertiesOf({ hasText: false })).toEqual({ chunk_size: null, chunk_overlap: null, ...served });
  });

  test('shows its options that differ from the defaults, in sync_properties only if it has a data source', () => {
    const options = {
      ...{ autoSyncedSourceTypes: ['TICKET'], transcriptionService: 'deepgram', syncAttachments: true },
      ...{ detectAudioLanguage: true, includeSpeakerLabels: true, splitRows: true, generateChunksOnly: true },
      ...{ storeFileOnly: true, skipFileProcessing: true, setPageAsBoundary: true, prependFilenameToChunks: true },
      ...{ maxItemsPerChunk: 6, skipEmbeddingGeneration: true },
    };
    const shown = (fields: object) =>
      presentFile({ ...FILE, options: { ...FILE.options, ...options }, ...fields } as FileDoc, deps);
    expect(shown({})).toMatchObject({
      chunk_properties: { set_page_as_boundary: true, prepend_filename_to_chunks: true, max_items_per_chunk: 6 },
      skip_embedding_generation: true,
    });
    expect(shown({}).sync_properties).toEqual({
      ...{ c: 3, auto_synced_source_types: ['TICKET'], transcription_service: 'deepgram', sync_attachments: true },
      ...{ detect_audio_language: true, include_speaker_labels: true, split_rows: true, generate_chunks_only: true },
      ...{ store_file_only: true, skip_file_processing: true },
    });
    expect(shown({ dataSourceId: null }).sync_properties).toEqual({ c: 3 });
    // Options with default values are not shown.
    expect(shown({ options: { ...FILE.options, transcriptionService: null } }).sync_properties).toEqual({ c: 3 });
  });
});

test('a chunk in an answer has its text, metadata and vector', () => {
  const chunk = { fileId: 1, chunkIndex: 2, text: 't', metadata: { page: 3 } };
  expect(presentChunk(chunk as never, [0.5])).toEqual({
    ...{ user_file_id: 1, chunk_index: 2, source_content: 't', embedding: [0.5], content_metadata: { page: 3 } },
  });
});

describe('a data source in an answer', () => {
  const SOURCE = {
    ...{ _id: 1, organizationId: 2, userId: 3, customerId: 'ada', type: 'BOX', externalId: 'BOX|a' },
    ...{ sealedCredentials: 'secret', syncStatus: 'SYNCING', sourceItemsSyncedAt: on(1), filesSyncedAt: on(2) },
    ...{ revokedAccess: false, lastSyncedAt: on(3), lastSyncAction: 'UPDATE', enableAutoSync: true },
    ...{ metadata: { a: 1 }, tags: [{ key: 'k', value: 4 }], createdAt: on(4), updatedAt: on(5), itemsRunId: 8 },
  } as unknown as DataSourceDoc;

  test('has all values of its record, except its credentials', () => {
    expect(presentDataSource(SOURCE, deps)).toEqual({
      ...{ id: 1, data_source_external_id: 'BOX|a', data_source_type: 'BOX', token: {}, sync_status: 'SYNCING' },
      ...{ source_items_synced_at: at(1), organization_user_id: 3, organization_id: 2 },
      ...{ organization_supplied_user_id: 'ada', revoked_access: false, last_synced_at: at(3) },
      ...{ last_sync_action: 'UPDATE', enable_auto_sync: true, created_at: at(4), updated_at: at(5) },
      ...{ files_synced_at: at(2), data_source_metadata: { a: 1 }, tags: { k: 4 } },
      ...{ workflow_id: 'sync-items:1', workflow_url: 'at sync-items:1' },
    });
  });

  test('has null for a revoked token and a listing that never ran, and tags_pending if copying its tags was stopped', () => {
    const fresh = { sealedCredentials: null, sourceItemsSyncedAt: null, filesSyncedAt: null, itemsRunId: null };
    expect(presentDataSource({ ...SOURCE, ...fresh, tagsStopped: true }, deps)).toMatchObject({
      ...{ token: null, source_items_synced_at: null, files_synced_at: null, workflow_id: null },
      data_source_metadata: { a: 1, tags_pending: true },
    });
  });
});

test('an item in an answer has all values of its record, and the id of its file', () => {
  const item = {
    ...{ _id: 1, externalId: 'e', source: 'BOX', name: 'n', syncedAt: on(1), isSelectable: true, isExpandable: false },
    ...{ organizationId: 2, customerId: 'ada', userId: 3, dataSourceId: 4, parentExternalId: 'p', itemType: 'FILE' },
    ...{ rootExternalId: 'r', externalUrl: 'u', fileFormat: 'PDF', createdAt: on(2), updatedAt: on(3) },
  } as ItemDoc;
  expect(presentItem({ item, fileId: 7 })).toEqual({
    ...{ id: 1, external_id: 'e', source: 'BOX', name: 'n', synced_at: at(1), is_selectable: true },
    ...{ is_expandable: false, organization_id: 2, organization_supplied_user_id: 'ada', organization_user_id: 3 },
    ...{ organization_user_data_source_id: 4, organization_user_file_to_sync_id: 7, parent_external_id: 'p' },
    ...{ item_type: 'FILE', root_external_id: 'r', external_url: 'u', file_format: 'PDF' },
    ...{ created_at: at(2), updated_at: at(3) },
  });
});

const RUN = {
  ...{ _id: 1, kind: 'syncSource', workflowId: 'w', organizationId: 2, userId: 3, customerId: 'ada', fileId: 4 },
  ...{ dataSourceId: 5, parentRunId: 6, cause: 'retry', requestId: 'r', uploadId: 'p', acceptedAt: on(1) },
  ...{ startedAt: on(2), finishedAt: null, outcome: null, counts: { pages: 7 } },
} as unknown as RunDoc;

describe('a run in an answer', () => {
  const tally = {
    ...{ discovered: 21, ok: 1, failed: 2, skipped: 3, aborted: 4, pending: 11 },
    ...{ bytes: 9, tokens: 10.6, reused: 11.4 },
  };

  test('has all values of its record, and its counts', () => {
    expect(presentRun(RUN, tally, deps)).toEqual({
      ...{ id: 1, kind: 'syncSource', cause: 'retry', status: 'running', message: null, error: null },
      ...{ stalled_since: null, stalls: [], organization_id: 2, organization_user_id: 3 },
      ...{ organization_supplied_user_id: 'ada', data_source_id: 5, file_id: 4, parent_run_id: 6, request_id: 'r' },
      ...{ upload_id: 'p', accepted_at: at(1), started_at: at(2), finished_at: null },
      counts: { discovered: 21, ok: 1, failed: 2, skipped: 3, aborted: 4, pending: 11 },
      ...{ bytes_fetched: 9, tokens_embedded: 11, tokens_reused: 11, details: { pages: 7 } },
      ...{ workflow_id: 'w', workflow_url: 'at w' },
    });
  });

  test('has null for its user if it belongs to the organization; has null or zero for fields that an older record lacks', () => {
    const { dataSourceId: _source, parentRunId: _parent, uploadId: _upload, ...older } = RUN;
    expect(
      presentRun({ ...older, userId: 0, customerId: '', startedAt: null } as RunDoc, undefined, deps),
    ).toMatchObject({
      ...{ status: 'queued', organization_user_id: null, organization_supplied_user_id: null, data_source_id: null },
      ...{ parent_run_id: null, upload_id: null, started_at: null, bytes_fetched: 0, tokens_embedded: 0 },
      counts: { discovered: 0, ok: 0, failed: 0, skipped: 0, aborted: 0, pending: 0 },
    });
  });

  test('has a default cause: schedule for a scheduled sync and its parts, request for other runs', () =>
    everyRow(
      [
        [{ cause: undefined }, 'schedule'],
        [{ cause: undefined, parentRunId: undefined }, 'request'],
        [{ cause: undefined, parentRunId: undefined, kind: 'autoSync' }, 'schedule'],
        [{ cause: 'resync' }, 'resync'],
      ] as const,
      JSON.stringify,
      ([fields, cause]) => expect(presentRun({ ...RUN, ...fields } as RunDoc, tally, deps).cause).toBe(cause),
    ));

  const stall = { cause: 'no_worker', message: 'stalled', since: on(6) } as const;
  const lastError = { kind: 'timed_out', message: 'late', at: on(7) } as const;
  const ended = { finishedAt: on(9), outcome: 'failed', message: 'given up', error: 'not_found' } as const;

  test('shows its stall instead of its last error while running, and only its outcome after its end', () =>
    everyRow(
      [
        ['nothing', {}, [null, null, null]],
        ['a stall and an error', { stall, lastError }, ['stalled', 'no_worker', at(6)]],
        ['an error', { lastError }, ['late', 'timed_out', null]],
        ['an end', { ...ended, stall, lastError }, ['given up', 'not_found', null]],
        ['a message while it runs', { message: 'skipped 3' }, ['skipped 3', null, null]],
      ] as const,
      ([what]) => what,
      ([, fields, expected]) => {
        const { message, error, stalled_since: since } = presentRun({ ...RUN, ...fields } as RunDoc, tally, deps);
        expect([message, error, since]).toEqual(expected);
      },
    ));

  test('lists its earlier stalls', () => {
    expect(presentRun({ ...RUN, stalls: [{ ...stall, until: on(8) }] }, tally, deps).stalls).toEqual([
      { cause: 'no_worker', message: 'stalled', since: at(6), until: at(8) },
    ]);
  });
});

test('an item of a run has the remedy for its cause, and null without a cause', () => {
  const item = {
    ...{ id: 'i', runId: 1, fileId: 2, externalId: 'e', name: 'n', outcome: 'failed', stage: 'fetch' },
    ...{ cause: 'unfinished', message: 'm', bytes: 3, tokens: 4.6, reused: 5.4, at: on(1) },
  } as LedgerItem;
  expect(presentRunItem(item, 'w', deps)).toEqual({
    ...{ id: 'i', sync_run_id: 1, file_id: 2, external_id: 'e', name: 'n', outcome: 'failed', stage: 'fetch' },
    ...{ cause: 'unfinished', message: 'm', remedy: REMEDIES.unfinished, bytes_fetched: 3, tokens_embedded: 5 },
    ...{ tokens_reused: 5, at: at(1), workflow_id: 'w', workflow_url: 'at w' },
  });
  expect(presentRunItem({ ...item, cause: null }, 'w', deps).remedy).toBeNull();
});

describe('a user in an answer', () => {
  const USER: UserDoc = {
    ...{ _id: 1, organizationId: 2, customerId: 'ada', createdAt: on(1), updatedAt: on(2), deletedAt: on(3) },
    ...{ enabledFeatures: { x: { enabled: true } }, customLimits: { max_files: 4 }, autoSyncSources: ['BOX'] },
  };
  const listed = {
    ...{ id: 1, organization_id: 2, organization_supplied_user_id: 'ada', created_at: at(1), updated_at: at(2) },
    ...{ deleted_at: at(3), enabled_features: { x: { enabled: true } }, custom_limits: { max_files: 4 } },
    auto_sync_enabled_sources: ['BOX'],
  };
  const totals = (n: number) => ({
    files: n,
    fileSize: 10 * n,
    numCharacters: 20 * n,
    numTokens: 30 * n,
    numEmbeddings: 40 * n,
  });
  const statistics = { bySource: { BOX: totals(1), NOTION: totals(2) }, filesByFormat: { PDF: 3 } };
  const aggregates = {
    aggregate_file_size: { BOX: 10, NOTION: 20 },
    aggregate_num_characters: { BOX: 20, NOTION: 40 },
    aggregate_num_tokens: { BOX: 30, NOTION: 60 },
    aggregate_num_embeddings: { BOX: 40, NOTION: 80 },
    aggregate_num_files_by_source: { BOX: 1, NOTION: 2 },
    aggregate_num_files_by_file_format: { PDF: 3 },
  };

  test('has nine values in a list', () => {
    expect(presentUser(USER)).toEqual(listed);
    const fresh = { deletedAt: null, enabledFeatures: null, customLimits: null, autoSyncSources: null };
    expect(presentUser({ ...USER, ...fresh })).toEqual({
      ...{ ...listed, deleted_at: null, enabled_features: {}, custom_limits: {}, auto_sync_enabled_sources: [] },
    });
  });

  test('also has the sums over all its sources, its tags and the connector settings when it is requested alone', () => {
    const connectorSettings = { BOX: { allowed_file_formats: ['PDF'] } };
    const tags = [
      { key: 'a', value: 1 },
      { key: 'a', value: 'x' },
    ];
    expect(presentWholeUser(USER, statistics, tags, { connectorSettings } as unknown as OrganizationDoc)).toEqual({
      ...{ ...listed, ...aggregates, num_files_synced: 3, num_characters_synced: 60, num_tokens_synced: 90 },
      ...{ unique_file_tags: [{ a: 1 }, { a: 'x' }], connector_settings: connectorSettings },
    });
  });

  test('has empty sums without statistics', () => {
    expect(presentAggregates(null)).toEqual(Object.fromEntries(Object.keys(aggregates).map((name) => [name, {}])));
    expect(presentAggregates(statistics)).toEqual(aggregates);
  });

  test('has every source for ALL, and no source for a missing setting', () => {
    expect(presentSources(['ALL'])).toEqual(AUTO_SYNC_SOURCES);
    expect(presentSources(['BOX', 'NOTION'])).toEqual(['BOX', 'NOTION']);
    expect([presentSources(null), presentSources(undefined)]).toEqual([[], []]);
  });
});

describe('a webhook in an answer', () => {
  test('has no signing key', () => {
    const webhook = {
      ...{ _id: 1, organizationId: 2, url: 'u', signingKey: 'secret', status: 'ACTIVE', statusReason: 'why' },
      ...{ createdAt: on(1), updatedAt: on(2), cursor: 3 },
    } as unknown as WebhookDoc;
    expect(presentWebhook(webhook)).toEqual({
      ...{ id: 1, organization_id: 2, url: 'u', status: 'ACTIVE', status_reason: 'why' },
      ...{ created_at: at(1), updated_at: at(2) },
    });
  });

  test('has deliveries with all their attempts', () => {
    const event = { kind: 'FILE_READY', customerId: 'ada', objectId: '9', info: null, workflowId: 'w', at: on(1) };
    const delivery = {
      ...{ _id: '4:5', webhookId: 4, organizationId: 2, position: 5, event, objects: [], status: 'PENDING', tries: 1 },
      ...{ nextTryAt: on(3), attempts: [{ at: on(2), ms: 12, statusCode: 500, error: 'e' }], createdAt: on(4) },
    } as unknown as DeliveryDoc;
    expect(presentDelivery(delivery, workflowLink)).toEqual({
      ...{ id: 5, event_id: 'evt_2_5', webhook_type: 'FILE_READY', customer_id: 'ada' },
      obj: { object_type: 'FILE', object_id: '9', additional_information: 'null' },
      ...{ timestamp: String(on(1).getTime() / 1000), workflow_id: 'w', workflow_url: 'at w' },
      ...{ status: 'PENDING', next_attempt_at: at(3), created_at: at(4) },
      attempts: [{ at: at(2), duration_ms: 12, status_code: 500, error: 'e' }],
    });
    expect(presentDelivery({ ...delivery, nextTryAt: null }, workflowLink).next_attempt_at).toBeNull();
  });
});
