import { execFile } from 'node:child_process';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';

import { findChromium } from '../../../connectors/web/findChromium.js';
import { type SharedService, sharedService } from '../../support/sharedService.js';

let service: SharedService;
let browser: Browser;
let proxy: Server;
/** Address below which a proxy serves the API, as if PUBLIC_URL were https://host/allotrope. */
let below: string;

beforeAll(async () => {
  service = await sharedService({ worker: false });
  const executablePath = findChromium(null);
  if (executablePath === null) throw new Error('There is no Chromium: install chromium-headless-shell');
  browser = await chromium.launch({ executablePath, chromiumSandbox: false });
  proxy = createServer((request, response) => void forward(request.url ?? '', request.headers, response));
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  below = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/allotrope`;
});
afterAll(async () => {
  await browser.close();
  await new Promise((resolve) => proxy.close(resolve));
  await service.close();
});

/** Forwards a GET to the service, without the prefix /allotrope of the path. */
async function forward(
  url: string,
  { authorization, 'customer-id': customerId }: NodeJS.Dict<string | string[]>,
  response: ServerResponse,
): Promise<void> {
  if (!url.startsWith('/allotrope/')) {
    response.writeHead(404).end();
    return;
  }
  const headers = {
    ...(typeof authorization === 'string' ? { authorization } : {}),
    ...(typeof customerId === 'string' ? { 'customer-id': customerId } : {}),
  };
  const answer = await fetch(`${service.url}${url.slice('/allotrope'.length)}`, { headers, redirect: 'manual' });
  // fetch has decompressed the body.
  const headersToSend = [...answer.headers].filter(
    ([name]) => !/^(?:content-(?:encoding|length)|transfer-encoding|connection)$/.test(name),
  );
  response.writeHead(answer.status, Object.fromEntries(headersToSend)).end(Buffer.from(await answer.arrayBuffer()));
}

/** A page of the browser, with its errors and its requests to other servers. */
interface Watched {
  readonly page: Page;
  readonly faults: string[];
  readonly outside: string[];
}

async function opened(at: string, width: number, colorScheme: 'light' | 'dark'): Promise<Watched> {
  const page = await browser.newPage({ viewport: { width, height: 844 }, colorScheme });
  const faults: string[] = [];
  const outside: string[] = [];
  page.on('console', (message) => {
    if (!['error', 'warning'].includes(message.type())) return;
    // This version of Scalar also prints the findings of its validator for an OpenAPI 3.1 document: a heading and a
    // list.
    const isOfValidator = /^document validation errors|^\[(?:Object(?:, )?)+\]$/.test(message.text());
    if (!isOfValidator) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(at).origin) && !request.url().startsWith('data:'))
      outside.push(request.url());
  });
  await page.goto(at);
  return { page, faults, outside };
}

const operationOf = (page: Page, anchor: string) => page.locator(`[id$="${anchor}"]`).first();

/** Opens an operation by its address. */
async function show(page: Page, anchor: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(anchor)}`);
  await operationOf(page, anchor).getByRole('button', { name: 'Test Request' }).first().waitFor();
}

/** Sends the request of an operation with the console of the page, and returns the shown response. */
async function sent(page: Page, anchor: string): Promise<string> {
  await operationOf(page, anchor).getByRole('button', { name: 'Test Request' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /^Send/ }).first().click();
  await dialog.getByText('200 OK').first().waitFor();
  const answer = dialog.locator('.cm-content').last();
  await answer.waitFor();
  return (await answer.innerText()).replaceAll(/\s+/g, ' ');
}

/** Returns a script for a page: whether it has this background. The theme is applied after the page is shown. */
const hasBackground = (colour: string): string => `getComputedStyle(document.body).backgroundColor === '${colour}'`;

test('each response of /docs/ has a Content-Security-Policy with a new nonce', async () => {
  const policyOf = async () => (await fetch(`${service.url}/docs/`)).headers.get('content-security-policy') ?? '';
  const policy = await policyOf();
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src-elem 'nonce-[\w+/=]{20,}'; /);
  expect(policy).toContain("connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  expect(await policyOf()).not.toBe(policy);
});

/** The page takes seconds of processor time to load, so several tests use it, in this order. */
describe('the page at /docs on a wide screen', () => {
  let page: Page;
  let faults: string[];
  let outside: string[];
  beforeAll(async () => {
    ({ page, faults, outside } = await opened(`${service.url}/docs`, 1280, 'light'));
  });
  afterAll(() => page.close());

  test('has each tag, samples in three languages, and the light theme that the browser prefers', async () => {
    await page.getByText('Access tokens with which').first().waitFor();
    await page.waitForFunction(hasBackground('rgb(255, 255, 255)'));
    const { tags } = (await (await fetch(`${service.url}/openapi.json`)).json()) as { tags: { name: string }[] };
    for (const { name } of tags) await page.getByText(name, { exact: true }).first().waitFor();
    await show(page, 'tag/embeddings/POST/embeddings');
    const operation = operationOf(page, 'tag/embeddings/POST/embeddings');
    await operation.getByText(`curl '${service.url}/embeddings'`).first().waitFor();
    await operation.getByRole('button', { name: 'curl' }).click();
    const languages = await page.getByRole('option').allInnerTexts();
    expect(languages.map((text) => text.trim())).toEqual(['curl', 'TypeScript', 'Python']);
    await page.getByRole('option', { name: 'Python' }).click();
    await operation.getByText('import requests').first().waitFor();
    expect({ faults, outside }).toEqual({ faults: [], outside: [] });
  });

  test('finds operations, and its console calls them with a key', async () => {
    await page.getByLabel('Bearer Token').first().fill(service.apiKey);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('adresses in a sitemap');
    await page.getByRole('dialog').getByText('/process_sitemap').waitFor();
    await page.keyboard.press('Escape');
    await show(page, 'tag/users/GET/whoami');
    expect(await sent(page, 'tag/users/GET/whoami')).toContain('"organization_supplied_user_id": "user-42"');
    // The page stores no key.
    const storage = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(storage).not.toContain(service.apiKey);
    expect({ faults, outside }).toEqual({ faults: [], outside: [] });
  });

  test('blocks inserted scripts and styles', async () => {
    await page.evaluate(
      `const script = document.createElement('script');
      script.textContent = 'document.title = "was run"';
      document.body.append(script);
      document.body.insertAdjacentHTML('beforeend', '<style>body { opacity: 0.5 }</style>');`,
    );
    expect(await page.title()).toBe('Allotrope API reference');
    expect(await page.evaluate('getComputedStyle(document.body).opacity')).toBe('1');
    expect(faults).toEqual([
      expect.stringContaining('Content Security Policy'),
      expect.stringContaining('Content Security Policy'),
    ]);
  });
});

test('the page below a path fits a dark phone, and uses the address of the page in samples and console', async () => {
  const { page, faults, outside } = await opened(`${below}/docs`, 390, 'dark');
  expect(page.url()).toBe(`${below}/docs/`);
  await page.getByText('Access tokens with which').first().waitFor();
  await show(page, 'tag/files/POST/upload_text');
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await page.waitForFunction(hasBackground('rgb(15, 15, 15)'));
  await page.setViewportSize({ width: 1280, height: 844 });
  await show(page, 'tag/health/GET/health');
  await page.getByText(`curl '${below}/health'`).first().waitFor();
  // The console has no credentials.
  expect(await sent(page, 'tag/health/GET/health')).toContain('"status": "ok"');
  expect(await page.getByRole('link', { name: 'openapi.json' }).first().getAttribute('href')).toBe('../openapi.json');
  expect({ faults, outside }).toEqual({ faults: [], outside: [] });
  await page.close();
});

describe('the files of the page', () => {
  test('are sent compressed, uncompressed to clients that request it, and with 304 if unchanged', async () => {
    for (const path of ['/openapi.json', '/docs/scalar.js']) {
      const packed = await fetch(`${service.url}${path}`);
      const etag = packed.headers.get('etag') ?? '';
      expect([packed.status, packed.headers.get('content-encoding')]).toEqual([200, 'gzip']);
      const plain = await fetch(`${service.url}${path}`, { headers: { 'accept-encoding': 'identity' } });
      expect([plain.status, plain.headers.get('content-encoding')]).toEqual([200, null]);
      expect(await plain.text()).toBe(await packed.text());
      // curl, because fetch adds `cache-control: no-cache` to if-none-match, which prevents a 304.
      const args = ['-s', '-w', '%{http_code}', '-H', `if-none-match: ${etag}`, `${service.url}${path}`];
      expect((await promisify(execFile)('curl', args)).stdout).toBe('304');
    }
  });

  test('/openapi.json is the OpenAPI 3.1 document, as JSON', async () => {
    const answer = await fetch(`${service.url}/openapi.json`);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(((await answer.json()) as { openapi: string }).openapi).toBe('3.1.0');
  });
});
