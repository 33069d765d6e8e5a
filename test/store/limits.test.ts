import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import type { EffectiveLimits } from '../../contract/limits.js';
import { BEING_DELETED } from '../../contract/runs/reembed.js';
import { FILE_SYNC_STATUSES, FINAL_FILE_STATUSES } from '../../contract/files/statuses.js';
import { UPLOAD_SOURCES } from '../../contract/files/uploads.js';
import type { FileDoc } from '../../store/models/files.js';
import { isContentDeleted } from '../../store/files/retry.js';
import { everyRow } from '../support/everyRow.js';
import { seedFiles } from '../support/seedFiles.js';
import { startService, type TestService } from '../support/service.js';

/** A source of uploaded files. */
const UPLOAD = UPLOAD_SOURCES[0]!;
const NONE: EffectiveLimits = {
  ...{ max_files: null, max_files_per_upload: null },
  ...{ max_characters: null, max_characters_per_file: null, max_characters_per_upload: null },
};
let service: TestService;
let owner = { organizationId: 1, userId: 100, customerId: 'ada' };
let id = 1_000;
let runId = 500;

beforeAll(async () => {
  service = await startService({ MAX_QUEUED_FILES: '6' }, { worker: false });
});
afterAll(() => service.close());
beforeEach(async () => {
  runId += 1;
  const customerId = `user ${runId}`;
  await service.user(customerId);
  owner = await service.store.users.ensure(1, customerId);
});

/** Creates files of the run, new and queued by default. @returns their ids */
async function seed(...files: Partial<FileDoc>[]): Promise<number[]> {
  const seeds = files.map((fields) => ({
    id: (id += 1),
    fields: { runId, generation: 0, lastGeneration: 0, syncStatus: 'QUEUED_FOR_SYNC' as const, ...fields },
  }));
  await seedFiles(service, owner, seeds);
  return seeds.map((file) => file.id);
}
const states = async (ids: readonly number[]): Promise<string[]> => {
  const rows = await service.store.files.byIds(owner, ids);
  return ids.map((fileId) => rows.find(({ _id }) => _id === fileId)?.syncStatus ?? 'none');
};
const copiesOf = (count: number, fields: Partial<FileDoc> = {}): Partial<FileDoc>[] =>
  Array.from({ length: count }, () => fields);
const applyLimits = (limits: Partial<EffectiveLimits>) =>
  service.store.limits.applyLimits(owner, runId, { ...NONE, ...limits });
const [QUEUED, DELAYED] = ['QUEUED_FOR_SYNC', 'DELAYED'];

test('queues as many new files as the limit allows, oldest first; delays the newest until there is room', async () => {
  const ids = await seed(...copiesOf(4));
  expect(await applyLimits({ max_files: 3 })).toBe('max_files');
  expect(await states(ids)).toEqual([QUEUED, QUEUED, QUEUED, DELAYED]);
  expect(await applyLimits({ max_files: 3 })).toBeNull();
  expect(await states(ids)).toEqual([QUEUED, QUEUED, QUEUED, DELAYED]);
  expect(await applyLimits({ max_files: 1 })).toBe('max_files');
  expect(await states(ids)).toEqual([QUEUED, DELAYED, DELAYED, DELAYED]);
  expect(await applyLimits({ max_files: 0 })).toBe('max_files');
  expect(await states(ids)).toEqual([DELAYED, DELAYED, DELAYED, DELAYED]);
  expect(await applyLimits({ max_files: 2 })).toBeNull();
  expect(await states(ids)).toEqual([QUEUED, QUEUED, DELAYED, DELAYED]);
  expect(await applyLimits({})).toBeNull();
  expect(await states(ids)).toEqual([QUEUED, QUEUED, QUEUED, QUEUED]);
  const [row] = await service.store.files.byIds(owner, ids.slice(3));
  expect(row).toMatchObject({ syncErrorMessage: null, notBefore: null });
});

test('counts files with content and never delays them; ignores containers, failures without content and other users', async () => {
  const [kept] = await seed({ generation: 1, syncStatus: 'READY' });
  const [resynced] = await seed({ generation: 2 });
  await seed({ isContainer: true }, { syncStatus: 'SYNC_ERROR' }, { syncStatus: 'SYNC_ABORTED' });
  const firstOwner = { ...owner };
  owner = await service.store.users.ensure(1, `another ${runId}`);
  await seed(...copiesOf(3));
  owner = firstOwner;
  const fresh = await seed(...copiesOf(2));
  expect(await applyLimits({ max_files: 3 })).toBe('max_files');
  expect(await states([kept!, resynced!, ...fresh])).toEqual(['READY', QUEUED, QUEUED, DELAYED]);
  expect(await applyLimits({ max_files: 1 })).toBe('max_files');
  expect(await states([kept!, resynced!, ...fresh])).toEqual(['READY', QUEUED, DELAYED, DELAYED]);
});

test('queues new content of a file that already counts, although max_files is reached', async () => {
  const ids = await seed({ generation: 1, syncStatus: 'DELAYED' }, { syncStatus: 'DELAYED' });
  expect(await applyLimits({ max_files: 1 })).toBeNull();
  expect(await states(ids)).toEqual([QUEUED, DELAYED]);
});

test('queues new content of files that already count, although a lowered max_files is exceeded', async () => {
  await seed(...copiesOf(2, { generation: 1, syncStatus: 'READY' }));
  const ids = await seed({ generation: 1, syncStatus: 'DELAYED' }, { syncStatus: 'DELAYED' });
  // No file was delayed by this call.
  expect(await applyLimits({ max_files: 1 })).toBeNull();
  expect(await states(ids)).toEqual([QUEUED, DELAYED]);
});

test('more than a thousand delayed files that do not fit do not block later files', async () => {
  const count = 1_000;
  await seed({ generation: 1, syncStatus: 'READY' }, ...copiesOf(count, { syncStatus: 'DELAYED' }));
  const [resynced] = await seed({ generation: 1, syncStatus: 'DELAYED' });
  expect(await applyLimits({ max_files: 1 })).toBeNull();
  expect(await states([resynced!])).toEqual([QUEUED]);
  runId += 1;
  await seed(...copiesOf(count, { syncStatus: 'DELAYED', delayedCharacters: 90 }));
  const [smaller] = await seed({ syncStatus: 'DELAYED', delayedCharacters: 5 });
  expect(await applyLimits({ max_characters: 10 })).toBeNull();
  expect(await states([smaller!])).toEqual([QUEUED]);
});

test('releases no more files than the queue has room for', async () => {
  await seed(...copiesOf(4));
  const delayedIds = await seed(...copiesOf(4, { syncStatus: 'DELAYED' }));
  expect(await applyLimits({})).toBeNull();
  expect(await states(delayedIds)).toEqual([QUEUED, QUEUED, DELAYED, DELAYED]);
});

test('releases a file that waits for characters once enough are free, and a smaller later file before it', async () => {
  const text = (numCharacters: number) => ({ statistics: { numCharacters } }) as never;
  await seed({ generation: 1, syncStatus: 'READY', ...(text(60) as object) });
  const delayedIds = await seed(
    ...[50, 40, 1].map((delayedCharacters) => ({ syncStatus: 'DELAYED' as const, delayedCharacters })),
  );
  expect(await applyLimits({ max_characters: 100 })).toBeNull();
  expect(await states(delayedIds)).toEqual([DELAYED, QUEUED, DELAYED]);
  expect(await applyLimits({ max_characters: 110 })).toBeNull();
  expect((await states(delayedIds))[0]).toBe(QUEUED);
  // The length of a file that was never read is unknown; it counts as one character.
  const unread = await seed({ syncStatus: 'DELAYED' });
  expect(await applyLimits({ max_characters: 60 })).toBeNull();
  expect(await states(unread)).toEqual([DELAYED]);
  // Files that wait in the queue do not count, so two characters are free. The older delayed file of one character
  // takes one, and the unread file needs the other.
  expect(await applyLimits({ max_characters: 62 })).toBeNull();
  expect(await states(unread)).toEqual([QUEUED]);
});

test('admits a text up to each limit; admitted texts of files that are still being synced count, too', async () => {
  const [firstId, secondId] = await seed(
    { syncStatus: 'SYNCING' },
    { syncStatus: 'SYNCING' },
    { syncStatus: 'READY', generation: 1, runId: runId + 9_000, statistics: { numCharacters: 50 } as never },
  );
  const admit = (fileId: number, characters: number, limits: Partial<EffectiveLimits>) =>
    service.store.limits.admit({ ...owner, runId, fileId, characters }, { ...NONE, ...limits });
  expect(await admit(firstId!, 10, { max_characters_per_file: 10 })).toBeNull();
  expect(await admit(firstId!, 11, { max_characters_per_file: 10 })).toBe('max_characters_per_file');
  expect(await admit(firstId!, 10, { max_characters: 59 })).toBe('max_characters');
  const [admitted] = await service.store.files.byIds(owner, [firstId!]);
  expect(admitted!.delayedCharacters).toBe(10);
  expect(await admit(firstId!, 10, { max_characters: 60 })).toBeNull();
  // The call is idempotent, and the text counts against the limit of the next file.
  expect(await admit(firstId!, 10, { max_characters: 60 })).toBeNull();
  expect(await admit(secondId!, 1, { max_characters: 60 })).toBe('max_characters');
  expect(await admit(secondId!, 1, { max_characters: 61 })).toBeNull();
  // For the limit per upload, only files of that upload count.
  expect(await admit(secondId!, 10, { max_characters_per_upload: 20 })).toBeNull();
  expect(await admit(secondId!, 11, { max_characters_per_upload: 20 })).toBe('max_characters_per_upload');
  expect(await admit(secondId!, 1_000, {})).toBeNull();
});

test("a user's own limits override those of the organization, which override the default of none", async () => {
  const { organizations, users, limits, transaction } = service.store;
  const { organizationId } = await organizations.create('limited');
  const { userId } = await users.ensure(organizationId, 'eve');
  const currentLimits = () => limits.get({ organizationId, userId });
  expect(await currentLimits()).toEqual(NONE);
  await transaction((session) =>
    organizations.update(
      organizationId,
      { userLimits: { max_files: 5, max_characters: 9 }, connectorSettings: {} },
      session,
    ),
  );
  expect(await currentLimits()).toEqual({ ...NONE, max_files: 5, max_characters: 9 });
  await transaction((session) =>
    users.update(organizationId, ['eve'], { customLimits: { max_files: -1, max_characters: 7 } }, session),
  );
  expect(await currentLimits()).toEqual({ ...NONE, max_characters: 7 });
  // Limits do not apply to the same user id in another organization.
  expect(await limits.get({ organizationId: 1, userId })).toEqual(NONE);
});

test('only a file in a final state can be synced again, only by its user, and not while it is being deleted', async () => {
  const { retryable } = service.store.files;
  await everyRow(FILE_SYNC_STATUSES, String, async (syncStatus) => {
    const ids = await seed({ syncStatus });
    const isFinal = (FINAL_FILE_STATUSES as readonly string[]).includes(syncStatus);
    const isUnsynced = ['SYNC_ERROR', 'SYNC_ABORTED', 'READY_TO_SYNC'].includes(syncStatus);
    expect([await retryable(owner, ids, false), await retryable(owner, ids, true)]).toEqual([
      isFinal ? ids : [],
      isUnsynced ? ids : [],
    ]);
    expect(await retryable({ ...owner, userId: owner.userId + 1 }, ids, false)).toEqual([]);
    expect(await retryable({ ...owner, organizationId: 2 }, ids, false)).toEqual([]);
  });
  const refused = await seed(
    { syncStatus: 'SYNC_ERROR', syncErrorMessage: BEING_DELETED },
    { syncStatus: 'SYNC_ERROR', isContainer: true },
    { syncStatus: 'READY', source: UPLOAD, fileContentsDeleted: true },
  );
  expect(await retryable(owner, refused, false)).toEqual([]);
});

test('an upload with deleted content is lost, unless it came from a URL or its original is kept', async () => {
  const lost = { fileContentsDeleted: true, original: null, source: UPLOAD, sourceOptions: null };
  const rows: [what: string, fields: Partial<Parameters<typeof isContentDeleted>[0]>, isContentDeleted: boolean][] = [
    ['an upload', {}, true],
    ['its content is not deleted', { fileContentsDeleted: false }, false],
    ['the original is kept', { original: {} as never }, false],
    ['it came from a URL', { sourceOptions: { url: 'https://x.example' } }, false],
    ['it did not come from a URL', { sourceOptions: { url: null } }, true],
    ['it is a web page', { source: 'WEB_SCRAPE' }, false],
  ];
  await everyRow(
    rows,
    ([what]) => what,
    ([_what, fields, expected]) => expect(isContentDeleted({ ...lost, ...fields })).toBe(expected),
  );
});

test('a retry assigns files to its run, resets their attempts and makes them due immediately', async () => {
  const ids = await seed({
    ...{ syncStatus: 'SYNC_ERROR', syncErrorMessage: 'broken', attempts: 3, unfinishedStarts: 2 },
    ...{
      notBefore: new Date(Date.now() + 100_000),
      listedVersion: 'v',
      fileContentsDeleted: true,
      source: 'WEB_SCRAPE',
    },
  });
  const retryRun = { runId: runId + 20_000, workflowId: 'w', requestId: 'q' };
  const retried = await service.store.transaction((session) =>
    service.store.files.retry(owner, ids, true, retryRun, session),
  );
  expect(retried).toBe(1);
  const [row] = await service.store.files.byIds(owner, ids);
  expect(row).toMatchObject({
    ...retryRun,
    ...{
      syncStatus: QUEUED,
      syncErrorMessage: null,
      attempts: 0,
      unfinishedStarts: 0,
      notBefore: null,
      listedVersion: null,
    },
    ...{ fileContentsDeleted: false, ended: null },
    options: { skipFileProcessing: false },
  });
});
