/** Tests of the MCP endpoint over HTTP, and of the operations that agents perform, with stores in memory. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { expect, test } from '@jest/globals';

import type { AppDeps } from '../../api/http/deps.js';
import { HttpError } from '../../api/http/errors.js';
import { createTokens } from '../../api/http/identity/tokens.js';
import { createConcurrencyLimiter } from '../../api/http/limits/concurrency.js';
import { operation, type Operation } from '../../api/http/operation.js';
import { createPerform } from '../../api/http/perform.js';
import type { Agent } from '../../api/mcp/agent.js';
import { mountMcp } from '../../api/mcp/mountMcp.js';

const CALLER = { organizationId: 1, userId: 2, customerId: 'ann' };

/** Starts the endpoint with a user whose tokens it accepts. */
async function endpoint(isDeleted = false, limited: HttpError | null = null) {
  const tokens = createTokens([{ id: 'k', key: Buffer.alloc(32, 1) }]);
  const rated: unknown[] = [];
  const agents: Agent[] = [];
  const settings = { publicUrl: 'https://own.test', publicUrlAliases: [], corsOrigins: ['https://app.test'] };
  const store = { users: { find: () => Promise.resolve(isDeleted ? null : CALLER) } };
  const deps = { settings: { ...settings, maxContentsBytes: 1_000 }, store, tokens } as unknown as AppDeps;
  const app = express();
  const rate = (caller: unknown) => {
    rated.push(caller);
    if (limited) throw limited;
  };
  const admit = { rate, searches: createConcurrencyLimiter(0, 'x') };
  mountMcp(app, deps, admit as never, (agent, _request, response) => {
    agents.push(agent);
    response.json({ mayWrite: agent.mayWrite });
    return Promise.resolve();
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const post = async (token: string | null, body: unknown = {}, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      body: JSON.stringify(body),
    });
  const issue = (scope?: 'read' | 'read write', lifeMs?: number) =>
    tokens.issue(CALLER, { ...(scope && { scope }), ...(lifeMs !== undefined && { lifeMs }) }).accessToken;
  return { url, post, issue, rated, agents, server };
}

test('the MCP endpoint lets only tokens with the scope "read write" write, and rate-limits each message', async () => {
  const { post, issue, rated, server } = await endpoint();
  const mayWrite = async (token: string) => ((await (await post(token)).json()) as { mayWrite: boolean }).mayWrite;
  expect([await mayWrite(issue()), await mayWrite(issue('read')), await mayWrite(issue('read write'))]).toEqual([
    false,
    false,
    true,
  ]);
  expect(rated).toEqual([CALLER, CALLER, CALLER]);
  server.close();
});

test('the MCP endpoint accepts only valid tokens, allowed origins, the method POST and single messages', async () => {
  const { url, post, issue, agents, server } = await endpoint();
  const anonymous = await post(null);
  const metadata = 'resource_metadata="https://own.test/.well-known/oauth-protected-resource/mcp"';
  expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([401, `Bearer ${metadata}`]);
  const expired = await post(issue('read', -1));
  expect(expired.headers.get('www-authenticate')).toBe(`Bearer error="invalid_token", ${metadata}`);
  expect((await post('an-api-key')).status).toBe(401);
  expect((await post(issue(), {}, { origin: 'https://evil.test' })).status).toBe(403);
  const batch = await post(issue(), [{}]);
  expect([batch.status, await batch.json()]).toMatchObject([
    400,
    { jsonrpc: '2.0', error: { code: -32_000 }, id: null },
  ]);
  expect((await post(issue(), {}, { 'content-type': 'text/plain' })).status).toBe(415);
  const get = await fetch(url);
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
  expect(agents).toHaveLength(0);
  for (const origin of ['https://own.test', 'https://app.test'])
    expect((await post(issue(), {}, { origin })).status).toBe(200);
  server.close();
  const ofDeleted = await endpoint(true);
  expect((await ofDeleted.post(ofDeleted.issue())).status).toBe(401);
  ofDeleted.server.close();
});

test('the MCP endpoint accepts both schemes of a token, and explains an expired token and an API key', async () => {
  const { url, post, issue, server } = await endpoint();
  const send = (authorization: string) =>
    fetch(url, { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: '{}' });
  expect((await send(`Token ${issue()}`)).status).toBe(200);
  expect((await send(`bearer ${issue()}`)).status).toBe(200);
  const messageOf = async (answer: Response) => ((await answer.json()) as { error: { message: string } }).error.message;
  expect(await messageOf(await post(issue('read', -1)))).toContain('expired');
  expect(await messageOf(await post('an-api-key'))).toContain('API keys are not accepted');
  server.close();
});

test('the MCP endpoint answers 429 with Retry-After above the rate limit, and a parse error to invalid JSON', async () => {
  const { post, issue, agents, server } = await endpoint(false, new HttpError(429, 'Too many.', 7));
  const limited = await post(issue());
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7']);
  expect(agents).toHaveLength(0);
  server.close();
  const other = await endpoint();
  const broken = await fetch(other.url, {
    ...{ method: 'POST', body: '{' },
    headers: { authorization: `Bearer ${other.issue()}`, 'content-type': 'application/json' },
  });
  expect([broken.status, await broken.json()]).toMatchObject([400, { error: { code: -32_700 } }]);
  other.server.close();
});

test('an operation of an agent is limited like a search over REST, and frees its slot when it fails', async () => {
  const failing = operation({ path: '/x', method: 'post', auth: 'user', searches: true } as never) as Operation;
  const calls: unknown[] = [];
  const outcome = { fails: true };
  const handled = {
    ...failing,
    handle: (call: { caller: unknown; params: unknown; given: ReadonlySet<string> }) => {
      calls.push([call.caller, call.params, [...call.given]]);
      return outcome.fails ? Promise.reject(new HttpError(409, 'no')) : Promise.resolve('done');
    },
  } as unknown as Operation;
  const store = { originals: {}, schema: { newer: null as string | null } };
  const deps = { store, addresses: {}, settings: { redirectUriSchemes: [] } } as unknown as AppDeps;
  const searches = createConcurrencyLimiter(1, 'searches');
  const signal = new AbortController().signal;
  const perform = createPerform(deps, searches, { caller: CALLER, requestId: 'r', signal, peer: '::1' });
  await expect(perform(handled, { params: { id: '1' } })).rejects.toMatchObject({ status: 409 });
  outcome.fails = false;
  expect(await perform(handled, { params: { id: '1' }, body: { a: 1, b: null } })).toBe('done');
  // Fields with null count as absent.
  expect(calls).toEqual([[], ['a']].map((given) => [CALLER, { id: '1' }, given]));
  store.schema.newer = '9.0.0';
  await expect(perform(handled, {})).rejects.toMatchObject({ status: 503 });
  store.schema.newer = null;
  const leave = searches.enter('1:2');
  await expect(perform(handled, {})).rejects.toMatchObject({ status: 429 });
  leave();
});
