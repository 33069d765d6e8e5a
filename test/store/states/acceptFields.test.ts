/** The fields that a request or a scheduled sync writes when it accepts a file, and its entries in the ledger. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import { DEFAULT_INGEST_OPTIONS } from '../../../contract/files/ingestOptions.js';
import { storedTags } from '../../../contract/files/tags.js';
import { BEING_DELETED } from '../../../contract/runs/reembed.js';
import { createFileAcceptance } from '../../../store/files/accept.js';
import type { FileRequest } from '../../../store/files/acceptance/request.js';
import type { FileDoc } from '../../../store/models/files.js';
import { everyRow } from '../../support/everyRow.js';
import {
  commonFields,
  difference,
  type FileStores,
  NEXT_RUN,
  NOW,
  openFileStores,
  readFiles,
  RESET,
  RUN,
} from './fileFields.js';
import { ADA, AGO, seed, STRANGERS } from './writes.js';

const OPTIONS = { ...DEFAULT_INGEST_OPTIONS, chunkSize: 9 } as never;
const DATA_SOURCE = { _id: 40, tags: storedTags({ team: 'blue' }), tagsVersion: 8 };
const request = (externalFileId: string, isScheduled?: boolean): FileRequest => ({
  ...{ source: 'BOX', externalFileId, externalUrl: 'url', name: 'name', sourceCreatedAt: AGO, version: 'v9' },
  ...{ typeAtSource: 'TICKET' as never, parentId: 5, isContainer: false, dataSource: DATA_SOURCE, tags: { new: 'y' } },
  ...{ options: OPTIONS, sourceOptions: { s: 1 }, enableAutoSync: true, requestId: 'r2', runId: NEXT_RUN },
  ...{ fileMetadata: { m: 1 }, workflowOf: (id: number) => `workflow ${id}`, ...(isScheduled && { isScheduled }) },
});

let stores: FileStores;
let acceptance: ReturnType<typeof createFileAcceptance>;
let slots = 100;
let lastId = 10_000;
const recorded: unknown[] = [];
const skipped = new Set<string>();
beforeAll(async () => {
  stores = await openFileStores();
  const record = (what: string) => (first: unknown, second: unknown) => {
    recorded.push([what, first, second]);
    return Promise.resolve();
  };
  acceptance = createFileAcceptance({
    files: stores.files,
    sequence: { next: (_kind: string, count = 1) => Promise.resolve((lastId += count) - count + 1) } as never,
    queue: { freeSlots: () => Promise.resolve(slots), freeUploadSlots: () => Promise.resolve(slots) },
    ledger: { recordOutcomes: record('outcomes'), addItems: record('items') } as never,
    deleted: {
      filterSkipped: () => Promise.resolve(skipped),
      unskip: (_owner: unknown, schedule: string, ids: unknown) => record('unskip')(schedule, ids),
    } as never,
    intents: {
      withPendingEvents: async (_events: unknown, change: (mark: mongoose.mongo.ObjectId) => Promise<unknown>) =>
        void (await change(new mongoose.mongo.ObjectId())),
    } as never,
    events: { write: () => Promise.resolve() } as never,
  });
});
beforeEach(() => {
  recorded.length = 0;
  skipped.clear();
  slots = 100;
});
afterAll(() => stores.close());

const REQUESTED = {
  ...{ externalUrl: 'url', parentId: 5, options: OPTIONS, sourceOptions: { s: 1 }, enableAutoSync: true },
  ...{ requestId: 'r2', runId: NEXT_RUN, listedVersion: 'v9', fileTypeAtSource: 'TICKET', sourceCreatedAt: AGO },
};
const TAGS_OF_SOURCE = { sourceTags: storedTags({ team: 'blue' }), sourceTagsVersion: 8 };

test('a new file has all fields of its request, and is delayed if the queue is full', async () => {
  await stores.files.deleteMany({});
  slots = 1;
  expect(await acceptance.acceptMany(ADA, [request('a'), request('b')])).toBe(2);
  const rows = [...(await readFiles(stores.files)).values()];
  expect(rows.map(({ externalFileId, syncStatus }) => [externalFileId, syncStatus])).toEqual([
    ['a', 'QUEUED_FOR_SYNC'],
    ['b', 'DELAYED'],
  ]);
  expect(rows[1]?.syncErrorMessage).toContain('queued files');
  const [file] = rows;
  expect(file).toMatchObject({
    ...{ ...ADA, ...REQUESTED, ...TAGS_OF_SOURCE, ...RESET, source: 'BOX', name: 'name', accountId: 40 },
    ...{ dataSourceId: 40, tags: storedTags({ new: 'y' }), tagPairs: ['team=blue', 'new=y'], tagsRevision: 1 },
    ...{ isContainer: false, generation: 0, lastSync: null, workflowId: `workflow ${file!._id}` },
  });
});

/** A change of an existing file: whether a scheduled sync lists it, and whether the queue has room. */
type Row = readonly [name: string, fields: Partial<FileDoc>, isScheduled: boolean, slots: number, changed: object];
const again = (id: number) => ({ ...RESET, ...NOW, ...REQUESTED, ...TAGS_OF_SOURCE, workflowId: `workflow ${id}` });
const TAKEN = {
  ...{ tags: storedTags({ own: 'x', new: 'y' }), tagPairs: ['team=blue', 'own=x', 'new=y'], tagsRevision: 7 },
  restoredAt: null,
};
const LISTED = {
  ...{ ...RESET, ...NOW, requestId: 'r2', keptRequestId: 'r1', runId: NEXT_RUN, listedVersion: 'v9' },
  syncErrorMessage: null,
};
const FULL = 'It waits, because the maximum number of queued files of the user is reached.';
const ROWS: readonly Row[] = [
  [
    'a request',
    { syncStatus: 'SYNCING' },
    false,
    9,
    { ...TAKEN, syncStatus: 'QUEUED_FOR_SYNC', syncErrorMessage: null },
  ],
  [
    'a request, full queue',
    { syncStatus: 'READY' },
    false,
    0,
    { ...TAKEN, syncStatus: 'DELAYED', syncErrorMessage: FULL },
  ],
  ['a listing of a READY file', { syncStatus: 'READY' }, true, 0, { ...LISTED, syncStatus: 'EVALUATING_RESYNC' }],
  ['a listing of a failed file', { syncStatus: 'SYNC_ERROR' }, true, 9, { ...LISTED, syncStatus: 'QUEUED_FOR_SYNC' }],
  [
    'a listing of a failed file, full queue',
    { syncStatus: 'SYNC_ERROR' },
    true,
    0,
    { ...LISTED, syncStatus: 'DELAYED' },
  ],
  [
    'a listing of a READY file without content',
    { syncStatus: 'READY', generation: 0 },
    ...([true, 9, { ...LISTED, syncStatus: 'QUEUED_FOR_SYNC' }] as const),
  ],
  ['a listing of an unfinished file', { syncStatus: 'SYNCING' }, true, 9, {}],
  [
    'a listing of a file that is being deleted',
    { syncStatus: 'SYNC_ABORTED', syncErrorMessage: BEING_DELETED },
    true,
    9,
    {},
  ],
  ['a listing of a file that was stored without content', { syncStatus: 'READY_TO_SYNC' }, true, 9, {}],
];

test('an existing file keeps everything that neither a request nor a listing sets', () =>
  everyRow(
    ROWS,
    ([name]) => name,
    async ([, fields, isScheduled, room, changed]) => {
      slots = room;
      recorded.length = 0;
      const ids = await seed(stores.files, commonFields(stores.files), { own: fields });
      const [id] = ids.values();
      const before = (await readFiles(stores.files)).get(id!)!;
      const listed = request(before.externalFileId, isScheduled);
      for (const stranger of STRANGERS) await acceptance.acceptMany(stranger, [listed]);
      expect((await readFiles(stores.files)).get(id!)).toEqual(before);
      recorded.length = 0;
      await acceptance.acceptMany(ADA, [listed]);
      const isChanged = Object.keys(changed).length > 0;
      const workflowId = `workflow ${id}`;
      const expected = !isChanged ? {} : isScheduled ? { ...changed, workflowId } : { ...again(id!), ...changed };
      expect(difference(before, (await readFiles(stores.files)).get(id!)!)).toEqual(expected);
      // The outcome in the earlier run is recorded before the file is taken over.
      const outcomes = recorded.filter((one) => (one as string[])[0] === 'outcomes');
      expect(outcomes).toMatchObject(isChanged ? [['outcomes', [{ _id: id, runId: RUN }], NEXT_RUN]] : []);
    },
  ));

test('a request skips an item whose external id a container has, and only scheduled syncs skip deleted items', async () => {
  await seed(stores.files, commonFields(stores.files), {
    folder: { externalFileId: 'folder', isContainer: true, syncStatus: 'READY' },
  });
  expect(await acceptance.acceptMany(ADA, [request('folder'), request('page')])).toBe(1);
  expect(recorded).toContainEqual([
    'items',
    expect.objectContaining({ _id: NEXT_RUN, organizationId: 1, userId: 7 }),
    [
      expect.objectContaining({
        externalId: 'folder',
        end: expect.objectContaining({ as: 'skipped', cause: 'is_container' }),
      }),
    ],
  ]);
  expect(recorded).toContainEqual(['unskip', expect.any(String), ['folder', 'page']]);
  recorded.length = 0;
  skipped.add('gone');
  expect(await acceptance.acceptMany(ADA, [request('gone', true), request('kept', true)])).toBe(1);
  expect(recorded).toContainEqual([
    'items',
    expect.objectContaining({ _id: NEXT_RUN }),
    [expect.objectContaining({ externalId: 'gone', end: expect.objectContaining({ cause: 'deleted_by_caller' }) })],
  ]);
  expect(recorded.map((one) => (one as string[])[0])).not.toContain('unskip');
  expect(await stores.files.countDocuments({ externalFileId: 'gone' })).toBe(0);
});
