/** Which files a request moves back to Qdrant, keeps there, or gives other days in hot storage. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { NewEvent } from '../../../contract/events.js';
import type { ColdStorageChange } from '../../../contract/files/coldStorage.js';
import { BEING_DELETED } from '../../../contract/runs/reembed.js';
import { createMoveClaims } from '../../../store/coldStorage/claims.js';
import { createStorageChanges } from '../../../store/coldStorage/modify.js';
import type { FileDoc } from '../../../store/models/files.js';
import { runModel } from '../../../store/models/runs.js';
import { everyRow } from '../../support/everyRow.js';
import { commonFields, difference, type FileStores, NOW, openFileStores, readFiles, READY } from './fileFields.js';
import { ADA, AGO, seed, STRANGERS } from './writes.js';

const RUN = 9;
const COLD = { ...READY, embeddingStorageStatus: 'COLD_STORAGE' } as const;
const LEAVING = { ...READY, embeddingStorageStatus: 'HOT_TO_COLD', move: { runId: 10, token: 't' } } as const;
const TAKEN_OVER = { syncStatus: 'SYNC_ABORTED', syncErrorMessage: BEING_DELETED } as const;
const DAY_MS = 86_400_000;
const expand = (_tenant: unknown, filters: object) => Promise.resolve(filters);

let stores: FileStores;
let claims: ReturnType<typeof createMoveClaims>;
let changes: ReturnType<typeof createStorageChanges>;
const written: NewEvent[] = [];
beforeAll(async () => {
  stores = await openFileStores();
  const events = { write: (some: readonly NewEvent[]) => Promise.resolve(void written.push(...some)) } as never;
  claims = createMoveClaims(stores.files, runModel(stores.files.db as never), { expand });
  changes = createStorageChanges(stores.files, events, { expand });
});
afterAll(() => stores.close());

const seedFiles = (states: Readonly<Record<string, Partial<FileDoc>>>) =>
  seed(stores.files, commonFields(stores.files), states);

test('a request claims the matching files in cold storage in the order of their ids, up to its limit', async () => {
  const ids = await seedFiles({
    first: COLD,
    second: COLD,
    third: COLD,
    hot: READY,
    leaving: LEAVING,
    moving: { ...COLD, move: { runId: 10, token: null } },
    deleted: { ...COLD, ...TAKEN_OVER },
    otherModel: { ...COLD, options: { embeddingModel: 'COHERE' } as never },
  });
  const id = (name: string) => ids.get(name)!;
  const filters = { embeddingModels: ['OPENAI'] } as never;
  const before = await readFiles(stores.files);
  for (const stranger of STRANGERS) expect(await claims.claimCold(stranger, RUN, filters, 0, 10)).toEqual([]);
  expect(await readFiles(stores.files)).toEqual(before);
  expect(await claims.claimCold(ADA, RUN, filters, id('first'), 1)).toEqual([id('second')]);
  expect(await claims.claimCold(ADA, RUN, filters, 0, 10)).toEqual([id('first'), id('third')]);
  const after = await readFiles(stores.files);
  const changed = { ...NOW, embeddingStorageStatus: 'COLD_TO_HOT', move: { runId: RUN, token: null } };
  for (const [name, fileId] of ids)
    expect([name, difference(before.get(fileId)!, after.get(fileId)!)]).toEqual([
      name,
      ['first', 'second', 'third'].includes(name) ? changed : {},
    ]);
  expect(await claims.listClaimed(ADA, RUN, 2)).toEqual([id('first'), id('second')]);
  for (const stranger of STRANGERS) expect(await claims.listClaimed(stranger, RUN, 2)).toEqual([]);
});

/** A file, whether its move must be awaited, and what changes. */
const KEPT: readonly (readonly [what: string, fields: Partial<FileDoc>, isHeld: boolean, changed: object])[] = [
  ['a file that is about to leave', LEAVING, true, { coolsAt: 'in 2 days' }],
  ['a file whose vectors are being deleted', { ...LEAVING, embeddingStorageStatus: 'COLD_STORAGE' }, true, {}],
  ['a file in hot storage', READY, false, {}],
  ['a file in cold storage', COLD, false, {}],
  ['a file that is being deleted', { ...LEAVING, ...TAKEN_OVER }, false, { coolsAt: 'in 2 days' }],
];

test('keepHot() lets files on their way to cold storage stay hot, and returns whether a run still moves one', () =>
  everyRow(
    KEPT,
    ([what]) => what,
    async ([, fields, isHeld, changed]) => {
      const [id] = (await seedFiles({ own: fields })).values();
      const before = (await readFiles(stores.files)).get(id!)!;
      for (const stranger of STRANGERS) expect(await claims.keepHot(stranger, {})).toBe(false);
      expect((await readFiles(stores.files)).get(id!)).toEqual(before);
      expect(await claims.keepHot(ADA, {})).toBe(isHeld);
      const {
        updatedAt: _at,
        lastUsedAt: _used,
        ...fieldsChanged
      } = difference(before, (await readFiles(stores.files)).get(id!)!);
      expect(fieldsChanged).toEqual(changed);
    },
  ));

test('new days in hot storage count from the last use, and a file whose cold storage is disabled stays hot', async () => {
  const ids = await seedFiles({
    used: READY,
    same: { ...READY, hotStorageTimeToLive: 5 },
    neverCold: { ...READY, supportsColdStorage: false, hotStorageTimeToLive: null, coolsAt: null },
    deleted: TAKEN_OVER,
    container: { ...READY, isContainer: true },
  });
  const id = (name: string) => ids.get(name)!;
  const read = async (name: string) => (await readFiles(stores.files)).get(id(name))!;
  const modify = (change: ColdStorageChange, tenant = ADA, afterId = 0, limit = 10) =>
    changes.modify({ ...tenant, requestId: 'r' }, {}, change, { afterId, limit }, null as never);
  const before = await readFiles(stores.files);
  for (const stranger of STRANGERS) await modify({ enabled: true, days: 5 }, stranger);
  expect(await readFiles(stores.files)).toEqual(before);
  expect(await modify({ enabled: true, days: 5 }, ADA, 0, 2)).toBe(id('same'));
  expect(await modify({ enabled: true, days: 5 }, ADA, id('same'), 2)).toBeNull();
  expect(written.flatMap(({ objectId }) => objectId)).toEqual([String(id('used')), String(id('neverCold'))]);
  const used = await read('used');
  expect([used.hotStorageTimeToLive, used.coolsAt]).toEqual([5, new Date(AGO.getTime() + 3 * DAY_MS)]);
  expect(difference(before.get(id('neverCold'))!, await read('neverCold'))).toEqual({
    ...{ ...NOW, supportsColdStorage: true, hotStorageTimeToLive: 5, coolsAt: 'in 5 days' },
  });
  for (const name of ['same', 'deleted', 'container']) expect(await read(name)).toEqual(before.get(id(name)));
  await modify({ enabled: false, days: null });
  expect(await read('used')).toMatchObject({ supportsColdStorage: false, hotStorageTimeToLive: null, coolsAt: null });
});
