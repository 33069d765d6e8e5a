import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import { seedLedger } from '../../bench/seedLedger.js';
import type { Answer, TestUser } from '../support/client.js';
import { startService, type TestService } from '../support/service.js';

const ITEMS = 4_000;
let service: TestService;
let connection: mongoose.Connection;
let user: TestUser;
let ended: number;
let runningId: number;

beforeAll(async () => {
  service = await startService({ LOG_LEVEL: 'silent', TEMPORAL_ADDRESS: '127.0.0.1:1' }, { worker: false });
  connection = await mongoose.createConnection(service.env['MONGODB_URI'] ?? '').asPromise();
  user = await service.user('ada');
  const { organizationId, userId } = await service.store.users.ensure(1, 'ada');
  ({ ended, active: runningId } = await seedLedger(connection, { organizationId, userId }, ITEMS));
});
afterAll(async () => {
  await connection.close();
  await service.close();
});

/** Returns the number of collection scans of a call, and the most documents that one of its queries read. */
async function readFor(call: () => Promise<Answer<unknown>>): Promise<{ scans: number; documents: number }> {
  const db = connection.db!;
  const namespaces = ['ledger_items', 'runs', 'files'].map((name) => `${db.databaseName}.${name}`);
  const from = new Date();
  await db.command({ profile: 2, filter: { ns: { $in: namespaces } } });
  expect((await call()).status).toBe(200);
  await db.command({ profile: 0 });
  const queries = await db
    .collection<{ ts: Date; planSummary?: string; docsExamined?: number }>('system.profile')
    .find({ ts: { $gte: from } })
    .toArray();
  expect(queries.length).toBeGreaterThan(0);
  return {
    scans: queries.filter(({ planSummary = '' }) => planSummary.includes('COLLSCAN')).length,
    documents: Math.max(0, ...queries.map(({ docsExamined = 0 }) => docsExamined)),
  };
}

test.each<[string, () => string, number]>([
  ['the newest runs', () => '/sync_runs?limit=20&offset=2', 22],
  ['a run that has ended', () => `/sync_runs/${ended}`, 1],
  ['items of a run that has ended, from a cursor', () => `/sync_runs/${ended}/items?limit=50&after=${cursor()}`, 51],
  ['failed items', () => `/sync_runs/${ended}/items?limit=50&outcomes=failed`, 51],
  ['items of a rare cause', () => `/sync_runs/${ended}/items?limit=50&causes=too_large`, ITEMS / 1_000],
  ['items of a cause that does not occur', () => `/sync_runs/${ended}/items?limit=50&causes=access_revoked`, 1],
  ['items of a stage that does not occur', () => `/sync_runs/${ended}/items?limit=50&stages=embed`, 1],
  ['the items of a running run', () => `/sync_runs/${runningId}/items?limit=50`, 500],
])('%s: reads an index, and not more documents than needed', async (_name, path, most) => {
  const { scans, documents } = await readFor(() => user.get(path()));
  expect(scans).toBe(0);
  expect(documents).toBeLessThanOrEqual(most);
});

const cursor = (): string => `${String(ended).padStart(16, '0')}:${String(50_002_000).padStart(16, '0')}`;

test('a retry by cause reads only the items of that cause', async () => {
  const { scans, documents } = await readFor(() => user.post(`/sync_runs/${ended}/retry`, { causes: ['too_large'] }));
  expect(scans).toBe(0);
  expect(documents).toBeLessThanOrEqual(ITEMS / 1_000);
});
