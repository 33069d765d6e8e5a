/** Tests of lists that are read or written in parts: each element is processed once, whatever the length. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose, { type Connection } from 'mongoose';

import { itemEnd } from '../../contract/runs/ledger.js';
import { createSequence } from '../../store/database/sequence.js';
import { createFrontier } from '../../store/frontier/frontier.js';
import { createItems, type Items } from '../../store/items/items.js';
import { createLedgerWriter } from '../../store/ledger/ledger.js';
import { fileModel } from '../../store/models/files.js';
import { itemModel } from '../../store/models/items.js';
import { openModels } from '../../store/models/openModels.js';
import { testEngines } from '../support/engines.js';

/** Number of elements: more than two parts of any of these lists. */
const NUMBER = 2_100;
const IDS = Array.from({ length: NUMBER }, (_, nth) => `item ${String(nth).padStart(4, '0')}`);
const SOURCE = { _id: 40, organizationId: 1, userId: 7, customerId: 'ada' };
const RUN = 3;
const VERSION = '1';

let connection: Connection;
let items: Items;

beforeAll(async () => {
  const options = { dbName: `lists-${randomUUID()}` };
  connection = await mongoose.createConnection(testEngines().mongodbUri, options).asPromise();
  items = createItems(itemModel(connection), fileModel(connection), createSequence(connection));
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
});

const listed = IDS.map((externalId) => ({
  ...{ externalId, name: externalId, itemType: 'FILE', source: 'BOX', parentExternalId: null, rootExternalId: null },
  ...{ externalUrl: null, fileFormat: null, isSelectable: true, isExpandable: false, version: VERSION },
}));

test('upsert stores a page of items completely, and returns each new item once', async () => {
  const fresh = await items.upsert(SOURCE as never, RUN, listed as never);
  expect([...fresh].toSorted()).toEqual(IDS);
  const stored = await itemModel(connection).find({}, { externalId: 1 }).sort({ externalId: 1 }).lean();
  expect(stored.map(({ externalId }) => externalId)).toEqual(IDS);
  expect((await items.upsert(SOURCE as never, RUN + 1, listed as never)).size).toBe(0);
});

test('a listing has changes if one item is new or differs, also when its pages are stored again', async () => {
  const [first, second] = listed;
  const store = async (runId: number, page: readonly object[]): Promise<void> => {
    for (let attempt = 0; attempt < 2; attempt += 1) await items.upsert(SOURCE as never, runId, page as never);
  };
  await store(RUN, listed);
  await store(RUN + 1, listed);
  expect(await items.hasChanged(SOURCE as never, RUN + 1)).toBe(false);
  for (const [nth, change] of [{ version: 'other' }, { name: 'other' }, { externalId: 'added' }].entries()) {
    await store(RUN + 2 + nth, [second!, { ...first, ...change }]);
    expect(await items.hasChanged(SOURCE as never, RUN + 2 + nth)).toBe(true);
    expect(await items.hasChanged({ ...SOURCE, userId: SOURCE.userId + 1 } as never, RUN + 2 + nth)).toBe(false);
  }
});

test('finds unchanged items in a long list, and counts the files of deleted items', async () => {
  await items.upsert(SOURCE as never, RUN, listed as never);
  const files = fileModel(connection);
  const blank = new files().toObject({ minimize: false });
  const { _id: dataSourceId, ...owner } = SOURCE;
  await files.collection.insertMany(
    IDS.map((externalFileId, nth) => ({
      ...{ ...blank, ...owner, dataSourceId, _id: nth + 1, externalFileId, source: 'BOX', syncStatus: 'READY' },
      // The last file is of another version.
      ...{ isContainer: false, version: nth + 1 === NUMBER ? '0' : VERSION },
    })) as never,
  );
  expect([...(await items.unchanged(SOURCE as never, IDS))].toSorted()).toEqual(IDS.slice(0, -1));

  await items.markDeleted(SOURCE as never, IDS.slice(1));
  expect(await items.countDeleted(SOURCE as never)).toEqual({ files: NUMBER, vanished: NUMBER - 1 });
});

test('the ledger stores each of many items of a run', async () => {
  const { ledger, runs } = await openModels(connection);
  const writer = createLedgerWriter(ledger, fileModel(connection), runs, undefined as never, 30);
  const skipped = itemEnd('skipped', 'select', 'not_readable');
  const rows = IDS.map((externalId) => ({ fileId: null, externalId, name: externalId, end: skipped, message: null }));
  await writer.addItems({ _id: RUN, organizationId: 1, userId: 7 } as never, rows);
  const stored = await ledger.find({ runId: RUN }, { externalId: 1 }).sort({ externalId: 1 }).lean();
  expect(stored.map(({ externalId }) => externalId)).toEqual(IDS);
});

test('returns the depth of each of many addresses of a crawl', async () => {
  const frontier = createFrontier((await openModels(connection)).crawlPages);
  const addresses = IDS.map((id, depth) => ({ url: `https://site.example/${id}`, depth }));
  await frontier.add(RUN, addresses);
  const depths = await frontier.findDepths(
    RUN,
    addresses.map(({ url }) => url),
  );
  expect(depths).toEqual(new Map(addresses.map(({ url, depth }) => [url, depth])));
});
