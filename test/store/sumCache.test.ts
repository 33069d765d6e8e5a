import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import { type FileDoc, fileModel } from '../../store/models/files.js';
import { type SumCache, createSumCaches } from '../../store/files/sumCache.js';
import type { Tenant } from '../../store/users/accept.js';
import { userModel } from '../../store/models/users.js';
import { seedFiles } from '../support/seedFiles.js';
import { type SharedService, sharedService } from '../support/sharedService.js';

let service: SharedService;
let connection: mongoose.Connection;
let owner: Tenant & { customerId: string };
let sums: SumCache<number>;
let base: number;
let computed = 0;

beforeAll(async () => {
  service = await sharedService({ worker: false });
  base = service.firstId;
  connection = await mongoose.createConnection(service.env['MONGODB_URI'] ?? '').asPromise();
});
afterAll(async () => {
  await connection.close();
  await service.close();
});

const seed = (...numbers: number[]) =>
  seedFiles(
    service,
    owner,
    numbers.map((number) => ({ id: base + number })),
  );
beforeEach(async () => {
  base += 100;
  computed = 0;
  owner = await service.store.users.ensure(service.organizationId, `remembered-${base}`);
  sums = createSumCaches(fileModel(connection), userModel(connection))<number>(10);
  await seed(1, 2, 3);
});

/** Counts the files of a user. The count takes long enough to be cached. */
const count = (tenant: Tenant = owner): Promise<number> =>
  sums.get(tenant, 'files', async () => {
    computed += 1;
    await sleep(30);
    const { organizationId, userId } = tenant;
    return fileModel(connection).countDocuments({ organizationId, userId });
  });
/** Counts until the result is cached: the first call only finds that the sum is costly, and the second caches it. */
async function fillCache(): Promise<void> {
  for (let calls = 0; calls < 3; calls += 1) expect(await count()).toBe(3);
  expect(computed).toBe(2);
}

test('recomputes a sum after a file is added', async () => {
  await fillCache();
  await seed(4);
  expect(await count()).toBe(4);
});

test('recomputes a sum after a file is removed, even if the last change of the file is old', async () => {
  await fillCache();
  const ids = [base + 1];
  await service.store.files.takeOver(owner, 77, 'delete-files:77', ids);
  // The delete was delayed, so the last change is old.
  const files = connection.collection<FileDoc>('files');
  await files.updateMany({ _id: { $in: ids } }, { $set: { updatedAt: new Date('2026-01-01T00:00:00Z') } });
  await service.store.files.remove(owner, 77, ids, false);
  expect(await count()).toBe(2);
});

test('caches nothing while a file has changed less than a minute ago', async () => {
  await connection
    .collection<FileDoc>('files')
    .updateOne({ _id: base + 2 }, { $set: { updatedAt: new Date(Date.now() - 30_000) } });
  for (let calls = 1; calls <= 4; calls += 1) {
    await count();
    expect(computed).toBe(calls);
  }
});

test('a change during the computation of a sum is not hidden by the cache', async () => {
  await count();
  const slow = sums.get(owner, 'files', async () => {
    const countBefore = await fileModel(connection).countDocuments({ userId: owner.userId });
    await seed(5);
    return countBefore;
  });
  expect(await slow).toBe(3);
  expect(await count()).toBe(4);
});

test('caches sums per user', async () => {
  await fillCache();
  const otherUser = await service.store.users.ensure(service.organizationId, 'remembered-other');
  expect(await count(otherUser)).toBe(0);
});
