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

/** Creates the store of API keys. @param change returns methods that replace those of the Mongoose model */
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
  // Both transactions revoke their key before either of them counts the remaining keys.
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
  const createdKeys = [await keys.create(organizationId), await keys.create(organizationId)];
  const outcomes = await Promise.all(createdKeys.map((key) => keys.revoke(key!.id, false)));
  expect(outcomes.toSorted()).toEqual(['last', 'revoked']);
  const valid = await keys.validAmong(createdKeys.map((key) => key!.id));
  expect(valid).toEqual([createdKeys[outcomes.indexOf('last')]!.id]);
});

test('a rotation revokes a key and creates the next one, both or neither', async () => {
  const organizationId = await newOrganization();
  const keys = keysWith();
  const createdKey = (await keys.create(organizationId))!;
  const failing = keysWith(() => ({ create: (() => Promise.reject(new Error('no space left'))) as never }));
  await expect(failing.rotate(createdKey.id)).rejects.toThrow('no space left');
  expect(await keys.idOf(createdKey.apiKey)).toBe(createdKey.id);

  const newKey = (await keys.rotate(createdKey.id))!;
  expect([await keys.idOf(createdKey.apiKey), await keys.idOf(newKey.apiKey)]).toEqual([null, newKey.id]);
  expect(await keys.rotate(createdKey.id)).toBeNull();
  expect((await keys.list(organizationId)).map(({ id, revokedAt }) => [id, revokedAt !== null])).toEqual([
    [createdKey.id, true],
    [newKey.id, false],
  ]);
});
