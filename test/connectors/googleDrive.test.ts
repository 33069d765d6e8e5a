import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { loadConfig } from '../../config.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import { type Account, createConnectors } from '../../connectors/registry.js';
import { createEgress } from '../../egress/createEgress.js';
import type { Egress } from '../../egress/types.js';
import { DRIVE_FOLDER, type GoogleDriveEmulator, startGoogleDrive } from '../emulators/googleDrive.js';

const NEVER = new AbortController().signal;
let egress: Egress;
let drive: GoogleDriveEmulator;
let account: Account;

beforeAll(async () => {
  const env = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SECRET_KEY: `k:${Buffer.alloc(32).toString('base64')}` };
  egress = createEgress(loadConfig(env).egress);
  drive = await startGoogleDrive({
    sights: { name: 'Sights', mimeType: DRIVE_FOLDER },
    a: { name: 'a.txt', parent: 'sights', content: 'The lighthouse' },
    b: { name: 'b.txt', parent: 'sights' },
    deep: { name: 'Deep', parent: 'sights', mimeType: DRIVE_FOLDER },
    c: { name: 'c.txt', parent: 'deep' },
    d: { name: 'd.txt' },
    e: { name: 'e.txt' },
  });
  const connectors = createConnectors({ egress, urls: readSourceUrls(drive.settings), maxItemBytes: 1_000_000 });
  const { accessToken } = drive.oauth.grant();
  account = connectors.account('GOOGLE_DRIVE', '1', JSON.stringify({ accessToken, facts: {} }));
});
afterAll(async () => {
  await egress.close();
  await drive.close();
});

/** All that a listing gives, page by page. */
async function listed(from: (cursor: string | null) => ReturnType<Account['roots']>) {
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await from(cursor ?? null);
    ids.push(...page.items.map(({ externalId }) => externalId));
    cursor = page.next;
  }
  return ids;
}

test('the drive of the person who consented is listed in pages, to the bottom', async () => {
  expect(await account.identify(NEVER)).toMatchObject({ account: 'ada@harbour.example' });
  expect(await listed((cursor) => account.roots(cursor, NEVER))).toEqual(['sights', 'd', 'e']);
  expect(await listed((cursor) => account.below('sights', cursor, NEVER))).toEqual(['sights', 'a', 'b', 'deep', 'c']);
});

test('content comes as it is, and what is not there is said to be not there', async () => {
  expect(Buffer.from((await account.open('a', NEVER)).bytes).toString()).toBe('The lighthouse');
  for (const id of ['nothing', "' or trashed=true", '..'])
    await expect(account.below(id, null, NEVER)).rejects.toMatchObject({ kind: 'not_found' });
});

test('a token that has ended is refused', async () => {
  drive.oauth.expireAll();
  await expect(account.identify(NEVER)).rejects.toMatchObject({ kind: 'access_revoked' });
});
