/** Items and contents of Gmail messages, the account's identity, and errors of the history and of later list pages. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import type { Account } from '../../connectors/account.js';
import type { Egress } from '../../egress/types.js';
import { type GmailEmulator, startGmail } from '../emulators/gmail.js';
import { grantedAccount, loopbackEgress, NEVER } from './account.js';
import { faultOf } from '../support/faultOf.js';

let egress: Egress;
let gmail: GmailEmulator;
let account: Account;

beforeAll(async () => {
  egress = loopbackEgress();
  gmail = await startGmail();
});
afterAll(async () => {
  await egress.close();
  await gmail.close();
});
beforeEach(() => {
  for (const map of [gmail.mails, gmail.labels]) for (const id of Object.keys(map)) delete map[id];
  gmail.reset();
  Object.assign(gmail.labels, { Label_1: 'Work', Label_2: 'Home' });
  account = grantedAccount('GMAIL', gmail.settings, gmail.oauth.grant().accessToken, egress);
});

const itemAt = async (id: string) => (await account.listDescendants(id, null, NEVER)).items[0];

test('a message is a file with the URL of the message in Gmail, also without recipients', async () => {
  gmail.mails['m1'] = { labels: ['INBOX'], from: 'Ada <ada@harbour.example>', to: '' };
  const item = await itemAt('m1');
  expect(item).toMatchObject({ itemType: 'FILE', externalUrl: 'https://mail.google.com/mail/#all/m1' });
  expect(item?.tags).toEqual({ sender: 'ada@harbour.example' });
});

test('the folder of a message with several labels is independent of their order', async () => {
  const places = [];
  for (const labels of [
    ['Label_2', 'INBOX', 'Label_1'],
    ['INBOX', 'Label_1', 'Label_2'],
  ]) {
    gmail.mails['m1'] = { labels };
    places.push((await itemAt('m1'))?.parentExternalId);
  }
  expect(places).toEqual(['label:Label_1', 'label:Label_1']);
});

test('the content of a reply has the URL, the thread and the parent of the reply', async () => {
  gmail.mails['m1'] = { labels: ['INBOX'] };
  gmail.mails['m2'] = { labels: ['INBOX'], thread: 'm1' };
  const content = await account.open('m2', NEVER);
  expect(content).toMatchObject({ mimeType: 'message/rfc822', url: 'https://mail.google.com/mail/#all/m2' });
  expect(content.fileMetadata).toMatchObject({ thread_id: 'm1', parent_external_file_id: 'm1' });
});

test('identify() returns the e-mail address as the account and as its metadata', async () => {
  expect(await account.identify(NEVER)).toEqual({
    account: 'ada@harbour.example',
    metadata: { email: 'ada@harbour.example' },
  });
});

test('a history that Gmail rejects as an invalid argument is stale', async () => {
  const cursor = await account.changes!.now(NEVER);
  gmail.injectFault((path) => (path.endsWith('/history') ? { status: 400, reason: 'invalidArgument' } : null));
  expect(await faultOf(account.changes!.since(cursor, NEVER))).toMatchObject({ kind: 'stale_cursor' });
});

test('an error on a later page of a label does not restart the list', async () => {
  for (let nth = 0; nth < 5; nth += 1) gmail.mails[`m${nth}`] = { labels: ['Label_2'] };
  const first = await account.listDescendants('label:Label_2', null, NEVER);
  expect(first.next).not.toBeNull();
  let refusals = 0;
  gmail.injectFault((path) =>
    path.endsWith('/messages') && refusals++ === 0 ? { status: 403, reason: 'accessNotConfigured' } : null,
  );
  expect(await faultOf(account.listDescendants('label:Label_2', first.next, NEVER))).toMatchObject({
    kind: 'not_configured',
  });
  // The label itself is an item of the first page only.
  gmail.reset();
  const second = await account.listDescendants('label:Label_2', first.next, NEVER);
  expect(second.items.filter(({ itemType }) => itemType === 'FOLDER')).toEqual([]);
});
