/**
 * What a person sees of a connection, in a real browser: the provider's consent page, and ours after it. To look at them:
 * TEST_PICTURES=FOLDER npm test -- test/system/browser/connectionPages.test.ts
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

import { findChromium } from '../../../connectors/web/findChromium.js';
import type { DataSourceRecord, DocumentRecord } from '../../../contract/records.js';
import { DRIVE_FOLDER, type GoogleDriveEmulator, startGoogleDrive } from '../../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import { type SlackEmulator, startSlack, TEAM } from '../../emulators/slack.js';
import type { Listed, TestUser } from '../../support/client.js';
import { withDatabase } from '../../support/dataSources.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { thoroughly } from '../../support/thorough.js';

/** Where pictures are put; unset: none are taken. */
const PICTURES = process.env['TEST_PICTURES'];
const PHONE = { width: 375, height: 700 };
const DESK = { width: 1024, height: 700 };
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
/** What a browser complains of: violations of policies, errors of scripts, what could not be loaded. */
let complaints: string[] = [];

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
  context = await browser.newContext({ viewport: DESK });
  page = await context.newPage();
  complaints = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => complaints.push(`${request.url()} failed`));
});
afterEach(() => context.close());

async function addressFor(service_: Source, body: Record<string, unknown> = {}): Promise<string> {
  const asked = { service: service_, connecting_new_account: true, enable_file_picker: false, ...body };
  const answer = await user.post<{ oauth_url: string }>('/integrations/oauth_url', asked);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.oauth_url;
}
const sources = async (): Promise<DataSourceRecord[]> =>
  (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results;
const press = (name: string): Promise<void> => page.getByRole('button', { name }).click();
const heading = (): Promise<string> => page.getByRole('heading', { level: 1 }).innerText();

const shoot = async (name: string): Promise<void> => {
  if (PICTURES !== undefined) await page.screenshot({ path: path.join(PICTURES, `${name}.png`) });
};

/** The page as it is now, on a desk and, by night, on a phone, where nothing of it may be out of reach. */
async function picture(name: string): Promise<void> {
  await shoot(name);
  await page.setViewportSize(PHONE);
  if (PICTURES !== undefined) await page.emulateMedia({ colorScheme: 'dark' });
  await shoot(`${name}-phone`);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);
  await page.setViewportSize(DESK);
  if (PICTURES !== undefined) await page.emulateMedia({ colorScheme: 'light' });
}

/** A page that is no success is one line in the browser's own words. @param status of the page */
const complaintOf = (status: number): string[] => [expect.stringContaining(`status of ${status}`) as unknown as string];

describe.each(SOURCES)('%s', (source) => {
  const name = NAMES[source];

  test('who allows is told that the account is connected, and which', async () => {
    await page.goto(await addressFor(source));
    expect(await heading()).toContain('asks for access');
    await picture(`${source}-consent`);
    await press('Allow');
    expect(await heading()).toBe(`${name} is connected`);
    const words = { GOOGLE_DRIVE: 'Ada (ada@harbour.example)', SLACK: 'Ada (Harbour)' }[source];
    expect(await page.getByRole('main').innerText()).toContain(words);
    await picture(`${source}-connected`);
    const account = { GOOGLE_DRIVE: 'ada@harbour.example', SLACK: `${TEAM}:U0ADA` }[source];
    expect((await sources()).map((one) => one.data_source_external_id)).toEqual([`${source}|${account}`]);
    expect(complaints).toEqual([]);
  });

  test('who denies is told that nothing was connected, and what to do', async () => {
    await page.goto(await addressFor(source));
    await press('Deny');
    expect(await heading()).toBe(`${name} was not connected`);
    expect(await page.getByRole('main').innerText()).toContain('go back to the application');
    await picture(`${source}-denied`);
    expect(await sources()).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

describe('where something goes wrong', () => {
  /** Lets the person answer, but opens another address than the one they are sent back to. */
  async function returning(change: (back: URL) => void, button = 'Allow'): Promise<void> {
    await page.goto(await addressFor('GOOGLE_DRIVE'));
    await page.route('**/o/oauth2/**', async (route) => {
      const answer = await route.fetch({ maxRedirects: 0 });
      const back = new URL(answer.headers()['location'] ?? '');
      change(back);
      await route.fulfill({ status: 302, headers: { location: back.href } });
    });
    await press(button);
  }

  test('a state of nobody leads nowhere', async () => {
    await returning((back) => back.searchParams.set('state', 'nobody'));
    expect(await heading()).toBe('This link leads nowhere');
    await picture('failed-unknown');
    expect(complaints).toEqual(complaintOf(400));
  });

  test('who comes too late is told so', async () => {
    await page.goto(await addressFor('GOOGLE_DRIVE'));
    await withDatabase(service, async (db) => {
      await db.collection('connection_attempts').updateMany({ state: 'waiting' }, { $set: { expiresAt: new Date(0) } });
    });
    await press('Allow');
    expect(await page.getByRole('main').innerText()).toContain('time for this connection is over');
    await picture('failed-expired');
    expect(complaints).toEqual(complaintOf(410));
  });

  test('a code that the provider does not take connects nothing', async () => {
    await returning((back) => back.searchParams.set('code', MARKUP));
    expect(await heading()).toBe('Google Drive was not connected');
    await picture('failed-exchange');
    expect(await sources()).toEqual([]);
    expect(complaints).toEqual(complaintOf(400));
  });

  thoroughly('markup that comes back instead of a reason is not even shown', async () => {
    await returning((back) => {
      back.searchParams.set('error', MARKUP);
      back.searchParams.set('error_description', MARKUP);
    }, 'Deny');
    expect(await heading()).toBe('Google Drive was not connected');
    expect(await page.content()).not.toContain('onerror');
    expect(await page.title()).toBe('Google Drive was not connected');
    await picture('failed-refused');
    expect(complaints).toEqual(complaintOf(400));
  });
});

describe('the chooser', () => {
  const found = async (query: string): Promise<string[]> => {
    const { body } = await user.post<{ documents: DocumentRecord[] }>('/embeddings', { query, k: 1 });
    return body.documents.map(({ content }) => content);
  };
  const PICKER = { enable_file_picker: true, sync_source_items: true };

  test('is one step from the page of success; what is ticked in several folders is searchable soon after', async () => {
    await page.goto(await addressFor('GOOGLE_DRIVE', PICKER));
    await press('Allow');
    await picture('chooser-offered');
    await waitFor(sources, ([one]) => one?.sync_status === 'READY');
    await page.getByRole('link', { name: 'Choose files' }).click();
    expect(await heading()).toBe('Choose from Google Drive');
    await press('Open My Drive');
    // Names are text, whatever they are made of.
    expect(await page.getByText(MARKUP).count()).toBe(1);
    await page.getByLabel('Minutes').check();
    await press('Open Sights');
    expect(await page.getByRole('main').innerText()).toContain('Ticked in other places: 1');
    await page.getByLabel('lighthouse.txt').check();
    await press('One folder up');
    expect(await page.getByLabel('Minutes').isChecked()).toBe(true);
    await picture('chooser');
    await press('Sync what is chosen');
    expect(await heading()).toBe('Your choice is being synced');
    await picture('chosen');
    const texts = () => Promise.all(['When was the lighthouse lit?', 'minutes'].map(found));
    const answers = await waitFor(texts, ([one, other]) => one?.[0] !== undefined && one[0] !== other?.[0]);
    expect(answers.flat().toSorted()).toEqual(['On minutes.', 'The lighthouse was lit in 1901.']);
    expect(complaints).toEqual([]);
  });

  test('opens by itself where that was asked for; nothing chosen is said, and giving up changes nothing', async () => {
    await page.goto(await addressFor('GOOGLE_DRIVE', { ...PICKER, automatically_open_file_picker: true }));
    await press('Allow');
    expect(await heading()).toBe('Choose from Google Drive');
    await press('Sync what is chosen');
    expect(await page.getByRole('main').innerText()).toContain('Choose something first');
    await picture('chooser-nothing-chosen');
    await press('Cancel');
    expect(await heading()).toBe('Nothing was changed');
    await picture('chooser-cancelled');
    expect((await sources()).map((one) => one.last_sync_action)).toEqual(['CANCEL']);
    expect(complaints).toEqual([]);
  });
});
