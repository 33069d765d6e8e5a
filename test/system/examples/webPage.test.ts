/** The web page of examples/web in Chromium: upload, progress, search with a marked page, and the connect widget. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';

import { findChromium } from '../../../connectors/web/findChromium.js';
import { copyExamples, type ExampleRun, type Examples, REPORT } from '../../support/examples.js';
import { startService, type TestService } from '../../support/service.js';

/** The style sheet of the widget requests a font from this host. */
const FONTS = 'fonts.googleapis.com';

let service: TestService;
let examples: Examples;
let server: ExampleRun;
let browser: Browser;
let page: Page;
const faults: string[] = [];

beforeAll(async () => {
  service = await startService();
  examples = await copyExamples(service);
  server = await examples.run('web', { PORT: '0' });
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
  await browser.close();
  await server.stop();
  await examples.close();
  await service.close();
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
