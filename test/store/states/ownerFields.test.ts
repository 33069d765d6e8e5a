/** The fields that changes of files outside of syncs write: tags, deletions, vectors and moves. */
import { afterAll, beforeAll, test } from '@jest/globals';

import { storedTags } from '../../../contract/files/tags.js';
import { itemEnd } from '../../../contract/runs/ledger.js';
import { BEING_DELETED } from '../../../contract/runs/reembed.js';
import {
  checkFields,
  type FileStores,
  MOVE,
  MOVING,
  NEXT_RUN,
  NOW,
  OLD,
  openFileStores,
  OTHER_RUN,
  QUEUED,
  READY,
  RESET,
  type Row,
  RUN,
  SYNCING,
} from './fileFields.js';
import { ADA } from './writes.js';

let stores: FileStores;
beforeAll(async () => {
  stores = await openFileStores();
});
afterAll(() => stores.close());

const source = (tagsVersion: number) => ({ ...ADA, _id: 40, tags: storedTags({ team: 'blue' }), tagsVersion }) as never;
const RESYNC = { runId: NEXT_RUN, workflowId: 'again', requestId: 'r2' };

const ROWS: readonly Row[] = [
  [
    'markCleanedUp',
    { ...READY, cleanupPending: true },
    (file) => stores.markCleanedUp([file._id]),
    { cleanupPending: false },
    'record',
  ],
  [
    'retry',
    READY,
    (file, tenant) => stores.retry(tenant, [file._id], false, RESYNC, null),
    {
      ...{ ...RESYNC, ...RESET, ...NOW, syncStatus: 'QUEUED_FOR_SYNC', syncErrorMessage: null, listedVersion: null },
      ...{ fileContentsDeleted: false, options: { ...OLD.options, skipFileProcessing: false } },
    },
    'tenant',
  ],
  [
    'retry of unsynced files only',
    READY,
    (file, tenant) => stores.retry(tenant, [file._id], true, RESYNC, null),
    {},
    'tenant',
  ],
  [
    'takeOver',
    { ...SYNCING, move: { runId: 9, token: 'try' } },
    (file, tenant) => stores.takeOver(tenant, NEXT_RUN, 'deleting', [file._id]),
    {
      ...{ ...NOW, syncStatus: 'SYNC_ABORTED', syncErrorMessage: BEING_DELETED, ended: null, processedAs: null },
      ...{ runId: NEXT_RUN, workflowId: 'deleting', move: { runId: 9, token: null } },
    },
    'tenant',
  ],
  [
    'deleteContent',
    {
      syncStatus: 'SYNC_ABORTED',
      syncErrorMessage: BEING_DELETED,
      cleanupPending: true,
      move: MOVING.move,
      fileContentsDeleted: false,
    },
    (file, tenant) => stores.deleteContent(tenant, RUN, [file._id], true),
    {
      ...{ ...NOW, syncStatus: 'READY_TO_SYNC', syncErrorMessage: null, generation: 0, numChunks: 0, statistics: null },
      ...{ vectorSpace: null, dimensions: null, hasContent: false, hasText: false, original: null, callerChunks: null },
      ...{ rawHash: null, etag: null, lastModified: null, version: null, processedAs: null, cleanupPending: false },
      ...{ coldCopy: null, move: null, fileContentsDeleted: true, ended: itemEnd('ok', 'delete', null) },
    },
    'tenant',
  ],
  [
    'new own tags',
    READY,
    (file, tenant) => stores.changeTags(tenant, file._id, () => storedTags({ own: 'y' }), null),
    { ...NOW, tags: storedTags({ own: 'y' }), tagPairs: ['team=red', 'own=y'], tagsRevision: 7 },
    'tenant',
  ],
  [
    'the same own tags',
    READY,
    (file, tenant) => stores.changeTags(tenant, file._id, (tags) => [...tags], null),
    {},
    'tenant',
  ],
  [
    'applySourceTags',
    READY,
    (file) => stores.applySourceTags(source(2), [{ ...file }]),
    { ...NOW, sourceTags: storedTags({ team: 'blue' }), tagPairs: ['team=blue', 'own=x'], tagsRevision: 7 },
    'record',
  ],
  [
    'applySourceTags to a file whose tags have changed meanwhile',
    READY,
    (file) => stores.applySourceTags(source(2), [{ ...file, tagsRevision: 5 }]),
    {},
    'record',
  ],
  [
    'markSourceTagsApplied',
    READY,
    (file) => stores.markSourceTagsApplied(source(2), [{ ...file, sourceTags: storedTags({ team: 'blue' }) }]),
    { sourceTagsVersion: 2 },
    'record',
  ],
  [
    'markSourceTagsApplied of a file with other tags than those of its data source',
    READY,
    (file) => stores.markSourceTagsApplied(source(2), [file]),
    {},
    'record',
  ],
  [
    'markSourceTagsApplied of a file whose tags have changed meanwhile',
    READY,
    (file) =>
      stores.markSourceTagsApplied(source(2), [{ ...file, sourceTags: storedTags({ team: 'blue' }), tagsRevision: 5 }]),
    {},
    'record',
  ],
  [
    'beginVectors',
    READY,
    (file, tenant) => stores.beginVectors({ ...file, ...tenant }),
    { lastGeneration: 6 },
    'tenant',
  ],
  [
    'beginVectors of a file that another run took over',
    READY,
    (file) => stores.beginVectors({ ...file, runId: OTHER_RUN }),
    {},
    'record',
  ],
  ['beginVectors of other content', READY, (file) => stores.beginVectors({ ...file, generation: 2 }), {}, 'record'],
  [
    'beginVectors in cold storage',
    { ...READY, embeddingStorageStatus: 'HOT_TO_COLD' },
    (file) => stores.beginVectors(file),
    {},
    'record',
  ],
  ['beginVectors during a sync', QUEUED, (file) => stores.beginVectors(file), {}, 'record'],
  [
    'setModel',
    { ...READY, isContainer: true },
    (file, tenant) => stores.setModel(tenant, [file._id], 'COHERE' as never),
    { ...NOW, options: { ...OLD.options, embeddingModel: 'COHERE' } },
    'tenant',
  ],
  ['setModel of a page', READY, (file, tenant) => stores.setModel(tenant, [file._id], 'COHERE' as never), {}, 'tenant'],
  [
    'discardVectors',
    READY,
    (file, tenant) => stores.discardVectors(tenant, [{ fileId: file._id, generation: 5 }]),
    { lastGeneration: 6 },
    'tenant',
  ],
  [
    'discardVectors of an older attempt',
    READY,
    (file, tenant) => stores.discardVectors(tenant, [{ fileId: file._id, generation: 4 }]),
    {},
    'tenant',
  ],
  [
    'discardVectors after the publication',
    { ...READY, generation: 5 },
    (file, tenant) => stores.discardVectors(tenant, [{ fileId: file._id, generation: 5 }]),
    {},
    'tenant',
  ],
  [
    'approval of deletions',
    { ...READY, isContainer: true },
    (file, tenant) => stores.setDeletionsApproved(tenant, file._id, true),
    { deletionsApproved: true },
    'tenant',
  ],
  [
    'a new attempt of a move',
    { ...MOVING, move: { runId: 9, token: 'earlier' } },
    (file, tenant) => stores.moves.beginAttempt({ ...MOVE, ...tenant }, [file._id]),
    { move: { runId: 9, token: 'try' } },
    'tenant',
  ],
  [
    'a new attempt of a move of a file that is being deleted',
    { ...MOVING, move: { runId: 9, token: null }, syncStatus: 'SYNC_ABORTED', syncErrorMessage: BEING_DELETED },
    (file, tenant) => stores.moves.beginAttempt({ ...MOVE, ...tenant }, [file._id]),
    {},
    'tenant',
  ],
  [
    'a copy of a move',
    { ...MOVING, embeddingStorageStatus: 'HOT_TO_COLD' },
    (file, tenant) => stores.moves.saveCopy({ ...MOVE, ...tenant }, file, { key: 'copy' } as never),
    { coldCopy: { key: 'copy' } },
    'tenant',
  ],
  [
    'a copy of older content',
    { ...MOVING, embeddingStorageStatus: 'HOT_TO_COLD' },
    (file, tenant) => stores.moves.saveCopy({ ...MOVE, ...tenant }, { ...file, generation: 2 }, { key: 'c' } as never),
    {},
    'tenant',
  ],
  [
    'a copy of a file whose move ended',
    MOVING,
    (file, tenant) => stores.moves.saveCopy({ ...MOVE, ...tenant }, file, { key: 'c' } as never),
    {},
    'tenant',
  ],
  [
    'a postponed move',
    MOVING,
    (file, tenant) => stores.moves.postponeMove({ ...MOVE, ...tenant }, file._id),
    { coolsAt: 'in 1 days' },
    'tenant',
  ],
  [
    'lost vectors',
    MOVING,
    (file, tenant) => stores.moves.markVectorsLost({ ...MOVE, ...tenant }, file._id, 'lost'),
    {
      ...{ ...NOW, syncStatus: 'SYNC_ERROR', syncErrorMessage: 'lost', processedAs: null },
      ended: itemEnd('failed', 'store', 'vectors_lost'),
    },
    'tenant',
  ],
  [
    'the end of a move to Qdrant',
    MOVING,
    (file, tenant) => stores.moves.release({ ...MOVE, ...tenant }, [file._id]),
    { move: null, coldCopy: null },
    'tenant',
  ],
  [
    'the end of a move to file storage',
    { ...MOVING, embeddingStorageStatus: 'COLD_STORAGE' },
    (file, tenant) => stores.moves.release({ ...MOVE, ...tenant }, [file._id]),
    { move: null },
    'tenant',
  ],
];

test('each change writes exactly its fields, of no other file and for no other tenant', () =>
  checkFields(stores, ROWS));
