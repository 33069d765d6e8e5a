/** The service of oauthConnect.test.ts and its parts, and the sources that it connects. */
import { DRIVE_FOLDER, type GoogleDriveEmulator, startGoogleDrive } from '../../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import { type SlackEmulator, startSlack } from '../../emulators/slack.js';
import { startService, type TestService } from '../../support/service.js';

/** A client of an organization, which Google Drive also knows. */
export const OWN_CLIENT = 'white-label-client';
export const OWN_SECRET = 'white-label-secret';

export let drive: GoogleDriveEmulator;
/** Emulates a Slack app with token rotation. */
export let slack: SlackEmulator;
export let service: TestService;

export async function startOAuthService(): Promise<void> {
  drive = await startGoogleDrive(
    {
      sights: { name: 'Sights', mimeType: DRIVE_FOLDER },
      lighthouse: { name: 'lighthouse.txt', parent: 'sights', content: 'The lighthouse was lit in 1901.' },
      b: { name: 'b.txt', content: 'On boats.' },
      c: { name: 'c.txt', content: 'On crews.' },
    },
    { clients: { [CLIENT_ID]: CLIENT_SECRET, [OWN_CLIENT]: OWN_SECRET } },
  );
  slack = await startSlack({ rotates: true, refreshes: true, sendsExpiry: true, expiresIn: 43_200 });
  slack.conversations.set('C0HARBOUR', { name: 'harbour', type: 'public_channel', messages: [] });
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: [drive.settings, slack.settings].join(','),
    OAUTH_CLIENTS: ['GOOGLE_DRIVE', 'SLACK'].map((source) => `${source}=${CLIENT_ID}:${CLIENT_SECRET}`).join(','),
  });
}

export async function closeOAuthService(): Promise<void> {
  await service.close();
  await Promise.all([drive.close(), slack.close()]);
}
