import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose, { type Connection, type Model } from 'mongoose';

import { createSequence } from '../../store/database/sequence.js';
import { type ApiKeyDoc, organizationModels } from '../../store/models/organizations.js';
import { createApiKeys } from '../../store/organizations/keys.js';
import { testEngines } from '../support/engines.js';

let connection: Connection;
let lastOrganization = 0;

beforeAll(async () => {
  const options = { dbName: `keys-${randomUUID()}` };
  connection = await mongoose.createConnection(testEngines().mongodbUri, options).asPromise();
  const { organizations, apiKeys } = organizationModels(connection);
  await Promise.all([organizations.createCollection(), apiKeys.createCollection()]);
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
});

/** Returns the keys of a store. @param change replaces parts of the model of keys */
function keysWith(change: (model: Model<ApiKeyDoc>) => Partial<Model<ApiKeyDoc>> = () => ({})) {
  const models = organizationModels(connection);
  const changed = change(models.apiKeys);
  const apiKeys = new Proxy(models.apiKeys, {
    get: (model, name) => Reflect.get(name in changed ? changed : model, name) as unknown,
  });
  return createApiKeys({ ...models, apiKeys }, createSequence(connection), (work) => connection.transaction(work));
}
async function newOrganization(): Promise<number> {
  const _id = (lastOrganization += 1);
  await connection.collection<{ _id: number }>('organizations').insertOne({ _id });
  return _id;
}

test('of two concurrent revocations of the last two keys, one is refused', async () => {
  const organizationId = await newOrganization();
  let [waiting, open]: [number, () => void] = [2, () => undefined];
  const bothRevoked = new Promise<void>((resolve) => (open = resolve));
  /** Both transactions revoke their key before either counts the others. */
  const keys = keysWith((model) => ({
    findOneAndUpdate: ((...args: Parameters<typeof model.findOneAndUpdate>) => ({
      async lean() {
        const row = await model.findOneAndUpdate(...args).lean();
        waiting -= 1;
        if (waiting <= 0) open();
        await bothRevoked;
        return row;
      },
    })) as never,
  }));
  const made = [await keys.create(organizationId), await keys.create(organizationId)];
  const ends = await Promise.all(made.map((key) => keys.revoke(key!.id, false)));
  expect(ends.toSorted()).toEqual(['last', 'revoked']);
  const valid = await keys.validAmong(made.map((key) => key!.id));
  expect(valid).toEqual([made[ends.indexOf('last')]!.id]);
});

test('a rotation revokes a key and creates the next one, both or neither', async () => {
  const organizationId = await newOrganization();
  const keys = keysWith();
  const made = (await keys.create(organizationId))!;
  const failing = keysWith(() => ({ create: (() => Promise.reject(new Error('no space left'))) as never }));
  await expect(failing.rotate(made.id)).rejects.toThrow('no space left');
  expect(await keys.idOf(made.apiKey)).toBe(made.id);

  const next = (await keys.rotate(made.id))!;
  expect([await keys.idOf(made.apiKey), await keys.idOf(next.apiKey)]).toEqual([null, next.id]);
  expect(await keys.rotate(made.id)).toBeNull();
  expect((await keys.list(organizationId)).map(({ id, revokedAt }) => [id, revokedAt !== null])).toEqual([
    [made.id, true],
    [next.id, false],
  ]);
});
