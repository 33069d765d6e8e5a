import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';

import type { DataSourceRecord } from '../../contract/records.js';
import { DRIVE_FOLDER, type GoogleDriveEmulator, startGoogleDrive } from '../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import type { Listed, TestUser } from '../support/client.js';
import { consentTo } from '../support/consent.js';
import { startService, type TestService } from '../support/service.js';
import { soon } from '../support/soon.js';

let drive: GoogleDriveEmulator;
let service: TestService;
let user: TestUser;
let customers = 0;

beforeAll(async () => {
  drive = await startGoogleDrive({
    sights: { name: 'Sights', mimeType: DRIVE_FOLDER },
    lighthouse: { name: 'lighthouse.txt', parent: 'sights', content: 'The lighthouse was lit in 1901.' },
    b: { name: 'b.txt', content: 'On boats.' },
    c: { name: 'c.txt', content: 'On crews.' },
  });
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: drive.settings,
    OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
  });
});
afterAll(async () => {
  await service.close();
  await drive.close();
});
beforeEach(async () => {
  customers += 1;
  user = await service.user(`owner ${customers}`);
});
afterEach(() => drive.oauth.loseReplies(0));

const urlFor = async (body: Record<string, unknown> = {}): Promise<string> => {
  const answer = await user.post<{ oauth_url: string }>('/integrations/oauth_url', {
    service: 'GOOGLE_DRIVE',
    ...body,
  });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.oauth_url;
};
const sources = async (): Promise<DataSourceRecord[]> =>
  (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results;
const onlySource = async (): Promise<DataSourceRecord> => {
  const found = await sources();
  expect(found).toHaveLength(1);
  return found[0]!;
};

test('consent connects the account, lists what it holds, and shows a page that says so', async () => {
  const page = await consentTo(await urlFor());
  expect(page).toMatchObject({ status: 200 });
  expect(page.html).toContain('Google Drive is connected');
  expect(await onlySource()).toMatchObject({
    data_source_external_id: 'GOOGLE_DRIVE|ada@harbour.example',
    data_source_type: 'GOOGLE_DRIVE',
    last_sync_action: 'ADD',
    revoked_access: false,
  });
  const listed = await soon(onlySource, (source) => source.source_items_synced_at !== null);
  expect(listed.sync_status).toBe('READY');
});
