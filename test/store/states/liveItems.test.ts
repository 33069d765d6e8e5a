/** The filters of an active run's items, for a file in each status, with and without a stored outcome. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection } from 'mongoose';

import { FILE_SYNC_STATUSES } from '../../../contract/files/statuses.js';
import { ITEM_OUTCOMES, itemEnd } from '../../../contract/runs/ledger.js';
import { createIndexes } from '../../../store/database/driver.js';
import { rowOf } from '../../../store/ledger/items.js';
import {
  type AnyLiveItems,
  createLiveItems,
  type ItemFilter,
  type LiveItems,
  matchesFilter,
} from '../../../store/ledger/live.js';
import { createLedgerQueries } from '../../../store/ledger/queries.js';
import { fileModel } from '../../../store/models/files.js';
import { ledgerModel } from '../../../store/models/ledger.js';
import type { RunDoc } from '../../../store/models/runs.js';
import { everyRow } from '../../support/everyRow.js';
import { ADA, AGO, dropDatabase, openDatabase, seed } from './writes.js';

const RUN = { _id: 71, kind: 'deleteFiles' } as RunDoc;
const ENDS = [
  itemEnd('ok', null, null),
  itemEnd('failed', 'fetch', 'timed_out'),
  itemEnd('skipped', 'fetch', 'unchanged'),
  itemEnd('aborted', 'queue', 'cancelled'),
];
const FILTERS: readonly ItemFilter[] = [
  ...[...ITEM_OUTCOMES, 'pending' as const].map((outcome) => ({ outcomes: [outcome] })),
  ...(['queue', 'select', 'fetch', 'embed'] as const).map((stage) => ({ stages: [stage] })),
  ...(['cancelled', 'skip_file_processing', 'timed_out', 'unchanged'] as const).map((cause) => ({ causes: [cause] })),
  { outcomes: ['failed', 'pending'] },
  { outcomes: ['aborted'], stages: ['queue'], causes: ['cancelled'] },
  { outcomes: ['ok'], causes: ['cancelled'] },
  {},
];

let connection: Connection;
let items: LiveItems;
beforeAll(async () => {
  connection = await openDatabase();
  const files = fileModel(connection);
  await createIndexes(files);
  items = createLiveItems(files, undefined as never);
  const states = FILE_SYNC_STATUSES.flatMap((syncStatus) =>
    [null, ...ENDS].map((ended): [string, object] => [
      `${syncStatus} ${ended?.as}`,
      // A record that was written without the field, like one with null, has no stored outcome.
      { syncStatus, ...(ended || syncStatus === 'SYNC_ERROR' ? { ended } : {}) },
    ]),
  );
  const common = (id: number) => ({ ...ADA, runId: RUN._id, isContainer: false, externalFileId: `f${id}`, name: null });
  await seed(files, (id) => ({ ...common(id), syncErrorMessage: null, updatedAt: AGO }), Object.fromEntries(states));
});
afterAll(() => dropDatabase(connection));

test('a filtered page of an active run has exactly the items that match, by the outcome that is shown', async () => {
  const all = await items.page(RUN, 0, 1_000);
  expect(all).toHaveLength(FILE_SYNC_STATUSES.length * (ENDS.length + 1));
  await everyRow(
    FILTERS,
    (filter) => JSON.stringify(filter),
    async (filter) => {
      const matching = all.filter(({ end }) => matchesFilter(filter, end));
      expect(await items.page(RUN, 0, 1_000, filter)).toEqual(matching);
    },
  );
});

test('a file that another run takes over while a page is read stays in the page', async () => {
  const entries = ledgerModel(connection);
  const taken = { fileId: 5_000, externalId: 'taken', name: null, end: itemEnd('skipped', 'queue', 'superseded') };
  const live = {
    ...items,
    page: async () => {
      await entries.create(rowOf({ ...ADA, _id: RUN._id }, { ...taken, message: null }, AGO, new Date()));
      return [];
    },
  };
  const queries = createLedgerQueries(entries, undefined as never, live as unknown as AnyLiveItems);
  expect(await queries.items(RUN, {}, null, 10)).toMatchObject([{ fileId: 5_000, cause: 'superseded' }]);
});
