import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { KeyUse } from '../../store/idempotency.js';
import { everyRow } from '../support/everyRow.js';
import { startService, type TestService } from '../support/service.js';
import { withDatabase } from '../support/mongo.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({}, { worker: false });
});
afterAll(() => service.close());

const USE: KeyUse = { organizationId: 1, userId: 7, route: '/upload_text', key: 'k1' };
/** Claims a key and stores a response. Rejects if the key is already claimed: this aborts the transaction. */
const claim = (use: KeyUse, answer: string): Promise<void> => {
  const { idempotency, transaction } = service.store;
  return transaction(async (session) => {
    if (!(await idempotency.claim(use, 'fingerprint', session))) throw new Error('taken');
    await idempotency.saveAnswer(use, answer, session);
  });
};

test('a stored response is returned only for its owner, route and key, and only until it expires', async () => {
  const { idempotency } = service.store;
  await claim(USE, 'first');
  await expect(claim(USE, 'second')).rejects.toThrow('taken');
  expect(await idempotency.find(USE)).toEqual({ fingerprint: 'fingerprint', answer: 'first' });
  const otherUses: KeyUse[] = [
    { ...USE, organizationId: 2 },
    { ...USE, userId: 8 },
    { ...USE, userId: null },
    { ...USE, route: '/web_scrape' },
    { ...USE, key: 'k2' },
  ];
  await everyRow(otherUses, JSON.stringify, async (use) => expect(await idempotency.find(use)).toBeNull());
  // MongoDB deletes expired rows only once a minute.
  await withDatabase(service, (connection) =>
    connection
      .collection('idempotencyKeys')
      .updateOne({ key: 'k1' }, { $set: { expiresAt: new Date(Date.now() - 1) } }),
  );
  expect(await idempotency.find(USE)).toBeNull();
  await claim(USE, 'second');
  expect(await idempotency.find(USE)).toEqual({ fingerprint: 'fingerprint', answer: 'second' });
});
