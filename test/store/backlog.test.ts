import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import { countFilesByStatus } from '../../store/overview/backlog.js';
import { openModels } from '../../store/models/openModels.js';
import { type ApiClient, apiClient, type TestUser } from '../support/client.js';
import { startService, type TestService } from '../support/service.js';
import { waitFor } from '../support/waitFor.js';

/** Backlog of the whole service while no worker runs. */
let service: TestService;
let user: TestUser;
let key: ApiClient;
let connection: mongoose.Connection;

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }, { worker: false });
  user = await service.user('waiting');
  key = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  connection = await mongoose.createConnection(service.env['MONGODB_URI'] ?? '').asPromise();
});
afterAll(async () => {
  await connection.close();
  await service.close();
});

test('an empty service has an empty backlog', async () => {
  expect(await service.store.backlog()).toMatchObject({
    files: { READY: 0, QUEUED_FOR_SYNC: 0 },
    runs: [],
    deliveries: { waiting: 0, oldestAt: null },
    unnumberedEventAt: null,
  });
});

describe('backlog of two uploads without a worker', () => {
  let before: Date;

  beforeAll(async () => {
    before = new Date();
    await key.post('/add_webhook', { url: 'http://127.0.0.1:9/unused' });
    for (let nth = 0; nth < 2; nth += 1)
      await user.post('/upload_text', { contents: `The ruff ${randomUUID()} turns.` });
  });

  test('counts files and runs by state, with the age of the oldest run', async () => {
    const { files, runs } = await waitFor(service.store.backlog, ({ runs: [group] }) => group?.count === 2);
    expect(files).toMatchObject({ QUEUED_FOR_SYNC: 2, READY: 0 });
    expect(runs).toHaveLength(1);
    expect(runs[0]).toMatchObject({ kind: 'syncUpload', state: 'waiting', count: 2 });
    const age = (runs[0]?.oldestAt.getTime() ?? 0) - before.getTime();
    expect(age).toBeGreaterThanOrEqual(0);
    expect(age).toBeLessThan(60_000);
  });

  test('distinguishes runs that are not started yet from held ones', async () => {
    const { runs } = await openModels(connection);
    const [firstRun, secondRun] = await runs.find().sort({ _id: 1 }).lean();
    await runs.updateOne({ _id: firstRun!._id }, { $set: { startedAt: null, nextTryAt: new Date('9999-01-01') } });
    await runs.updateOne(
      { _id: secondRun!._id },
      { $set: { startedAt: null, held: true, nextTryAt: new Date('9999-01-01') } },
    );
    const states = (await service.store.backlog()).runs.map(({ state }) => state);
    expect(states.toSorted()).toEqual(['held', 'waiting']);
  });

  test('counts events as unnumbered, then as numbered, then as waiting deliveries', async () => {
    const { webhooks, events } = await openModels(connection);
    const unnumbered = await service.store.backlog();
    expect(unnumbered.unnumberedEventAt!.getTime()).toBeGreaterThanOrEqual(before.getTime());
    expect(unnumbered.deliveries).toEqual({ waiting: 0, oldestAt: null });

    await waitFor(service.store.events.number, (numbered) => numbered === 0);
    const numbered = await service.store.backlog();
    const firstRow = await events.rows.findOne().sort({ at: 1 }).lean();
    expect(numbered).toMatchObject({ unnumberedEventAt: null, deliveries: { waiting: 0, oldestAt: firstRow?.at } });

    const [webhook] = await webhooks.webhooks.find().lean();
    const numberedEvents = await service.store.events.after(1, 0, 10);
    await service.store.deliveries.record(
      webhook!,
      numberedEvents.map((event) => ({
        event,
        status: 'PENDING' as const,
        tries: 1,
        nextTryAt: new Date(),
        attempt: null,
      })),
    );
    await service.store.webhooks.saveProgress(webhook!._id, {
      cursor: numberedEvents.at(-1)!.position,
      outcome: null,
      failing: null,
      disabled: false,
      done: null,
    });
    expect((await service.store.backlog()).deliveries).toEqual({
      waiting: numberedEvents.length,
      oldestAt: firstRow?.at,
    });
  });

  test('counts files from index keys only', async () => {
    const { files } = await openModels(connection);
    const plan = JSON.stringify(await countFilesByStatus(files).explain('executionStats'));
    expect(plan).toContain('"IXSCAN"');
    expect(plan).toMatch(/"totalDocsExamined":0\b/);
    expect(plan).not.toContain('COLLSCAN');
  });
});
