/** Files in quarantine when what they belong to is deleted: they can no longer be restored, and are erased. */
import { asyncLocalStorage } from '@temporalio/activity';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { createDeleteActivities } from '../../activities/delete/deleteFiles.js';
import { createDeleteUserActivities } from '../../activities/delete/deleteUser.js';
import type { ActivityDeps } from '../../activities/deps.js';
import type { DeleteFilesRequest } from '../../contract/files/deleteFiles.js';
import type { NewWork } from '../../contract/runs/runs.js';
import type { FileDoc } from '../../store/models/files.js';
import type { TestUser } from '../support/client.js';
import { connectSource } from '../support/dataSources.js';
import { everyRow } from '../support/everyRow.js';
import { seedFiles } from '../support/seedFiles.js';
import { startService, type TestService } from '../support/service.js';

const DAY_MS = 86_400_000;
type Owner = Awaited<ReturnType<TestService['store']['users']['ensure']>>;
let service: TestService;
let users = 0;
let lastId = 1_000;

beforeAll(async () => {
  service = await startService({ TEMPORAL_ADDRESS: '127.0.0.1:1' }, { worker: false });
});
afterAll(() => service.close());

const newUser = async (): Promise<{ user: TestUser; owner: Owner }> => {
  const customerId = `owner ${(users += 1)}`;
  const user = await service.user(customerId);
  return { user, owner: await service.store.users.ensure(1, customerId) };
};
/** Accepts a run of the owner. */
async function begin(owner: Owner, work: NewWork): Promise<number> {
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
/** Stores a file and takes it into quarantine, as a sync does that misses it. */
async function quarantined(owner: Owner, fields: Partial<FileDoc>): Promise<number> {
  const { store } = service;
  const id = await seed(owner, fields);
  const run = (await store.runs.find(await begin(owner, { kind: 'recountFiles' })))!;
  await store.quarantine.take(run, [id], new Date(Date.now() + DAY_MS));
  await store.quarantine.kept(await store.quarantine.claimed(run, 1));
  return id;
}
/** Returns which of some files can be restored. */
async function restorable(ids: readonly number[]): Promise<number[]> {
  const { found } = await service.store.quarantine.list(1, { fileIds: ids }, { limit: 100, offset: 0 });
  return found.map(({ _id }) => _id);
}
const isSwept = async ({ userId }: Owner): Promise<boolean> =>
  (await service.store.quarantine.owners(new Date(), 1_000)).some((one) => one.userId === userId);

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
  const runId = await begin(owner, { kind: 'deleteFiles', request: whole });
  const { stopQueued, deleteBatch } = createDeleteActivities(depsOf());
  await inActivity(async () => {
    await stopQueued({ runId });
    for (let afterId: number | null = 0; afterId !== null;) ({ afterId } = await deleteBatch({ runId, afterId }));
  });
}

/** A container with children in quarantine, and what surrounds it. */
interface Scene {
  readonly user: TestUser;
  readonly owner: Owner;
  readonly dataSourceId: number;
  readonly containerId: number;
  readonly siblingId: number;
}
type Child = 'own' | 'nested' | 'sibling' | 'loose' | 'of another source';
/** Deletions, and the files in quarantine whose time they end. */
const DELETIONS: readonly (readonly [what: string, act: (scene: Scene) => Promise<unknown>, ends: readonly Child[]])[] =
  [
    ['of the container', ({ owner, containerId }) => deleteFiles(owner, { filters: { ids: [containerId] } }), ['own']],
    [
      'of the container with all below it',
      ({ owner, containerId }) => deleteFiles(owner, { filters: { ids: [containerId] }, deleteChildren: true }),
      ['own', 'nested'],
    ],
    [
      'of the contents of the container, whose record stays',
      ({ owner, containerId }) => deleteFiles(owner, { filters: { ids: [containerId] }, preserveFileRecord: true }),
      ['own'],
    ],
    ['of all files of the user', ({ owner }) => deleteFiles(owner, { filters: {} }), ['own', 'nested', 'sibling']],
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
      ['own', 'nested', 'sibling', 'loose'],
    ],
  ];

test('a deletion ends the quarantine of what belonged to the deleted, and of nothing else', () =>
  everyRow(
    DELETIONS,
    ([what]) => what,
    async ([, act, ends]) => {
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
        'of another source': { parentId: null, dataSourceId: dataSourceId + 1 },
      };
      const children = new Map<Child, number>();
      for (const [name, one] of Object.entries(fields)) children.set(name as Child, await quarantined(owner, one));
      // A row of another user that names the same container and data source.
      const foreign = await quarantined(stranger, { parentId: containerId, dataSourceId });
      expect(await restorable([...children.values(), foreign])).toHaveLength(children.size + 1);
      expect(await isSwept(owner)).toBe(false);

      await act({ user, owner, dataSourceId, containerId, siblingId });
      const left = await restorable([...children.values(), foreign]);
      const ended = [...children].filter(([, id]) => !left.includes(id)).map(([name]) => name);
      expect(ended).toEqual(ends);
      expect(left).toContain(foreign);
      // The sweep erases what has expired.
      expect([await isSwept(owner), await isSwept(stranger)]).toEqual([true, false]);
    },
  ));

test('the deletion of a user erases all its files in quarantine, and none of another user', async () => {
  const [{ owner }, { owner: stranger }] = [await newUser(), await newUser()];
  const own = [await quarantined(owner, { parentId: null }), await quarantined(owner, { parentId: 1 })];
  const foreign = await quarantined(stranger, { parentId: null });
  const runId = await begin(owner, { kind: 'deleteUser' });
  const { eraseFiles } = createDeleteUserActivities(depsOf());
  for (let erased = 1; erased > 0;) ({ erased } = await inActivity(() => eraseFiles({ runId })));
  const { quarantine, chunks } = service.store;
  expect([await quarantine.any(owner), await quarantine.any(stranger)]).toEqual([false, true]);
  expect([await chunks.countOf(owner, own), await chunks.countOf(stranger, [foreign])]).toEqual([0, 1]);
});
