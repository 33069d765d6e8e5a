/** The ledger: which outcomes it records before files leave their run, and how the items of runs are counted and read. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection, Model } from 'mongoose';

import { itemEnd, type ItemEnd, NO_TALLY } from '../../../contract/runs/ledger.js';
import { createIndexes } from '../../../store/database/driver.js';
import { itemKey } from '../../../store/ledger/items.js';
import { createLedgerWriter, type LedgerWriter } from '../../../store/ledger/ledger.js';
import { createLiveItems } from '../../../store/ledger/live.js';
import { createLedgerQueries, type LedgerQueries } from '../../../store/ledger/queries.js';
import { type FileDoc, fileModel } from '../../../store/models/files.js';
import { type LedgerItemDoc, ledgerModel } from '../../../store/models/ledger.js';
import { type ReembedDoc, reembedModel } from '../../../store/models/reembeds.js';
import { type RunDoc, runModel } from '../../../store/models/runs.js';
import { ADA, AGO, dropDatabase, openDatabase, seed, STRANGERS } from './writes.js';

const LIFE_DAYS = 5;
const DAY_MS = 86_400_000;
const cost = (bytes: number, tokens: number, reused: number) => ({ bytes, tokens, reused });
const OK_COST = cost(5, 3, 1);
const OK: ItemEnd = { ...itemEnd('ok', null, null), ...OK_COST };

let connection: Connection;
let files: Model<FileDoc>;
let runs: Model<RunDoc>;
let entries: Model<LedgerItemDoc>;
let reembeds: Model<ReembedDoc>;
let writer: LedgerWriter;
let queries: LedgerQueries;
beforeAll(async () => {
  connection = await openDatabase();
  files = fileModel(connection);
  runs = runModel(connection);
  entries = ledgerModel(connection);
  reembeds = reembedModel(connection);
  await createIndexes(files);
  const live = createLiveItems(files, reembeds);
  writer = createLedgerWriter(entries, files, runs, live, LIFE_DAYS);
  queries = createLedgerQueries(entries, runs, live);
});
afterAll(() => dropDatabase(connection));

const seedRuns = async (states: Readonly<Record<string, object>>) => {
  await entries.deleteMany({});
  return seed(
    runs,
    (id) => ({ ...ADA, kind: 'scrapeSitemap', workflowId: `w${id}`, acceptedAt: AGO, finishedAt: null, counts: {} }),
    states,
  );
};
const seedFiles = (states: Readonly<Record<string, object>>) =>
  seed(
    files,
    (id) => ({
      ...{
        ...ADA,
        source: 'BOX',
        externalFileId: `file ${id}`,
        name: `name ${id}`,
        isContainer: false,
        updatedAt: AGO,
      },
      ...{ syncStatus: 'READY', syncErrorMessage: null, ended: null },
    }),
    states,
  );
const runOf = async (id: number | undefined): Promise<RunDoc> => (await runs.findById(id).lean<RunDoc>())!;
const recorded = async () => entries.find().sort({ _id: 1 }).lean<LedgerItemDoc[]>();

test('the outcomes of files are recorded for their active runs, before another run takes them over', async () => {
  const ids = await seedRuns({ active: {}, next: {}, ended: { finishedAt: AGO } });
  const [active, next, ended] = [...ids.values()];
  const fileIds = await seedFiles({
    ...{ ready: { runId: active, ended: OK }, waiting: { runId: active, syncStatus: 'QUEUED_FOR_SYNC' } },
    ...{ failed: { runId: active, syncStatus: 'SYNC_ERROR', syncErrorMessage: 'It is broken.' } },
    ...{ container: { runId: active, isContainer: true }, ofNext: { runId: next, ended: OK } },
    ...{ ofEnded: { runId: ended, ended: OK }, unowned: { runId: null }, moved: { runId: ended } },
  });
  const rows = (await files.find({}, { runId: 1 }).lean()).map(({ _id, runId }) => ({
    ...{ _id, runId: _id === fileIds.get('moved') ? active! : runId },
  }));
  const before = Date.now();
  await writer.recordOutcomes(rows, next!);
  const found = await recorded();
  expect(found.map(({ fileId, runId, outcome, cause, message }) => [fileId, runId, outcome, cause, message])).toEqual([
    [fileIds.get('ready'), active, 'ok', null, null],
    [fileIds.get('waiting'), active, 'skipped', 'superseded', null],
    [fileIds.get('failed'), active, 'failed', null, 'It is broken.'],
  ]);
  const [first] = found;
  const id = fileIds.get('ready')!;
  expect(first).toMatchObject({
    ...OK_COST,
    organizationId: 1,
    userId: 7,
    externalId: `file ${id}`,
    name: `name ${id}`,
  });
  expect(first!.expiresAt.getTime()).toBeGreaterThanOrEqual(before + LIFE_DAYS * DAY_MS);
  expect(first!.expiresAt.getTime()).toBeLessThanOrEqual(Date.now() + LIFE_DAYS * DAY_MS);
  await entries.deleteMany({});
  await writer.recordOutcomes([{ _id: fileIds.get('ofNext')!, runId: next! }], next!);
  expect(await recorded()).toEqual([]);
});

test('an entry states the warning of a file, and limits the lengths of its name and id', async () => {
  const [id] = (await seedRuns({ active: {} })).values();
  const warnings = [
    { cause: 'other', message: 'Another warning.' },
    { cause: 'low_ocr_confidence', message: 'Some words are uncertain.' },
  ];
  const warned = { ended: itemEnd('ok', null, 'low_ocr_confidence' as never), fileMetadata: { warnings } };
  await seedFiles({ warned: { runId: id, ...warned }, failed: { runId: id, syncErrorMessage: 'm', ...warned } });
  await writer.close(await runOf(id));
  expect((await recorded()).map(({ message }) => message)).toEqual(['Some words are uncertain.', 'm']);
  await entries.deleteMany({});
  const [long, address] = ['n'.repeat(600), 'a'.repeat(3_000)];
  const item = { fileId: null, end: itemEnd('skipped', 'select', 'unchanged'), message: null };
  await writer.addItems({ ...ADA, _id: id! }, [
    { ...item, externalId: address, name: long },
    { ...item, externalId: 'same', name: 'same' },
  ]);
  const added = (await recorded()).toSorted((a, b) => b.externalId.length - a.externalId.length);
  expect(added.map(({ externalId, name }) => [externalId.length, name?.length ?? null])).toEqual([
    [2_048, 500],
    [4, null],
  ]);
  for (const stranger of STRANGERS) await writer.removeAll(stranger);
  expect(await recorded()).toHaveLength(2);
  await writer.removeAll(ADA);
  expect(await recorded()).toEqual([]);
});

test('uploads that end together have counts of their own, by outcome, bytes and tokens', async () => {
  const ids = await seedRuns({ one: { kind: 'syncUpload' }, two: { kind: 'syncUpload' }, other: {} });
  const [one, two, other] = [...ids.values()];
  await seedFiles({
    ...{
      ready: { runId: one, ended: OK },
      again: { runId: one, ended: OK },
      failed: { runId: two, syncStatus: 'SYNC_ERROR' },
    },
    ...{ unread: { runId: two, syncStatus: 'READY_TO_SYNC' }, aborted: { runId: two, syncStatus: 'SYNC_ABORTED' } },
    ...{ open: { runId: two, syncStatus: 'SYNCING' }, ofOther: { runId: other }, foreign: { runId: one, userId: 8 } },
    folder: { runId: one, isContainer: true },
  });
  const closed = await writer.closeMany(ADA, [await runOf(one), await runOf(two)]);
  const none = { total: 0, ready: 0, failed: 0, aborted: 0, open: 0 };
  expect(closed.get(one!)).toEqual({
    tally: { ...NO_TALLY, discovered: 2, ok: 2, ...cost(10, 6, 2) },
    counts: { ...none, total: 2, ready: 2 },
  });
  expect(closed.get(two!)).toEqual({
    tally: { ...NO_TALLY, discovered: 4, failed: 1, skipped: 1, aborted: 2 },
    counts: { total: 4, ready: 1, failed: 1, aborted: 1, open: 1 },
  });
  expect([...closed.keys()]).toEqual([one, two]);
  // A repeated call, after a crash, records nothing twice.
  expect(await writer.closeMany(ADA, [await runOf(one), await runOf(two)])).toEqual(closed);
  expect(await recorded()).toHaveLength(6);
});

test('the items of a scheduled sync are those of its parts, each once for pages of any size', async () => {
  const ids = await seedRuns({
    ...{
      sync: { kind: 'autoSync', _unused: 1 },
      ended: { part: 'a', tally: { ...NO_TALLY, discovered: 3, ok: 1, skipped: 2, ...OK_COST } },
    },
    ...{ active: { part: 'b' }, child: {}, elsewhere: {} },
  });
  const [sync, ended, active, child, elsewhere] = [...ids.values()];
  await runs.updateMany({ _id: { $in: [ended!, active!, child!] } }, { $set: { parentRunId: sync! } });
  const fileIds = await seedFiles({
    ...{ ready: { runId: active, ended: OK }, waiting: { runId: active, syncStatus: 'QUEUED_FOR_SYNC' } },
    ...{ ofEnded: { runId: elsewhere, ended: OK }, ofChild: { runId: child } },
  });
  const skipped = { fileId: null, end: itemEnd('skipped', 'select', 'unchanged'), message: null, name: null };
  const fileOfEnded = { ...skipped, fileId: fileIds.get('ofEnded')!, externalId: 'f', end: OK };
  const ownedBy = (id: number | undefined) => ({ ...ADA, _id: id! });
  await writer.addItems(ownedBy(ended), [
    { ...skipped, externalId: 'x' },
    { ...skipped, externalId: 'y' },
    fileOfEnded,
  ]);
  await writer.addItems(ownedBy(active), [{ ...skipped, externalId: 'z' }]);
  const run = await runOf(sync);
  const all = await queries.items(run, {}, null, 100);
  const shown = all.map(({ runId, fileId, externalId, outcome }) => [runId, fileId ?? externalId, outcome]);
  expect(shown.slice(0, 1)).toEqual([[ended, fileIds.get('ofEnded'), 'ok']]);
  expect(new Set(shown.slice(1, 3))).toEqual(
    new Set([
      [ended, 'x', 'skipped'],
      [ended, 'y', 'skipped'],
    ]),
  );
  expect(shown.slice(3)).toEqual([
    [active, fileIds.get('ready'), 'ok'],
    [active, fileIds.get('waiting'), 'pending'],
    [active, 'z', 'skipped'],
  ]);
  for (const size of [1, 2, 4]) {
    const paged: string[] = [];
    for (let after: string | null = null, pages = 0; pages < 10; pages += 1) {
      const page: Awaited<ReturnType<typeof queries.items>> = await queries.items(run, {}, after, size);
      if (page.length === 0) break;
      expect(page.length).toBeLessThanOrEqual(size);
      paged.push(...page.map(({ id }) => id));
      after = page.at(-1)!.id;
    }
    expect([size, paged]).toEqual([size, all.map(({ id }) => id)]);
  }
  const filtered = async (filter: object) => (await queries.items(run, filter, null, 9)).length;
  expect([await filtered({ outcomes: ['ok'] }), await filtered({ causes: ['unchanged'], stages: ['select'] })]).toEqual(
    [...[2, 3]],
  );
  expect((await queries.tallies([run])).get(sync!)).toEqual({
    ...{ ...NO_TALLY, discovered: 6, ok: 2, skipped: 3, pending: 1, ...cost(10, 6, 2) },
  });
  expect(await queries.workflowIds(run)).toEqual(new Map([sync, ended, active].map((id) => [id, `w${id}`])));

  const z = all.at(-1)!.id;
  const [ready, ofChild] = [fileIds.get('ready')!, fileIds.get('ofChild')!];
  const processed = new Set(
    await queries.processed(run, {
      fileIds: [ready, ofChild, fileIds.get('ofEnded')!],
      itemIds: [z, itemKey(active!, { fileId: fileIds.get('waiting')! }), itemKey(elsewhere!, { externalId: 'x' })],
    }),
  );
  expect(
    [...[ready, fileIds.get('ofEnded'), fileIds.get('waiting')].map(String), z].filter((id) => !processed.has(id)),
  ).toEqual([]);
  expect(processed.has(String(ofChild))).toBe(false);
});

test('a run that is ending counts a file in the ledger only once, and counts entries without a file', async () => {
  const [active] = (await seedRuns({ active: {} })).values();
  const ids = await seedFiles({ ready: { runId: active, ended: OK }, open: { runId: active, syncStatus: 'SYNCING' } });
  const end = itemEnd('skipped', 'select', 'unchanged');
  const item = { externalId: 'x', name: null, message: null };
  await writer.addItems({ ...ADA, _id: active! }, [
    { ...item, fileId: null, end },
    { ...item, fileId: ids.get('ready')!, end: OK },
  ]);
  await runs.updateOne({ _id: active! }, { $set: { closedTo: 0 } });
  const counted = async () => (await queries.tallies([await runOf(active)])).get(active!);
  expect(await counted()).toEqual({ ...NO_TALLY, discovered: 3, ok: 1, skipped: 1, pending: 1, ...OK_COST });
  const listed = await queries.items(await runOf(active), {}, null, 9);
  expect(listed.map(({ fileId, externalId }) => fileId ?? externalId)).toEqual([...ids.values(), 'x']);
  // If the counts of the run were stored after the caller read it, tallies() returns the stored counts.
  const stale = await runOf(active);
  await runs.updateOne({ _id: active! }, { $set: { tally: { ...NO_TALLY, ok: 9 } } });
  expect((await queries.tallies([stale])).get(active!)).toMatchObject({ ok: 9 });
});

test('the items of a re-embedding are its files, with their outcomes and tokens', async () => {
  const [id, other] = (await seedRuns({ own: { kind: 'reembedFiles' }, other: { kind: 'reembedFiles' } })).values();
  const fileIds = await seedFiles({ a: {}, b: {}, c: {}, d: {} });
  const [a, b, c, d] = [...fileIds.values()];
  const row = (runId: number | undefined, fileId: number | undefined, fields: object) => ({
    ...{ _id: `${runId}:${fileId}`, runId, fileId, message: null, at: new Date(), tokens: 0, reason: null, ...fields },
  });
  await reembeds.collection.insertMany([
    row(id, a, { outcome: 'reembedded', tokens: 7 }),
    row(id, b, { outcome: 'failed', message: 'It failed.' }),
    row(id, c, { outcome: 'skipped', reason: 'picture' }),
    row(id, d, { outcome: null }),
    row(other, a, { outcome: 'failed' }),
  ] as never);
  const run = await runOf(id);
  const shown = async (after: string | null, limit: number) =>
    (await queries.items(run, {}, after, limit)).map(({ fileId, outcome, cause, tokens, name }) => [
      ...[fileId, outcome, cause, tokens, name],
    ]);
  const all = [
    [a, 'ok', null, 7, `name ${a}`],
    [b, 'failed', 'embedding_failed', 0, `name ${b}`],
    [c, 'skipped', 'picture', 0, `name ${c}`],
    [d, 'pending', null, 0, `name ${d}`],
  ];
  expect(await shown(null, 9)).toEqual(all);
  expect(await shown(itemKey(id!, { fileId: b! }), 1)).toEqual(all.slice(2, 3));
  expect((await queries.tallies([run])).get(id!)).toEqual({
    ...{ ...NO_TALLY, discovered: 4, ok: 1, failed: 1, skipped: 1, pending: 1, tokens: 7 },
  });
});
