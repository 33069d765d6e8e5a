import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { DataSourceRecord } from '../../../contract/records.js';
import type { ConnectedSourceType } from '../../../contract/sources.js';
import { type GmailEmulator, startGmail } from '../../emulators/gmail.js';
import { type GoogleDriveEmulator, startGoogleDrive } from '../../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET, type OAuthProvider } from '../../emulators/oauthProvider.js';
import { type SlackEmulator, startSlack } from '../../emulators/slack.js';
import type { Listed, TestUser } from '../../support/client.js';
import { consentTo } from '../../support/consent.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';

/** What /revoke_access_token does at the sources themselves. */
let drive: GoogleDriveEmulator;
let gmail: GmailEmulator;
let slack: SlackEmulator;
let service: TestService;

beforeAll(async () => {
  [drive, gmail, slack] = await Promise.all([startGoogleDrive(), startGmail(), startSlack()]);
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: [drive, gmail, slack].map(({ settings }) => settings).join(),
    OAUTH_CLIENTS: ['GOOGLE_DRIVE', 'GMAIL', 'SLACK'].map((one) => `${one}=${CLIENT_ID}:${CLIENT_SECRET}`).join(),
    LOG_LEVEL: 'silent',
  });
});
afterAll(async () => {
  await service.close();
  await Promise.all([drive, gmail, slack].map((emulator) => emulator.close()));
});

/** A customer who has connected one account. */
async function connected(customerId: string, type: ConnectedSourceType, person: string) {
  const user = await service.user(customerId);
  const body = { service: type, connecting_new_account: true, sync_source_items: false, enable_file_picker: false };
  const { oauth_url: url } = (await user.post<{ oauth_url: string }>('/integrations/oauth_url', body)).body;
  expect(await consentTo(url, { person })).toMatchObject({ status: 200 });
  const record = async (): Promise<DataSourceRecord> => {
    const { results } = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body;
    return results.find((source) => source.data_source_type === type)!;
  };
  const { id } = await record();
  return { user, record, revoke: () => revoke(user, id) };
}
async function revoke(user: TestUser, id: number): Promise<void> {
  const answer = await user.post('/revoke_access_token', { data_source_id: id });
  expect(answer).toMatchObject({ status: 200, body: { success: true } });
}
const asked = ({ requests }: OAuthProvider) => requests.filter(({ kind }) => kind === 'revoke');
/** How a source answers who comes with the tokens that it has given out last. */
async function takes(oauth: OAuthProvider, url: string): Promise<number> {
  const token = oauth.secrets.findLast((one) => one.startsWith('access-')) ?? '';
  return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status;
}

test('its source is asked to end what was granted, and takes it no more', async () => {
  const { revoke: revokeIt, record } = await connected('ender', 'GOOGLE_DRIVE', 'ben@harbour.example');
  const about = `${drive.origin}/drive/v3/about?fields=user`;
  expect(await takes(drive.oauth, about)).toBe(200);
  const refreshToken = drive.oauth.secrets.findLast((one) => one.startsWith('refresh-'));
  await revokeIt();
  expect(await record()).toMatchObject({ revoked_access: true });
  await waitFor(
    () => takes(drive.oauth, about),
    (status) => status === 401,
  );
  expect(asked(drive.oauth).map(({ parameters }) => parameters)).toEqual([{ token: refreshToken }]);
  // A second time there is nothing to end.
  await revokeIt();
  expect(asked(drive.oauth)).toHaveLength(1);
});

test('a source that does not answer changes nothing: the call is answered, and access is over here', async () => {
  const { revoke: revokeIt, record } = await connected('waiter', 'GOOGLE_DRIVE', 'ben@harbour.example');
  const before = asked(drive.oauth).length;
  const release = drive.oauth.hold();
  await revokeIt();
  await waitFor(
    () => asked(drive.oauth).length,
    (times) => times === before + 1,
  );
  expect(await record()).toMatchObject({ revoked_access: true, last_sync_action: 'REVOKE', token: null });
  release();
});

test('an account that is connected elsewhere, as whatever and by whomever, is not ended there', async () => {
  const mine = await connected('mine', 'GOOGLE_DRIVE', 'ada@harbour.example');
  const theirs = await connected('theirs', 'GOOGLE_DRIVE', 'ada@harbour.example');
  const mail = await connected('mail', 'GMAIL', 'ada@harbour.example');
  const before = asked(drive.oauth).length;
  await mine.revoke();
  await theirs.revoke();
  // The last one in use.
  await mail.revoke();
  await waitFor(
    () => asked(gmail.oauth).length,
    (times) => times === 1,
  );
  expect(asked(drive.oauth)).toHaveLength(before);
});

test('where the token itself is what asks, too', async () => {
  const { revoke: revokeIt } = await connected('talker', 'SLACK', 'U0BEN');
  await revokeIt();
  await waitFor(
    () => slack.asked,
    (methods) => methods.some((one) => one.startsWith('auth.revoke')),
  );
  const token = slack.oauth.secrets.findLast((one) => one.startsWith('access-')) ?? '';
  const answer = await fetch(`${slack.origin}/api/auth.test`, { headers: { authorization: `Bearer ${token}` } });
  expect(await answer.json()).toMatchObject({ ok: false });
});
