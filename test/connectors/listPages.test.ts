/** Which state listings keep from page to page, and by which keys connectors cache values. */
import { expect, test } from '@jest/globals';

import { siteOf } from '../../connectors/confluence/api.js';
import { listSpace } from '../../connectors/confluence/tree.js';
import { callApi as callDropbox, isInTeam } from '../../connectors/dropbox/api.js';
import { listFolder } from '../../connectors/dropbox/tree.js';
import { github } from '../../connectors/github/index.js';
import { nextFoldersPage, walkFrom } from '../../connectors/google/drive/walk.js';
import { googleCloudStorage } from '../../connectors/google/storage/index.js';
import { fetchSigned } from '../../connectors/helpdesk.js';
import { fetchRows } from '../../connectors/notion/rows.js';
import { messagesAt } from '../../connectors/slack/history.js';
import { readMessage } from '../../connectors/slack/message.js';
import { userName } from '../../connectors/slack/names.js';
import { close, groupMessages } from '../../connectors/slack/windows.js';
import { createSourceCache } from '../../connectors/sourceCache.js';
import { listRoots as zendeskRoots } from '../../connectors/zendesk/articles.js';
import { Fault } from '../../contract/failures.js';
import { faultOf } from '../support/faultOf.js';
import { readListing } from './account.js';
import { scriptedClient, type ScriptedRequest } from './scripted.js';

const GRANT = { accessToken: 'token', facts: {} };
const grantOf = (accessToken: string, facts: Readonly<Record<string, string>> = {}) => ({ accessToken, facts });

test('Google Cloud Storage: lists all pages of buckets of all pages of projects, and skips a project without access', async () => {
  const answers: Readonly<Record<string, object>> = {
    'projects -': { projects: [{ projectId: 'one' }, { projectId: 'two' }], nextPageToken: 'p2' },
    'projects p2': { projects: [{ projectId: 'three' }] },
    'one -': { kind: 'k', items: [{ name: 'one-a' }], nextPageToken: 'b2' },
    'one b2': { kind: 'k', items: [{ name: 'one-b' }] },
    'two -': new Fault('access_denied', 'no'),
    'three -': { kind: 'k', items: [{ name: 'three-a' }] },
  };
  const { client, requests } = scriptedClient(GRANT, ({ path, query }) => {
    const list = path === 'projects' ? path : String(query['project']);
    return answers[`${list} ${(query['pageToken'] as string | undefined) ?? '-'}`];
  });
  const { ids } = await readListing((cursor) => googleCloudStorage.listRoots(client, cursor));
  expect(ids).toEqual(['one-a', 'one-b', 'three-a']);
  expect(requests).toHaveLength(6);
});

test('Google Cloud Storage: lists a folder once, also if an empty page is between its objects', async () => {
  const pages = [['a/1.md'], [], ['a/2.md', 'b/3.md']];
  const { client } = scriptedClient(GRANT, () => {
    const items = pages.shift()!.map((name) => ({ name }));
    return { kind: 'k', items, ...(pages.length === 0 ? {} : { nextPageToken: `t${pages.length}` }) };
  });
  const { ids } = await readListing((cursor) => googleCloudStorage.listDescendants(client, 'bucket', cursor));
  expect(ids).toEqual(['bucket', ...['a/', 'a/1.md', 'a/2.md', 'b/', 'b/3.md'].map((key) => `bucket/${key}`)]);
});

test('GitHub: lists the repositories of all pages, oldest first', async () => {
  const { client, requests } = scriptedClient({ username: 'ada', accessToken: 't' }, ({ query }) => ({
    values: [{ id: 1, full_name: `ada/page${String(query['page'])}` }],
    headers:
      query['page'] === '3' ? {} : { link: `<https://a.example/x?page=${Number(query['page']) + 1}>; rel="next"` },
  }));
  expect((await readListing((cursor) => github.listRoots(client, cursor))).ids).toEqual([
    'ada/page1',
    'ada/page2',
    'ada/page3',
  ]);
  expect(requests[1]!.query).toEqual({ per_page: '100', page: '2', sort: 'created', direction: 'asc' });
});

test('Google Drive: searches below the folders of all pages in groups of 20, and refuses only a group with an incomplete search', async () => {
  const folders = Array.from({ length: 45 }, (_, index) => `folder-${String(index).padStart(2, '0')}`);
  const fileOf = (id: string) => ({ id, name: id, mimeType: 'application/vnd.google-apps.folder', parents: ['r'] });
  const { client, requests } = scriptedClient(GRANT, ({ query }) => {
    if (!String(query['q']).includes("'root-id'"))
      return { files: [], incompleteSearch: String(query['q']).includes("'folder-20'") };
    return query['pageToken'] === undefined
      ? { files: folders.slice(0, 30).map(fileOf), nextPageToken: 't2' }
      : { files: folders.slice(30).map(fileOf) };
  });
  const refused: string[] = [];
  for (let cursor: ReturnType<typeof walkFrom> | null = walkFrom('root-id', { root: 'root-id' }); cursor !== null;) {
    const page: Awaited<ReturnType<typeof nextFoldersPage>> = await nextFoldersPage(client, cursor);
    refused.push(...(page.refused ?? []));
    cursor = page.next;
  }
  const queried = requests.map(({ query }) =>
    [...String(query['q']).matchAll(/'([\w-]+)' in parents/g)].map(([, id]) => id),
  );
  expect(queried).toEqual([['root-id'], ['root-id'], folders.slice(0, 20), folders.slice(20, 40), folders.slice(40)]);
  expect(refused).toEqual(folders.slice(20, 40));
});

test('Dropbox: restarts the list of a folder after an expired cursor, and rejects a page with has_more but no cursor', async () => {
  const entries = [{ '.tag': 'file', id: 'id:1', name: '1', path_lower: '/1' }];
  const { client, requests } = scriptedClient(GRANT, ({ path }) => {
    if (path === 'users/get_current_account') return {};
    if (path.endsWith('continue')) return new Fault('stale_cursor', 'old');
    return { entries, has_more: false };
  });
  expect((await listFolder(client, 'id:f', 'c', 'id:f')).items).toHaveLength(1);
  expect(requests.map(({ path }) => path).filter((path) => path.includes('list_folder'))).toEqual([
    'files/list_folder/continue',
    'files/list_folder',
  ]);
  const broken = scriptedClient(GRANT, ({ path }) => (path.includes('list_folder') ? { entries, has_more: true } : {}));
  expect((await faultOf(listFolder(broken.client, 'id:f', null, 'id:f'))).kind).toBe('server_error');
});

test('Dropbox: caches the root of a team by token, until a server error', async () => {
  const cache = createSourceCache();
  let isFailing = false;
  const clientOf = (token: string) =>
    scriptedClient(
      grantOf(token),
      ({ path }) => {
        if (path !== 'users/get_current_account') return isFailing ? new Fault('server_error', 'away') : {};
        return { root_info: { root_namespace_id: token === 'team' ? '7' : '1', home_namespace_id: '1' } };
      },
      cache,
    );
  const [team, own] = [clientOf('team'), clientOf('own')];
  expect([await isInTeam(team.client), await isInTeam(own.client), await isInTeam(team.client)]).toEqual([
    true,
    false,
    true,
  ]);
  expect(team.requests).toHaveLength(1);
  isFailing = true;
  expect((await faultOf(callDropbox(team.client, ['files', 'x'], {}))).kind).toBe('server_error');
  isFailing = false;
  await callDropbox(team.client, ['files', 'x'], {});
  expect(team.requests.map(({ path }) => path)).toEqual([
    ...['users/get_current_account', 'files/x', 'users/get_current_account', 'files/x'],
  ]);
});

test('Confluence: caches the site by token and subdomain', async () => {
  const cache = createSourceCache();
  const resource = (id: string) => ({ id, url: `https://${id}.atlassian.net`, scopes: [] });
  const sites: Readonly<Record<string, readonly object[]>> = {
    a: [resource('pier'), resource('dock')],
    b: [resource('pier')],
  };
  const siteFor = async (token: string, subdomain: string) => {
    const { client } = scriptedClient(grantOf(token, { subdomain }), () => ({ values: sites[token] }), cache);
    return (await siteOf(client)).cloudId;
  };
  expect([await siteFor('a', 'pier'), await siteFor('a', 'dock'), await siteFor('b', 'pier')]).toEqual([
    'pier',
    'dock',
    'pier',
  ]);
  expect((await faultOf(siteFor('b', 'dock'))).kind).toBe('access_denied');
});

test('Confluence: requests a folder once per listing of its space, even if two pages of the list contain items in it', async () => {
  const page = (id: string) => ({
    id,
    spaceId: '100',
    title: id,
    parentId: '7',
    parentType: 'folder',
    status: 'current',
  });
  const { client, requests } = scriptedClient(GRANT, ({ path, query }: ScriptedRequest) => {
    const [kind, id] = path.split('/v2/')[1]!.split('/').slice(0, 2);
    if (kind === 'folders') return { id, title: 'Folder' };
    if (path.endsWith('/spaces/100')) return { id: '100', name: 'Space' };
    if (path.endsWith('blogposts')) return { results: [] };
    return query['cursor'] === undefined
      ? { results: [page('1')], _links: { next: '/x?cursor=second' } }
      : { results: [page('2')], _links: {} };
  });
  const site = { cloudId: 'c', subdomain: 's', url: 'https://s.atlassian.net' };
  const { ids } = await readListing((cursor) => listSpace({ client, site }, '100', cursor));
  expect(ids).toEqual(['space:100', 'folder:7', '1', '2']);
  expect(requests.filter(({ path }) => path.endsWith('folders/7'))).toHaveLength(1);
});

test('Notion: repeats an incomplete query of rows from the last row, even if later pages of the query are empty', async () => {
  const row = (at: string) => ({ object: 'page', created_time: at });
  const answers = [
    {
      results: [row('2026-01-01T00:00:00Z')],
      has_more: true,
      next_cursor: 'c2',
      request_status: { type: 'incomplete' },
    },
    { results: [], has_more: false, next_cursor: null },
    { results: [row('2026-01-01T00:00:00Z')], has_more: false, next_cursor: null },
  ];
  const { client, requests } = scriptedClient(GRANT, () => answers.shift());
  const first = await fetchRows(client, 'd', null);
  const second = await fetchRows(client, 'd', first.next!.at, first.next!.rows);
  expect([second.next, second.isCut]).toEqual([
    { at: null, rows: { since: '2026-01-01T00:00:00Z', last: null, isPartial: false } },
    false,
  ]);
  const third = await fetchRows(client, 'd', second.next!.at, second.next!.rows);
  expect([third.next, third.isCut]).toEqual([null, false]);
  expect(requests.map(({ query }) => [query['start_cursor'], query['filter']])).toEqual([
    [undefined, undefined],
    ['c2', undefined],
    [undefined, { timestamp: 'created_time', created_time: { on_or_after: '2026-01-01T00:00:00Z' } }],
  ]);
});

test('Slack: returns cached messages and names only to the token that read them', async () => {
  const cache = createSourceCache();
  const json = { ts: '1800000000.000100', user: 'U1', text: 'Hello' };
  const clientOf = (token: string) =>
    scriptedClient(
      grantOf(token),
      ({ path }) => (path === 'users.info' ? { ok: true, user: { name: token } } : { ok: true, messages: [json] }),
      cache,
    );
  const [group] = close(groupMessages([readMessage(json)!], null).open);
  const version = group?.kind === 'window' ? group.window.digest : '';
  const read = async (client: ReturnType<typeof clientOf>['client'], conversation = 'C1') =>
    messagesAt(client, { conversation, kind: 'window', start: 1_800_000_000 }, version);
  const [first, second] = [clientOf('first'), clientOf('second')];
  await read(first.client);
  expect(await read(first.client)).toHaveLength(1);
  expect(first.requests).toHaveLength(1);
  await read(second.client);
  expect(second.requests).toHaveLength(1);
  await read(first.client, 'C2');
  expect(first.requests).toHaveLength(2);
  const names = [
    await userName(first.client, 'U1'),
    await userName(second.client, 'U1'),
    await userName(first.client, 'U1'),
  ];
  expect(names).toEqual(['first', 'second', 'first']);
  expect(first.requests).toHaveLength(3);
});

test('Zendesk: requests a numbered page with the page size of its link, and lists `tickets` on the last page only', async () => {
  const { client, requests } = scriptedClient(GRANT, ({ query }) =>
    query['page'] === undefined
      ? { categories: [{ id: 1, name: 'One' }], next_page: 'https://a.example/x.json?page=2&per_page=30' }
      : { categories: [{ id: 2, name: 'Two' }], next_page: null },
  );
  expect((await readListing((cursor) => zendeskRoots(client, cursor))).ids).toEqual([
    'category:1',
    'category:2',
    'tickets',
  ]);
  expect(requests.map(({ query }) => query)).toEqual([{ 'page[size]': '100' }, { page: '2', per_page: '30' }]);
});

test('a signed address of an attachment may redirect three times, and its temporary failures do not count as a missing file', async () => {
  const fetchWith = (answers: readonly { readonly status: number; readonly location?: string }[]) => {
    const left = [...answers];
    const sent: string[] = [];
    const { client } = scriptedClient(GRANT, () => null);
    const send = async ({ url }: { readonly url: string }) => {
      sent.push(url);
      const { status, location } = left.shift()!;
      return { status, headers: location === undefined ? {} : { location }, bytes: new Uint8Array() };
    };
    return { sent, answer: fetchSigned({ ...client, send }, 'Zendesk', 'https://a.example/0') };
  };
  const hops = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ status: 302, location: `/${index + 1}` }));
  const followed = fetchWith([...hops(3), { status: 200 }]);
  expect((await followed.answer).status).toBe(200);
  expect(followed.sent).toEqual(['0', '1', '2', '3'].map((name) => `https://a.example/${name}`));
  expect((await faultOf(fetchWith(hops(4)).answer)).kind).toBe('not_found');
  expect(await faultOf(fetchWith([{ status: 429 }]).answer)).toMatchObject({
    kind: 'rate_limited',
    retryAfterMs: 10_000,
  });
  for (const status of [408, 500, 503])
    expect((await faultOf(fetchWith([{ status }]).answer)).kind).toBe('server_error');
  for (const status of [401, 403, 404, 410])
    expect((await faultOf(fetchWith([{ status }]).answer)).kind).toBe('not_found');
});
