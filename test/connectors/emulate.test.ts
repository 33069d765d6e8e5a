/**
 * Connectors against the third-party emulators of the package `emulate`, as a check on the project's own emulators.
 * This suite omits the features that `emulate` 0.12.2 lacks. The package accepts any token and signature,
 * sends no Retry-After, ignores the time range of Slack's history, and has no Git trees at GitHub. It lacks `about`,
 * exports, shared drives and changes of Google Drive, `profile` of Gmail, and all of Microsoft Graph except `/me`.
 * For Azure there is azurite (374 packages, 186 MB): docs/adding-a-source.md describes how to run it by hand.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createEmulator, type Emulator } from 'emulate';

import type { SourceItem } from '../../connectors/sourceItem.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import type { Account } from '../../connectors/account.js';
import { createConnectors } from '../../connectors/registry.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import type { Egress } from '../../egress/types.js';
import { listItems, loopbackEgress, NEVER, textOf } from './account.js';

let egress: Egress;
const running: Emulator[] = [];

beforeAll(() => {
  egress = loopbackEgress();
});
afterAll(async () => {
  await egress.close();
  await Promise.all(running.map((emulator) => emulator.close()));
});

/** Starts a service. @returns its address */
async function start(
  service: 'slack' | 'aws' | 'github' | 'google' | 'microsoft',
  seed: Record<string, unknown>,
): Promise<string> {
  const emulator = await createEmulator({ service, port: 0, seed });
  running.push(emulator);
  // Its URL says localhost, but it listens on 127.0.0.1 only.
  return emulator.url.replace('localhost', '127.0.0.1');
}
const accountAt = (source: ConnectedSourceType, api: string, credentials: object): Account =>
  createConnectors({ egress, urls: readSourceUrls(`${source}.api=${api}`), maxItemBytes: 1_000_000 }).account(
    source,
    '1',
    JSON.stringify(credentials),
  );

const idsOf = (items: readonly SourceItem[]) => items.map(({ externalId }) => externalId);

describe('Slack', () => {
  let url: string;
  let account: Account;
  beforeAll(async () => {
    url = await start('slack', {
      slack: { team: { name: 'Harbour', domain: 'harbour' }, channels: [{ name: 'atlas' }, { name: 'empty' }] },
    });
    account = accountAt('SLACK', `${url}/api`, { accessToken: 'xoxp-any', facts: {} });
  });
  const call = async (method: string, body: object): Promise<Record<string, string>> => {
    const headers = { authorization: 'Bearer xoxp-any', 'content-type': 'application/json' };
    const answer = await fetch(`${url}/api/${method}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const json = (await answer.json()) as { ok: boolean } & Record<string, string>;
    expect(json.ok).toBe(true);
    return json;
  };

  test('identifies the account and reads conversations, messages and threads', async () => {
    const { account: name, metadata } = await account.identify(NEVER);
    expect(name).toMatch(/^T\w+:U\w+$/);
    expect(metadata).toMatchObject({ team_name: 'Harbour', url: 'https://harbour.slack.com/' });
    const roots = await listItems((cursor) => account.listRoots(cursor, NEVER));
    const atlas = roots.find((item) => item.name === 'atlas')?.externalId ?? '';
    expect(roots.map((item) => item.name)).toEqual(expect.arrayContaining(['general', 'atlas', 'empty']));

    const { ts: thread = '' } = await call('chat.postMessage', {
      channel: atlas,
      text: 'When was the lighthouse lit?',
    });
    await call('chat.postMessage', { channel: atlas, text: 'In 1901.', thread_ts: thread });
    const { ts = '' } = await call('chat.postMessage', {
      channel: atlas,
      text: 'Its keeper &amp; <https://a.example|more>',
    });
    const items = await listItems((cursor) => account.listDescendants(atlas, cursor, NEVER));
    const window = `${atlas}/${Math.floor(Number(ts) / 900) * 900}`;
    expect(idsOf(items).toSorted()).toEqual([atlas, window, `${atlas}/${thread}`].toSorted());
    expect(await textOf(account, window)).toMatch(
      /^\w+, \d{4}-\d\d-\d\d \d\d:\d\d: Its keeper & more \(https:\/\/a\.example\)$/,
    );
    expect(await textOf(account, `${atlas}/${thread}`)).toMatch(/When was the lighthouse lit\?\n\n.*: In 1901\.$/);
    await call('chat.update', { channel: atlas, ts, text: 'It has no keeper.' });
    const after = await listItems((cursor) => account.listDescendants(window, cursor, NEVER));
    expect(after[0]?.version).not.toBe(items.find((item) => item.externalId === window)?.version);
    await call('chat.delete', { channel: atlas, ts });
    await expect(account.open(window, NEVER)).rejects.toMatchObject({ kind: 'not_found' });
  });

  test('reports an unknown conversation as not found, and answers the direct query for conversations', async () => {
    await expect(account.listDescendants('C0NOWHERE', null, NEVER)).rejects.toMatchObject({ kind: 'not_found' });
    const query = { types: 'public_channel', cursor: null, excludeArchived: true };
    expect(await account.read('conversations', query, NEVER)).toMatchObject({
      results: expect.arrayContaining([expect.objectContaining({ name: 'atlas', is_channel: true, is_im: false })]),
      next_cursor: null,
    });
  });
});

test('S3: lists and reads buckets and keys with any characters, and reports missing ones', async () => {
  const url = await start('aws', { aws: { s3: { buckets: [{ name: 'atlas' }, { name: 'boats' }] } } });
  const keys = ['a b+c.md', 'sights/lighthouse.md', 'ümläut/日本.md'];
  for (const key of keys) {
    const address = `${url}/atlas/${key.split('/').map(encodeURIComponent).join('/')}`;
    expect((await fetch(address, { method: 'PUT', body: `Of ${key}` })).status).toBe(200);
  }
  const account = accountAt('S3', url, { accessKey: 'AKIAANY', accessKeySecret: 'any', endpointUrl: null });
  expect(await account.identify(NEVER)).toMatchObject({ account: 'AKIAANY' });
  expect(idsOf(await listItems((cursor) => account.listRoots(cursor, NEVER)))).toEqual(
    expect.arrayContaining(['atlas', 'boats']),
  );
  const items = await listItems((cursor) => account.listDescendants('atlas', cursor, NEVER));
  expect(idsOf(items.filter(({ hasContent }) => hasContent))).toEqual(keys.map((key) => `atlas/${key}`));
  for (const key of keys) expect(await textOf(account, `atlas/${key}`)).toBe(`Of ${key}`);
  for (const id of ['atlas/none.md', 'nowhere'])
    await expect(account.listDescendants(id, null, NEVER)).rejects.toMatchObject({ kind: 'not_found' });
});

test('GitHub: lists a repository with its directories and reads its files', async () => {
  const url = await start('github', {
    github: { users: [{ login: 'ada' }], repos: [{ owner: 'ada', name: 'atlas', auto_init: true }] },
    tokens: { ghp_any: { login: 'ada', scopes: ['repo'] } },
  });
  const put = async (path: string, text: string): Promise<void> => {
    const answer = await fetch(`${url}/repos/ada/atlas/contents/${path}`, {
      method: 'PUT',
      headers: { authorization: 'Bearer ghp_any', 'content-type': 'application/json' },
      body: JSON.stringify({ message: 'More', content: Buffer.from(text).toString('base64') }),
    });
    expect(answer.status).toBe(201);
  };
  await put('sights/lighthouse.md', '# The lighthouse\n\nLit in 1901.');
  const account = accountAt('GITHUB', url, { username: 'ada', accessToken: 'ghp_any' });
  expect(await account.identify(NEVER)).toMatchObject({ metadata: { username: 'ada' } });
  expect(idsOf(await listItems((cursor) => account.listRoots(cursor, NEVER)))).toEqual(['ada/atlas']);
  expect(idsOf(await listItems((cursor) => account.listDescendants('ada/atlas', cursor, NEVER))).toSorted()).toEqual(
    ['ada/atlas', 'ada/atlas/README.md', 'ada/atlas/sights', 'ada/atlas/sights/lighthouse.md'].toSorted(),
  );
  expect(await textOf(account, 'ada/atlas/sights/lighthouse.md')).toBe('# The lighthouse\n\nLit in 1901.');
  await expect(account.open('ada/atlas/none.md', NEVER)).rejects.toMatchObject({ kind: 'not_found' });
});

describe('Google', () => {
  const ada = 'ada@harbour.example';
  const grant = { accessToken: 'any', facts: {} };
  let url: string;
  beforeAll(async () => {
    const folder = { user_email: ada, mime_type: 'application/vnd.google-apps.folder' };
    const text = { user_email: ada, mime_type: 'text/plain', data: 'The lighthouse was lit in 1901.' };
    const mail = { user_email: ada, from: 'ben@harbour.example', to: ada, label_ids: ['INBOX'] };
    url = await start('google', {
      google: {
        users: [{ email: ada, name: 'Ada' }],
        drive_items: [
          { id: 'sights', name: 'Sights', parent_ids: ['root'], ...folder },
          { id: 'people', name: 'People', parent_ids: ['sights'], ...folder },
          { id: 'lighthouse', name: 'lighthouse.txt', parent_ids: ['people'], ...text },
        ],
        messages: [
          { id: 'm1', subject: 'About atlas', body_text: 'On the atlas.', ...mail },
          { id: 'm2', subject: 'About boats', body_text: 'On boats.', ...mail },
        ],
      },
    });
  });

  test('Drive: lists nested folders, reads a file, and reports a missing one', async () => {
    const account = accountAt('GOOGLE_DRIVE', `${url}/drive/v3`, grant);
    const items = await listItems((cursor) => account.listDescendants('sights', cursor, NEVER));
    expect(
      items.map(({ externalId, parentExternalId, hasContent }) => [externalId, parentExternalId, hasContent]),
    ).toEqual([
      ['sights', 'root', false],
      ['people', 'sights', false],
      ['lighthouse', 'people', true],
    ]);
    expect(await textOf(account, 'lighthouse')).toBe('The lighthouse was lit in 1901.');
    for (const read of [account.open('missing', NEVER), account.listDescendants('missing', null, NEVER)])
      await expect(read).rejects.toMatchObject({ kind: 'not_found' });
  });

  test('Gmail: lists labels and messages, and reads the text and the sender of a message', async () => {
    const account = accountAt('GMAIL', `${url}/gmail/v1/users/me`, grant);
    expect((await listItems((cursor) => account.listRoots(cursor, NEVER))).map(({ name }) => name)).toContain('INBOX');
    const inbox = await listItems((cursor) => account.listDescendants('label:INBOX', cursor, NEVER));
    expect(idsOf(inbox)).toEqual(expect.arrayContaining(['label:INBOX', 'm1', 'm2']));
    expect(inbox.find(({ externalId }) => externalId === 'm1')).toMatchObject({
      name: 'About atlas',
      tags: { sender: 'ben@harbour.example', recipient: [ada] },
    });
    expect(await textOf(account, 'm1')).toMatch(/^From: ben@harbour\.example[\s\S]*On the atlas\.$/);
    await expect(account.open('missing', NEVER)).rejects.toMatchObject({ kind: 'not_found' });
  });
});

test('Microsoft: identifies the account', async () => {
  const url = await start('microsoft', { microsoft: { users: [{ email: 'ada@harbour.example', name: 'Ada' }] } });
  for (const source of ['ONEDRIVE', 'OUTLOOK'] as const) {
    const account = accountAt(source, `${url}/v1.0`, { accessToken: 'any', facts: { tenant: 'common' } });
    expect(await account.identify(NEVER)).toMatchObject({ account: expect.stringContaining('@') });
  }
});
