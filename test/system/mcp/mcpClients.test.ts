/** The MCP endpoint, called by clients that this project did not write. */
import { execFile } from 'node:child_process';
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
