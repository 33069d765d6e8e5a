import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose, { type Connection } from 'mongoose';

import { createSequence } from '../../store/database/sequence.js';
import { testEngines } from '../support/engines.js';

let connection: Connection;
beforeAll(async () => {
  const uri = new URL(testEngines().mongodbUri);
  uri.pathname = `/sequence${Date.now()}`;
  connection = await mongoose.createConnection(uri.href).asPromise();
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
});

test('ids are unique across processes, taken one by one or in blocks', async () => {
  const ofFirstProcess = createSequence(connection);
  connection.deleteModel('sequences');
  const ofSecondProcess = createSequence(connection);
  const singles = await Promise.all(
    Array.from({ length: 200 }, (_, index) => (index % 2 ? ofFirstProcess : ofSecondProcess).next('file')),
  );
  const start = await ofFirstProcess.next('file', 50);
  const block = Array.from({ length: 50 }, (_, index) => start + index);
  expect(new Set([...singles, ...block]).size).toBe(250);
});

test('never issues a reserved number', async () => {
  connection.deleteModel('sequences');
  const sequence = createSequence(connection);
  await sequence.reserve('organization', 5);
  expect(await sequence.next('organization')).toBe(6);
  await sequence.reserve('organization', 3);
  expect(await sequence.next('organization')).toBe(7);
});
