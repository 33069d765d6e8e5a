import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { readStoredState } from '../../support/storedState.js';
import type { TestUser } from '../../support/client.js';
import { testEngines } from '../../support/engines.js';
import { type QdrantProxy, startQdrantProxy, type InjectedFailure } from '../../support/qdrantProxy.js';
import { quietTemporal } from '../../support/quietTemporal.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughRows } from '../../support/thorough.js';

const QUERY = { query: 'When does the tide rise?', k: 1 };

let proxy: QdrantProxy;
let service: TestService;
let user: TestUser;

beforeAll(async () => {
  await quietTemporal('ERROR');
  proxy = await startQdrantProxy(testEngines().qdrantUrl);
  service = await startService({ QDRANT_URL: proxy.url, STORE_TIMEOUT_S: '4', LOG_LEVEL: 'silent' });
  user = await service.user('tess');
  const { id } = await user.send({ name: 'tides.txt', content: 'The tide rises twice a day.' });
  expect(await user.settled(id)).toMatchObject({ sync_status: 'READY' });
});
afterAll(async () => {
  await service.close();
  await proxy.close();
});

/**
 * Qdrant's strict mode limits the rate of requests by 429 with Retry-After in seconds; RFC 9110 also allows a date.
 * https://qdrant.tech/documentation/guides/administration/#strict-mode,
 * https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
 */
const FAULTS: readonly (readonly [what: string, fault: InjectedFailure, message: RegExp])[] = [
  ['answers after STORE_TIMEOUT_S', 'late', /^Qdrant does not answer/],
  ['answers 429 with Retry-After in seconds', { status: 429, headers: { 'retry-after': '1' } }, /^Qdrant reports/],
  ...thoroughRows([
    [
      'answers 429 with Retry-After as a date',
      { status: 429, headers: { 'retry-after': 'Fri, 31 Dec 1999 23:59:59 GMT' } },
      /^Qdrant reports/,
    ],
    ['answers 500', { status: 500 }, /^Qdrant reports/],
  ] as const),
];

describe.each(FAULTS)('while Qdrant %s', (what, fault, message) => {
  test('retries a write until it succeeds, and stores each point once', async () => {
    proxy.fail('write', fault, 1);
    const { id } = await user.send({ name: `${what}.txt`, content: `The tide falls while Qdrant ${what}.` });
    expect(await user.settled(id)).toMatchObject({ sync_status: 'READY', sync_error_message: null });
    expect(proxy.seen('write')).toBe(2);
    expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
  });

  test('answers a search with 503 and Retry-After, naming Qdrant, and the next search with results', async () => {
    proxy.fail('search', fault, 1);
    const refused = await user.post<{ detail: string }>('/embeddings', QUERY);
    expect(proxy.seen('search')).toBe(1);
    expect({ status: refused.status, retryAfter: refused.headers.get('retry-after') }).toEqual({
      status: 503,
      retryAfter: '5',
    });
    expect(refused.body.detail).toMatch(message);
    expect(await user.search(QUERY)).toHaveLength(1);
  });
});
