/** The commands of the README of each example, in a fresh shell against a service with a worker. */
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { startSite, type Site } from '../../emulators/site.js';
import { copyExamples, type Examples } from '../../support/examples.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughly, thoroughRows } from '../../support/thorough.js';

const FOLDER = new URL('../../../examples/', import.meta.url);
const PASSAGE = /\[report\.pdf, page 2\]/;

let service: TestService;
let site: Site;
let examples: Examples;

beforeAll(async () => {
  site = await startSite({
    '/tern': { body: '<html><title>Tern</title><body><p>The tern flies from pole to pole.</p></body></html>' },
  });
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
  examples = await copyExamples(service);
});
afterAll(async () => {
  await examples.close();
  await service.close();
  await site.close();
});

// Three examples run only in `npm run test:long`: they call the same operations through libraries to install.
test.each(['python', ...thoroughRows(['langchain', 'llamaindex', 'ai-sdk'])])(
  '%s finds the passage and cites its page',
  async (name) => {
    const printed = await (await examples.run(name)).ended();
    expect(printed).toMatch(PASSAGE);
    expect(printed).toContain('2.1 metres remain');
  },
);

// Only in `npm run test:long`: mcp.test.ts calls these tools with the same client in every run.
thoroughly('mcp adds a page, waits, searches, reads the file and cites it', async () => {
  const run = await examples.run('mcp', { PAGE: site.url('/tern'), QUESTION: 'Where does the tern fly?' });
  const printed = await run.ended();
  const calls = [...printed.matchAll(/^> (\w+)/gm)].map(([, name]) => name);
  expect(calls.filter((name, at) => name !== calls[at - 1])).toEqual([
    ...['add_url', 'sync_status', 'search', 'read_file'],
  ]);
  expect(printed).toMatch(/^“.*The tern flies from pole to pole\..*” \[.*\]\(http:.*\/tern\)$/m);
});

test('each example has a README of at most 30 lines, which the list of examples names', async () => {
  const entries = await readdir(FOLDER, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  expect(names.length).toBeGreaterThan(5);
  const list = await readFile(new URL('README.md', FOLDER), 'utf8');
  for (const name of names) {
    const readme = await readFile(new URL(`${name}/README.md`, FOLDER), 'utf8');
    expect(readme.split('\n').length).toBeLessThanOrEqual(31);
    expect(list).toContain(`(${name}/README.md)`);
  }
});
