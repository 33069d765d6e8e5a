import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import { type FileDoc, fileModel } from '../../store/files/model.js';
import { type Remembered, rememberWhileUnchanged } from '../../store/files/remembered.js';
import type { Tenant } from '../../store/users/accept.js';
import { userModel } from '../../store/users/model.js';
import { seedFiles } from '../support/seedFiles.js';
import { startService, type TestService } from '../support/service.js';

let service: TestService;
let connection: mongoose.Connection;
let owner: Tenant & { customerId: string };
let sums: Remembered<number>;
let base = 8_000_000;
let computed = 0;

beforeAll(async () => {
  service = await startService({}, { worker: false });
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
  owner = await service.store.users.ensure(1, `remembered-${base}`);
  sums = rememberWhileUnchanged(fileModel(connection), userModel(connection))<number>(10);
  await seed(1, 2, 3);
});

/** The number of the owner's files, counted slowly enough to be worth remembering. */
const count = (tenant: Tenant = owner): Promise<number> =>
  sums.of(tenant, 'files', async () => {
    computed += 1;
    await sleep(30);
    const { organizationId, userId } = tenant;
    return fileModel(connection).countDocuments({ organizationId, userId });
  });
/** Asked until it is remembered. */
async function remembered(): Promise<void> {
  for (let asked = 0; asked < 3; asked += 1) expect(await count()).toBe(3);
  expect(computed).toBe(2);
}

test('a sum is computed anew after a file was added', async () => {
  await remembered();
  await seed(4);
  expect(await count()).toBe(4);
});

test('a sum is computed anew after a file was removed, whichever it was', async () => {
  await remembered();
  const ids = [base + 1];
  await service.store.files.takeOver(owner, 77, 'delete-files:77', ids);
  // As if that was long ago: the delete was held up.
  const files = connection.collection<FileDoc>('files');
  await files.updateMany({ _id: { $in: ids } }, { $set: { updatedAt: new Date('2026-01-01T00:00:00Z') } });
  await service.store.files.remove(owner, 77, ids, false);
  expect(await count()).toBe(2);
});

test('nothing is remembered while a file has changed less than a minute ago', async () => {
  await connection
    .collection<FileDoc>('files')
    .updateOne({ _id: base + 2 }, { $set: { updatedAt: new Date(Date.now() - 30_000) } });
  for (let asked = 1; asked <= 4; asked += 1) {
    await count();
    expect(computed).toBe(asked);
  }
});

test('a change while a sum is computed is not hidden by it', async () => {
  await count();
  const slow = sums.of(owner, 'files', async () => {
    const before = await fileModel(connection).countDocuments({ userId: owner.userId });
    await seed(5);
    return before;
  });
  expect(await slow).toBe(3);
  expect(await count()).toBe(4);
});

test('every user has sums of its own', async () => {
  await remembered();
  const other = await service.store.users.ensure(1, 'remembered-other');
  expect(await count(other)).toBe(0);
});
