import { afterEach, expect, test } from '@jest/globals';

import { type GoogleDriveEmulator, startGoogleDrive } from '../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { answerConsent, openPage } from '../support/consent.js';
import { startService, type TestService } from '../support/service.js';

let drive: GoogleDriveEmulator | undefined;
let service: TestService | undefined;
afterEach(async () => {
  await service?.close();
  await drive?.close();
});

test('the page after consent reloads until the account is connected, and links to the file picker once', async () => {
  drive = await startGoogleDrive();
  const settings = {
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: drive.settings,
    OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
  };
  service = await startService(settings, { worker: false });
  const user = await service.user('patient');
  const { body } = await user.post<{ oauth_url: string }>('/integrations/oauth_url', { service: 'GOOGLE_DRIVE' });
  const callbackUrl = await answerConsent(body.oauth_url);
  const pending = await openPage(callbackUrl);
  expect(pending).toMatchObject({ status: 202 });
  expect(pending.html).toContain('http-equiv="refresh"');
  await service.startWorker();
  const completed = await openPage(callbackUrl);
  expect(completed).toMatchObject({ status: 200 });
  expect(completed.html).toMatch(/href="\/connections\/[\w-]+"/);
  expect((await openPage(callbackUrl)).html).not.toContain('/connections/');
});
