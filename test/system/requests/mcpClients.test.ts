/** The MCP endpoint, called by clients that this project did not write. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { startSite, type Site } from '../../emulators/site.js';
import { agentToken } from '../../support/agent.js';
import { PYTHON, PYTHON_AGENT, pythonClient } from '../../support/mcp/pythonClient.js';
import { startService, type TestService } from '../../support/service.js';

const PAGE = '<html><title>Skua</title><body><p>The skua chases gulls for their catch.</p></body></html>';

let service: TestService;
let site: Site;

beforeAll(async () => {
  site = await startSite({ '/skua': { body: PAGE } });
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
});
afterAll(async () => {
  await service.close();
  await site.close();
});

test('the Python client adds a page, waits for it, finds it and reads it', async () => {
  const folder = await pythonClient();
  const token = await agentToken(service, 'ann', { scope: 'read write' });
  const { stdout } = await promisify(execFile)(
    PYTHON,
    ['-B', PYTHON_AGENT, `${service.url}/mcp`, token, site.url('/skua'), 'What does the skua chase?'],
    { env: { PATH: process.env['PATH'], PYTHONPATH: folder } },
  );
  expect(JSON.parse(stdout)).toEqual({
    tools: expect.arrayContaining(['search', 'add_url', 'sync_status', 'read_file']),
    url: site.url('/skua'),
    text: expect.stringContaining('The skua chases gulls'),
  });
});

const CONFORMANCE = fileURLToPath(new URL('../../support/mcp/conformance.mjs', import.meta.url));

/** Adds a token to requests for /mcp, since the conformance tests send none. */
async function withToken(token: string) {
  const proxy = createServer((request, response) => {
    const forward = async () => {
      const { accept = '', 'content-type': type = '' } = request.headers;
      const body = request.method === 'POST' ? await buffer(request) : null;
      const answer = await fetch(`${service.url}/mcp`, {
        ...{ method: request.method ?? 'GET', body },
        headers: { accept, 'content-type': type, authorization: `Bearer ${token}` },
      });
      const headers = { 'content-type': answer.headers.get('content-type') ?? 'text/plain' };
      response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()));
    };
    forward().catch(() => response.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mcp`, close: () => proxy.close() };
}

test.each(['server-initialize', 'ping', 'tools-list', 'resources-list', 'prompts-list'])(
  'the endpoint passes the conformance scenario %s',
  async (scenario) => {
    const proxy = await withToken(await agentToken(service, 'ann'));
    try {
      const { stdout } = await promisify(execFile)(process.execPath, [
        ...[CONFORMANCE, 'server', '--url', proxy.url, '--scenario', scenario],
      ]);
      expect(stdout).toMatch(/Passed: (\d+)\/\1, 0 failed/);
    } finally {
      proxy.close();
    }
  },
);
