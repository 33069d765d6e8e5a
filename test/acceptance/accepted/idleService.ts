/**
 * A service without a worker, shared by several suites, and its users. Without a worker, stored records stay unchanged.
 */
import { expect } from '@jest/globals';
import type mongoose from 'mongoose';

import type { FileDoc } from '../../../store/models/files.js';
import type { RunDoc } from '../../../store/models/runs.js';
import { type ApiClient, apiClient, type TestUser } from '../../support/client.js';
import { type SeededFile, seedFiles } from '../../support/seedFiles.js';
import { startService, type TestService } from '../../support/service.js';
import { connectMongo } from '../../support/mongo.js';

export let service: TestService;
export let database: mongoose.Connection;
export let key: ApiClient;
/** Client with the API key of a second organization. */
export let otherKey: ApiClient;
export let secondOrganization: { readonly organizationId: number; readonly apiKey: string };

export const ok = <T>({ status, body }: { readonly status: number; readonly body: T }): T => {
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
};
const clientOf = (apiKey: string): ApiClient => apiClient(service.url, { authorization: `Bearer ${apiKey}` });
export const refusal = (status: number) => ({ status, body: { detail: expect.anything() } });

export async function startIdleService(): Promise<void> {
  service = await startService(
    { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'silent' },
    { worker: false, searchesStalls: false },
  );
  database = await connectMongo(service.env['MONGODB_URI'] ?? '');
  key = clientOf(service.apiKey);
  const created = await service.store.organizations.create('other');
  otherKey = clientOf(created.apiKey);
  const { organizationId } = await service.store.users.ensure(
    (await otherKey.get<{ id: number }>('/organization')).body.id,
    'first',
  );
  secondOrganization = { organizationId, apiKey: created.apiKey };
}
export async function closeIdleService(): Promise<void> {
  await database.close();
  await service.close();
}

let users = 0;
let lastId = 1_000;
/** Reserves unused ids. @returns the first of them */
export const reserveIds = (count: number): number => (lastId += count) - count + 1;
export interface StoredUser {
  readonly user: TestUser;
  readonly owner: { readonly organizationId: number; readonly userId: number; readonly customerId: string };
  /** All runs of the user, oldest first. */
  runs(): Promise<(RunDoc & { request?: unknown; progress?: unknown })[]>;
  files(): Promise<FileDoc[]>;
  /** Kinds and object ids of all events of the user. */
  events(): Promise<string[]>;
  /** Stores files. @returns their ids */
  seed(...files: Omit<SeededFile, 'id'>[]): Promise<number[]>;
}

/** Creates a new user. */
export async function createUser(): Promise<StoredUser> {
  const customerId = `user-${(users += 1)}`;
  const user = await service.user(customerId);
  const { _id: userId } = (await database.collection('users').findOne({ customerId }))! as unknown as { _id: number };
  const owner = { organizationId: 1, userId, customerId };
  return {
    user,
    owner,
    runs: () => database.collection<RunDoc>('runs').find({ userId }).sort({ _id: 1 }).toArray(),
    files: () => database.collection<FileDoc>('files').find({ userId }).sort({ _id: 1 }).toArray(),
    async events() {
      await service.store.events.number();
      const events = await service.store.events.after(1, 0, 10_000);
      return events.flatMap((event) =>
        event.customerId === customerId ? [`${event.kind} ${String(event.objectId)}`] : [],
      );
    },
    async seed(...files) {
      const seeds = files.map((file) => ({ ...file, id: reserveIds(1) }));
      await seedFiles(service, owner, seeds);
      return seeds.map(({ id }) => id);
    },
  };
}
