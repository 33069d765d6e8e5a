import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose, { type Connection } from 'mongoose';

import { checkSecretKey } from '../../store/secrets/secretKeyCheck.js';
import { createSecrets } from '../../store/secrets/secrets.js';
import { testEngines } from '../support/engines.js';

let connection: Connection;

beforeAll(async () => {
  const uri = new URL(testEngines().mongodbUri);
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
