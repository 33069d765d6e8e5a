/** Tests of moves of vectors between hot and cold storage: which files change their storage at the end of a move. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { MoveAttempt } from '../../store/coldStorage/moves.js';
import { type FileDoc, fileModel, type SyncedContent } from '../../store/models/files.js';
import { withDatabase } from '../support/mongo.js';
import { everyRow } from '../support/everyRow.js';
import { seedFiles } from '../support/seedFiles.js';
import { type SharedService, sharedService } from '../support/sharedService.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const ADA = { userId: 7, customerId: 'ada' };
const BEN = { userId: 8, customerId: 'ben' };
let service: SharedService;
let lastId: number;
/** The move of Ada's files. */
let attempt: MoveAttempt;

beforeAll(async () => {
  service = await sharedService({ worker: false });
  const { organizationId, firstId } = service;
  lastId = firstId;
  attempt = { ...ADA, organizationId, runId: 9, token: 'attempt', requestId: 'r', workflowId: 'w' };
});
afterAll(() => service.close());

const ago = (ms: number): Date => new Date(Date.now() - ms);
const COPY = { key: 'k', generation: 1, points: 1, bytes: 1 };
const LEAVING: Partial<FileDoc> = {
  ...{ embeddingStorageStatus: 'HOT_TO_COLD', syncStatus: 'READY', supportsColdStorage: true, coolsAt: ago(1_000) },
  ...{ move: { runId: 9, token: 'attempt' }, coldCopy: COPY, vectorSpace: 'minilm-l6-v2-384', hotStorageTimeToLive: 2 },
};
const RETURNING: Partial<FileDoc> = { ...LEAVING, embeddingStorageStatus: 'COLD_TO_HOT', tagsRevision: 3 };

async function seed(fields: Partial<FileDoc>, owner = ADA): Promise<number> {
  lastId += 1;
  const { organizationId } = service;
  await seedFiles(service, { ...owner, organizationId }, [{ id: lastId, fields }]);
  return lastId;
}
const read = (id: number): Promise<FileDoc> =>
  withDatabase(service, async (connection) => (await fileModel(connection).findById(id).lean())!);
/** Returns the number of events about a file. */
const eventsOf = (id: number): Promise<number> =>
  withDatabase(service, (connection) =>
    connection.collection('events').countDocuments({ 'events.objectId': { $in: [id, String(id)] } }),
  );

type Row = readonly [what: string, fields: Partial<FileDoc>, isMoved: boolean, owner?: typeof ADA];
/** Possible changes of a file since its vectors were copied to cold storage. */
const TO_COLD: readonly Row[] = [
  ['nothing', {}, true],
  ['new tags', { tagsRevision: 4 }, true],
  ['a use, so that it is no longer due', { coolsAt: new Date(Date.now() + DAY_MS) }, false],
  ['a request to keep the file', { coolsAt: null }, false],
  ['the end of cold storage for the file', { supportsColdStorage: false }, false],
  ['the start of a sync', { syncStatus: 'SYNCING' }, false],
  ['a failed sync', { syncStatus: 'SYNC_ERROR' }, false],
  ['a sync', { generation: 2 }, false],
  ['a sync with its own copy', { generation: 2, coldCopy: { ...COPY, generation: 2 } }, false],
  ['a copy of another content', { coldCopy: { ...COPY, generation: 2 } }, false],
  ['the loss of the copy', { coldCopy: null }, false],
  ['another attempt', { move: { runId: 9, token: 'later' } }, false],
  ['another run', { move: { runId: 10, token: 'attempt' } }, false],
  ['the end of the move', { move: null }, false],
  ['the move itself', { embeddingStorageStatus: 'COLD_STORAGE' }, false],
  ['a move back to hot storage', { embeddingStorageStatus: 'COLD_TO_HOT' }, false],
  ['none, but the file belongs to another user', {}, false, BEN],
];
/** Possible changes of a file since its vectors were written back. */
const TO_HOT: readonly Row[] = [
  ['nothing', {}, true],
  ['the end of cold storage for the file', { supportsColdStorage: false }, true],
  ['new tags', { tagsRevision: 4 }, false],
  ['a sync', { generation: 2 }, false],
  ['another attempt', { move: { runId: 9, token: 'later' } }, false],
  ['another run', { move: { runId: 10, token: 'attempt' } }, false],
  ['the move itself', { embeddingStorageStatus: 'HOT_STORAGE' }, false],
  ['a move to cold storage', { embeddingStorageStatus: 'HOT_TO_COLD' }, false],
  ['none, but the file belongs to another user', {}, false, BEN],
];

test('moves a file to cold storage unless more than its tags has changed since its vectors were copied', () =>
  everyRow(
    TO_COLD,
    ([what]) => what,
    async ([, fields, isMoved, owner]) => {
      const id = await seed({ ...LEAVING, ...fields }, owner);
      const fileBefore = await read(id);
      expect(await service.store.moves.markCold(attempt, [{ _id: id, generation: 1 }])).toEqual(isMoved ? [id] : []);
      const { embeddingStorageStatus } = await read(id);
      expect(embeddingStorageStatus).toBe(isMoved ? 'COLD_STORAGE' : fileBefore.embeddingStorageStatus);
      expect(await eventsOf(id)).toBe(isMoved ? 1 : 0);
      // A retry after a lost answer changes nothing.
      expect(await service.store.moves.markCold(attempt, [{ _id: id, generation: 1 }])).toEqual([]);
      expect(await eventsOf(id)).toBe(isMoved ? 1 : 0);
    },
  ));

test('moves a file back to hot storage only if its content and tags are those of the written vectors', () =>
  everyRow(
    TO_HOT,
    ([what]) => what,
    async ([, fields, isMoved, owner]) => {
      const id = await seed({ ...RETURNING, ...fields }, owner);
      const fileBefore = await read(id);
      const claim = { _id: id, generation: 1, tagsRevision: 3 };
      expect(await service.store.moves.markHot(attempt, [claim])).toEqual(isMoved ? [id] : []);
      const { embeddingStorageStatus, coolsAt } = await read(id);
      expect(embeddingStorageStatus).toBe(isMoved ? 'HOT_STORAGE' : fileBefore.embeddingStorageStatus);
      expect(await eventsOf(id)).toBe(isMoved ? 1 : 0);
      if (!isMoved) return;
      // The days in hot storage start again, unless cold storage is disabled for the file.
      const leavesInMs = coolsAt ? coolsAt.getTime() - Date.now() : null;
      if (fields.supportsColdStorage === false) return expect(leavesInMs).toBeNull();
      expect(leavesInMs).toBeGreaterThan(2 * DAY_MS - HOUR_MS);
      expect(leavesInMs).toBeLessThanOrEqual(2 * DAY_MS);
    },
  ));

/** States of a file when its move is cancelled, and afterwards. */
const REVERTS: readonly (readonly [
  before: FileDoc['embeddingStorageStatus'],
  after: FileDoc['embeddingStorageStatus'],
  keepsCopy: boolean,
])[] = [
  ['HOT_TO_COLD', 'HOT_STORAGE', false],
  ['COLD_TO_HOT', 'COLD_STORAGE', true],
  ['HOT_STORAGE', 'HOT_STORAGE', true],
  ['COLD_STORAGE', 'COLD_STORAGE', true],
];

test('a file whose move is cancelled stays in its previous storage; another attempt or user changes nothing', () =>
  everyRow(
    REVERTS,
    ([before]) => before,
    async ([before, after, keepsCopy]) => {
      const id = await seed({ ...LEAVING, embeddingStorageStatus: before });
      const { moves } = service.store;
      for (const otherAttempt of [
        { ...attempt, token: 'later' },
        { ...attempt, runId: 10 },
        { ...attempt, userId: BEN.userId },
      ])
        await moves.revert(otherAttempt, [id]);
      expect((await read(id)).embeddingStorageStatus).toBe(before);
      await moves.revert(attempt, [id]);
      const { embeddingStorageStatus, coldCopy } = await read(id);
      expect([embeddingStorageStatus, coldCopy !== null]).toEqual([after, keepsCopy]);
    },
  ));

/** Fields in which a file differs from one that is due for cold storage, and whether a sweep claims it. */
const DUE: readonly (readonly [what: string, fields: Partial<FileDoc>, isDue: boolean])[] = [
  ['due', {}, true],
  ['not due yet', { coolsAt: new Date(Date.now() + HOUR_MS) }, false],
  ['never due', { coolsAt: null }, false],
  ['in cold storage', { embeddingStorageStatus: 'COLD_STORAGE' }, false],
  ['in a move', { move: { runId: 10, token: null } }, false],
  ['without vectors', { vectorSpace: null }, false],
  ['that must stay in hot storage', { supportsColdStorage: false }, false],
  ['being synced', { syncStatus: 'QUEUED_FOR_SYNC' }, false],
];

test('a sweep claims the files of one user that are due, the longest unused first', () =>
  everyRow(
    DUE,
    ([what]) => what,
    async ([, fields, isDue], index) => {
      const { organizationId } = service;
      const owner = { organizationId, userId: 50 + index, customerId: `due ${index}` };
      const hot: Partial<FileDoc> = { ...LEAVING, embeddingStorageStatus: 'HOT_STORAGE', move: null };
      const id = await seed({ ...hot, ...fields }, owner);
      await seed(hot, { ...owner, userId: 90 + index });
      const [older, newer] = [ago(2 * HOUR_MS), ago(HOUR_MS)];
      const later = await seed({ ...hot, coolsAt: newer }, owner);
      const longestUnused = await seed({ ...hot, coolsAt: older }, owner);
      const { moves } = service.store;
      expect(await moves.claimDue(owner, 11, new Date(), 1)).toEqual([longestUnused]);
      expect((await moves.claimDue(owner, 11, new Date(), 10)).toSorted((a, b) => a - b)).toEqual(
        isDue ? [id, later] : [later],
      );
      expect((await read(longestUnused)).embeddingStorageStatus).toBe('HOT_TO_COLD');
    },
  ));

/** Files that a search has found, and whether lastUsedAt is updated. */
const USES: readonly (readonly [what: string, fields: Partial<FileDoc>, isNoted: boolean])[] = [
  ['never used', {}, true],
  ['used more than an hour ago', { lastUsedAt: ago(HOUR_MS + 60_000) }, true],
  ['used less than an hour ago', { lastUsedAt: ago(HOUR_MS - 60_000) }, false],
  ['without cold storage', { supportsColdStorage: false }, false],
];

test('a use delays the move to cold storage by hotStorageTimeToLive days, and is written at most once an hour', () =>
  everyRow(
    USES,
    ([what]) => what,
    async ([, fields, isNoted]) => {
      const id = await seed({ ...LEAVING, embeddingStorageStatus: 'HOT_STORAGE', move: null, ...fields });
      const fileBefore = await read(id);
      const { lastUse } = service.store;
      lastUse.record([fileBefore]);
      await lastUse.flush();
      const { coolsAt, lastUsedAt } = await read(id);
      if (!isNoted) return expect([coolsAt, lastUsedAt]).toEqual([fileBefore.coolsAt, fileBefore.lastUsedAt]);
      expect(Date.now() - lastUsedAt!.getTime()).toBeLessThan(HOUR_MS);
      expect(coolsAt!.getTime()).toBe(lastUsedAt!.getTime() + 2 * DAY_MS);
    },
  ));

test('a sync leaves a file in hot storage for the days that a request set during the sync', async () => {
  const syncing = { syncStatus: 'SYNCING', runId: 9, supportsColdStorage: true, move: null } as const;
  const dueDays = async (daysBefore: number, daysAfter: number) => {
    const id = await seed({ ...syncing, hotStorageTimeToLive: daysAfter, generation: 1, lastGeneration: 2 });
    const file = { ...(await read(id)), hotStorageTimeToLive: daysBefore };
    const finished = {
      ...{ runId: 9, file, name: null, fileMetadata: {}, tagsRevision: null, cost: { bytes: 0, tokens: 0, reused: 0 } },
      content: { generation: 2 } as SyncedContent,
    };
    expect(await service.store.files.finish([finished])).toEqual([id]);
    return Math.round(((await read(id)).coolsAt!.getTime() - Date.now()) / DAY_MS);
  };
  expect(await dueDays(30, 30)).toBe(30);
  expect(await dueDays(30, 2)).toBe(2);
});
