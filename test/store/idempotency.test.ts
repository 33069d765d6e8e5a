import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { KeyUse } from '../../store/idempotency.js';
import { everyRow } from '../support/everyRow.js';
import { type SharedService, sharedService } from '../support/sharedService.js';
import { withDatabase } from '../support/mongo.js';

let service: SharedService;
let use: KeyUse;
beforeAll(async () => {
  service = await sharedService({ worker: false });
  use = { organizationId: service.organizationId, userId: 7, route: '/upload_text', key: 'k1' };
});
afterAll(() => service.close());

/** Claims a key and stores a response. Rejects if the key is already claimed: this aborts the transaction. */
const claim = (claimed: KeyUse, answer: string): Promise<void> => {
  const { idempotency, transaction } = service.store;
  return transaction(async (session) => {
    if (!(await idempotency.claim(claimed, 'fingerprint', session))) throw new Error('taken');
    await idempotency.saveAnswer(claimed, answer, session);
  });
};

test('a stored response is returned only for its owner, route and key, and only until it expires', async () => {
  const { idempotency } = service.store;
  await claim(use, 'first');
  await expect(claim(use, 'second')).rejects.toThrow('taken');
  expect(await idempotency.find(use)).toEqual({ fingerprint: 'fingerprint', answer: 'first' });
  const otherUses: KeyUse[] = [
    { ...use, organizationId: service.organizationId + 1 },
    { ...use, userId: 8 },
    { ...use, userId: null },
    { ...use, route: '/web_scrape' },
    { ...use, key: 'k2' },
  ];
  await everyRow(otherUses, JSON.stringify, async (otherUse) => expect(await idempotency.find(otherUse)).toBeNull());
  // MongoDB deletes expired rows only once a minute.
  await withDatabase(service, (connection) =>
    connection
      .collection('idempotencyKeys')
      .updateOne({ organizationId: use.organizationId, key: 'k1' }, { $set: { expiresAt: new Date(Date.now() - 1) } }),
  );
  expect(await idempotency.find(use)).toBeNull();
  await claim(use, 'second');
  expect(await idempotency.find(use)).toEqual({ fingerprint: 'fingerprint', answer: 'second' });
});
