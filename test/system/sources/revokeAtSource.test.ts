/** Tests that /revoke_access_token also revokes the grant at the source. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { DataSourceRecord } from '../../../contract/files/records.js';
import type { ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import { type GmailEmulator, startGmail } from '../../emulators/gmail.js';
import { type GoogleDriveEmulator, startGoogleDrive } from '../../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET, type OAuthProvider } from '../../emulators/oauthProvider.js';
import { type SlackEmulator, startSlack } from '../../emulators/slack.js';
import type { Listed, TestUser } from '../../support/client.js';
import { consentTo } from '../../support/consent.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';

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

/** Creates a customer with one connected account. */
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
const revokeRequests = ({ requests }: OAuthProvider) => requests.filter(({ kind }) => kind === 'revoke');
/** Returns the HTTP status of a request to the source with the access token issued last. */
async function statusWithLastToken(oauth: OAuthProvider, url: string): Promise<number> {
  const token = oauth.secrets.findLast((one) => one.startsWith('access-')) ?? '';
  return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status;
}

test('revokes the grant at the source', async () => {
  const { revoke: revokeAccess, record } = await connected('ender', 'GOOGLE_DRIVE', 'ben@harbour.example');
  const about = `${drive.origin}/drive/v3/about?fields=user`;
  expect(await statusWithLastToken(drive.oauth, about)).toBe(200);
  const refreshToken = drive.oauth.secrets.findLast((one) => one.startsWith('refresh-'));
  await revokeAccess();
  expect(await record()).toMatchObject({ revoked_access: true });
  await waitFor(
    () => statusWithLastToken(drive.oauth, about),
    (status) => status === 401,
  );
  expect(revokeRequests(drive.oauth).map(({ parameters }) => parameters)).toEqual([{ token: refreshToken }]);
  // A second call of /revoke_access_token sends no request to the source.
  await revokeAccess();
  expect(revokeRequests(drive.oauth)).toHaveLength(1);
});

test('revokes the access in the service even if the source does not answer', async () => {
  const { revoke: revokeAccess, record } = await connected('waiter', 'GOOGLE_DRIVE', 'ben@harbour.example');
  const before = revokeRequests(drive.oauth).length;
  const release = drive.oauth.hold();
  await revokeAccess();
  await waitFor(
    () => revokeRequests(drive.oauth).length,
    (times) => times === before + 1,
  );
  expect(await record()).toMatchObject({ revoked_access: true, last_sync_action: 'REVOKE', token: null });
  release();
});

test('keeps the grant while the account has another connection, as another source type or of another user', async () => {
  const ownConnection = await connected('mine', 'GOOGLE_DRIVE', 'ada@harbour.example');
  const otherUsersConnection = await connected('theirs', 'GOOGLE_DRIVE', 'ada@harbour.example');
  const gmailConnection = await connected('mail', 'GMAIL', 'ada@harbour.example');
  const before = revokeRequests(drive.oauth).length;
  await ownConnection.revoke();
  await otherUsersConnection.revoke();
  // This is the last connection of the account.
  await gmailConnection.revoke();
  await waitFor(
    () => revokeRequests(gmail.oauth).length,
    (times) => times === 1,
  );
  expect(revokeRequests(drive.oauth)).toHaveLength(before);
});

test('revokes a token by a request that the token itself authenticates', async () => {
  const { revoke: revokeAccess } = await connected('talker', 'SLACK', 'U0BEN');
  await revokeAccess();
  await waitFor(
    () => slack.calls,
    (methods) => methods.some((one) => one.startsWith('auth.revoke')),
  );
  const token = slack.oauth.secrets.findLast((one) => one.startsWith('access-')) ?? '';
  const answer = await fetch(`${slack.origin}/api/auth.test`, { headers: { authorization: `Bearer ${token}` } });
  expect(await answer.json()).toMatchObject({ ok: false });
});
