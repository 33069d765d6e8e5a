/**
 * Tests the operator page in Chromium with 200 data sources and 20 active runs of sites that do not answer until they
 * are released.
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';

import { findChromium } from '../../connectors/web/findChromium.js';
import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { type Receiver, startReceiver } from '../emulators/receiver.js';
import { samplePage, type Site, sitemapOf, startSite } from '../emulators/site.js';
import { apiClient } from '../support/client.js';
import { connectSource, revokeSource } from '../support/dataSources.js';
import { withDatabase } from '../support/mongo.js';
import { startService, type TestService } from '../support/service.js';
import { waitFor } from '../support/waitFor.js';

/** Folder for screenshots; without it, none are taken. */
const PICTURES = process.env['TEST_PICTURES'];
const SOURCES = 200;
const RUNS = 20;
const PAGES = 30;
const NAMES = [
  'harbour',
  'orchard',
  'museum',
  'brewery',
  'library',
  'shipyard',
  'school',
  'clinic',
  'theatre',
  'bakery',
];
const TYPES = Object.keys(CONNECTED_SOURCES) as ConnectedSourceType[];

/** Number of pages of each site that answer immediately; the others wait for `release()`. */
const immediatePages = (number: number): number => 4 + number;

let service: TestService;
let sites: StallingSite[];
let receiver: Receiver;
let browser: Browser;

interface StallingSite extends Site {
  /** Answers this number of further pages; without a number, all. */
  release(pages?: number): void;
}

/**
 * Starts a site that answers only its first pages, where some pages are missing and some have no readable text. Its run
 * continues until the site is released.
 */
async function stallingSite(number: number): Promise<StallingSite> {
  const site = await startSite();
  const waiting: (() => void)[] = [];
  let free = immediatePages(number);
  const releaseWaiting = (): void => {
    while (free > 0 && waiting.length > 0) {
      free -= 1;
      waiting.shift()?.();
    }
  };
  const paths = Array.from({ length: PAGES }, (_, page) => `/${NAMES[number % NAMES.length]}/${page}.html`);
  for (const [page, place] of paths.entries()) {
    if (page % 9 === 2) continue;
    const [status, body] =
      page % 11 === 1
        ? ([403, 'No.'] as const)
        : ([200, page % 13 === 3 ? '<!doctype html><title>Empty</title>' : samplePage(page, 2)] as const);
    site.pages.set(place, (_request, response) => {
      waiting.push(() => void response.writeHead(status, { 'content-type': 'text/html' }).end(body));
      releaseWaiting();
    });
  }
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, paths));
  return {
    ...site,
    release(pages = Infinity) {
      free += pages;
      releaseWaiting();
    },
  };
}

async function connectAccounts(): Promise<void> {
  for (let number = 0; number < SOURCES; number += 1) {
    const name = NAMES[number % NAMES.length]!;
    const type = TYPES[(number * 7) % TYPES.length]!;
    const owner = await service.store.users.ensure(1, `${name}-${number % 40}`);
    const externalId = `${type}|${name}${number}@example.com`;
    const { _id } = await connectSource(service, owner, { type, externalId, enableAutoSync: number % 3 === 0 });
    if (number % 31 === 5) await revokeSource(service, owner, _id);
    const failure: Record<string, unknown> | null =
      number % 37 === 11
        ? {
            syncStatus: 'SYNC_ERROR',
            'metadata.items_error': 'Its source does not let the connected account see this.',
          }
        : number % 67 === 13
          ? { 'metadata.deletions_held': 412 }
          : null;
    const listedAt = new Date(Date.now() - (number % 50) * 3_700_000);
    await withDatabase(service, (db) =>
      db
        .collection<{ _id: number }>('dataSources')
        .updateOne({ _id }, { $set: { sourceItemsSyncedAt: listedAt, filesSyncedAt: listedAt, ...failure } }),
    );
  }
}

beforeAll(async () => {
  sites = await Promise.all(Array.from({ length: RUNS }, (_, number) => stallingSite(number)));
  receiver = await startReceiver();
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    ACTIVITY_CONCURRENCY: '40',
    TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
    // High limits, so that unanswered pages do not time out before they are released.
    HEADERS_TIMEOUT_MS: '900000',
    PAGE_TIMEOUT_MS: '900000',
    LOG_LEVEL: 'silent',
  });
  const key = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  await key.post('/add_webhook', { url: receiver.url });
  await connectAccounts();
  await Promise.all(
    sites.map(async (site, number) => {
      const user = await service.user(`${NAMES[number % NAMES.length]}-${number}`);
      await user.scrape({ url: site.url('/sitemap.xml') });
    }),
  );
  const executablePath = findChromium(null);
  if (executablePath === null) throw new Error('There is no Chromium: install chromium-headless-shell');
  browser = await chromium.launch({ executablePath, chromiumSandbox: false });
}, 600_000);
afterAll(async () => {
  await browser.close();
  sites.forEach((site) => site.release());
  await service.close();
  await Promise.all([receiver.close(), ...sites.map((site) => site.close())]);
});

/** Expects that the tile and the table show all runs. */
async function allInFlight(page: Page): Promise<void> {
  const tile = page.locator('.tile', { has: page.locator('h2', { hasText: 'Active runs' }) });
  expect(await tile.locator('b').innerText()).toBe(String(RUNS));
  expect(await page.locator('#part-runs tbody tr').count()).toBe(RUNS);
}

async function picture(page: Page, name: string, isWhole = false): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  await page.screenshot({ path: path.join(PICTURES, `${name}.png`), fullPage: isWhole });
}

test('loads fast, updates live and works by keyboard with 200 data sources and 20 active runs', async () => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, colorScheme: 'light' });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(`${service.url}/ops`);
  await picture(page, 'ops-sign-in');
  await page.getByLabel('API key').fill(service.apiKey);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${service.url}/ops`);
  await page.locator('#live', { hasText: 'live' }).waitFor();
  // Console errors are collected only from here on, because the request without a session has logged one.
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  // The API key is neither in the URL nor in the page.
  expect(page.url()).not.toContain(service.apiKey);
  expect(await page.content()).not.toContain(service.apiKey);
  await waitFor(
    () => page.locator('#part-runs tbody tr').count(),
    (runs) => runs === RUNS,
  );
  // Pages are missing, refused, or without text: each is a separate cause of failures.
  await waitFor(
    () => page.locator('#part-failures tbody tr').count(),
    (causes) => causes === 3,
  );
  // The operator page shows further progress without being reloaded.
  await waitFor(
    () => page.locator('#part-runs').innerText(),
    (text) => text.match(/[1-9]\d* of 30/g)?.length === RUNS,
  );
  const before = await page.locator('#part-runs').innerText();
  sites.forEach((site) => site.release(1));
  await waitFor(
    () => page.locator('#part-runs').innerText(),
    (text) => text !== before,
  );
  await allInFlight(page);
  await picture(page, 'ops-light');
  await picture(page, 'ops-light-whole', true);
  await allInFlight(page);
  // The link keeps the focus while its part of the page is updated.
  const focused = page.locator('#part-runs tbody a').first();
  await focused.focus();
  const textAfter = await page.locator('#part-runs').innerText();
  sites.forEach((site) => site.release(1));
  await waitFor(
    () => page.locator('#part-runs').innerText(),
    (text) => text !== textAfter,
  );
  expect(await page.evaluate('document.activeElement.closest("#part-runs") !== null')).toBe(true);
  await page.locator('#part-sources nav a', { hasText: 'no access' }).click();
  await page.locator('#part-sources nav a[aria-current]', { hasText: 'no access' }).waitFor();
  await page.goto(`${service.url}/ops`);
  await page.locator('#part-failures tbody a').first().click();
  await page.locator('h2', { hasText: 'files' }).first().waitFor();
  await picture(page, 'ops-files');
  expect(errors).toEqual([]);

  const dark = await browser.newContext({ viewport: { width: 1440, height: 1000 }, colorScheme: 'dark' });
  await dark.addCookies(await context.cookies(`${service.url}/ops`));
  const night = await dark.newPage();
  await night.goto(`${service.url}/ops`);
  await night.locator('#live', { hasText: 'live' }).waitFor();
  await allInFlight(night);
  await picture(night, 'ops-dark');
  await allInFlight(night);
  const small = await browser.newContext({ viewport: { width: 420, height: 900 }, javaScriptEnabled: false });
  await small.addCookies(await context.cookies(`${service.url}/ops`));
  const staticPage = await small.newPage();
  await staticPage.goto(`${service.url}/ops`);
  expect(await staticPage.locator('#live').innerText()).toBe('static');
  expect(await staticPage.locator('#part-sources tbody tr').count()).toBe(50);
  await picture(staticPage, 'ops-small');

  const took: number[] = [];
  for (let iteration = 0; iteration < 10; iteration += 1) {
    const begun = performance.now();
    await (await fetch(`${service.url}/ops`, { headers: { authorization: `Bearer ${service.apiKey}` } })).text();
    took.push(performance.now() - begun);
  }
  const median = took.toSorted((a, b) => a - b)[5]!;
  process.stderr.write(`/ops with ${SOURCES} data sources and ${RUNS} runs: median ${Math.round(median)} ms\n`);
  expect(median).toBeLessThan(2_000);
}, 600_000);
