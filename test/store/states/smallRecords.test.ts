/** Records with few fields: organizations and users, sessions, workers, pages of OCR, and rebuilds of vectors. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection } from 'mongoose';

import { createIndexes } from '../../../store/database/driver.js';
import { createSequence } from '../../../store/database/sequence.js';
import { findDeploymentId, readDeploymentId, renewDeploymentId } from '../../../store/deployment.js';
import { createEndedSessions } from '../../../store/endedSessions.js';
import { fileModel } from '../../../store/models/files.js';
import { organizationModels } from '../../../store/models/organizations.js';
import { recognizedPageModel } from '../../../store/models/recognizedPages.js';
import { reembedModel } from '../../../store/models/reembeds.js';
import { runModel } from '../../../store/models/runs.js';
import { userModel } from '../../../store/models/users.js';
import { createOrganizations, hashOf } from '../../../store/organizations/accept.js';
import { createOrganizationRecords } from '../../../store/organizations/records.js';
import { createRecognizedPages } from '../../../store/recognizedPages/recognizedPages.js';
import { createRebuilds } from '../../../store/reembeds/rebuilds.js';
import { createUserRecords } from '../../../store/users/records.js';
import { createWorkerRecords } from '../../../store/workers/workers.js';
import { ADA, AGO, AHEAD, dropDatabase, NOW, openDatabase, STRANGERS, withoutTransaction } from './writes.js';

let connection: Connection;
beforeAll(async () => {
  connection = await openDatabase();
});
afterAll(() => dropDatabase(connection));

test('a change of an organization keeps the limits and settings that it does not name', async () => {
  const { organizations, apiKeys } = organizationModels(connection);
  await organizations.create({ _id: 71, name: 'a', createdAt: NOW }, { _id: 72, name: 'b', createdAt: NOW });
  const records = createOrganizationRecords(organizations);
  const change = (userLimits: object, connectorSettings: object, userAutoSyncSources?: string[]) =>
    records.update(71, { userLimits, connectorSettings, userAutoSyncSources } as never, null);
  await change({ max_files: 4 }, { BOX: { allowed_file_formats: ['PDF'] } }, ['BOX']);
  await change({ max_characters: 9 }, { DEFAULT: { allowed_file_formats: [] } });
  await change({}, {}, undefined);
  expect(await records.findRecord(71)).toMatchObject({
    userLimits: { max_files: 4, max_characters: 9 },
    connectorSettings: { BOX: { allowed_file_formats: ['PDF'] }, DEFAULT: { allowed_file_formats: [] } },
    userAutoSyncSources: ['BOX'],
  });
  expect(await records.findRecord(72)).not.toHaveProperty('userLimits.max_files');
  await expect(records.findRecord(73)).rejects.toThrow('73');

  const users = userModel(connection);
  const user = (_id: number, organizationId: number, deletedAt: Date | null) =>
    ({ _id, organizationId, customerId: `${_id}`, createdAt: NOW, updatedAt: NOW, deletedAt }) as const;
  await users.create(user(1, 71, null), user(2, 71, AGO), user(3, 72, null));
  const key = (_id: number, organizationId: number, revokedAt: Date | null) => ({
    ...{ _id, organizationId, prefix: 'p', hash: `${_id}`, createdAt: NOW, revokedAt },
  });
  await apiKeys.create(key(1, 71, null), key(2, 71, null), key(3, 71, AGO));
  const overview = (await records.overview()).map(({ id, users: alive, keys }) => [id, alive, keys]);
  expect(overview).toEqual([
    [71, 1, 2],
    [72, 1, 0],
  ]);
});

test('the API key of the settings creates organization 1 once, and stays with the organization that has it', async () => {
  const { organizations, apiKeys } = organizationModels(connection);
  await apiKeys.deleteMany({});
  const opened = createOrganizations({ organizations, apiKeys }, createSequence(connection));
  // Organization 1 is not created yet.
  const made = await opened.create('second');
  expect(made.organizationId).toBeGreaterThan(1);
  await opened.ensureFirst('first key');
  await opened.ensureFirst('first key');
  expect(await opened.organizationOfKey('first key')).toBe(1);
  expect([await organizations.countDocuments({ _id: 1 }), await apiKeys.countDocuments()]).toEqual([1, 2]);
  await opened.ensureFirst(made.apiKey);
  expect(await opened.organizationOfKey(made.apiKey)).toBe(made.organizationId);
  // A revoked key stays invalid, although the settings contain it.
  await apiKeys.updateOne({ hash: hashOf('first key') }, { $set: { revokedAt: NOW } });
  await opened.ensureFirst('first key');
  expect(await opened.organizationOfKey('first key')).toBeNull();
});

test('a change of users keeps what it does not name, and is refused if one of them does not exist', async () => {
  const users = userModel(connection);
  await users.deleteMany({});
  const common = { createdAt: AGO, updatedAt: AGO, deletedAt: null };
  await users.create(
    { ...common, _id: 7, organizationId: 1, customerId: 'ada', customLimits: { max_files: 1 } },
    { ...common, _id: 8, organizationId: 1, customerId: 'eve' },
    { ...common, _id: 9, organizationId: 2, customerId: 'ada' },
  );
  const invalidated: object[] = [];
  const records = createUserRecords(users, { invalidate: (tenants) => void invalidated.push(...tenants) });
  const update = (customerIds: string[], customLimits: object, autoSyncSources?: string[]) =>
    records.update(1, customerIds, { customLimits, ...(autoSyncSources && { autoSyncSources }) }, null);
  expect(await update(['ada', 'nobody'], { max_files: 5 })).toBe(false);
  expect(await update(['ada', 'ada', 'eve'], { max_characters: 2 }, ['BOX'])).toBe(true);
  await update(['ada'], {});
  await records.setFeature(ADA, 'x', true);
  await records.setFeature(ADA, 'y', false);
  expect(await records.findRecord(ADA)).toMatchObject({
    ...{ customLimits: { max_files: 1, max_characters: 2 }, autoSyncSources: ['BOX'] },
    enabledFeatures: { x: { enabled: true }, y: { enabled: false } },
  });
  expect((await records.findByCustomerId(1, 'eve'))?.customLimits).toEqual({ max_characters: 2 });
  expect(await users.findById(9).lean()).toMatchObject({ updatedAt: AGO });

  // A deleted user is unknown at once; a repeated deletion returns it until its data is erased.
  for (let time = 1; time <= 2; time += 1)
    expect((await records.markDeleted(1, ['ada', 'nobody'], null)).map(({ _id }) => _id)).toEqual([7]);
  expect(invalidated).toEqual(Array(2).fill({ organizationId: 1, userId: 7 }));
  expect([await records.findRecord(ADA), await records.findByCustomerId(1, 'ada')]).toEqual([null, null]);
  await records.markErased(ADA, null);
  expect(await records.markDeleted(1, ['ada'], null)).toEqual([]);
});

test('a session stays ended until its cookie expires, and no other session ends', async () => {
  const sessions = createEndedSessions(connection);
  await sessions.end('a', AHEAD);
  await sessions.end('a', AHEAD);
  expect(await sessions.filterEnded(['a', 'b'])).toEqual(['a']);
  expect(await sessions.filterEnded([])).toEqual([]);
  const row = await connection.collection('ended_sessions').findOne({});
  expect(row).toMatchObject({ _id: 'a', expiresAt: AHEAD });
});

test('concurrent first starts agree on the id of the deployment, which changes only on request', async () => {
  expect(await findDeploymentId(connection)).toBeNull();
  const ids = await Promise.all(Array.from({ length: 5 }, () => readDeploymentId(connection)));
  expect(new Set(ids).size).toBe(1);
  expect(ids[0]).toMatch(/^[a-z0-9]{8}$/);
  const renewed = await renewDeploymentId(connection);
  expect([renewed === ids[0], await readDeploymentId(connection)]).toEqual([false, renewed]);
});

test('a worker keeps its start time over its heartbeats; workers are listed by their last heartbeat', async () => {
  const workers = createWorkerRecords(connection);
  const load = { lagMs: 1, waitShare: null, waited: null, othersShare: null };
  await workers.recordHeartbeat({ id: 'a', host: 'h', pid: 1 }, load);
  const [first] = await workers.list();
  await workers.recordHeartbeat({ id: 'b', host: 'i', pid: 2 }, load);
  await connection.collection('workers').updateOne({ _id: 'a' } as never, { $set: { heartbeatAt: AGO } });
  expect((await workers.list()).map(({ pid }) => pid)).toEqual([2, 1]);
  expect((await workers.list())[1]?.ageMs).toBeGreaterThanOrEqual(3_600_000);
  await workers.recordHeartbeat({ id: 'a', host: 'h', pid: 1 }, { ...load, lagMs: 9 });
  expect((await workers.list())[0]).toMatchObject({ pid: 1, lagMs: 9, startedAt: first?.startedAt });
  expect(await workers.listOnHost('h')).toEqual([{ id: 'a', host: 'h', pid: 1 }]);
  await workers.remove('a');
  expect((await workers.list()).map(({ pid }) => pid)).toEqual([2]);
});

test('pages of OCR are kept for one content and its reading options, and are returned to their file only', async () => {
  const pages = createRecognizedPages(recognizedPageModel(connection));
  const owner = { organizationId: 1, userId: 7, fileId: 5, reading: 'new' };
  const others = [
    ...STRANGERS.map(({ organizationId, userId }) => ({ ...owner, organizationId, userId })),
    { ...owner, fileId: 6 },
  ];
  await pages.save({ ...owner, reading: 'old' }, 1, 'old');
  for (const other of others) await pages.save({ ...other, reading: 'old' }, 1, 'of another');
  await pages.save(owner, 1, 'first');
  await pages.save(owner, 2, 'second');
  await pages.save(owner, 1, 'again');
  expect(await pages.begin(owner)).toEqual(new Set([1, 2]));
  expect(await pages.find(owner)).toEqual(
    new Map([
      [1, 'again'],
      [2, 'second'],
    ]),
  );
  expect((await pages.find({ ...owner, reading: 'old' })).size).toBe(0);
  for (const other of others) expect((await pages.find({ ...other, reading: 'old' })).size).toBe(1);
});

test('a rebuild skips deleted users, containers and files without vectors; progress() sums its runs', async () => {
  const [files, users, runs, reembeds] = [
    fileModel(connection),
    userModel(connection),
    runModel(connection),
    reembedModel(connection),
  ];
  await Promise.all([createIndexes(runs), users.deleteMany({})]);
  const user = { organizationId: 1, createdAt: AGO, updatedAt: AGO };
  await users.create(
    { ...user, _id: 7, customerId: 'ada', deletedAt: null },
    { ...user, _id: 8, customerId: 'eve', deletedAt: AGO },
    { ...user, _id: 9, customerId: 'bob', deletedAt: null },
  );
  const file = { ...new files().toObject({ minimize: false }), ...ADA, source: 'TEXT', isContainer: false };
  await files.collection.insertMany([
    { ...file, _id: 1, externalFileId: '1', vectorSpace: 's', dimensions: 4 },
    { ...file, _id: 2, externalFileId: '2', vectorSpace: 't', dimensions: 8 },
    { ...file, _id: 3, externalFileId: '3', vectorSpace: null },
    { ...file, _id: 4, externalFileId: '4', vectorSpace: 's', isContainer: true },
    { ...file, _id: 5, externalFileId: '5', vectorSpace: 's', userId: 8, customerId: 'eve' },
    { ...file, _id: 6, externalFileId: '6', vectorSpace: null, userId: 9, customerId: 'bob' },
  ] as never);
  const accepted: [number, { owner: { userId: number }; request: object }][] = [];
  const rebuilds = createRebuilds({
    ...{ files, users, runs, reembeds, points: {} as never, atomically: withoutTransaction },
    outbox: {
      nextId: async () => 500,
      acceptMany: async (more: ReadonlyMap<number, never>) => void accepted.push(...more),
    } as never,
  });
  const all = { organizationId: 1, customerId: null, space: null };
  expect(await rebuilds.spaces(all)).toEqual([
    { space: 's', dimensions: 4, files: 2 },
    { space: 't', dimensions: 8, files: 1 },
  ]);
  expect(await rebuilds.accept({ ...all, space: 's' })).toEqual([500]);
  expect(accepted).toMatchObject([[500, { kind: 'reembedFiles', owner: ADA, request: { space: 's', model: null } }]]);
  expect(await rebuilds.accept({ ...all, organizationId: 2 })).toEqual([]);
  expect(await rebuilds.accept({ ...all, customerId: 'eve' })).toEqual([]);

  const run = { ...ADA, kind: 'reembedFiles', fileId: null, workflowId: 'w', requestId: 'r', acceptedAt: AGO };
  await runs.collection.insertMany([
    { ...run, _id: 600, startedAt: AGO, finishedAt: NOW, outcome: 'finished', request: { model: null, space: null } },
    { ...run, _id: 601, startedAt: AGO, finishedAt: NOW, outcome: 'aborted', request: { model: null, space: null } },
    { ...run, _id: 602, startedAt: AGO, finishedAt: null, request: { model: null, space: 't' } },
  ] as never);
  // accept() returns an active rebuild of the same scope instead of accepting a second one. A rebuild of another vector
  // space is accepted.
  expect(await rebuilds.accept({ ...all, space: 't' })).toEqual([602]);
  expect(await rebuilds.accept({ ...all, space: 's' })).toEqual([500]);
  expect(await rebuilds.countActive()).toBe(1);
  const row = (runId: number, fileId: number, fields: object) => ({
    ...{ _id: `${runId}:${fileId}`, organizationId: 1, userId: 7, runId, fileId, reason: null, message: null },
    ...{ chunks: 0, tokens: 0, at: NOW, from: 1, generation: 2, ...fields },
  });
  await reembeds.collection.insertMany([
    row(600, 1, { outcome: 'reembedded', chunks: 4 }),
    row(601, 2, { outcome: 'reembedded', chunks: 5 }),
    row(601, 3, { outcome: 'failed', message: 'm' }),
    row(600, 4, { outcome: 'skipped', reason: 'container' }),
    row(600, 5, { outcome: 'skipped', reason: 'syncing' }),
    row(602, 6, { outcome: null }),
    row(999, 7, { outcome: 'failed', message: 'of another run' }),
  ] as never);
  expect(await rebuilds.progress([600, 601, 602])).toEqual({
    ...{ runs: 3, finishedRuns: 2, brokenRuns: 1, rebuilt: 2, chunks: 9, failed: 1, skipped: { syncing: 1 } },
  });
  expect(await rebuilds.failures([600, 601], 10)).toMatchObject([{ organizationId: 1, fileId: 3, message: 'm' }]);
});
