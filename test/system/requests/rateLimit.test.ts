import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { agentToken } from '../../support/agent.js';
import { apiClient } from '../../support/client.js';
import { startService, type TestService } from '../../support/service.js';

let service: TestService;

beforeAll(async () => {
  // Two requests a minute: the request for the token, and one more. A third is allowed half a minute later.
  service = await startService({ RATE_LIMIT_USER: '2' }, { worker: false });
});
afterAll(() => service.close());

test('answers a user above the rate limit with 429 and Retry-After, and serves others', async () => {
  const rita = await service.user('rita');
  expect((await rita.post('/user_files_v2', {})).status).toBe(200);
  const refused = await rita.post<{ detail: string }>('/user_files_v2', {});
  expect(refused.status).toBe(429);
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(30);
  expect(refused.body).toEqual({ detail: expect.stringContaining(`${seconds} s`) });

  const other = await service.user('rolf');
  expect((await other.post('/user_files_v2', {})).status).toBe(200);
  expect((await apiClient(service.url).get('/health')).status).toBe(200);
  const key = { authorization: `Bearer ${service.apiKey}` };
  for (let call = 0; call < 5; call += 1)
    expect((await apiClient(service.url).get('/organization', key)).status).toBe(200);
});

test('counts each MCP message, and answers above the limit with 429, Retry-After and an error message', async () => {
  const token = await agentToken(service, 'mia');
  const send = () =>
    fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_sources' } }),
    });
  expect((await send()).status).toBe(200);
  const refused = await send();
  expect(refused.status).toBe(429);
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  const { error } = (await refused.json()) as { error: { message: string } };
  expect(error.message).toContain(`${seconds} s`);
});
