/** The conformance tests of the Model Context Protocol, against the endpoint and against fixtures on its transport. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { agentToken } from '../../support/agent.js';
import { startFixtureEndpoint, withoutSessions, withSessions } from '../../support/mcp/fixtureEndpoint.js';
import { startTokenProxy } from '../../support/mcp/tokenProxy.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughly, thoroughRows } from '../../support/thorough.js';

const CONFORMANCE = fileURLToPath(new URL('../../support/mcp/conformance.mjs', import.meta.url));
/**
 * Scenarios in which only the client sends requests. The others need sessions and streams: the server logs, reports
 * progress or sends requests to the client during a call, which the tools of the product do not.
 */
const ONE_ANSWER = [
  ...['tools-call-mixed-content', 'tools-call-error', 'resources-templates-read', 'prompts-get-with-args'],
  ...thoroughRows([
    ...['tools-call-simple-text', 'tools-call-image', 'tools-call-audio', 'resources-read-text'],
    ...['resources-read-binary', 'prompts-get-embedded-resource', 'completion-complete', 'json-schema-2020-12'],
  ]),
];

const PASSED = /Passed: (\d+)\/\1, 0 failed/;

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

/** Runs scenarios. @returns their output, also if one fails */
async function conform(endpoint: string, ...args: string[]): Promise<string> {
  proxy.forwardTo(endpoint, token);
  const all = [CONFORMANCE, proxy.url, ...args];
  return new Promise((resolve) => {
    execFile(process.execPath, all, { cwd: folder, maxBuffer: 1e8 }, (_error, stdout, stderr) =>
      resolve(`${stdout}${stderr}`),
    );
  });
}

/** Expects each scenario to pass. */
async function expectPassed(endpoint: string, scenarios: readonly string[]): Promise<void> {
  const [, ...printed] = (await conform(endpoint, ...scenarios)).split(/^=== (?=[\w-]+ ===$)/m);
  expect(printed).toEqual(
    scenarios.map((scenario) => expect.stringMatching(new RegExp(`^${scenario} ===$[^]*${PASSED.source}`, 'm'))),
  );
}

/** Scenarios of the summary, each with its number of passed and failed checks. */
const summary = (printed: string): [string, number, number][] =>
  [...printed.matchAll(/^. ([\w-]+): (\d+) passed, (\d+) failed$/gm)].map(
    ([, name = '', passed, failed]) => [...[name, Number(passed), Number(failed)]] as [string, number, number],
  );

test('the endpoint passes the scenarios of servers with tools, resources and prompts', () =>
  expectPassed(`${service.url}/mcp`, [
    ...['server-initialize', 'ping', 'tools-list', 'resources-list', 'prompts-list', 'dns-rebinding-protection'],
  ]));

thoroughly('fixture tools with sessions, on the endpoint, pass all scenarios of a server', async () => {
  const endpoint = await startFixtureEndpoint(service, withSessions(), [proxy.origin]);
  try {
    const passed = summary(await conform(`${endpoint.url}/mcp`, '--suite', 'all'));
    expect(passed.length).toBeGreaterThanOrEqual(30);
    expect(passed.filter(([, , failed]) => failed > 0)).toEqual([]);
  } finally {
    await endpoint.close();
  }
});

test('fixture tools on the product’s transport, which has no sessions, pass the scenarios in ONE_ANSWER', async () => {
  const endpoint = await startFixtureEndpoint(service, withoutSessions, [proxy.origin]);
  try {
    await expectPassed(`${endpoint.url}/mcp`, ONE_ANSWER);
  } finally {
    await endpoint.close();
  }
});
