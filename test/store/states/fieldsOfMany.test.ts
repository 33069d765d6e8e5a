/** The fields that one write of many files changes: of a run, of a data source, or of re-embedded files. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { itemEnd } from '../../../contract/runs/ledger.js';
import { BEING_DELETED } from '../../../contract/runs/reembed.js';
import { DELETE_STOPPED } from '../../../store/files/deletion.js';
import type { FileDoc } from '../../../store/models/files.js';
import { everyRow } from '../../support/everyRow.js';
import {
  ATTEMPT_ENDED,
  commonFields,
  difference,
  EVALUATED,
  type FileStores,
  NOW,
  OLD,
  openFileStores,
  OTHER_RUN,
  QUEUED,
  READY,
  readFiles,
  RESET,
  RUN,
  SYNCING,
} from './fileFields.js';
import { ADA, seed } from './writes.js';

let stores: FileStores;
beforeAll(async () => {
  stores = await openFileStores();
});
afterAll(() => stores.close());

/** Changes of all files of a run or of a data source. */
type WideRow = readonly [name: string, fields: Partial<FileDoc>, call: () => Promise<unknown>, changed: object];
const ABORTED = { ...ATTEMPT_ENDED, ...NOW, syncStatus: 'SYNC_ABORTED' };
const REVOKED =
  'Access to the data source was revoked before this file was synced. Connect the data source again, then resync.';
const WIDE: readonly WideRow[] = [
  [
    'abortOpen',
    SYNCING,
    () => stores.abortOpen(RUN, 'm', 'cancelled'),
    { ...ABORTED, syncErrorMessage: 'm', ended: itemEnd('aborted', 'queue', 'cancelled') },
  ],
  [
    'abortOpen of a file under evaluation',
    EVALUATED,
    () => stores.abortOpen(RUN, 'm', 'cancelled'),
    {
      ...{ ...RESET, ...NOW, syncStatus: 'READY', syncErrorMessage: null, requestId: 'r0' },
      ended: itemEnd('aborted', 'queue', 'cancelled'),
    },
  ],
  [
    'abortQueuedOf',
    QUEUED,
    () => stores.abortQueuedOf({ ...ADA, _id: 40 }),
    { ...ABORTED, syncErrorMessage: REVOKED, ended: itemEnd('aborted', 'queue', 'source_revoked') },
  ],
  [
    'markDeleteStopped',
    { syncStatus: 'SYNC_ABORTED', syncErrorMessage: BEING_DELETED },
    () => stores.markDeleteStopped(RUN),
    { ...NOW, syncErrorMessage: DELETE_STOPPED },
  ],
];

test('a change of all files of a run or data source leaves the files of others', () =>
  everyRow(
    WIDE,
    ([name]) => name,
    async ([, fields, call, changed]) => {
      const foreign = { runId: OTHER_RUN, dataSourceId: 41, accountId: 41 };
      const ids = await seed(stores.files, commonFields(stores.files), {
        one: fields,
        two: fields,
        foreign: { ...fields, ...foreign },
      });
      const before = await readFiles(stores.files);
      await call();
      const after = await readFiles(stores.files);
      const changes = [...ids.values()].map((id) => difference(before.get(id)!, after.get(id)!));
      expect(changes).toEqual([changed, changed, {}]);
    },
  ));

test('an abort ends more files than one write contains', async () => {
  const many = Array.from({ length: 1_001 }, (_, nth) => [`file ${nth}`, QUEUED] as const);
  await seed(stores.files, commonFields(stores.files), Object.fromEntries(many));
  expect(await stores.abortOpen(RUN, 'm', 'cancelled')).toBe(1_001);
  expect(await stores.files.countDocuments({ syncStatus: 'SYNC_ABORTED' })).toBe(1_001);
});

test('published vectors change the model, space and generation of a file that no sync has changed meanwhile', async () => {
  const space = { name: 'new space', dimensions: 8 };
  const states: Record<string, Partial<FileDoc>> = {
    same: {},
    synced: { generation: 4 },
    restarted: { lastGeneration: 6 },
    queued: QUEUED,
    takenOver: { runId: OTHER_RUN },
    moving: { embeddingStorageStatus: 'HOT_TO_COLD' },
    tagged: { tagsRevision: 7 },
  };
  const ids = await seed(stores.files, (id) => ({ ...commonFields(stores.files)(id), ...READY }), states);
  const before = await readFiles(stores.files);
  const published = await stores.publishVectors(
    [...ids.values()].map((_id) => ({
      ...{
        file: { ...(commonFields(stores.files)(_id) as unknown as FileDoc), _id },
        generation: 5,
        model: 'COHERE' as never,
        space,
      },
      ...{ processedAs: 'p2', tagsRevision: 6 },
    })),
  );
  expect(published).toEqual([ids.get('same')]);
  const after = await readFiles(stores.files);
  for (const [name, id] of ids)
    expect([name, difference(before.get(id)!, after.get(id)!)]).toEqual([
      name,
      name === 'same'
        ? {
            ...{ ...NOW, generation: 5, vectorSpace: 'new space', dimensions: 8, processedAs: 'p2' },
            ...{ options: { ...OLD.options, embeddingModel: 'COHERE' }, statistics: { numEmbeddings: 4 } },
            cleanupPending: true,
          }
        : {},
    ]);
});

test('an aborted run counts the pages of its container by their final states', async () => {
  const metadata = { pages_total: 99, other: 1 };
  const ids = await seed(stores.files, commonFields(stores.files), {
    container: { ...SYNCING, isContainer: true, fileMetadata: metadata },
    ofOtherRun: { ...READY, isContainer: true, fileMetadata: metadata, runId: OTHER_RUN },
    uncounted: { ...SYNCING, isContainer: true, fileMetadata: {} },
    ready: { ...READY, runId: OTHER_RUN },
    unread: { syncStatus: 'READY_TO_SYNC' },
    failed: { syncStatus: 'SYNC_ERROR' },
    queued: QUEUED,
    nested: { ...READY, isContainer: true },
    elsewhere: READY,
  });
  const pages = ['ready', 'unread', 'failed', 'queued', 'nested'].map((name) => ids.get(name)!);
  await stores.files.updateMany({ _id: { $in: pages } }, { $set: { parentId: ids.get('container')! } });
  await stores.abortOpen(RUN, 'm', 'cancelled');
  const after = await readFiles(stores.files);
  expect(['container', 'ofOtherRun', 'uncounted'].map((name) => after.get(ids.get(name)!)?.fileMetadata)).toEqual([
    { other: 1, pages_total: 4, pages_ready: 2, pages_failed: 1, pages_aborted: 1 },
    metadata,
    {},
  ]);
});

test('a data source has unsynced files if one of its own failed or was aborted', async () => {
  const source = { ...ADA, _id: 40 };
  const rows: readonly (readonly [Partial<FileDoc>, boolean])[] = [
    [READY, false],
    [QUEUED, false],
    [{ syncStatus: 'SYNC_ERROR' }, true],
    [{ syncStatus: 'SYNC_ABORTED' }, true],
    [{ syncStatus: 'SYNC_ERROR', dataSourceId: 41 }, false],
    [{ syncStatus: 'SYNC_ERROR', userId: 8 }, false],
    [{ syncStatus: 'SYNC_ERROR', organizationId: 2 }, false],
  ];
  await everyRow(rows, JSON.stringify, async ([fields, isUnsynced]) => {
    const [id] = (
      await seed(stores.files, commonFields(stores.files), { one: { ...fields, isContainer: true } })
    ).values();
    expect(await stores.hasUnsynced(source)).toBe(isUnsynced);
    const isOwn = !('dataSourceId' in fields || 'userId' in fields || 'organizationId' in fields);
    expect(await stores.containersOf(ADA, 40, 10)).toEqual(isOwn ? [id] : []);
  });
  await seed(stores.files, commonFields(stores.files), { page: READY });
  expect(await stores.containersOf(ADA, 40, 10)).toEqual([]);
});

test('an approval of held deletions sets deletionsApproved, and a refusal removes deletions_held', async () => {
  const held = { ...READY, isContainer: true, fileMetadata: { deletions_held: 3, a: 1 } };
  const decided = async (approved: boolean) => {
    const [id] = (await seed(stores.files, commonFields(stores.files), { held })).values();
    const before = (await readFiles(stores.files)).get(id!)!;
    expect(await stores.decideDeletions({ ...before, organizationId: 2 }, approved)).toBeNull();
    expect(await stores.findContainerInOrganization(2, id!)).toBeNull();
    expect((await stores.findContainerInOrganization(1, id!))?._id).toBe(id);
    return difference(before, (await stores.decideDeletions(before, approved))!);
  };
  expect(await decided(true)).toEqual({ ...NOW, deletionsApproved: true });
  expect(await decided(false)).toEqual({ ...NOW, fileMetadata: { a: 1 } });
});

test('an upload whose content was deleted is not retried, unless the service can fetch it again', async () => {
  const upload = { ...READY, source: 'PDF', original: null, sourceOptions: null, fileContentsDeleted: true } as const;
  const rows: readonly (readonly [Partial<FileDoc>, boolean])[] = [
    [upload as Partial<FileDoc>, false],
    [{ ...upload, fileContentsDeleted: false } as Partial<FileDoc>, true],
    [{ ...upload, original: OLD.original ?? null } as Partial<FileDoc>, true],
    [{ ...upload, sourceOptions: { url: 'https://site.example/' } } as Partial<FileDoc>, true],
    [{ ...upload, source: 'BOX' } as Partial<FileDoc>, true],
    [{ ...READY, isContainer: true }, false],
    [{ syncStatus: 'SYNC_ABORTED', syncErrorMessage: BEING_DELETED }, false],
    [SYNCING, false],
  ];
  await everyRow(rows, JSON.stringify, async ([fields, isRetried]) => {
    const [id] = (await seed(stores.files, commonFields(stores.files), { one: fields })).values();
    expect(await stores.retryable(ADA, [id!], false)).toEqual(isRetried ? [id] : []);
  });
});
