/**
 * Tests the published connect widget (package carbon-connect) with each source, web pages and the hosted file picker.
 * test/system/browser/connectWidget.test.ts tests its other screens.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import { ACCOUNT, ACCOUNT_KEY } from '../emulators/azureBlobStorage.js';
import { TOKEN as DOCUMENT360_TOKEN } from '../emulators/document360.js';
import { FRESHDESK_DOMAIN, FRESHDESK_KEY } from '../emulators/freshdesk.js';
import { TOKEN as GITBOOK_TOKEN } from '../emulators/gitbook.js';
import { GITHUB_TOKEN, LOGIN } from '../emulators/github.js';
import { TOKEN as GURU_TOKEN, USERNAME } from '../emulators/guru.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { ACCESS_KEY, ACCESS_KEY_SECRET } from '../emulators/s3Source.js';
import { ORGANIZATION_HOST } from '../emulators/salesforce.js';
import { startSampleSite } from '../emulators/site.js';
import { useCatalogue } from '../support/sourceFixtures/catalogue.js';
import { startWidgetBrowser, type WidgetBrowser, type WidgetView } from '../support/widgetBrowser.js';
import { startWidgetSite, type WidgetSite } from '../support/widgetSite.js';

/** The values to enter, by the placeholder of their field. */
type Fields = Readonly<Record<string, string>>;

const ENTERED_CREDENTIALS: Partial<Record<ConnectedSourceType, Fields>> = {
  AZURE_BLOB_STORAGE: { 'Account Name': ACCOUNT, 'Account Key': ACCOUNT_KEY },
  DOCUMENT360: { 'Account Email': 'ada@harbour.example', Token: DOCUMENT360_TOKEN },
  FRESHDESK: { 'domain.freshdesk.com': `https://${FRESHDESK_DOMAIN}.freshdesk.com/`, 'API key': FRESHDESK_KEY },
  GITBOOK: { Organization: 'harbour-org', Token: GITBOOK_TOKEN },
  GURU: { username: USERNAME, Token: GURU_TOKEN },
  S3: { 'Access Key': ACCESS_KEY, 'Access Key Secret': ACCESS_KEY_SECRET },
};
/** Fields that the widget shows before it opens the consent page. */
const BEFORE_CONSENT: Partial<Record<ConnectedSourceType, (service: string) => Fields>> = {
  CONFLUENCE: () => ({ 'your-subdomain': 'harbour' }),
  SALESFORCE: () => ({ 'domain.my.salesforce.com': `https://${ORGANIZATION_HOST}/` }),
  SERVICENOW: (service) => ({
    '<instance-subdomain>.service-now.com': 'harbour.service-now.com',
    'client id': CLIENT_ID,
    'client secret': CLIENT_SECRET,
    'redirect URI': `${service}/integrations/servicenow`,
  }),
  SHAREPOINT: () => ({ 'Your Tenant Name': 'harbour.example', 'Your Site Name (optional)': 'Harbour' }),
  ZENDESK: () => ({ 'your-subdomain.zendesk.com': 'harbour.zendesk.com' }),
};
const BY_CONSENT = [
  ...(['BOX', 'DROPBOX', 'GMAIL', 'GOOGLE_CLOUD_STORAGE', 'GOOGLE_DRIVE', 'INTERCOM', 'NOTION', 'ONEDRIVE'] as const),
  ...(['OUTLOOK', 'ZOTERO'] as const),
];
/** Sources for which the widget offers no file selection. */
const WITHOUT_CHOICE: readonly ConnectedSourceType[] = ['GMAIL', 'OUTLOOK'];

const catalogue = useCatalogue();
let site: WidgetSite;
let browser: WidgetBrowser;
let widget: WidgetView;
let customers = 0;

beforeAll(async () => {
  site = await startWidgetSite(async (customer) => (await catalogue.service.user(customer)).token);
  browser = await startWidgetBrowser(site.origin, catalogue.service.url);
});
afterAll(async () => {
  await browser.close();
  await site.close();
});
afterEach(async () => {
  await widget.close();
  expect(widget.browserErrors).toEqual([]);
});

/** Opens the widget at one source. */
async function openAt(type: string, options: Record<string, unknown> = {}, plainHost?: string): Promise<void> {
  const integration = { id: type, useCarbonFilePicker: true, syncFilesOnConnection: false, ...options };
  const props = { enabledIntegrations: [integration], entryPoint: type };
  customers += 1;
  widget = await browser.open(`widget ${customers}`, props, plainHost);
}

async function fill(fields: Fields): Promise<void> {
  for (const [placeholder, value] of Object.entries(fields))
    await widget.page.getByPlaceholder(placeholder, { exact: true }).fill(value);
}

/** Opens the consent page by calling `press`, and gives consent. */
async function consent(press: () => Promise<void>): Promise<void> {
  const popup = await widget.popup(press);
  await popup.getByRole('button', { name: 'Allow' }).click();
  await popup.getByRole('heading', { name: 'is connected' }).waitFor();
  await popup.close();
}

const accountOf = (type: ConnectedSourceType): string => catalogue.fixtures[type].externalId.split('|')[1] ?? '';

/** Selects the first selectable item, and waits until one of its files is synced. */
async function syncFirst(type: string): Promise<void> {
  const rows = widget.page.locator('#scrollableTarget li');
  const free = rows.locator('[role="checkbox"]:not([disabled])');
  await widget.until(rows);
  await widget.picture(`${type}-items`);
  await free.first().click();
  await widget.press('Upload 1 file(s)');
  await widget.text('Files successfully queued for sync!').waitFor();
  await widget.press('View synced files');
  await widget.until(widget.text('Ready'), () => widget.refresh());
  await widget.picture(`${type}-synced`);
}

/** Waits for the connected account, and syncs a file if the widget offers a selection. */
async function expectConnectedAndSync(type: ConnectedSourceType): Promise<void> {
  await widget.until(widget.text(accountOf(type)));
  await widget.picture(`${type}-connected`);
  if (!WITHOUT_CHOICE.includes(type)) await syncFirst(type);
}

describe('connects an account', () => {
  test.each(Object.keys(ENTERED_CREDENTIALS) as ConnectedSourceType[])(
    'of %s, with entered credentials, and syncs one file',
    async (type) => {
      catalogue.fixtures[type].reset();
      await openAt(type);
      await widget.press('Connect Account');
      await fill(ENTERED_CREDENTIALS[type]!);
      await widget.picture(`${type}-screen`);
      await widget.press('Submit');
      await widget.text(/sync initiated/).waitFor();
      await expectConnectedAndSync(type);
    },
  );

  test.each(Object.keys(BEFORE_CONSENT) as ConnectedSourceType[])(
    'of %s, at an entered host, and syncs one file',
    async (type) => {
      catalogue.fixtures[type].reset();
      await openAt(type);
      await widget.press('Connect Account');
      await fill(BEFORE_CONSENT[type]!(catalogue.service.url));
      await widget.picture(`${type}-screen`);
      await consent(() => widget.press('Submit'));
      await expectConnectedAndSync(type);
    },
  );

  test.each(BY_CONSENT)('of %s, by consent, and syncs one file if the widget offers a selection', async (type) => {
    catalogue.fixtures[type].reset();
    await openAt(type);
    await consent(() => widget.press('Connect Account'));
    await expectConnectedAndSync(type);
  });
});

test('shows that the source rejects the credentials', async () => {
  catalogue.fixtures.GURU.reset();
  await openAt('GURU');
  await widget.press('Connect Account');
  await fill({ username: 'nobody', Token: 'nobody' });
  await widget.press('Submit');
  await widget.text(/credentials|refus/i).waitFor();
  await widget.picture('GURU-refused');
  expect(widget.browserErrors.splice(0).filter((what) => !/400/.test(what))).toEqual([]);
});

test('syncs files of selected GitHub repositories', async () => {
  catalogue.fixtures.GITHUB.reset();
  await openAt('GITHUB');
  await widget.press('Connect Account');
  await fill({ username: LOGIN, Token: GITHUB_TOKEN });
  await widget.press('Submit');
  await widget.until(widget.row('ada/atlas'));
  await widget.picture('GITHUB-repositories');
  await widget.row('ada/atlas').getByRole('checkbox').click();
  await widget.press('Select 1 repo(s)');
  await widget.text(/We are syncing the content/).waitFor();
  await widget.until(widget.text('Select files to sync'));
  await widget.until(widget.row('ada/atlas'));
  await widget.text('ada/atlas').click();
  await widget.row('sights').getByRole('checkbox').click();
  await widget.press('Upload 1 file(s)');
  await widget.text('Files successfully queued for sync!').waitFor();
  await widget.press('View synced files');
  await widget.until(widget.row('lighthouse.md').getByText('Ready'), () => widget.refresh());
  await widget.picture('GITHUB-synced');
});

test('finds Slack conversations by name, and syncs them', async () => {
  catalogue.fixtures.SLACK.reset();
  await openAt('SLACK');
  await consent(() => widget.press('Connect Account'));
  await widget.until(widget.text('Your Slack account is connected.'));
  await widget.picture('SLACK-connected');
  await widget.press('Select conversations from Slack');
  await widget.text('1 Private Channels found').waitFor();
  await widget.picture('SLACK-found');
  await widget.page.locator('img[alt="icon"].cc-cursor-pointer').last().click();
  await widget.page.getByPlaceholder('Search').fill('be');
  await widget.text('Ben').waitFor();
  await widget.picture('SLACK-messages');
  await widget.text('Channels').click();
  await widget.page.getByPlaceholder('Search').fill('atlas');
  await widget.page.getByRole('checkbox').first().click();
  await widget.press('Sync 1 Channel(s)');
  await widget.text('1 Conversation(s) have been added.').waitFor();
  await widget.press('Got it');
  await widget.until(widget.text('Ready'), () => widget.refresh());
  await widget.picture('SLACK-synced');
});

test('scrapes a web site and a page of its sitemap', async () => {
  const pages = await startSampleSite(3, 1);
  try {
    await openAt('WEB_SCRAPER', {}, pages.host);
    await widget.press('Add more URLs');
    await widget.page.getByPlaceholder('Enter URL').last().fill(`https://${pages.host}/pages/0.html`);
    await widget.picture('WEB-site');
    await widget.press('Submit');
    await widget.text('Scraping request initiated successfully.').waitFor();
    await widget.text('Sitemap').click();
    await widget.page.getByPlaceholder('Enter URL').last().fill(`${pages.host}/sitemap.xml`);
    await widget.page.getByRole('button', { name: 'Fetch' }).first().click();
    await widget.text(pages.url('/pages/1.html')).waitFor();
    await widget.row(pages.url('/pages/1.html')).getByRole('checkbox').click();
    await widget.picture('WEB-sitemap');
    await widget.press('Submit');
    await widget.text('Scraping request initiated successfully.').waitFor();
    await widget.page.locator('button:has(img[alt="Lock"])').click();
    await widget.until(widget.row(pages.url('/sitemap.xml')).getByText('Ready'), () => widget.refresh());
    await widget.until(widget.row(pages.url('/pages/0.html')).getByText('Ready'), () => widget.refresh());
    await widget.picture('WEB-synced');
    await widget.row(pages.url('/sitemap.xml')).getByText(pages.url('/sitemap.xml')).first().click();
    await widget.until(widget.row(pages.url('/pages/1.html')).getByText('Ready'), () => Promise.resolve());
    await widget.picture('WEB-pages');
  } finally {
    await pages.close();
  }
});

test('opens the hosted file picker when its own file list is off, and shows the selected files', async () => {
  const type = 'GOOGLE_DRIVE';
  catalogue.fixtures[type].reset();
  widget = await browser.open('widget chooser', { enabledIntegrations: [{ id: type }], entryPoint: type });
  await consent(() => widget.press('Connect Account'));
  await widget.until(widget.text(accountOf(type)));
  const popup = await widget.popup(() => widget.press('Add more files'));
  await popup.getByRole('heading', { name: 'Choose from Google Drive' }).waitFor();
  await widget.picture('chooser', popup);
  await popup.getByRole('button', { name: 'Open My Drive' }).click();
  await popup.getByRole('checkbox', { name: 'Sights' }).check();
  await popup.getByRole('button', { name: 'Sync the selected items' }).click();
  await popup.getByRole('heading', { name: 'Your selection is being synced' }).waitFor();
  await popup.close();
  await widget.until(widget.text('Ready'), () => widget.refresh());
  await widget.picture('chooser-synced');
});
