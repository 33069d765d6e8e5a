/** The conformance tests of the Model Context Protocol, against the endpoint and against fixtures on its transport. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { agentToken } from '../../support/agent.js';
import { startFixtureEndpoint, withoutSessions, withSessions } from '../../support/mcp/fixtureEndpoint.js';
import { startTokenProxy } from '../../support/mcp/tokenProxy.js';
import { startService, type TestService } from '../../support/service.js';

const CONFORMANCE = fileURLToPath(new URL('../../support/mcp/conformance.mjs', import.meta.url));
/** Scenarios in which the server sends messages before its answer: an endpoint without sessions and streams has none. */
const NEED_SESSIONS = [
  'tools-call-with-logging',
  'tools-call-with-progress',
  'tools-call-sampling',
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
];

let service: TestService;
let proxy: Awaited<ReturnType<typeof startTokenProxy>>;
let token: string;
let folder: string;

beforeAll(async () => {
  proxy = await startTokenProxy();
  service = await startService({ CORS_ORIGINS: proxy.origin }, { worker: false });
  token = await agentToken(service, 'ann');
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-mcp-'));
});
afterAll(async () => {
  proxy.close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs scenarios. @returns what they print @throws if one fails */
async function conform(endpoint: string, ...args: string[]): Promise<string> {
  proxy.forwardTo(endpoint, token);
  const all = [CONFORMANCE, 'server', '--url', proxy.url, ...args];
  return (await promisify(execFile)(process.execPath, all, { cwd: folder, maxBuffer: 1e8 })).stdout;
}

/** Scenarios of the summary, each with its number of passed and failed checks. */
const summary = (printed: string): [string, number, number][] =>
  [...printed.matchAll(/^. ([\w-]+): (\d+) passed, (\d+) failed$/gm)].map(
    ([, name = '', passed, failed]) => [...[name, Number(passed), Number(failed)]] as [string, number, number],
  );

test.each([
  ...['server-initialize', 'ping', 'tools-list', 'resources-list', 'prompts-list', 'dns-rebinding-protection'],
])('the endpoint passes the scenario %s', async (scenario) => {
  expect(await conform(`${service.url}/mcp`, '--scenario', scenario)).toMatch(/Passed: (\d+)\/\1, 0 failed/);
});

test('fixtures with sessions on the endpoint pass all scenarios of a server', async () => {
  const endpoint = await startFixtureEndpoint(service, withSessions(), [proxy.origin]);
  try {
    const passed = summary(await conform(`${endpoint.url}/mcp`, '--suite', 'all'));
    expect(passed.length).toBeGreaterThanOrEqual(30);
    expect(passed.filter(([, , failed]) => failed > 0)).toEqual([]);
  } finally {
    await endpoint.close();
  }
});

test('fixtures without sessions pass all scenarios but those in which the server sends messages first', async () => {
  const endpoint = await startFixtureEndpoint(service, withoutSessions, [proxy.origin]);
  const expected = path.join(folder, 'expected.yml');
  await writeFile(expected, `server:\n${NEED_SESSIONS.map((name) => `  - ${name}\n`).join('')}`);
  try {
    const passed = summary(await conform(`${endpoint.url}/mcp`, '--suite', 'all', '--expected-failures', expected));
    expect(
      passed
        .filter(([, , failed]) => failed > 0)
        .map(([name]) => name)
        .toSorted(),
    ).toEqual(NEED_SESSIONS.toSorted());
  } finally {
    await endpoint.close();
  }
});
