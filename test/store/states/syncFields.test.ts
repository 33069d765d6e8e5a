/** The fields that each change of a file by its run writes, and those that it leaves. */
import { afterAll, beforeAll, test } from '@jest/globals';

import { itemEnd } from '../../../contract/runs/ledger.js';
import type { FileDoc } from '../../../store/models/files.js';
import {
  ATTEMPT_ENDED,
  checkFields,
  COST,
  EVALUATED,
  type FileStores,
  NOW,
  OLD,
  openFileStores,
  QUEUED,
  RESET,
  type Row,
  RUN,
  SYNCING,
} from './fileFields.js';
import { AGO, AHEAD } from './writes.js';

let stores: FileStores;
beforeAll(async () => {
  stores = await openFileStores();
});
afterAll(() => stores.close());

const content = (file: FileDoc) =>
  ({ generation: file.lastGeneration, numChunks: 9, rawHash: 'new', version: 'v2' }) as never;
const finished = (file: FileDoc) => ({
  ...{ runId: RUN, file, content: content(file), name: null, fileMetadata: { c: 3 }, tagsRevision: 6, cost: COST },
});
const LATER = AHEAD;

const ROWS: readonly Row[] = [
  [
    'start',
    QUEUED,
    (file) => stores.start(RUN, [file._id]),
    { syncStatus: 'SYNCING', lastGeneration: 6, unfinishedStarts: 4, ...NOW },
    'run',
  ],
  [
    'start after a crash',
    SYNCING,
    (file) => stores.start(RUN, [file._id]),
    { lastGeneration: 6, unfinishedStarts: 4, ...NOW },
    'run',
  ],
  [
    'finish',
    SYNCING,
    (file) => stores.finish([finished(file)]),
    {
      ...{ ...ATTEMPT_ENDED, ...NOW, generation: 5, numChunks: 9, rawHash: 'new', version: 'v2', syncStatus: 'READY' },
      ...{ syncErrorMessage: null, fileMetadata: { c: 3 }, cleanupPending: true, attempts: 0, lastSync: 'now' },
      ...{ ended: { ...itemEnd('ok', null, null), ...(COST as object) }, restoredAt: null, coldCopy: null },
      ...{ coolsAt: 'in 2 days' },
    },
    'run',
  ],
  [
    'finish with a name, another model, a warning and a date',
    {
      ...SYNCING,
      embeddingStorageStatus: 'COLD_STORAGE',
      lastGeneration: 1,
      generation: 0,
      supportsColdStorage: false,
    },
    (file) =>
      stores.finish([
        {
          ...finished(file),
          ...{ name: 'new', model: 'COHERE' as never, warning: 'low_ocr_confidence' as never, sourceCreatedAt: AGO },
        },
      ]),
    {
      ...{ ...ATTEMPT_ENDED, ...NOW, generation: 1, numChunks: 9, rawHash: 'new', version: 'v2', syncStatus: 'READY' },
      ...{ syncErrorMessage: null, fileMetadata: { c: 3 }, attempts: 0, lastSync: 'now', name: 'new' },
      ...{ ended: { ...itemEnd('ok', null, 'low_ocr_confidence' as never), ...(COST as object) }, restoredAt: null },
      ...{ coldCopy: null, embeddingStorageStatus: 'HOT_STORAGE', sourceCreatedAt: AGO },
      options: { ...OLD.options, embeddingModel: 'COHERE' },
    },
    'run',
  ],
  [
    'finish of an earlier start',
    SYNCING,
    (file) => stores.finish([{ ...finished(file), content: { generation: 4 } as never }]),
    {},
    'run',
  ],
  ['finish with old tags', SYNCING, (file) => stores.finish([{ ...finished(file), tagsRevision: 5 }]), {}, 'run'],
  [
    'finishUnchanged',
    SYNCING,
    (file) => stores.finishUnchanged([{ runId: RUN, file, generation: 5, cost: COST }]),
    {
      ...{ ...ATTEMPT_ENDED, ...NOW, syncStatus: 'READY', syncErrorMessage: null, attempts: 0, lastSync: 'now' },
      ...{ ended: { ...itemEnd('skipped', 'fetch', 'unchanged'), ...(COST as object) }, version: 'v2' },
    },
    'run',
  ],
  [
    'finishUnchanged of an earlier start',
    SYNCING,
    (file) => stores.finishUnchanged([{ runId: RUN, file, generation: 4, cost: COST }]),
    {},
    'run',
  ],
  [
    'finishUnchanged of a file under evaluation',
    EVALUATED,
    (file) => stores.finishUnchanged([{ runId: RUN, file, generation: 5, cost: COST }]),
    {
      ...{ ...RESET, ...NOW, syncStatus: 'READY', syncErrorMessage: null, requestId: 'r0', restoredAt: null },
      ...{ ended: { ...itemEnd('skipped', 'fetch', 'unchanged'), ...(COST as object) }, version: 'v2' },
    },
    'run',
  ],
  [
    'skipContent',
    SYNCING,
    (file) => stores.skipContent(RUN, file._id),
    {
      ...{ ...ATTEMPT_ENDED, ...NOW, syncStatus: 'READY_TO_SYNC', syncErrorMessage: null },
      ended: itemEnd('skipped', 'select', 'skip_file_processing'),
    },
    'run',
  ],
  [
    'setOriginal',
    SYNCING,
    (file) => stores.setOriginal(RUN, file._id, { original: null, name: 'n' } as never, null),
    { original: null, name: 'n', ...NOW },
    'run',
  ],
  [
    'recordCrash',
    SYNCING,
    (file) => stores.recordCrash(RUN, file._id, 'raw'),
    { crashes: { hash: 'raw', count: 2 } },
    'run',
  ],
  [
    'recordCrash of other content',
    SYNCING,
    (file) => stores.recordCrash(RUN, file._id, 'new'),
    { crashes: { hash: 'new', count: 1 } },
    'run',
  ],
  [
    'fail',
    SYNCING,
    (file) => stores.fail(RUN, file._id, 'm', itemEnd('failed', 'read', 'broken_content' as never)),
    {
      ...{ ...ATTEMPT_ENDED, ...NOW, syncStatus: 'SYNC_ERROR', syncErrorMessage: 'm', goneBy: null },
      ended: itemEnd('failed', 'read', 'broken_content' as never),
    },
    'run',
  ],
  [
    'fail of a file that is gone',
    SYNCING,
    (file) => stores.fail(RUN, file._id, 'm', itemEnd('failed', 'fetch', 'gone'), true),
    {
      ...{ ...ATTEMPT_ENDED, ...NOW, syncStatus: 'SYNC_ERROR', syncErrorMessage: 'm', goneBy: RUN },
      ended: itemEnd('failed', 'fetch', 'gone'),
    },
    'run',
  ],
  [
    'requeue',
    SYNCING,
    (file) => stores.requeue(RUN, file._id, LATER, 'm'),
    { ...ATTEMPT_ENDED, ...NOW, syncStatus: 'QUEUED_FOR_SYNC', syncErrorMessage: 'm', notBefore: LATER, attempts: 3 },
    'run',
  ],
  [
    'requeue of a file under evaluation',
    EVALUATED,
    (file) => stores.requeue(RUN, file._id, LATER, 'm'),
    { ...NOW, unfinishedStarts: 0, notBefore: LATER, attempts: 3 },
    'run',
  ],
  [
    'limit, counted as an attempt',
    SYNCING,
    (file) => stores.limit(RUN, file._id, LATER, 'm', true),
    { ...ATTEMPT_ENDED, ...NOW, syncStatus: 'RATE_LIMITED', syncErrorMessage: 'm', notBefore: LATER, attempts: 3 },
    'run',
  ],
  [
    'limit, not counted as an attempt',
    SYNCING,
    (file) => stores.limit(RUN, file._id, LATER, 'm', false),
    { ...ATTEMPT_ENDED, ...NOW, syncStatus: 'RATE_LIMITED', syncErrorMessage: 'm', notBefore: LATER },
    'run',
  ],
  [
    'delay',
    SYNCING,
    (file) => stores.delay(RUN, file._id, 'm'),
    { ...ATTEMPT_ENDED, ...NOW, syncStatus: 'DELAYED', syncErrorMessage: 'm' },
    'run',
  ],
  ['defer for a transcript', SYNCING, (file) => stores.defer(RUN, file._id, null), { unfinishedStarts: 2 }, 'run'],
  [
    'defer for OCR',
    SYNCING,
    (file) => stores.defer(RUN, file._id, [1, 2]),
    { ...NOW, syncStatus: 'QUEUED_FOR_OCR', ocrJobStartedAt: 'now', ocrPages: [1, 2], unfinishedStarts: 2 },
    'run',
  ],
  [
    'beginOcr',
    { syncStatus: 'QUEUED_FOR_OCR' },
    (file) => stores.beginOcr(RUN, file._id),
    { unfinishedStarts: 4 },
    'run',
  ],
  ['beginOcr too late', SYNCING, (file) => stores.beginOcr(RUN, file._id), {}, 'run'],
  [
    'release',
    SYNCING,
    (file) => stores.release(RUN, [file._id]),
    { ...NOW, syncStatus: 'QUEUED_FOR_SYNC', unfinishedStarts: 2 },
    'run',
  ],
  [
    'release of a file in OCR',
    { syncStatus: 'QUEUED_FOR_OCR' },
    (file) => stores.release(RUN, [file._id]),
    { ...NOW, unfinishedStarts: 2 },
    'run',
  ],
  ['startChanged', EVALUATED, (file) => stores.startChanged(RUN, [file._id]), { ...NOW, syncStatus: 'SYNCING' }, 'run'],
  [
    'endEvaluation',
    EVALUATED,
    (file) => stores.endEvaluation(RUN, file._id),
    {
      ...{ ...RESET, ...NOW, syncStatus: 'READY', syncErrorMessage: null, requestId: 'r0' },
      ended: itemEnd('aborted', 'queue', 'source_revoked'),
    },
    'run',
  ],
  [
    'start of a container',
    { ...QUEUED, isContainer: true },
    (file) => stores.moveContainer(RUN, file._id, { status: 'SYNCING', metadata: { a: 5, b: null, d: 4 } }),
    { ...NOW, syncStatus: 'SYNCING', syncErrorMessage: null, ended: null, fileMetadata: { a: 5, d: 4 } },
    'run',
  ],
  [
    'end of a container',
    { ...SYNCING, isContainer: true },
    (file) =>
      stores.moveContainer(RUN, file._id, {
        status: 'READY',
        synced: true,
        feedReading: null,
        externalUrl: 'now here',
      }),
    {
      ...{ ...NOW, syncStatus: 'READY', syncErrorMessage: null, ended: null, lastSync: 'now', feedReading: null },
      externalUrl: 'now here',
    },
    'run',
  ],
  [
    'failure of a container',
    { ...SYNCING, isContainer: true },
    (file) => stores.moveContainer(RUN, file._id, { status: 'SYNC_ERROR', message: 'm', cause: 'gone' }),
    { ...NOW, syncStatus: 'SYNC_ERROR', syncErrorMessage: 'm', ended: itemEnd('failed', null, 'gone') },
    'run',
  ],
  [
    'a container change of a page',
    SYNCING,
    (file) => stores.moveContainer(RUN, file._id, { status: 'READY' }),
    {},
    'run',
  ],
];

test('each change by a run writes exactly its fields, of no other file and for no other run', () =>
  checkFields(stores, ROWS));
