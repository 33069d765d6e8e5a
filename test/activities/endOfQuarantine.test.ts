/**
 * Tests of the end of quarantine: which deletions erase files in quarantine, which expired files a sweep claims, and
 * which files a restore claims and returns.
 */
import { asyncLocalStorage } from '@temporalio/activity';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { createDeleteActivities } from '../../activities/delete/deleteFiles.js';
import { createDeleteUserActivities } from '../../activities/delete/deleteUser.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { advanceQuarantine } from '../../activities/quarantine/quarantineSteps.js';
import type { DeleteFilesRequest } from '../../contract/files/deleteFiles.js';
import type { QuarantineFilters } from '../../contract/files/quarantine.js';
import type { NewWork } from '../../contract/runs/runs.js';
import type { FileDoc } from '../../store/models/files.js';
import { quarantinedModel } from '../../store/models/quarantine.js';
import type { TestUser } from '../support/client.js';
import { connectSource } from '../support/dataSources.js';
import { withDatabase } from '../support/mongo.js';
import { everyRow } from '../support/everyRow.js';
import { seedFiles } from '../support/seedFiles.js';
import { type SharedService, sharedService } from '../support/sharedService.js';

const DAY_MS = 86_400_000;
type Owner = Awaited<ReturnType<SharedService['store']['users']['ensure']>>;
let service: SharedService;
let users = 0;
let lastId: number;

beforeAll(async () => {
  service = await sharedService({ worker: false });
  lastId = service.firstId;
});
afterAll(() => service.close());

const newUser = async (): Promise<{ user: TestUser; owner: Owner }> => {
  const customerId = `owner ${(users += 1)}`;
  const user = await service.user(customerId);
  return { user, owner: await service.store.users.ensure(service.organizationId, customerId) };
};
/** Accepts a run of the owner. */
async function acceptRun(owner: Owner, work: NewWork): Promise<number> {
  const { runs, transaction } = service.store;
  const id = await runs.nextId();
  const run = { ...work, workflowId: `run:${id}`, owner, requestId: 'r' };
  await transaction((session) => runs.accept(id, run as never, session));
  return id;
}
async function seed(owner: Owner, fields: Partial<FileDoc> = {}): Promise<number> {
  const id = (lastId += 1);
  await seedFiles(service, owner, [{ id, texts: [`Text ${id}`], fields }]);
  return id;
}
/** Stores a file and moves it into quarantine, like a sync that does not find it. */
async function quarantined(owner: Owner, fields: Partial<FileDoc>): Promise<number> {
  const { store } = service;
  const id = await seed(owner, fields);
  const run = (await store.runs.find(await acceptRun(owner, { kind: 'recountFiles' })))!;
  await store.quarantine.moveIn(run, [id], new Date(Date.now() + DAY_MS));
  await store.quarantine.markKept(await store.quarantine.listClaimed(run, 1));
  return id;
}
/** Returns the files that can be restored. */
async function restorable(ids: readonly number[]): Promise<number[]> {
  const { quarantine } = service.store;
  const { found } = await quarantine.list(service.organizationId, { fileIds: ids }, { limit: 100, offset: 0 });
  return found.map(({ _id }) => _id);
}
const isDueForSweep = async ({ userId }: Owner): Promise<boolean> =>
  (await service.store.quarantine.listOwnersOfDue(new Date(), 1_000)).some((owner) => owner.userId === userId);

const ignore = (): void => undefined;
const depsOf = (): ActivityDeps => {
  const log = { info: ignore, warn: ignore, error: ignore, debug: ignore };
  const schedules = { remove: () => Promise.resolve() };
  return { store: service.store, schedules, log, isBrokenCopy: () => false } as unknown as ActivityDeps;
};
const inActivity = <T>(work: () => Promise<T>): Promise<T> =>
  asyncLocalStorage.run({ cancellationSignal: new AbortController().signal } as never, work);

async function deleteFiles(owner: Owner, request: Partial<DeleteFilesRequest>): Promise<void> {
  const whole = { filters: {}, preserveFileRecord: false, sendWebhook: false, ...request } as DeleteFilesRequest;
  const runId = await acceptRun(owner, { kind: 'deleteFiles', request: whole });
  const { stopQueued, deleteBatch } = createDeleteActivities(depsOf());
  await inActivity(async () => {
    await stopQueued({ runId });
    for (let afterId: number | null = 0; afterId !== null;) ({ afterId } = await deleteBatch({ runId, afterId }));
  });
}

/** A container with children in quarantine. */
interface Scenario {
  readonly user: TestUser;
  readonly owner: Owner;
  readonly dataSourceId: number;
  readonly containerId: number;
  readonly siblingId: number;
}
type Child = 'own' | 'nested' | 'sibling' | 'loose' | 'attached' | 'of another source';
/** Deletions, and the files whose quarantine they end. */
const DELETIONS: readonly (readonly [
  what: string,
  act: (scenario: Scenario) => Promise<unknown>,
  ends: readonly Child[],
])[] = [
  ['of the container', ({ owner, containerId }) => deleteFiles(owner, { filters: { ids: [containerId] } }), ['own']],
  [
    'of the container with its descendants',
    ({ owner, containerId }) => deleteFiles(owner, { filters: { ids: [containerId] }, deleteChildren: true }),
    ['own', 'nested'],
  ],
  [
    'of the contents of the container, whose record is kept',
    ({ owner, containerId }) => deleteFiles(owner, { filters: { ids: [containerId] }, preserveFileRecord: true }),
    ['own'],
  ],
  [
    'of all files of the user outside quarantine',
    ({ owner }) => deleteFiles(owner, { filters: {} }),
    ['own', 'nested', 'sibling'],
  ],
  [
    'of another container',
    ({ owner, siblingId }) => deleteFiles(owner, { filters: { ids: [siblingId] } }),
    ['sibling'],
  ],
  [
    'of the access to the data source',
    async ({ user, dataSourceId }) =>
      expect(await user.post('/revoke_access_token', { data_source_id: dataSourceId })).toMatchObject({
        status: 200,
      }),
    ['own', 'nested', 'sibling', 'loose', 'attached'],
  ],
];

test('a deletion ends the quarantine of exactly the files that belong to the deleted object', () =>
  everyRow(
    DELETIONS,
    ([what]) => what,
    async ([, act, expectedNames]) => {
      const [{ user, owner }, { owner: stranger }] = [await newUser(), await newUser()];
      const { _id: dataSourceId } = await connectSource(service, owner, { externalId: `GOOGLE_DRIVE|${owner.userId}` });
      const container = (parentId: number | null) => seed(owner, { isContainer: true, parentId, dataSourceId });
      const containerId = await container(null);
      const [nestedId, siblingId] = [await container(containerId), await container(null)];
      const fields: Record<Child, Partial<FileDoc>> = {
        own: { parentId: containerId, dataSourceId },
        nested: { parentId: nestedId, dataSourceId },
        sibling: { parentId: siblingId, dataSourceId },
        loose: { parentId: null, dataSourceId },
        attached: { parentId: 1, accountId: dataSourceId },
        'of another source': { parentId: null, dataSourceId: dataSourceId + 1 },
      };
      const children = new Map<Child, number>();
      for (const [name, childFields] of Object.entries(fields))
        children.set(name as Child, await quarantined(owner, childFields));
      // A quarantined file of another user with the same parent id and data source id.
      const foreign = await quarantined(stranger, { parentId: containerId, dataSourceId });
      expect(await restorable([...children.values(), foreign])).toHaveLength(children.size + 1);
      expect(await isDueForSweep(owner)).toBe(false);

      await act({ user, owner, dataSourceId, containerId, siblingId });
      const stillRestorable = await restorable([...children.values(), foreign]);
      const endedNames = [...children].filter(([, id]) => !stillRestorable.includes(id)).map(([name]) => name);
      expect(endedNames).toEqual(expectedNames);
      expect(stillRestorable).toContain(foreign);
      // The sweep erases files whose quarantine has expired.
      expect([await isDueForSweep(owner), await isDueForSweep(stranger)]).toEqual([true, false]);
    },
  ));

test('the deletion of a user erases all files of that user in quarantine, and none of another user', async () => {
  const [{ owner }, { owner: stranger }] = [await newUser(), await newUser()];
  const ownFiles = [await quarantined(owner, { parentId: null }), await quarantined(owner, { parentId: 1 })];
  const foreign = await quarantined(stranger, { parentId: null });
  const runId = await acceptRun(owner, { kind: 'deleteUser' });
  const { eraseFiles } = createDeleteUserActivities(depsOf());
  for (let erased = 1; erased > 0;) ({ erased } = await inActivity(() => eraseFiles({ runId })));
  const { quarantine, chunks } = service.store;
  expect([await quarantine.hasFiles(owner), await quarantine.hasFiles(stranger)]).toEqual([false, true]);
  expect([await chunks.countOf(owner, ownFiles), await chunks.countOf(stranger, [foreign])]).toEqual([0, 1]);
});

/** Returns the state of files in quarantine, and the run that claims them. */
const statesOf = (ids: readonly number[]) =>
  withDatabase(service, async (connection) => {
    const rows = await quarantinedModel(connection)
      .find({ _id: { $in: [...ids] } })
      .sort({ _id: 1 })
      .lean();
    return rows.map(({ _id, state, runId }) => ({ id: _id, state, runId }));
  });

test('a sweep claims expired files of one user in the order of their ids, up to its limit', async () => {
  const [{ owner }, { owner: stranger }] = [await newUser(), await newUser()];
  const ids: number[] = [];
  for (let index = 0; index < 4; index += 1) ids.push(await quarantined(owner, { parentId: index < 3 ? 1 : 2 }));
  const foreign = await quarantined(stranger, { parentId: 1 });
  const { quarantine } = service.store;
  await quarantine.expire(owner, { parentIds: [1] });
  await quarantine.expire(stranger, { parentIds: [1] });
  await quarantine.claimDue(owner, 9, new Date(), 2);
  const claimed = async () => (await statesOf([...ids, foreign])).flatMap(({ id, runId }) => (runId === 9 ? [id] : []));
  expect(await claimed()).toEqual(ids.slice(0, 2));
  await quarantine.claimDue(owner, 9, new Date(), 100);
  expect(await claimed()).toEqual(ids.slice(0, 3));
  expect((await statesOf(ids)).map(({ state }) => state)).toEqual(['erasing', 'erasing', 'erasing', 'kept']);
});

test('a run takes over unfinished files of ended runs, but no files of a running one', async () => {
  const { owner } = await newUser();
  const { quarantine, runs } = service.store;
  const [endedRun, inProgress] = [
    await acceptRun(owner, { kind: 'deleteUser' }),
    await acceptRun(owner, { kind: 'deleteUser' }),
  ];
  await runs.finish(endedRun, 'aborted', {});
  const claims = [endedRun, inProgress, null];
  const ids: number[] = [];
  for (const [index, runId] of claims.entries()) {
    ids.push(await quarantined(owner, { parentId: index + 1 }));
    await quarantine.expire(owner, { parentIds: [index + 1] });
    if (runId !== null) await quarantine.claimDue(owner, runId, new Date(), 1);
  }
  await quarantine.adopt(owner, 9);
  expect((await statesOf(ids)).map(({ runId }) => runId === 9)).toEqual([true, false, false]);
});

/** Requests to restore files, and the number of files that each restores. */
const RESTORES: readonly (readonly [what: string, filters: (id: number) => QuarantineFilters, back: number])[] = [
  ['by id', (id) => ({ fileIds: [id] }), 1],
  ['all of the user', () => ({}), 2],
  ['by parent', () => ({ parentId: 1 }), 1],
  ['of the account of an attachment', () => ({ dataSourceId: 6 }), 1],
  ['of another data source', () => ({ dataSourceId: 7 }), 0],
  ['of another run', () => ({ runId: 1 }), 0],
];

test('a restore claims exactly the files of one user that match its filters and have not expired', () =>
  everyRow(
    RESTORES,
    ([what]) => what,
    async ([, filters, restoredCount]) => {
      const [{ owner }, { owner: stranger }] = [await newUser(), await newUser()];
      const ownFiles = [
        await quarantined(owner, { parentId: 1, accountId: 6 }),
        await quarantined(owner, { parentId: 2 }),
      ];
      const late = await quarantined(owner, { parentId: 3 });
      const foreign = await quarantined(stranger, { parentId: 1 });
      const { quarantine, transaction } = service.store;
      await quarantine.expire(owner, { parentIds: [3] });
      const ownFilters = filters(ownFiles[0]!);
      const claimed = await transaction((session) => quarantine.claimForRestore(owner, ownFilters, 9, session));
      const returning = (await statesOf([...ownFiles, late, foreign])).filter(({ state }) => state === 'returning');
      expect([claimed, returning.map(({ id }) => id)]).toEqual([restoredCount, ownFiles.slice(0, restoredCount)]);
      // A second request does not match files that are already claimed.
      expect(await transaction((session) => quarantine.claimForRestore(owner, ownFilters, 10, session))).toBe(0);
    },
  ));

test('a restored file has the tags that its data source got during the restore', async () => {
  const { user, owner } = await newUser();
  const { quarantine, runs, files, transaction } = service.store;
  const { _id: dataSourceId } = await connectSource(service, owner);
  const id = await quarantined(owner, { dataSourceId });
  const run = (await runs.find(await acceptRun(owner, { kind: 'settleQuarantine', request: { does: 'restore' } })))!;
  await transaction((session) => quarantine.claimForRestore(owner, { fileIds: [id] }, run._id, session));
  const advance = () => advanceQuarantine(run, 10, depsOf(), new AbortController().signal);
  expect(await advance()).toBe(1);
  // No worker runs here, which would copy the tags.
  await user.post('/data_sources/tags/add', { data_source_id: dataSourceId, tags: { team: 'red' } });
  expect(await advance()).toBe(1);
  expect((await files.byIds(owner, [id])).map(({ tagPairs }) => tagPairs)).toEqual([['team=red']]);
  expect(await advance()).toBe(0);
});

test('a file counts as replaced by one with the same account, source, external id and user', async () => {
  const [{ owner }, { owner: stranger }] = [await newUser(), await newUser()];
  const identity = { source: 'NOTION', externalFileId: 'page', accountId: 5 } as const;
  const id = await quarantined(owner, identity);
  await seed(owner, { ...identity, accountId: 6 });
  await seed(owner, { ...identity, source: 'CONFLUENCE' });
  await seed(owner, { ...identity, externalFileId: 'other' });
  await seed(stranger, identity);
  const replaced = () =>
    withDatabase(service, async (connection) => {
      const rows = await quarantinedModel(connection).find({ _id: id }).lean();
      return [...(await service.store.quarantine.findReplaced(rows))];
    });
  expect(await replaced()).toEqual([]);
  await seed(owner, identity);
  expect(await replaced()).toEqual([id]);
});
