/** Tests of file sources, documentation sources and GitHub with answers that their emulators do not send. */
import { expect, test } from '@jest/globals';

import { itemOf as boxItem } from '../../connectors/box/adapter.js';
import { box } from '../../connectors/box/index.js';
import { azureBlobStorage } from '../../connectors/azureBlobStorage/index.js';
import { confluence } from '../../connectors/confluence/index.js';
import { listChildren } from '../../connectors/confluence/tree.js';
import { contentOf as d360Content, itemsOfCategories, workspaceOf } from '../../connectors/document360/adapter.js';
import { document360 } from '../../connectors/document360/index.js';
import { exportOf, itemOf as dropboxItem } from '../../connectors/dropbox/adapter.js';
import { dropbox } from '../../connectors/dropbox/index.js';
import { classOfStatus } from '../../connectors/errorClasses.js';
import { gitbook } from '../../connectors/gitbook/index.js';
import { github } from '../../connectors/github/index.js';
import { classify, projectLimit, waitMs } from '../../connectors/google/api.js';
import { googleDrive } from '../../connectors/google/drive/index.js';
import { gmail } from '../../connectors/google/gmail/index.js';
import { googleCloudStorage } from '../../connectors/google/storage/index.js';
import { guru } from '../../connectors/guru/index.js';
import { createItem, fileBytes } from '../../connectors/items.js';
import { asLink, asName, asTimestamp } from '../../connectors/json.js';
import { createObjectTree } from '../../connectors/objectTree.js';
import { createSourceCache } from '../../connectors/sourceCache.js';
import { Fault } from '../../contract/failures.js';
import type { GitHubListQuery } from '../../contract/sources/liveReads.js';
import { faultOf } from '../support/faultOf.js';
import { readListing } from './account.js';
import { scriptedClient } from './scripted.js';

const GRANT = { accessToken: 'token', facts: {} };
const NO_BYTES = new Uint8Array();
const OPTIONS = { saveAs: null, version: null };

test('Google: the reason of a refusal decides its class, its wait and whether it concerns the whole project', () => {
  const refusal = (status: number, reason: string, more: object = {}) => ({
    ...{ status, headers: {}, body: { error: { errors: [{ reason }] } } },
    ...more,
  });
  const waitOf = (...given: Parameters<typeof refusal>) => waitMs(refusal(...given), 0);
  expect([
    waitOf(403, 'rateLimitExceeded'),
    waitOf(403, 'dailyLimitExceeded'),
    waitOf(429, 'rateLimitExceeded', { headers: { 'retry-after': '3' } }),
  ]).toEqual([10_000, 3_600_000, null]);
  const isOfProject = (status: number, reason: string) => projectLimit.appliesTo(refusal(status, reason));
  expect([
    isOfProject(403, 'rateLimitExceeded'),
    isOfProject(403, 'dailyLimitExceeded'),
    isOfProject(403, 'userRateLimitExceeded'),
    isOfProject(429, 'rateLimitExceeded'),
  ]).toEqual([true, true, false, false]);
  const expired = (location: string) => ({ body: { error: { errors: [{ reason: 'invalid', location }] } } });
  expect([
    classify(refusal(410, 'x')),
    classify(refusal(400, 'invalid', expired('pageToken'))),
    classify(refusal(400, 'invalid', expired('startHistoryId'))),
    classify(refusal(400, 'invalid', expired('q'))),
    classify(refusal(403, 'exportSizeLimitExceeded')),
  ]).toEqual(['cursor_invalid', 'cursor_invalid', 'cursor_invalid', null, 'not_exportable']);
});

test('an account is named by its email address in lower case, or by a stable id if it has none', async () => {
  const named: Record<string, string> = {};
  const grant = (answer: unknown) => scriptedClient(GRANT, () => answer).client;
  const [email, name] = ['Ada@Harbour.example', 'Ada'];
  const about = (user: object) => grant({ user });
  named['drive'] = (await googleDrive.identify(about({ emailAddress: email, permissionId: 'p1' }))).account;
  named['drive by id'] = (await googleDrive.identify(about({ permissionId: 'p1' }))).account;
  named['storage'] = (await googleCloudStorage.identify(grant({ email, sub: 's1', name }))).account;
  named['storage by id'] = (await googleCloudStorage.identify(grant({ sub: 's1' }))).account;
  named['gmail'] = (await gmail.identify(grant({ emailAddress: email }))).account;
  named['box'] = (await box.identify(grant({ id: 'b1', login: email }))).account;
  named['box by id'] = (await box.identify(grant({ id: 'b1' }))).account;
  named['dropbox'] = (await dropbox.identify(grant({ account_id: 'd1', email }))).account;
  named['dropbox by id'] = (await dropbox.identify(grant({ account_id: 'd1' }))).account;
  const sites = { values: [{ id: 'c1', url: 'https://pier.atlassian.net' }] };
  const atlassian = (me: object) => scriptedClient(GRANT, ({ path }) => (path === 'me' ? me : sites)).client;
  named['confluence'] = (await confluence.identify(atlassian({ account_id: 'a1', email }))).account;
  named['confluence by id'] = (await confluence.identify(atlassian({ account_id: 'a1' }))).account;
  const github1 = scriptedClient({ username: ' ADA ', accessToken: 't' }, () => ({ id: 7, login: 'ada' })).client;
  named['github'] = (await github.identify(github1)).account;
  expect(named).toEqual({
    ...{ drive: 'ada@harbour.example', 'drive by id': 'p1', gmail: 'ada@harbour.example' },
    ...{ storage: 'ada@harbour.example', 'storage by id': 's1', box: 'ada@harbour.example', 'box by id': 'b1' },
    ...{ dropbox: 'ada@harbour.example', 'dropbox by id': 'd1', github: '7' },
    ...{ confluence: 'ada@harbour.example|c1/pier', 'confluence by id': 'a1|c1/pier' },
  });
  const other = scriptedClient({ username: 'ben', accessToken: 't' }, () => ({ id: 7, login: 'ada' })).client;
  expect((await faultOf(github.identify(other))).kind).toBe('access_denied');
});

test('Gmail: a message that was deleted and a message in the trash are gone, and the rest of the history follows', async () => {
  const added = (id: string) => ({ messagesAdded: [{ message: { id } }] });
  const { client } = scriptedClient(GRANT, ({ path, query }) => {
    if (path === 'history')
      return query['pageToken'] === undefined
        ? {
            historyId: '9',
            nextPageToken: 'second',
            history: [added('a'), added('b'), added('c'), { messagesDeleted: [{ message: { id: 'b' } }] }],
          }
        : { historyId: '9' };
    if (path === 'labels') return { labels: [{ id: 'INBOX', name: 'INBOX', type: 'system' }] };
    const id = path.split('/')[1]!;
    return { id, labelIds: id === 'c' ? ['INBOX', 'TRASH'] : ['INBOX'], historyId: '8' };
  });
  const first = await gmail.changes!.since(client, JSON.stringify({ start: '5', token: null }));
  const changed = first.changes.map((change) => ('gone' in change ? `-${change.gone}` : change.item.externalId));
  expect(changed).toEqual(['label:INBOX', 'a', '-b', '-c']);
  expect([JSON.parse(first.next), first.more]).toEqual([{ start: '5', token: 'second' }, true]);
  const second = await gmail.changes!.since(client, first.next);
  expect([second.changes, JSON.parse(second.next), second.more]).toEqual([[], { start: '9', token: null }, false]);
});

test('Document360: articles that were never published, hidden articles and articles of hidden categories have a reason instead of content', () => {
  const article = (id: string, more: object = {}) => ({ id, status: 3, public_version: 1, title: id, ...more });
  const categories = [
    {
      id: 'open',
      articles: [article('a'), article('b', { hidden: true }), article('c', { status: 0, public_version: 0 })],
    },
    {
      ...{ id: 'closed', hidden: true, articles: [article('d')] },
      child_categories: [{ id: 'inner', articles: [article('e')] }],
    },
    { id: 'last', articles: [article('f', { status: 0, public_version: 2 })] },
  ];
  const articles = itemsOfCategories('w', categories).filter(({ itemType }) => itemType === 'ARTICLE');
  expect(
    articles.map(({ name, hasContent, isSelectable, skipReason }) => [
      name,
      hasContent,
      isSelectable,
      skipReason?.slice(0, 15),
    ]),
  ).toEqual([
    ['a', true, true, undefined],
    ['b', false, false, 'It is hidden fr'],
    ['c', false, false, 'It is not publi'],
    ['d', false, false, 'It is hidden fr'],
    ['e', false, false, 'It is hidden fr'],
    ['f', true, true, undefined],
  ]);
});

test('Document360: an article is read in the default language of its workspace; the workspaces are cached by token', async () => {
  const languages = [{ code: 'en' }, { code: 'de', set_as_default: true }];
  expect(workspaceOf({ id: 'w', language_versions: languages })?.language).toBe('de');
  expect(workspaceOf({ id: 'w', language_versions: [{ code: 'fr' }] })?.language).toBe('fr');
  const cache = createSourceCache();
  const clientOf = (accessToken: string, code: string) =>
    scriptedClient(
      { accountEmail: 'ada@a.example', accessToken },
      ({ path }) => ({
        data: path.endsWith('ProjectVersions')
          ? [{ id: 'w', language_versions: [{ code }] }]
          : { id: 'a', title: 'A', content: 'Text.', category_id: 'c' },
      }),
      cache,
    );
  const [first, second] = [clientOf('one', 'de'), clientOf('two', 'fr')];
  const content = await document360.open(first.client, 'w/article:a', OPTIONS);
  expect([Buffer.from(content.bytes).toString(), content.mimeType]).toEqual(['# A\n\nText.', 'text/markdown']);
  await document360.open(first.client, 'w/article:b', OPTIONS);
  await document360.open(second.client, 'w/article:a', OPTIONS);
  const paths = [...first.requests, ...second.requests].map(({ path }) => path.replace(/^v2\//, ''));
  expect(paths).toEqual([
    ...['ProjectVersions', 'Articles/a/de', 'Articles/b/de'],
    ...['ProjectVersions', 'Articles/a/fr'],
  ]);
  expect(d360Content({ title: 'A', html_content: '<p>x</p>' }, 'id').mimeType).toBe('text/html');
});

test('Document360: the oldest workspace identifies the project, in whatever order they are listed', async () => {
  const workspaces = [
    { id: 'new', created_at: '2026-02-01T00:00:00' },
    { id: 'old', created_at: '2025-02-01T00:00:00' },
  ];
  const { client } = scriptedClient({ accountEmail: ' Ada@A.example', accessToken: 't' }, () => ({ data: workspaces }));
  expect((await document360.identify(client)).account).toBe('ada@a.example|old');
});

test('Dropbox: a folder that the account cannot open gets hasContent, so that its file has an error; a 429 may state its wait in the body', () => {
  const folder = { '.tag': 'folder', id: 'id:1', name: 'Team', path_lower: '/team' };
  const item = (sharing: object) => dropboxItem({ ...folder, sharing_info: sharing }, { parent: null, root: null });
  expect(item({ no_access: true })).toMatchObject({ isSelectable: false, isExpandable: false, hasContent: true });
  expect(item({ no_access: false })).toMatchObject({ isSelectable: true, isExpandable: true, hasContent: false });
  const waitOf = (headers: Readonly<Record<string, string>>, seconds: unknown) =>
    dropbox.waitMs!({ status: 429, headers, body: { error: { retry_after: seconds } } }, 0);
  expect([waitOf({}, 7), waitOf({ 'retry-after': '3' }, 7), waitOf({}, 'soon')]).toEqual([7_000, null, null]);
  expect(
    exportOf({ is_downloadable: false, export_info: { export_as: 'html', export_options: ['markdown'] } }),
  ).toEqual({
    format: 'markdown',
  });
});

test('Dropbox: the root of a deeper item is its outermost folder; the id of each folder is requested once per page', async () => {
  const entry = (path: string) => ({ '.tag': 'file', id: `id:${path.length}`, name: path, path_lower: path });
  const { client, requests } = scriptedClient(GRANT, ({ path, query }) => {
    if (path === 'users/get_current_account') return {};
    if (path === 'files/get_metadata')
      return { '.tag': 'folder', id: `id:of${String(query['path']).replaceAll('/', '-')}` };
    return { entries: [entry('/a/b/c.txt'), entry('/a/b/cc.txt')], cursor: 'n', has_more: false };
  });
  const token = JSON.stringify({ passes: 0, begun: Date.now(), cursor: 'c', isUnderWay: false });
  const { changes } = await dropbox.changes!.since(client, token);
  expect(
    changes.map((change) => 'item' in change && [change.item.parentExternalId, change.item.rootExternalId]),
  ).toEqual(Array(2).fill(['id:of-a-b', 'id:of-a']));
  expect(requests.filter(({ path }) => path === 'files/get_metadata')).toHaveLength(2);
});

test('Box: an item in the trash is skipped, and the root of an item is the outermost folder below the root folder', () => {
  const folder = (id: string) => ({ type: 'folder', id });
  const file = {
    ...{ type: 'file', id: '5', name: 'a.md', etag: '3', parent: folder('2') },
    path_collection: { entries: [folder('0'), folder('1'), folder('2')] },
  };
  expect(boxItem(file)).toMatchObject({ parentExternalId: 'folder:2', rootExternalId: 'folder:1', version: '3 a.md' });
  expect(['trashed', 'deleted'].map((status) => boxItem({ ...file, item_status: status }))).toEqual([null, null]);
  expect(boxItem({ ...file, name: 'Plan.BOXNOTE' })).toMatchObject({ fileFormat: 'MD' });
});

test('Box: a folder whose page names itself as the next one ends, and an unknown position of the feed is an error', async () => {
  const { client, requests } = scriptedClient(GRANT, () => ({ entries: [], next_marker: 'm' }));
  await readListing((cursor) => box.listRoots(client, cursor));
  expect(requests.map(({ query }) => query['marker'])).toEqual([undefined, 'm']);
  const feed = scriptedClient(GRANT, () => ({ entries: [], next_stream_position: 'soon' }));
  expect((await faultOf(box.changes!.now(feed.client))).kind).toBe('server_error');
});

test('Confluence: reads the versions of all children of a page, also from a second page of versions', async () => {
  const child = (id: string) => ({ id, type: 'page', title: id });
  const page = (id: string) => ({ id, title: id, spaceId: '100', parentId: '1', version: { number: 1 } });
  const { client } = scriptedClient(GRANT, ({ path, query }) => {
    if (path.endsWith('/pages/1/direct-children'))
      return { results: [child('2'), child('3'), { id: '9', type: 'database' }] };
    if (path.endsWith('/direct-children')) return { results: [] };
    return query['cursor'] === undefined
      ? { results: [page('2')], _links: { next: '/x?cursor=second' } }
      : { results: [page('3'), { ...page('4'), status: 'archived' }] };
  });
  const site = { cloudId: 'c', subdomain: 's', url: 'https://s.atlassian.net' };
  const open = JSON.stringify({ open: [{ kind: 'pages', id: '1' }], at: null });
  const { items, skipped } = await listChildren({ client, site }, { kind: 'pages', id: '1' }, open);
  expect(items.map(({ externalId }) => externalId)).toEqual(['2', '3']);
  expect(skipped).toMatchObject([{ externalId: 'database:9' }]);
});

test('GitBook: a deleted space is not listed by its id either', async () => {
  const { client } = scriptedClient({ organization: 'o', accessToken: 't' }, ({ path }) =>
    path.endsWith('pages') ? { pages: [] } : { id: 's', deletedAt: '2026-03-03T00:00:00Z' },
  );
  expect((await faultOf(gitbook.listDescendants(client, 's', null))).kind).toBe('not_found');
});

test('GitHub: reads filtered pages of the only repository, and explains a page number that is too high', async () => {
  const request: GitHubListQuery = {
    ...{ repository: null, number: null, remote: true, filters: { head: 'fix', base: 'main' } },
    ...{ orderBy: 'updated', orderDir: 'desc' as const, page: 4, pageSize: 10, cursor: null },
  };
  let repositories = ['ada/atlas'];
  let answer: object = {
    values: [{ id: 1, number: 5 }],
    headers: { link: '<https://elsewhere.example/x?page=5&after=y>; rel="next"' },
  };
  const { client, requests } = scriptedClient({ username: 'ada', accessToken: 't' }, ({ path }) =>
    path === 'user/repos' ? { values: repositories.map((name) => ({ full_name: name })) } : answer,
  );
  const read = (more: object = {}) => github.reads!.pull_requests!(client, { ...request, ...more });
  const first = await read();
  expect(first).toMatchObject({ data: [{ id: 1, remote_data: { number: 5 } }] });
  expect(requests[1]).toEqual({
    path: 'repos/ada/atlas/pulls',
    query: {
      ...{ state: 'open', base: 'main', head: 'ada:fix', sort: 'updated', direction: 'desc' },
      ...{ per_page: '10', page: '4' },
    },
  });
  await read({
    cursor: (first as { next_cursor: string }).next_cursor,
    filters: { head: 'eve:fix', state: 'all' },
    orderBy: null,
  });
  expect(requests[3]!.query).toEqual({ state: 'all', head: 'eve:fix', per_page: '10', page: '5', after: 'y' });
  answer = new Fault('bad_response', 'no');
  expect((await faultOf(read())).message).toContain('next_cursor');
  expect((await faultOf(read({ page: 1 }))).message).toBe('no');
  answer = new Fault('not_found', 'no');
  expect(await read()).toBeNull();
  repositories = ['ada/atlas', 'ada/pier'];
  expect((await faultOf(read())).kind).toBe('bad_response');
});

test('Azure: an unknown host is an unknown account', async () => {
  const credentials = { accountName: 'docks', accountKey: 'a2V5' };
  const { client } = scriptedClient(credentials, () => null);
  const failing = (kind: 'dns_failed' | 'server_error') =>
    azureBlobStorage.identify({ ...client, send: () => Promise.reject(new Fault(kind, 'no')) });
  expect((await faultOf(failing('dns_failed'))).kind).toBe('not_found');
  expect((await faultOf(failing('server_error'))).kind).toBe('server_error');
});

test('objects have their time of creation, and the type of their extension unless a specific one is stored', () => {
  const tree = createObjectTree({
    addressOf: (container, key) => `s://${container}/${key}`,
    containerType: 'C',
    containerField: 'c',
  });
  const createdAt = new Date('2026-03-03T10:00:00Z');
  const objects = [{ key: 'a/b.md', createdAt, etag: 'e' }];
  expect(tree.itemsOfObjects('docks', objects, { after: '', below: '' })).toMatchObject([
    { externalId: 'docks/a/', parentExternalId: 'docks', itemType: 'FOLDER', hasContent: false, createdAt: null },
    {
      ...{ externalId: 'docks/a/b.md', parentExternalId: 'docks/a/', rootExternalId: 'docks', version: 'e' },
      ...{ createdAt: createdAt.toISOString(), fileFormat: 'MD', externalUrl: 's://docks/a/b.md' },
    },
  ]);
  const typeOf = (declared: string | null, name: string | null) => fileBytes(NO_BYTES, declared, name).contentType;
  expect([
    typeOf('application/octet-stream', 'a.csv'),
    typeOf('text/html; charset=latin1', 'a.csv'),
    typeOf(null, 'a.bin'),
    typeOf('', null),
  ]).toEqual(['text/csv', 'text/html; charset=latin1', 'application/octet-stream', 'application/octet-stream']);
  expect(fileBytes(NO_BYTES, 'text/html; charset=latin1', null).mimeType).toBe('text/html');
  const content = tree.contentOf('docks', 'a/b.md', { bytes: NO_BYTES, contentType: undefined, etag: 'e' });
  expect(content).toMatchObject({ name: 'b.md', fileMetadata: { type: 'FILE', c: 'docks', etag: 'e' } });
});

test('names, links and times of answers are shortened, checked and normalised', () => {
  expect([asName('n'.repeat(1_001)), asName(''), asName(7)]).toEqual(['n'.repeat(1_000), null, null]);
  const long = `https://a.example/${'x'.repeat(2_048)}`;
  expect([asLink('https://a.example'), asLink('javascript:x'), asLink(long), asLink('')]).toEqual([
    ...['https://a.example', null],
    ...[null, null],
  ]);
  expect([asTimestamp('2026-03-03T11:00:00+01:00'), asTimestamp('soon'), asTimestamp(1)]).toEqual([
    ...['2026-03-03T10:00:00.000Z', null, null],
  ]);
  expect(createItem({ externalId: 'a', name: 'A', itemType: 'FILE' })).toMatchObject({
    ...{ isSelectable: true, isExpandable: false, hasContent: false, parentExternalId: null },
  });
  expect([401, 403, 451, 404, 410, 429, 408, 500, 503, 400, 302].map(classOfStatus)).toEqual([
    ...['auth_revoked', 'forbidden_item', 'forbidden_item', 'not_found', 'not_found', 'rate_limited'],
    ...['server', 'server', 'server', 'config', 'config'],
  ]);
});

test('error codes of Box and Dropbox decide the class of a refusal, wherever Dropbox writes them', () => {
  const boxClass = (code: string) => box.classify!({ status: 403, headers: {}, body: { code } });
  const codes = ['trashed', 'rate_limit_exceeded', 'operation_limit_exceeded', 'download_prohibited', 'toString', ''];
  expect(codes.map(boxClass)).toEqual([
    ...['not_found', 'rate_limited', 'rate_limited', 'forbidden_item'],
    ...[null, null],
  ]);
  const dropboxClass = (body: object) => dropbox.classify!({ status: 409, headers: {}, body });
  expect([
    dropboxClass({ error_summary: 'path/not_found/..' }),
    dropboxClass({ error: { '.tag': 'reset' } }),
    dropboxClass({ error_summary: 'too_many_requests/' }),
    dropboxClass({ error_summary: 'invalid_root/..' }),
    dropboxClass({ error_summary: 'other/..' }),
  ]).toEqual(['not_found', 'cursor_invalid', 'rate_limited', 'server', null]);
});

test('long lists are requested in an order in which items created during the listing do not shift the next page', async () => {
  const queryOf = async (list: (client: ReturnType<typeof scriptedClient<never>>['client']) => Promise<unknown>) => {
    const { client, requests } = scriptedClient({ ...GRANT, username: 'ada' } as never, ({ path }) =>
      path.startsWith('oauth') ? { values: [{ id: 'c', url: 'https://a.atlassian.net' }] } : null,
    );
    await list(client).catch(() => undefined);
    return requests.at(-1)!.query;
  };
  expect(await queryOf((client) => googleDrive.listDescendants(client, 'shared.with.me', null))).toMatchObject({
    orderBy: 'createdTime',
  });
  expect(await queryOf((client) => confluence.listRoots(client, null))).toMatchObject({
    sort: 'id',
    status: 'current',
  });
  const cards = JSON.stringify({ root: 'collection:c', open: [], at: null, rest: 'c' });
  expect(await queryOf((client) => guru.listDescendants(client, 'collection:c', cards))).toMatchObject({
    ...{ sortField: 'dateCreated', sortOrder: 'asc' },
  });
});
