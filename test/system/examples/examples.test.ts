/**
 * The commands of the README of each example, in a fresh shell against a service with a worker. The web page of
 * examples/web runs in Chromium: upload, progress, search with a marked page, and the connect widget.
 */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';

import { findChromium } from '../../../connectors/web/findChromium.js';
import { startSite, type Site } from '../../emulators/site.js';
import { copyExamples, type ExampleRun, type Examples, REPORT } from '../../support/examples.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughly, thoroughRows } from '../../support/thorough.js';

const FOLDER = new URL('../../../examples/', import.meta.url);
const PASSAGE = /\[report\.pdf, page 2\]/;
/** The style sheet of the widget requests a font from this host. */
const FONTS = 'fonts.googleapis.com';

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

describe('the web page in Chromium', () => {
  let webExamples: Examples;
  let server: ExampleRun;
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];

  beforeAll(async () => {
    // The page shows the files of the user alice to every visitor. The other examples store files of alice too, in
    // another organization. So the page has an organization of its own.
    const { apiKey } = await service.store.organizations.create('web page');
    webExamples = await copyExamples({ url: service.url, apiKey });
    server = await webExamples.run('web', { PORT: '0' });
    const [, address = ''] = await server.printed(/^Open (http:\S+)$/m);
    const executablePath = findChromium(null);
    if (executablePath === null) throw new Error('There is no Chromium: install chromium-headless-shell');
    // The browser can reach only localhost and 127.0.0.1.
    const args = ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'];
    browser = await chromium.launch({ executablePath, chromiumSandbox: false, args });
    page = await browser.newPage();
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('response', (response) => {
      if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`);
    });
    page.on('console', (message) => {
      const { url } = message.location();
      if (message.type() === 'error' && !url.includes(FONTS)) faults.push(`${message.text()} (${url})`);
    });
    await page.goto(address);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.stop();
    await webExamples?.close();
  });

  test('shows an upload and, without a reload, that it is ready', async () => {
    await page.setInputFiles('#upload', fileURLToPath(new URL(`../../../${REPORT}`, import.meta.url)));
    await page.locator('#files li', { hasText: 'report.pdf' }).locator('.READY').waitFor();
  });

  test('marks the words of a question, and the passage on its page', async () => {
    await page.getByLabel('Question').fill('How deep is the entrance at low water?');
    await page.getByRole('button', { name: 'Search' }).click();
    const first = page.locator('#passages > li').first();
    await first.getByText('report.pdf, page 2').waitFor();
    expect(await first.locator('mark').allInnerTexts()).toContain('entrance');
    await first.getByRole('button', { name: 'Show on the page' }).click();
    await first.locator('.page .box').first().waitFor();
    const [whole, box] = await Promise.all([
      first.locator('.page').boundingBox(),
      first.locator('.box').first().boundingBox(),
    ]);
    if (!whole || !box) throw new Error('The page or its box is not visible');
    // The passage is in the upper half of the page, and narrower than the page.
    expect(box.y - whole.y).toBeGreaterThan(0);
    expect(box.y + box.height - whole.y).toBeLessThan(whole.height / 2);
    expect(box.x - whole.x).toBeGreaterThan(0);
    expect(box.width).toBeLessThan(whole.width);
  });

  test('opens the connect widget with the sources of the page, without an error', async () => {
    await page.getByRole('button', { name: 'Connect an account' }).click();
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByText('Google Drive').first().waitFor();
    await page.getByText('Notion').first().waitFor();
    expect(faults).toEqual([]);
  });
});
