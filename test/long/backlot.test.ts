/**
 * Tests six connectors against backlot, an emulator that another project wrote and compared with the real services: a
 * connector that only works because of a mistake in our own emulators fails here. Version 0.1.0 of backlot emulates
 * neither consents, nor the folder `root` and the changes of Google Drive, nor /user of GitHub, nor the Git history of
 * deleted files. Of Confluence, it emulates only version 1 of the API, which the connector does not use. None of this
 * is tested here.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { Account } from '../../connectors/account.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import type { Egress } from '../../egress/types.js';
import { accountWith, readListing, loopbackEgress, NEVER, textOf } from '../connectors/account.js';
import { type Backlot, startBacklot } from '../support/backlot/index.js';
import { faultOf } from '../support/faultOf.js';

const [ADA, BEN] = ['ada@harbour.example', 'ben@harbour.example'];
const by = { author_email: ADA, author_name: 'Ada', visibility: 'public' };
const updated = '2026-02-12T18:00:00Z';
const on = (day: number): string => `2026-02-${day}T18:00:00Z`;
const notion = { ...by, updated, source_type: 'notion', teamspace: 'harbour', created: on(10) };
const KEYS = ['a b+c.md', 'sights/lighthouse.md', 'ümläut/日本.md'];
const PATHS = ['README.md', 'sights/deep/tides.md', 'sights/lighthouse.md'];

const CORPUS: readonly object[] = [
  ...['When was it lit?', 'Its keeper.', 'Low tide.'].map((content, index) => ({
    ...{ ...by, source_type: 'slack', channel: 'harbour', content, created: on(10 + index) },
    ...(index === 0 ? { replies: [{ content: 'In 1901.', author_email: BEN, created: '2026-02-10T18:00:40Z' }] } : {}),
  })),
  { ...by, source_type: 'slack', channel: 'quay', content: 'Empty of boats.', created: on(10) },
  ...['atlas', 'boats', 'crews'].map((word, index) => ({
    ...{ ...by, source_type: 'gmail', mailbox: 'ada', mailbox_owner: 'Ada', to: ADA, readers: [ADA] },
    ...{ title: `About ${word}`, content: `On ${word}.`, label_ids: ['INBOX'], created: on(10 + index) },
  })),
  ...['Lighthouse', 'Keeper', 'Tides'].map((title, index) => ({
    ...{ ...by, source_type: 'google_drive', folder: 'sights', title, updated, subtype: 'document' },
    ...{ content: `Of ${title}.`, created: on(10 + index) },
  })),
  ...PATHS.map((name) => ({
    ...{ ...by, source_type: 'github', repo: 'atlas', subtype: 'file', title: name, path: name },
    ...{ content: `# ${name}`, created: on(10) },
  })),
  { ...notion, doc_id: 'home', title: 'Harbour', content: '# Sights\n\nThe lighthouse was lit in 1901.' },
  {
    ...{ ...notion, doc_id: 'tides', title: 'Tides', subtype: 'database', content: 'All tides.' },
    properties: { Name: { title: {} }, Status: { select: { options: [{ name: 'Done' }] } } },
  },
  ...[1, 2, 3].map((row) => ({
    ...{ ...notion, doc_id: `row${row}`, parent: 'tides', title: `Tide ${row}`, content: `High at ${row}.` },
    properties: { Status: 'Done' },
  })),
  ...KEYS.map((key) => ({
    ...{ ...by, source_type: 's3', bucket: 'atlas', key, title: key, content: `Of ${key}`, created: on(10) },
    content_type: 'text/markdown',
  })),
];

let egress: Egress;
let backlot: Backlot;
beforeAll(async () => {
  egress = loopbackEgress();
  backlot = await startBacklot(CORPUS);
});
afterAll(async () => {
  await backlot?.close();
  await egress.close();
});

const ada = () => backlot.users.find(({ email }) => email === ADA)!;
const accountAt = (source: ConnectedSourceType, path: string, credentials: object): Account =>
  accountWith(source, `${source}.api=${backlot.url}${path}`, credentials, egress);
const granted = (source: ConnectedSourceType, path: string, accessToken = ada().token): Account =>
  accountAt(source, path, { accessToken, facts: {} });
const rootsOf = (account: Account) => readListing((cursor) => account.listRoots(cursor, NEVER));
const descendantsOf = (account: Account, id: string) =>
  readListing((cursor) => account.listDescendants(id, cursor, NEVER));

describe('Slack', () => {
  const slack = () => granted('SLACK', '/slack/api');

  test('identifies the account, and lists conversations, 15-minute windows of messages and threads across all pages', async () => {
    expect(await slack().identify(NEVER)).toMatchObject({ account: expect.stringMatching(/^T\w+:U\w+$/) });
    const { items } = await rootsOf(slack());
    expect(items.map(({ name }) => name).toSorted()).toEqual(['harbour', 'quay']);
    const id = items.find(({ name }) => name === 'harbour')?.externalId ?? '';
    const contents = await descendantsOf(slack(), id);
    expect(contents.pages).toBeGreaterThan(1);
    const texts = await Promise.all(contents.ids.slice(1).map((one) => textOf(slack(), one)));
    expect(texts.toSorted()).toEqual([
      'Ada, 2026-02-10 18:00: When was it lit?\n\nBen, 2026-02-10 18:00: In 1901.',
      'Ada, 2026-02-11 18:00: Its keeper.',
      'Ada, 2026-02-12 18:00: Low tide.',
    ]);
  });

  test('refuses an unknown token and an unknown conversation as Slack does', async () => {
    expect(await faultOf(granted('SLACK', '/slack/api', 'xoxp-unknown').identify(NEVER))).toMatchObject({
      kind: 'access_revoked',
    });
    expect(await faultOf(descendantsOf(slack(), 'C0NOWHERE'))).toMatchObject({ kind: 'not_found' });
  });
});

describe('Gmail', () => {
  const gmail = (token?: string) => granted('GMAIL', '/gmail/v1/users/me', token);

  test('identifies the account, lists labels and messages across all pages, and reads a message', async () => {
    expect(await gmail().identify(NEVER)).toMatchObject({ account: ADA });
    expect((await rootsOf(gmail())).ids).toEqual(expect.arrayContaining(['label:INBOX', 'mail.other']));
    const { items, pages } = await descendantsOf(gmail(), 'label:INBOX');
    expect(pages).toBeGreaterThan(1);
    expect(items.slice(1).map(({ name }) => name)).toEqual(['About crews', 'About boats', 'About atlas']);
    expect(await textOf(gmail(), items[1]!.externalId)).toMatch(/^Subject: About crews\r$[^]*^On crews\./m);
  });

  test('reports an id that no message can have as not found, and an unknown token as revoked', async () => {
    expect(await faultOf(gmail().open('nothing', NEVER))).toMatchObject({ kind: 'not_found' });
    expect(await faultOf(gmail('unknown').identify(NEVER))).toMatchObject({ kind: 'access_revoked' });
  });
});

test('Google Drive: identifies the account, lists each file, and reads its text', async () => {
  const drive = granted('GOOGLE_DRIVE', '/drive/v3');
  expect(await drive.identify(NEVER)).toMatchObject({ account: ADA });
  const { ids } = await descendantsOf(drive, 'shared.with.me');
  expect(ids[0]).toBe('shared.with.me');
  const answer = await fetch(`${backlot.url}/drive/v3/files?fields=files(id,name)`, {
    headers: { authorization: `Bearer ${ada().token}` },
  });
  const { files } = (await answer.json()) as { files: readonly { id: string; name: string }[] };
  expect(files).toHaveLength(2);
  for (const { id, name } of files) {
    expect((await descendantsOf(drive, id)).items).toMatchObject([{ externalId: id, name, hasContent: true }]);
    expect(await textOf(drive, id)).toContain(`Of ${name}.`);
  }
  expect(await faultOf(drive.open('missing', NEVER))).toMatchObject({ kind: 'not_found' });
});

test('GitHub: lists a repository with its directories and reads its files', async () => {
  const github = accountAt('GITHUB', '/github', { username: 'ada', accessToken: ada().token });
  const [repository = ''] = (await rootsOf(github)).ids;
  const { items } = await descendantsOf(github, repository);
  expect(items.filter(({ hasContent }) => hasContent).map(({ externalId }) => externalId)).toEqual(
    PATHS.map((name) => `${repository}/${name}`),
  );
  for (const name of PATHS) expect(await textOf(github, `${repository}/${name}`)).toBe(`# ${name}`);
  expect(await faultOf(github.open(`${repository}/none.md`, NEVER))).toMatchObject({ kind: 'not_found' });
});

test('Notion: lists pages, a database and its rows, and reads columns and blocks', async () => {
  const facts = { workspace: '11111111-1111-4111-8111-111111111111' };
  const account = accountAt('NOTION', '/notion/v1', { accessToken: ada().token, facts });
  expect(await account.identify(NEVER)).toMatchObject({ metadata: { user_email: ADA } });
  const { items } = await rootsOf(account);
  const idOf = (name: string) => items.find((item) => item.name === name)?.externalId ?? '';
  expect(items.map(({ name }) => name).toSorted()).toEqual(['Harbour', 'Tide 1', 'Tide 2', 'Tide 3', 'Tides']);
  expect((await descendantsOf(account, idOf('Tides'))).ids.toSorted()).toEqual(
    ['Tides', 'Tide 1', 'Tide 2', 'Tide 3'].map(idOf).toSorted(),
  );
  expect(await textOf(account, idOf('Harbour'))).toBe('# Harbour\n\n# Sights\n\nThe lighthouse was lit in 1901.');
  expect(await textOf(account, idOf('Tide 3'))).toBe('# Tide 3\n\n- **Status**: Done\n\nHigh at 3.');
  const missing = '00000000-0000-4000-8000-000000000000';
  expect(await faultOf(account.open(missing, NEVER))).toMatchObject({ kind: 'not_found' });
});

test('S3: lists and reads keys with any characters, and refuses a wrong signature', async () => {
  const { s3_access_key_id: accessKey, s3_secret_access_key: accessKeySecret } = ada();
  const s3 = accountAt('S3', '/s3', { accessKey, accessKeySecret, endpointUrl: null });
  expect((await rootsOf(s3)).ids).toEqual(['atlas']);
  const { items } = await descendantsOf(s3, 'atlas');
  expect(items.filter(({ hasContent }) => hasContent).map(({ externalId }) => externalId)).toEqual(
    KEYS.map((key) => `atlas/${key}`),
  );
  for (const key of KEYS) expect(await textOf(s3, `atlas/${key}`)).toBe(`Of ${key}`);
  expect(await faultOf(s3.open('atlas/none.md', NEVER))).toMatchObject({ kind: 'not_found' });
  const forged = accountAt('S3', '/s3', { accessKey, accessKeySecret: 'wrong', endpointUrl: null });
  expect(await faultOf(forged.listRoots(null, NEVER))).toMatchObject({ kind: 'access_revoked' });
});
