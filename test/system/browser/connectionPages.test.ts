/**
 * The pages of a connection in a real browser: the provider's consent page, and the service's pages after it. To take
 * screenshots:
 * TEST_PICTURES=FOLDER npm test -- test/system/browser/connectionPages.test.ts
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

import { findChromium } from '../../../connectors/web/findChromium.js';
import type { DataSourceRecord, DocumentRecord } from '../../../contract/files/records.js';
import { DRIVE_FOLDER, type GoogleDriveEmulator, startGoogleDrive } from '../../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import { type SlackEmulator, startSlack, TEAM } from '../../emulators/slack.js';
import type { Listed, TestUser } from '../../support/client.js';
import { withDatabase } from '../../support/mongo.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { thoroughly, thoroughRows } from '../../support/thorough.js';

/** Folder for screenshots; without it, none are taken. */
const PICTURES = process.env['TEST_PICTURES'];
const PHONE = { width: 375, height: 700 };
const DESKTOP = { width: 1024, height: 700 };
const SOURCES = ['GOOGLE_DRIVE', 'SLACK'] as const;
type Source = (typeof SOURCES)[number];
const NAMES: Readonly<Record<Source, string>> = { GOOGLE_DRIVE: 'Google Drive', SLACK: 'Slack' };
const MARKUP = '"><img src=x onerror="document.title=1"><script>document.title=2</script>';
const LONG_NAME = `Minutes-of-the-harbour-board-${'x'.repeat(80)}.txt`;

let drive: GoogleDriveEmulator;
let slack: SlackEmulator;
let service: TestService;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let user: TestUser;
let customers = 0;
/** Errors that the browser reports: policy violations, script errors, failed requests. */
let errors: string[] = [];

beforeAll(async () => {
  drive = await startGoogleDrive({
    sights: { name: 'Sights', mimeType: DRIVE_FOLDER },
    lighthouse: { name: 'lighthouse.txt', parent: 'sights', content: 'The lighthouse was lit in 1901.' },
    markup: { name: `${MARKUP}.txt`, content: 'On markup.' },
    long: { name: LONG_NAME, content: 'On minutes.' },
  });
  slack = await startSlack();
  slack.users.set('U0ADA', 'Ada');
  slack.conversations.set('C0HARBOUR', {
    name: 'harbour',
    type: 'public_channel',
    messages: [{ ts: '1772619300.000100', text: 'The ferry sails at seven on Sundays.' }],
  });
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: [drive.settings, slack.settings].join(','),
    OAUTH_CLIENTS: SOURCES.map((source) => `${source}=${CLIENT_ID}:${CLIENT_SECRET}`).join(','),
  });
  if (PICTURES !== undefined) await mkdir(PICTURES, { recursive: true });
  const executablePath = findChromium(null);
  if (executablePath === null) throw new Error('There is no Chromium: install chromium-headless-shell');
  browser = await chromium.launch({ executablePath, chromiumSandbox: false });
});
afterAll(async () => {
  await browser.close();
  await service.close();
  await Promise.all([drive.close(), slack.close()]);
});

beforeEach(async () => {
  customers += 1;
  user = await service.user(`walker ${customers}`);
  context = await browser.newContext({ viewport: DESKTOP });
  page = await context.newPage();
  errors = [];
  page.on('console', (message) => errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('requestfailed', (request) => errors.push(`${request.url()} failed`));
});
afterEach(() => context.close());

async function addressFor(service_: Source, body: Record<string, unknown> = {}): Promise<string> {
  const request = { service: service_, connecting_new_account: true, enable_file_picker: false, ...body };
  const answer = await user.post<{ oauth_url: string }>('/integrations/oauth_url', request);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.oauth_url;
}
const sources = async (): Promise<DataSourceRecord[]> =>
  (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results;
const press = (name: string): Promise<void> => page.getByRole('button', { name }).click();
const heading = (): Promise<string> => page.getByRole('heading', { level: 1 }).innerText();

const screenshot = async (name: string): Promise<void> => {
  if (PICTURES !== undefined) await page.screenshot({ path: path.join(PICTURES, `${name}.png`) });
};

/**
 * Takes screenshots of the current page, on a desktop and, in dark mode, on a phone, where nothing may overflow the
 * width.
 */
async function takeScreenshots(name: string): Promise<void> {
  await screenshot(name);
  await page.setViewportSize(PHONE);
  if (PICTURES !== undefined) await page.emulateMedia({ colorScheme: 'dark' });
  await screenshot(`${name}-phone`);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
  await page.setViewportSize(DESKTOP);
  if (PICTURES !== undefined) await page.emulateMedia({ colorScheme: 'light' });
}

/** Returns the error that the browser logs for a page with an error status. @param status HTTP status of the page */
const errorOf = (status: number): string[] => [expect.stringContaining(`status of ${status}`) as unknown as string];

// The service's pages differ between sources only in names and accounts.
describe.each<Source>(['GOOGLE_DRIVE', ...thoroughRows<Source>(['SLACK'])])('%s', (source) => {
  const name = NAMES[source];

  test('names the connected account after consent', async () => {
    await page.goto(await addressFor(source));
    expect(await heading()).toContain('asks for access');
    await takeScreenshots(`${source}-consent`);
    await press('Allow');
    expect(await heading()).toBe(`${name} is connected`);
    const words = { GOOGLE_DRIVE: 'Ada (ada@harbour.example)', SLACK: 'Ada (Harbour)' }[source];
    expect(await page.getByRole('main').innerText()).toContain(words);
    await takeScreenshots(`${source}-connected`);
    const account = { GOOGLE_DRIVE: 'ada@harbour.example', SLACK: `${TEAM}:U0ADA` }[source];
    expect((await sources()).map((one) => one.data_source_external_id)).toEqual([`${source}|${account}`]);
    expect(errors).toEqual([]);
  });

  test('reports that nothing was connected after a refusal, and what to do', async () => {
    await page.goto(await addressFor(source));
    await press('Deny');
    expect(await heading()).toBe(`${name} was not connected`);
    expect(await page.getByRole('main').innerText()).toContain('go back to the application');
    await takeScreenshots(`${source}-denied`);
    expect(await sources()).toEqual([]);
    expect(errors).toEqual([]);
  });
});

describe('failed connections', () => {
  /** Answers the consent page, but returns to a changed redirect address. */
  async function returnTo(change: (back: URL) => void, button = 'Allow'): Promise<void> {
    await page.goto(await addressFor('GOOGLE_DRIVE'));
    await page.route('**/o/oauth2/**', async (route) => {
      const answer = await route.fetch({ maxRedirects: 0 });
      const back = new URL(answer.headers()['location'] ?? '');
      change(back);
      await route.fulfill({ status: 302, headers: { location: back.href } });
    });
    await press(button);
  }

  test('rejects an unknown state', async () => {
    await returnTo((back) => back.searchParams.set('state', 'nobody'));
    expect(await heading()).toBe('This link is not valid');
    await takeScreenshots('failed-unknown');
    expect(errors).toEqual(errorOf(400));
  });

  test('reports after a late return that the connection has expired', async () => {
    await page.goto(await addressFor('GOOGLE_DRIVE'));
    await withDatabase(service, async (db) => {
      await db.collection('connection_attempts').updateMany({ state: 'waiting' }, { $set: { expiresAt: new Date(0) } });
    });
    await press('Allow');
    expect(await page.getByRole('main').innerText()).toContain('time limit of this connection has passed');
    await takeScreenshots('failed-expired');
    expect(errors).toEqual(errorOf(410));
  });

  test('connects nothing with a code that the provider rejects', async () => {
    await returnTo((back) => back.searchParams.set('code', MARKUP));
    expect(await heading()).toBe('Google Drive was not connected');
    await takeScreenshots('failed-exchange');
    expect(await sources()).toEqual([]);
    expect(errors).toEqual(errorOf(400));
  });

  thoroughly('does not show markup returned in place of an error', async () => {
    await returnTo((back) => {
      back.searchParams.set('error', MARKUP);
      back.searchParams.set('error_description', MARKUP);
    }, 'Deny');
    expect(await heading()).toBe('Google Drive was not connected');
    expect(await page.content()).not.toContain('onerror');
    expect(await page.title()).toBe('Google Drive was not connected');
    await takeScreenshots('failed-refused');
    expect(errors).toEqual(errorOf(400));
  });
});

describe('the file chooser', () => {
  const found = async (query: string): Promise<string[]> => {
    const { body } = await user.post<{ documents: DocumentRecord[] }>('/embeddings', { query, k: 1 });
    return body.documents.map(({ content }) => content);
  };
  const PICKER = { enable_file_picker: true, sync_source_items: true };

  test('opens from the success page, and makes files selected in several folders searchable', async () => {
    await page.goto(await addressFor('GOOGLE_DRIVE', PICKER));
    await press('Allow');
    await takeScreenshots('chooser-offered');
    await waitFor(sources, ([one]) => one?.sync_status === 'READY');
    await page.getByRole('link', { name: 'Choose files' }).click();
    expect(await heading()).toBe('Choose from Google Drive');
    await press('Open My Drive');
    // Names are shown as text, even when they are markup.
    expect(await page.getByText(MARKUP).count()).toBe(1);
    await page.getByLabel('Minutes').check();
    await press('Open Sights');
    expect(await page.getByRole('main').innerText()).toContain('Selected in other folders: 1');
    await page.getByLabel('lighthouse.txt').check();
    await press('One folder up');
    expect(await page.getByLabel('Minutes').isChecked()).toBe(true);
    await takeScreenshots('chooser');
    await press('Sync the selected items');
    expect(await heading()).toBe('Your selection is being synced');
    await takeScreenshots('chosen');
    const texts = () => Promise.all(['When was the lighthouse lit?', 'minutes'].map(found));
    const answers = await waitFor(texts, ([one, other]) => one?.[0] !== undefined && one[0] !== other?.[0]);
    expect(answers.flat().toSorted()).toEqual(['On minutes.', 'The lighthouse was lit in 1901.']);
    expect(errors).toEqual([]);
  });

  test('opens automatically when requested, requires a selection, and changes nothing after a cancel', async () => {
    await page.goto(await addressFor('GOOGLE_DRIVE', { ...PICKER, automatically_open_file_picker: true }));
    await press('Allow');
    expect(await heading()).toBe('Choose from Google Drive');
    await press('Sync the selected items');
    expect(await page.getByRole('main').innerText()).toContain('Select at least one item');
    await takeScreenshots('chooser-nothing-chosen');
    await press('Cancel');
    expect(await heading()).toBe('Nothing was changed');
    await takeScreenshots('chooser-cancelled');
    expect((await sources()).map((one) => one.last_sync_action)).toEqual(['CANCEL']);
    expect(errors).toEqual([]);
  });
});
