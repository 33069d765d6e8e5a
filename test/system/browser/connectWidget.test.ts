/**
 * Tests of the published React connect widget in a page of another origin than the service. Command for screenshots:
 * TEST_PICTURES=FOLDER npm test -- test/system/browser/connectWidget.test.ts
 */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';

import { DRIVE_FOLDER, type GoogleDriveEmulator, startGoogleDrive } from '../../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import { consentTo } from '../../support/consent.js';
import { watchIgnoredFields } from '../../support/ignoredFields.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { startWidgetBrowser, type WidgetBrowser, type WidgetView } from '../../support/widgetBrowser.js';
import { startWidgetSite, type WidgetSite } from '../../support/widgetSite.js';
import { thoroughly } from '../../support/thorough.js';

const LOCAL_FILES = { id: 'LOCAL_FILES', maxFileSize: 20_000_000, allowedFileTypes: [{ extension: 'txt' }] };
const GOOGLE_DRIVE = { id: 'GOOGLE_DRIVE', useCarbonFilePicker: true, syncFilesOnConnection: false };
const OPTIONS = { enabledIntegrations: [LOCAL_FILES, GOOGLE_DRIVE] };

let drive: GoogleDriveEmulator;
let service: TestService;
let ignoredFields: () => readonly string[];
let site: WidgetSite;
let browser: WidgetBrowser;
let widget: WidgetView;
/** Expired tokens that the integrator's back end returns before valid ones. */
const expiredTokens: string[] = [];
/** Log lines of the service, with one for each request. */
const log: string[] = [];

beforeAll(async () => {
  site = await startWidgetSite(async (customer) => expiredTokens.pop() ?? (await service.user(customer)).token);
  drive = await startGoogleDrive({
    sights: { name: 'Sights', mimeType: DRIVE_FOLDER },
    lighthouse: { name: 'lighthouse.txt', parent: 'sights', content: 'The lighthouse was lit in 1901.' },
    ferry: { name: 'ferry.txt', content: 'The ferry sails at seven.' },
  });
  service = await startService(
    {
      LOG_LEVEL: 'info',
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      CORS_ORIGINS: site.origin,
      SOURCE_URLS: drive.settings,
      OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
    },
    { logTo: { write: (line) => void log.push(line) } },
  );
  browser = await startWidgetBrowser(site.origin, service.url);
  ignoredFields = watchIgnoredFields(service.url);
});
afterAll(async () => {
  await browser.close();
  await service.close();
  await Promise.all([site.close(), drive.close()]);
  // The requests of published clients contain only known fields, so a strict server would accept them too.
  expect(ignoredFields()).toEqual([]);
});
afterEach(async () => {
  await widget.close();
  expect(widget.browserErrors).toEqual([]);
});

thoroughly('shows which accounts are connected when it opens', async () => {
  const user = await service.user('una');
  const { body } = await user.post<{ oauth_url: string }>('/integrations/oauth_url', { service: 'GOOGLE_DRIVE' });
  await consentTo(body.oauth_url);

  widget = await browser.open('una', OPTIONS);
  await widget.text('Harbour').waitFor();
  await widget.picture('start');
  await widget.press('Connect');
  await widget.row('Google Drive').locator('.cc-bg-success-600').waitFor();
  expect(await widget.row('Upload Files').locator('.cc-bg-success-600').count()).toBe(0);
  await widget.picture('sources');
  await widget.text('Google Drive').click();
  await widget.text('ada@harbour.example').waitFor();
  // The page has another origin than the service: the browser sends preflight requests first.
  const requests = log.map((line) => JSON.parse(line) as { method?: string; path?: string; status?: number });
  for (const path of ['/auth/v1/white_labeling', '/whoami', '/user_data_sources'])
    expect(requests).toContainEqual(expect.objectContaining({ method: 'OPTIONS', path, status: 200 }));
});

test('connects an account by consent, syncs, re-syncs and deletes chosen files, and disconnects the account', async () => {
  widget = await browser.open('ben', OPTIONS);
  await widget.press('Connect');
  await widget.text('Google Drive').click();
  await widget.picture('no-account');
  const popup = await widget.popup(() => widget.press('Connect Account'));
  await popup.getByRole('button', { name: 'Allow' }).click();
  await popup.getByRole('heading', { name: 'Google Drive is connected' }).waitFor();
  await widget.picture('consented', popup);
  await popup.close();
  await widget.until(widget.text('ada@harbour.example'));
  await widget.until(widget.row('My Drive'));
  await widget.picture('connected');
  await widget.row('My Drive').getByText('My Drive').click();
  await widget.row('ferry.txt').waitFor();
  await widget.picture('folder');
  await widget.row('Sights').getByText('Sights').click();
  await widget.row('lighthouse.txt').getByRole('checkbox').click();
  await widget.picture('chosen');
  await widget.press('Upload 1 file(s)');
  await widget.text('Files successfully queued for sync!').waitFor();
  await widget.picture('queued');
  await widget.press('View synced files');
  await widget.until(widget.row('lighthouse.txt').getByText('Ready'), () => widget.refresh());
  await widget.picture('synced');
  expect(await (await service.user('ben')).search({ query: 'When was the lighthouse lit?', k: 1 })).toMatchObject([
    { content: 'The lighthouse was lit in 1901.', source_type: 'GOOGLE_DRIVE' },
  ]);

  await widget.row('lighthouse.txt').getByRole('checkbox').click();
  await widget.press('Resync 1 file');
  await widget.text('Selected files queued successfully for resync').waitFor();
  await widget.picture('again');
  await widget.until(widget.row('lighthouse.txt').getByText('Ready'), () => widget.refresh());
  await widget.row('lighthouse.txt').getByRole('checkbox').click();
  await widget.press('Delete 1 file');
  await widget.text('Your files have been queued for deletion!').waitFor();
  // The widget does not always reload its list, and a list from before the deletion still contains the file.
  await widget.until(widget.text('No matching results'), () => widget.refresh());
  await widget.picture('deleted');

  await widget.chooseOfAccount('Disconnect account');
  await widget.picture('disconnecting');
  await widget.press('Disconnect account');
  await widget.text('Upload Files').waitFor();
  await widget.until(widget.row('Google Drive').locator(':not(:has(.cc-bg-success-600))'));
  await widget.text('Google Drive').click();
  await widget.until(widget.text('No account connected, please connect an account'));
  await widget.picture('disconnected');
  // The later callbacks report syncs; their number depends on timing.
  expect((await widget.callbacks()).slice(0, 2)).toMatchObject([
    { status: 200, action: 'INITIATE', integration: 'GOOGLE_DRIVE' },
    { status: 200, action: 'ADD', data: { data_source_external_id: 'GOOGLE_DRIVE|ada@harbour.example' } },
  ]);
});

thoroughly('uploads a dropped file and shows it as synced', async () => {
  widget = await browser.open('cleo', OPTIONS);
  await widget.press('Connect');
  await widget.text('Upload Files').click();
  await widget.until(widget.text('No matching results'));
  await widget.press('Add more files');
  await widget.picture('drop-zone');
  const dropped = await widget.page.evaluateHandle(`(() => {
    const dropped = new DataTransfer();
    dropped.items.add(new File(['The tide comes in at noon.'], 'tides.txt', { type: 'text/plain' }));
    return dropped;
  })()`);
  await widget.text('Click to upload').dispatchEvent('drop', { dataTransfer: dropped });
  await widget.text('tides.txt').waitFor();
  await widget.picture('dropped');
  await widget.press('Submit');
  // Before the first callback, the back button leads to another screen.
  await waitFor(
    () => widget.callbacks(),
    (events) => events.length > 0,
  );
  await widget.picture('uploaded');
  await widget.page.locator('button:has(img[alt="Lock"])').click();
  await widget.page.locator('button:has(img[alt="Lock"])').click();
  await widget.until(widget.row('tides.txt').getByText('Ready'), () => widget.refresh());
  await widget.picture('upload-synced');
  expect(await (await service.user('cleo')).search({ query: 'When does the tide come in?', k: 1 })).toMatchObject([
    { content: 'The tide comes in at noon.' },
  ]);
  expect(await widget.callbacks()).toMatchObject([{ status: 200, action: 'UPDATE', integration: 'LOCAL_FILES' }]);
});

thoroughly('fetches a new token when its token has expired, and continues', async () => {
  expiredTokens.push('eyJhIjoxfQ.expired');
  widget = await browser.open('dora', OPTIONS);
  await widget.text(/wants to access your data/).waitFor();
  await widget.press('Connect');
  await widget.text('Google Drive').click();
  await widget.until(widget.text('No account connected, please connect an account'));
  expect(expiredTokens).toEqual([]);
  // The browser logs each request with an expired token as an error.
  const otherErrors = widget.browserErrors.splice(0).filter((message) => !/^401: |status of 401/.test(message));
  expect(otherErrors).toEqual([]);
});
