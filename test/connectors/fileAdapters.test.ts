/** The items and contents that connectors make of the files, messages and pages of their sources. */
import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';

import { box } from '../../connectors/box/index.js';
import { boxChanges } from '../../connectors/box/changes.js';
import { itemOfContent } from '../../connectors/confluence/adapter.js';
import { siteOf } from '../../connectors/confluence/api.js';
import { contentHash, itemOf as dropboxItem } from '../../connectors/dropbox/adapter.js';
import { dropbox } from '../../connectors/dropbox/index.js';
import { itemsOfPages } from '../../connectors/gitbook/adapter.js';
import { github } from '../../connectors/github/index.js';
import { commentOf, issueOf, pullOf } from '../../connectors/github/records.js';
import { itemOfFile } from '../../connectors/google/drive/adapter.js';
import { driveChanges } from '../../connectors/google/drive/changes.js';
import { rootOf } from '../../connectors/google/drive/places.js';
import { addressesIn, itemOfMessage } from '../../connectors/google/gmail/adapter.js';
import { googleCloudStorage } from '../../connectors/google/storage/index.js';
import { Fault } from '../../contract/failures.js';
import { faultOf } from '../support/faultOf.js';
import { scriptedClient } from './scripted.js';

const GRANT = { accessToken: 'token', facts: {} };
const OPTIONS = { saveAs: null, version: null };
const GOOGLE = 'application/vnd.google-apps.';

test('Google Drive: a changed file of a drive that the account is not a member of belongs to the shared files', async () => {
  const fileOf = (id: string, driveId: string) => ({
    ...{ changeType: 'file', fileId: id, removed: false },
    file: { id, name: id, mimeType: 'text/plain', driveId, parents: ['p'] },
  });
  const { client } = scriptedClient(GRANT, () => ({
    changes: [fileOf('own', 'member'), fileOf('other', 'foreign')],
    newStartPageToken: '2',
  }));
  const token = JSON.stringify({
    logs: [
      ['', '1'],
      ['member', '1'],
    ],
    ...{ at: 0, root: 'root' },
  });
  const { changes } = await driveChanges.since(client, token);
  const roots = changes.map((change) => 'item' in change && [change.item.externalId, change.item.rootExternalId]);
  expect(roots).toEqual([
    ['own', 'member'],
    ['other', 'shared.with.me'],
  ]);
});

test('Google Drive: requests each folder above a file once; a file below a hidden folder is a shared one', async () => {
  const { client, requests } = scriptedClient(GRANT, ({ path }) => {
    const id = path.split('/')[1]!;
    if (id === 'closed') return new Fault('access_denied', 'no');
    return { id, name: id, parents: [{ inner: 'outer', outer: 'root' }[id]] };
  });
  const folders = new Map();
  const files = [{ parents: ['inner'] }, { parents: ['inner'] }, { parents: ['outer'] }, { parents: ['closed'] }];
  const roots = [];
  for (const file of files) roots.push(await rootOf(client, file, 'root', folders));
  expect(roots).toEqual(['root', 'root', 'root', 'shared.with.me']);
  expect(requests.map(({ path }) => path)).toEqual(['files/inner', 'files/outer', 'files/closed']);
});

test('Google Drive: a shortcut to a form cannot be selected, and one to a folder has a reason instead of contents', () => {
  const shortcut = (targetMimeType: string) =>
    itemOfFile(
      { id: 'a', name: 'A', mimeType: `${GOOGLE}shortcut`, shortcutDetails: { targetId: 't', targetMimeType } },
      'root',
    );
  expect(shortcut(`${GOOGLE}form`)).toMatchObject({ isSelectable: false, hasContent: true, fileFormat: null });
  expect(shortcut(`${GOOGLE}document`)).toMatchObject({ isSelectable: true, hasContent: true, fileFormat: 'MD' });
  expect(shortcut(`${GOOGLE}folder`)).toMatchObject({
    ...{ isSelectable: true, isExpandable: false, hasContent: false },
    skipReason: expect.stringContaining('Select the shortcut itself'),
  });
});

test('Gmail: a message has at most 100 recipients, each once, and no folder whose id is invalid', () => {
  const many = Array.from({ length: 150 }, (_, index) => `P${index} <p${index}@sea.example>`).join(', ');
  expect(addressesIn(many)).toHaveLength(100);
  expect(addressesIn('Ada <a@sea.example>, a@sea.example, "Pier, Ben" <b@sea.example>, ')).toEqual([
    ...['a@sea.example', 'b@sea.example'],
  ]);
  expect(itemOfMessage({ id: 'm', labelIds: ['Label_/x', 'INBOX'] })?.parentExternalId).toBe('label:INBOX');
});

test('Box: a file that Box has not prepared yet is retried after Retry-After, or after ten seconds; a hash in upper case is accepted', async () => {
  const bytes = Buffer.from('The lighthouse');
  const sha1 = createHash('sha1').update(bytes).digest('hex').toUpperCase();
  const { client } = scriptedClient(GRANT, () => ({ type: 'file', id: '1', name: 'a.md', sha1 }));
  const openWith = (status: number, headers: Readonly<Record<string, string>> = {}) =>
    box.open({ ...client, content: async () => ({ status, headers, bytes }) }, '1', OPTIONS);
  expect((await faultOf(openWith(202))).retryAfterMs).toBe(10_000);
  expect((await faultOf(openWith(202, { 'retry-after': '3' }))).retryAfterMs).toBe(3_000);
  expect((await openWith(200)).name).toBe('a.md');
});

test('Box: reads the item of an event in each of its formats, and ends at a position that does not advance', async () => {
  const entries = [
    { source: { type: 'file', id: '1' } },
    { source: { item_type: 'folder', item_id: '2' } },
    { source: { type: 'collaboration', id: 'c', item: { type: 'file', id: '3' } } },
    { source: null },
  ];
  const { client } = scriptedClient(GRANT, ({ path, query }) =>
    path === 'events'
      ? { entries, next_stream_position: query['stream_position'] }
      : { type: path.startsWith('folders') ? 'folder' : 'file', id: path.split('/')[1], name: path },
  );
  const page = await boxChanges.since(client, JSON.stringify({ position: '5', at: Date.now() }));
  expect(page.changes.map((change) => 'item' in change && change.item.externalId)).toEqual(['1', 'folder:2', '3']);
  expect(page.more).toBe(false);
});

test('Dropbox: the version of a file is its content, not its revision, and its address has a maximum length', () => {
  const file = { '.tag': 'file', id: 'id:1', name: 'a.md', path_lower: '/a.md', rev: '1', content_hash: 'h' };
  const item = (more: object) => dropboxItem({ ...file, ...more }, { parent: null, root: null })!;
  expect(item({ rev: '2' }).version).toBe(item({}).version);
  expect(item({ content_hash: 'i' }).version).not.toBe(item({}).version);
  expect(item({ path_lower: `/${'x'.repeat(3_000)}` }).externalUrl).toHaveLength(2_048);
  const paper = { is_downloadable: false, export_info: { export_as: 'markdown' } };
  expect(item({ ...paper, name: 'Plan.paper' }).fileFormat).toBe('MD');
});

test('Dropbox: a file that changed after its listing has the metadata of the downloaded version', async () => {
  const bytes = Buffer.from('new');
  const listed = { '.tag': 'file', id: 'id:1', name: 'a.md', rev: '1', content_hash: 'old' };
  const { client } = scriptedClient(GRANT, ({ path }) => (path === 'files/get_metadata' ? listed : {}));
  const openWith = (result: object) => {
    const headers = { 'dropbox-api-result': JSON.stringify(result) };
    return dropbox.open({ ...client, content: async () => ({ status: 200, headers, bytes }) }, 'id:1', OPTIONS);
  };
  const downloaded = { ...listed, name: 'b.md', rev: '2', content_hash: contentHash(bytes) };
  expect(await openWith(downloaded)).toMatchObject({ name: 'b.md', fileMetadata: { rev: '2' } });
  expect((await faultOf(openWith({ ...downloaded, id: 'id:2' }))).kind).toBe('server_error');
});

test('Dropbox: a change feed whose position is unknown or unreadable is stale, and a failing one is not', async () => {
  const kindAfter = async (kind: 'not_found' | 'bad_response' | 'server_error') => {
    const { client } = scriptedClient(GRANT, ({ path }) =>
      path === 'users/get_current_account' ? {} : new Fault(kind, 'no'),
    );
    const token = JSON.stringify({ passes: 0, begun: Date.now(), cursor: 'c', isUnderWay: false });
    return (await faultOf(dropbox.changes!.since(client, token))).kind;
  };
  expect([await kindAfter('not_found'), await kindAfter('bad_response'), await kindAfter('server_error')]).toEqual([
    ...['stale_cursor', 'stale_cursor', 'server_error'],
  ]);
});

test('GitHub: reads the default branch, with addresses of files and directories on it', async () => {
  const answers: Readonly<Record<string, object>> = {
    'repos/ada/atlas': { full_name: 'ada/atlas', default_branch: 'docs/a b', html_url: 'https://github.com/ada/atlas' },
    'repos/ada/atlas/branches/docs/a b': { commit: { sha: 'c', commit: { tree: { sha: 't' } } } },
    'repos/ada/atlas/git/trees/t': {
      tree: [
        { path: 'x', type: 'tree', sha: '1' },
        { path: 'x/y.md', type: 'blob', sha: '2', size: 3, mode: '100644' },
      ],
    },
  };
  const { client } = scriptedClient({ username: 'ada', accessToken: 't' }, ({ path }) => answers[path]);
  const { items } = await github.listDescendants(client, 'ada/atlas', null);
  expect(items.map(({ externalUrl }) => externalUrl)).toEqual([
    'https://github.com/ada/atlas',
    'https://github.com/ada/atlas/tree/docs/a%20b/x',
    'https://github.com/ada/atlas/blob/docs/a%20b/x/y.md',
  ]);
});

test('GitHub: reads an empty file without a request for its blob; HTTP 409, sent for empty repositories, is not found', async () => {
  const file = { type: 'file', sha: 's', size: 0, encoding: 'base64', content: '' };
  const { client, requests } = scriptedClient({ username: 'ada', accessToken: 't' }, () => file);
  expect((await github.open(client, 'ada/atlas/empty.md', OPTIONS)).bytes).toHaveLength(0);
  expect(requests).toHaveLength(1);
  expect(github.classify!({ status: 409, headers: {}, body: null })).toBe('not_found');
});

test('GitHub: records have each time in its own field, and a deleted account is shown as ghost', () => {
  const times = { created_at: '1', updated_at: '2', closed_at: null };
  expect(issueOf({ ...times, user: null })).toMatchObject({ ...times, user: { login: 'ghost' }, closed_by: null });
  expect(pullOf({ ...times, merged_at: '3', user: null })).toMatchObject({
    ...times,
    merged_at: '3',
    user: { login: 'ghost' },
  });
  expect(issueOf({ ...times, closed_at: '4' })).toMatchObject({ closed_at: '4' });
  expect(commentOf({ ...times, user: null })).toMatchObject({ user: { login: 'ghost' } });
});

test('Confluence: finds a site by its name in any case; the version of a page depends on its date', async () => {
  const values = [
    { id: 'c1', url: 'https://Pier.atlassian.net' },
    { id: 'c2', url: 'https://dock.atlassian.net' },
  ];
  const { client } = scriptedClient({ accessToken: 't', facts: { subdomain: 'PIER' } }, () => ({ values }));
  expect((await siteOf(client)).cloudId).toBe('c1');
  const site = { cloudId: 'c1', subdomain: 'pier', url: 'https://pier.atlassian.net' };
  const versionAt = (createdAt: string) =>
    itemOfContent(site, 'pages', { id: '1', spaceId: '100', version: { number: 2, createdAt } })!.version;
  expect(versionAt('2026-03-03T10:00:00Z')).not.toBe(versionAt('2026-03-04T10:00:00Z'));
  const folder = itemOfContent(site, 'blogposts', { id: '1', spaceId: '100', parentId: '9', parentType: 'whiteboard' });
  expect(folder).toMatchObject({ parentExternalId: 'space:100', isExpandable: false });
});

test('Google Cloud Storage: lists active projects only, and an object has its stored type', async () => {
  const { client, requests } = scriptedClient(GRANT, ({ path }) =>
    path === 'projects' ? {} : { name: 'a', contentType: 'text/csv', etag: 'e' },
  );
  expect(await googleCloudStorage.listRoots(client, null)).toEqual({ items: [], next: null, isPartial: true });
  expect(requests[0]!.query['filter']).toBe('lifecycleState:ACTIVE');
  const content = async () => ({ status: 200, headers: { 'content-type': 'text/html' }, bytes: new Uint8Array() });
  expect((await googleCloudStorage.open({ ...client, content }, 'bucket/a', OPTIONS)).contentType).toBe('text/csv');
});

test('GitBook: a page has its address on the published site, else in the application', () => {
  const page = { id: 'p', type: 'document', title: 'P', path: 'a/b', urls: { app: 'https://app.example/p' } };
  const urlOf = (published?: string, more: object = {}) =>
    itemsOfPages({ id: 's', urls: published === undefined ? {} : { published } }, [{ ...page, ...more }]).items[0]!
      .externalUrl;
  expect([urlOf('https://docs.example/'), urlOf(), urlOf('https://docs.example', { path: undefined })]).toEqual([
    ...['https://docs.example/a/b', 'https://app.example/p', 'https://app.example/p'],
  ]);
});
