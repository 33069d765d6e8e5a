import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose, { type Connection } from 'mongoose';

import { signingKeyPlace } from '../../contract/webhooks.js';
import { sealCredentials } from '../../store/dataSources/credentials.js';
import type { Sequence } from '../../store/database/sequence.js';
import { dataSourceModel } from '../../store/models/dataSources.js';
import { webhookModels } from '../../store/models/webhooks.js';
import { whiteLabelModel } from '../../store/models/whiteLabels.js';
import { inspectMongodb } from '../../store/overview/inspection.js';
import { checkSecretKey } from '../../store/secrets/secretKeyCheck.js';
import { createSecrets } from '../../store/secrets/secrets.js';
import { createWhiteLabels } from '../../store/whiteLabels/records.js';
import { testEngines } from '../support/engines.js';

let connection: Connection;
let uri: URL;

beforeAll(async () => {
  uri = new URL(testEngines().mongodbUri);
  uri.pathname = `/k${randomUUID().slice(0, 8)}`;
  connection = await mongoose.createConnection(uri.href).asPromise();
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
});

test('refuses a database with another SECRET_KEY, and accepts it with rotated keys', async () => {
  const key = (id: string) => ({ id, key: randomBytes(32) });
  const [old, fresh] = [key('old'), key('fresh')];
  const start = (...keys: (typeof old)[]) => checkSecretKey(connection, createSecrets(keys));
  await Promise.all([start(old), start(old), start(old)]);
  await expect(start(key('other'))).rejects.toThrow(/SECRET_KEY is not the key.*Set the former key again/);
  await expect(start(key('old'))).rejects.toThrow(/SECRET_KEY is not the key/);
  await expect(start(fresh)).rejects.toThrow(/SECRET_KEY is not the key/);
  await start(fresh, old);
  await start(fresh);
  await expect(start(old)).rejects.toThrow(/SECRET_KEY is not the key/);
});

test('doctor tries to decrypt the secrets of data sources, OAuth clients and webhooks, and creates no collection', async () => {
  const key = (id: string) => ({ id, key: randomBytes(32) });
  const [old, fresh] = [key('old'), key('fresh')];
  const secrets = createSecrets([old]);
  const sequence = { next: async () => 1 } as unknown as Sequence;
  const credentials = { client_id: 'id', redirect_uri: 'https://a.example', client_secret: 's', api_key: 'k' };
  await createWhiteLabels(whiteLabelModel(connection), sequence, secrets).put(
    1,
    [{ data_source_type: 'BOX', credentials }],
    null,
  );
  const holder = { _id: 2, organizationId: 1 };
  const sealedCredentials = sealCredentials(secrets, holder, 'password');
  await dataSourceModel(connection).collection.insertOne({ ...holder, sealedCredentials } as never);
  const signingKey = secrets.seal(signingKeyPlace(1, 3), 'key');
  const webhook = { _id: 3, organizationId: 1, deletedAt: null, signingKey };
  await webhookModels(connection).webhooks.collection.insertOne(webhook as never);
  const inspection = await inspectMongodb(uri.href);
  try {
    expect(await inspection.openSecrets(secrets)).toEqual({ opened: 4, broken: 0, why: null });
    const { opened, broken, why } = await inspection.openSecrets(createSecrets([fresh]));
    expect([opened, broken, why]).toEqual([0, 4, expect.stringContaining('sealed with key old')]);
  } finally {
    await inspection.close();
  }
  const collections = (await connection.listCollections()).map(({ name }) => name);
  expect(collections).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(files|runs|workers)$/)]));
});
