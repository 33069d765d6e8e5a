/** Tests of change feeds, read page by page: the cursor after each page, and the reported changes and deletions. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';

import { boxChanges } from '../../connectors/box/changes.js';
import { dropboxChanges } from '../../connectors/dropbox/changes.js';
import { driveChanges } from '../../connectors/google/drive/changes.js';
import { threadChanges } from '../../connectors/intercom/changes.js';
import { looseFileChanges } from '../../connectors/salesforce/changes.js';
import { recordChanges } from '../../connectors/serviceNow/changes.js';
import { ticketChanges } from '../../connectors/zendesk/changes.js';
import { zoteroChanges } from '../../connectors/zotero/changes.js';
import { Fault } from '../../contract/failures.js';
import { faultOf } from '../support/faultOf.js';
import { readFeedPages, scriptedClient, type ScriptedRequest } from './scripted.js';

const NOW = Date.parse('2026-11-27T00:00:00Z');
const DAY_MS = 86_400_000;
beforeEach(() => void jest.useFakeTimers({ now: NOW, doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

const GRANT = { accessToken: 'token', facts: { subdomain: 'acme' } };
const parsed = (pages: readonly { readonly next: string }[]) =>
  pages.map(({ next }) => JSON.parse(next) as Record<string, unknown>);

/** Scripts Dropbox for a member of a team, with these pages of changes. */
const dropboxPages = (pages: readonly object[]) => {
  const left = [...pages];
  return scriptedClient(GRANT, ({ path }) =>
    path === 'users/get_current_account'
      ? { root_info: { root_namespace_id: '7', home_namespace_id: '1' } }
      : path === 'files/get_metadata'
        ? { '.tag': 'folder', id: 'id:above' }
        : left.shift(),
  );
};
const dropboxFile = (path: string) => ({
  '.tag': 'file',
  id: `id:${path.slice(1).replaceAll('/', '-')}`,
  path_lower: path,
  name: path,
});
const dropboxToken = (more: object) =>
  JSON.stringify({ passes: 3, begun: NOW, cursor: 'c', isUnderWay: false, ...more });

test('Dropbox: the last page of a sync increments `passes`; after 50 syncs of a team account the next one gets stale_cursor, but a sync in progress continues', async () => {
  const { client } = dropboxPages([
    { entries: [], cursor: 'c1', has_more: true },
    { entries: [], cursor: 'c2', has_more: false },
  ]);
  const pages = await readFeedPages((token) => dropboxChanges.since(client, token), dropboxToken({}));
  expect(parsed(pages)).toEqual([
    { passes: 3, begun: NOW, cursor: 'c1', isUnderWay: true },
    { passes: 4, begun: NOW, cursor: 'c2', isUnderWay: false },
  ]);
  const last = { passes: 50, begun: NOW };
  expect((await faultOf(dropboxChanges.since(client, dropboxToken(last)))).kind).toBe('stale_cursor');
  const underWay = dropboxPages([{ entries: [], cursor: 'c3', has_more: false }]);
  const { next } = await dropboxChanges.since(underWay.client, dropboxToken({ ...last, isUnderWay: true }));
  expect(JSON.parse(next)).toMatchObject({ cursor: 'c3', isUnderWay: false });
});

test("Dropbox: a file at a folder's path removes the folder's files from the changes; a repeated folder keeps its files", async () => {
  const folder = (name: string) => ({ '.tag': 'folder', id: `id:${name}`, path_lower: `/${name}`, name });
  const entries = [folder('a'), dropboxFile('/a/x'), folder('b'), dropboxFile('/b/y'), dropboxFile('/a'), folder('b')];
  const { client } = dropboxPages([{ entries, cursor: 'c1', has_more: false }]);
  const { changes, deletedPaths } = await dropboxChanges.since(client, dropboxToken({}));
  expect(changes.map((change) => 'item' in change && change.item.externalId)).toEqual(['id:b-y', 'id:a', 'id:b']);
  expect(deletedPaths).toEqual(['/a', '/a/x', '/b', '/b/y']);
});

test('Box: each cursor has the time at which the events were read, and the item of every event is read', async () => {
  const position = '99999999999999999999';
  const ids = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
  const events = [
    ...ids.slice(0, 3).map((id) => ({ source: { type: 'file', id } })),
    ...ids.slice(3, 6).map((id) => ({ source: { item_type: 'file', item_id: id } })),
    ...ids.slice(6).map((id) => ({ source: { item: { type: 'file', id } } })),
    { source: { type: 'user', id: '10' } },
  ];
  const answers = [events, []];
  const { client, requests } = scriptedClient(GRANT, ({ path, query }) =>
    path === 'events'
      ? {
          entries: answers.shift(),
          next_stream_position: query['stream_position'] === '1' ? position : query['stream_position'],
        }
      : { type: 'file', id: path.split('/')[1], name: path },
  );
  const token = JSON.stringify({ position: '1', at: NOW - 12 * DAY_MS });
  const pages = await readFeedPages((at) => boxChanges.since(client, at), token);
  expect(parsed(pages)).toEqual([
    { position, at: NOW },
    { position, at: NOW },
  ]);
  const found = pages.flatMap(({ changes }) => changes.map((change) => 'item' in change && change.item.externalId));
  expect(found).toEqual(ids);
  expect(requests[0]).toMatchObject({ path: 'events', query: { stream_type: 'changes', stream_position: '1' } });
  const old = JSON.stringify({ position: '1', at: NOW - 13 * DAY_MS });
  expect((await faultOf(boxChanges.since(client, old))).kind).toBe('stale_cursor');
});

/** Answers of Salesforce: pages of changed files, and the time up to which deletions are covered. */
function salesforceWith(pages: readonly (readonly string[])[], covered: number, deleted: readonly string[] = []) {
  const left = [...pages];
  return scriptedClient(GRANT, ({ path, query }) => {
    if (path.endsWith('deleted'))
      return {
        deletedRecords: deleted.map((id) => ({ id })),
        earliestDateAvailable: new Date(NOW - 20 * DAY_MS).toISOString(),
        latestDateCovered: new Date(covered).toISOString(),
      };
    const ids = String(query['q']).includes('Id IN (') ? [] : (left.shift() ?? []);
    const records = ids.map((Id) => ({ Id, Title: Id }));
    return { records, done: true, totalSize: records.length };
  });
}
const salesforceToken = (more: object) =>
  JSON.stringify({ passes: 1, begun: NOW, since: NOW - 3_600_000, pass: null, ...more });

test('Salesforce: `since` of the next sync is before the first page of this sync, and never decreases', async () => {
  const ids = Array.from({ length: 200 }, (_, index) => `069${String(index).padStart(12, '0')}AAA`);
  const { client } = salesforceWith([ids, []], NOW + DAY_MS);
  const first = await looseFileChanges.since(client, salesforceToken({}));
  expect(JSON.parse(first.next)).toMatchObject({ passes: 1, pass: { begun: NOW, after: ids.at(-1) } });
  jest.setSystemTime(NOW + 7_200_000);
  const second = await looseFileChanges.since(client, first.next);
  expect(JSON.parse(second.next)).toEqual({ passes: 2, begun: NOW, since: NOW - 900_000, pass: null });
  const late = salesforceWith([], NOW + 6_000_000);
  const { next } = await looseFileChanges.since(late.client, salesforceToken({}));
  expect(JSON.parse(next)).toMatchObject({ since: NOW + 6_000_000 });
  const behind = salesforceWith([], NOW - 10 * DAY_MS);
  const kept = await looseFileChanges.since(behind.client, salesforceToken({}));
  expect(JSON.parse(kept.next)).toMatchObject({ since: NOW - 3_600_000 });
});

test('Salesforce: checks deleted files in requests of 200 ids', async () => {
  const deleted = Array.from({ length: 401 }, (_, index) => `069${String(index).padStart(12, '0')}AAA`);
  const { client, requests } = salesforceWith([], NOW, deleted);
  const { changes } = await looseFileChanges.since(client, salesforceToken({}));
  expect(changes).toEqual(deleted.map((id) => ({ gone: `file:${id}` })));
  const checks = requests
    .map(({ query }) => (query['q'] as string | undefined) ?? '')
    .filter((soql) => soql.includes('Id IN ('));
  expect(checks.map((soql) => soql.match(/'069/g)?.length)).toEqual([200, 200, 1]);
});

const zendeskTicket = (id: number) => ({
  ...{ id, subject: `T${id}`, status: 'open', created_at: '2026-11-01T00:00:00Z' },
  updated_at: new Date(NOW - 1_000).toISOString(),
});
test('Zendesk: keeps its cursor if a page returns none, and reads the attachments of all changed tickets', async () => {
  const ids = Array.from({ length: 45 }, (_, index) => index + 1);
  const { client, requests } = scriptedClient(GRANT, ({ path }) => {
    if (path.startsWith('incremental'))
      return { tickets: ids.map(zendeskTicket), users: [], after_cursor: null, end_of_stream: true };
    if (path === 'tickets.json') return { tickets: [], users: [], meta: { has_more: false } };
    return { comments: [], users: [], meta: { has_more: false } };
  });
  const token = JSON.stringify({ passes: 1, begun: NOW, start: 1, cursor: 'kept', pass: null });
  const pages = await readFeedPages((at) => ticketChanges.since(client, at), token);
  expect(JSON.parse(pages.at(-1)!.next)).toEqual({ passes: 2, begun: NOW, start: 1, cursor: 'kept', pass: null });
  expect(pages.flatMap(({ deletedPaths = [] }) => deletedPaths)).toEqual(ids.map((id) => `acme/ticket:${id}`));
  const comments = requests.filter(({ path }) => path.endsWith('comments.json'));
  expect(comments.map(({ path }) => path.split('/')[1])).toEqual(ids.map(String));
  expect(parsed(pages.slice(0, -1)).map(({ passes }) => passes)).toEqual(pages.slice(0, -1).map(() => 1));
});

/** Answers of Intercom: two pages of 25 conversations, and one ticket. */
function intercomAnswer({ path, query }: ScriptedRequest): object {
  if (!path.endsWith('search')) return { id: path.split('/')[1], created_at: 1, updated_at: 1 };
  const { field } = query['query'] as { readonly field: string };
  if (field === 'created_at') return { conversations: [], tickets: [], total_count: 5 };
  const list = path.split('/')[0]!;
  const { starting_after: after } = query['pagination'] as { readonly starting_after?: string };
  if (list === 'tickets') return { tickets: [{ id: '900', created_at: 1, updated_at: 1 }], pages: {} };
  const ids = Array.from({ length: 25 }, (_, index) => String(index + (after === undefined ? 1 : 101)));
  const pages = after === undefined ? { next: { starting_after: 'second' } } : {};
  return { conversations: ids.map((id) => ({ id, created_at: 1, updated_at: 1 })), pages };
}
test('Intercom: the next `since` is two days before this sync; lists attachments of all changed items', async () => {
  const { client, requests } = scriptedClient(GRANT, intercomAnswer);
  const counted = ['conversation', 'ticket'].map((kind) => ({ kind, before: 1, total: 5 }));
  const seconds = NOW / 1_000;
  const token = JSON.stringify({ passes: 1, begun: NOW, since: seconds - 9 * 86_400, counted, pass: null });
  let reads = 0;
  const pages = await readFeedPages((at) => {
    jest.setSystemTime(NOW + 3_600_000 * reads++);
    return threadChanges.since(client, at);
  }, token);
  const before = seconds - 2 * 86_400;
  expect(JSON.parse(pages.at(-1)!.next)).toEqual({
    ...{ passes: 2, begun: NOW, since: before, pass: null },
    counted: counted.map((one) => ({ ...one, before })),
  });
  const ids = [
    ...Array.from({ length: 25 }, (_, index) => index + 1),
    ...Array.from({ length: 25 }, (_, index) => index + 101),
  ];
  expect(pages.flatMap(({ deletedPaths = [] }) => deletedPaths)).toEqual([
    ...ids.map((id) => `conversation:${id}`),
    'ticket:900',
  ]);
  const searches = requests.filter(
    ({ query }) => (query['query'] as { field?: string } | undefined)?.field === 'updated_at',
  );
  expect(searches.map(({ path, query }) => [path, query['pagination'], query['query']])).toEqual(
    [
      ['conversations/search', { per_page: expect.any(Number) }],
      ['conversations/search', { per_page: expect.any(Number), starting_after: 'second' }],
      ['tickets/search', { per_page: expect.any(Number) }],
    ].map((row) => [...row, { field: 'updated_at', operator: '>', value: seconds - 9 * 86_400 }]),
  );
});

test('Google Drive: continues a log by its next page, and reads every log, also after the end of one', async () => {
  const logs = [
    ['', 'own'],
    ['driveA', 'a'],
    ['driveB', 'b'],
  ];
  const tokenAt = (at: number, root = 'root-folder') => JSON.stringify({ logs, at, root });
  const after = async (at: number, answer: object) => {
    const { client, requests } = scriptedClient(GRANT, () => ({ changes: [], ...answer }));
    const { next, more } = await driveChanges.since(client, tokenAt(at));
    const { logs: unread, at: position } = JSON.parse(next) as { logs: [string, string][]; at: number };
    return { unread, position, more, query: requests[0]!.query };
  };
  const paged = await after(1, { nextPageToken: 'a2' });
  expect(paged).toMatchObject({
    unread: [
      ['', 'own'],
      ['driveA', 'a2'],
      ['driveB', 'b'],
    ],
    position: 1,
    more: true,
  });
  expect(paged.query).toMatchObject({
    pageToken: 'a',
    driveId: 'driveA',
    includeCorpusRemovals: 'true',
    includeRemoved: 'true',
  });
  expect(await after(1, { newStartPageToken: 'a9' })).toMatchObject({ position: 2, more: true });
  expect(await after(2, { newStartPageToken: 'b9' })).toMatchObject({
    ...{
      unread: [
        ['', 'own'],
        ['driveA', 'a'],
        ['driveB', 'b9'],
      ],
      position: 0,
      more: false,
    },
  });
  const removed = { changes: [{ changeType: 'drive', driveId: 'driveA', removed: true }], newStartPageToken: 'x' };
  expect(await after(1, removed)).toMatchObject({
    unread: [
      ['', 'own'],
      ['driveB', 'b'],
    ],
    position: 1,
    more: true,
  });
  expect(await after(2, removed)).toMatchObject({
    unread: [
      ['', 'own'],
      ['driveB', 'x'],
    ],
    position: 0,
    more: false,
  });
  expect((await after(0, { newStartPageToken: 'x' })).query).not.toHaveProperty('driveId');
});

/** Scripts an instance: counts by table and `attachment/<table>`, and pages of rows by path; later pages are empty. */
function serviceNowWith(
  counts: Readonly<Record<string, number | Fault>>,
  pages: Readonly<Record<string, readonly object[][]>> = {},
) {
  const reads: Record<string, number> = {};
  return scriptedClient(GRANT, ({ path, query }) => {
    const soql = String(query['sysparm_query']);
    if (path === 'table/sys_db_object')
      return {
        values: Object.keys(counts)
          .filter((name) => !name.includes('/'))
          .map((name) => ({ name })),
      };
    if (query['sysparm_limit'] === '1') {
      const key =
        path === 'attachment' ? `attachment/${/table_name=(\w+)/.exec(soql)?.[1] ?? ''}` : path.slice('table/'.length);
      const count = counts[key] ?? 0;
      return count instanceof Fault ? count : { values: [], headers: { 'x-total-count': String(count) } };
    }
    const read = (reads[path] = (reads[path] ?? 0) + 1);
    const rows = pages[path]?.[read - 1] ?? [];
    const hasNext = read < (pages[path]?.length ?? 0);
    return {
      values: rows,
      headers: hasNext ? { link: `<https://a.example/x?sysparm_offset=${read * 100}>;rel="next"` } : {},
    };
  });
}
const sysId = (id: number) => String(id).padStart(32, '0');
const serviceNowToken = (tables: readonly object[], more: object = {}) =>
  JSON.stringify({
    ...{ passes: 1, begun: NOW, since: '2026-11-20 00:00:00', pass: null },
    ...{ counts: { before: '2026-11-20 00:00:00', tables }, ...more },
  });

test('ServiceNow: a feed begins 36 hours ago, because the time zone of its queries is unknown, and covers the tables that can be counted', async () => {
  const counts = { incident: new Fault('access_denied', 'no'), problem: 7, 'attachment/problem': 3 };
  const { client, requests } = serviceNowWith(counts);
  expect(JSON.parse(await recordChanges.now(client))).toMatchObject({
    ...{ passes: 0, since: '2026-11-25 12:00:00', pass: null },
    counts: { before: '2026-11-25 12:00:00', tables: [{ table: 'problem', records: 7, attachments: 3 }] },
  });
  expect(requests.map(({ query }) => query['sysparm_query'])).toEqual(
    expect.arrayContaining([
      'sys_created_on<2026-11-25 12:00:00',
      'table_name=problem^sys_created_on<2026-11-25 12:00:00',
    ]),
  );
  const none = serviceNowWith({ incident: new Fault('access_denied', 'no') });
  expect((await faultOf(recordChanges.now(none.client))).kind).toBe('stale_cursor');
  const away = serviceNowWith({ incident: new Fault('server_error', 'away') });
  expect((await faultOf(recordChanges.now(away.client))).kind).toBe('server_error');
});

test('ServiceNow: the cursor of the next sync has the time 36 hours before the first page of this sync, and the counts of rows created before that time', async () => {
  const tables = [{ table: 'incident', records: 7, attachments: 3 }];
  const records = [[{ sys_id: sysId(1) }, { sys_id: sysId(2) }], [], [{ sys_id: sysId(3) }]];
  const { client, requests } = serviceNowWith({ incident: 9, 'attachment/incident': 4 }, { 'table/incident': records });
  let reads = 0;
  const pages = await readFeedPages((at) => {
    jest.setSystemTime(NOW + 3_600_000 * reads++);
    return recordChanges.since(client, at);
  }, serviceNowToken(tables));
  expect(JSON.parse(pages.at(-1)!.next)).toEqual({
    ...{ passes: 2, begun: NOW, since: '2026-11-25 12:00:00', pass: null },
    counts: { before: '2026-11-25 12:00:00', tables: [{ table: 'incident', records: 9, attachments: 4 }] },
  });
  expect(pages.flatMap(({ deletedPaths = [] }) => deletedPaths)).toEqual(
    [1, 2, 3].map((id) => `incident/${sysId(id)}`),
  );
  expect(pages.every(({ isDeep, coveredRoots }) => isDeep === true && coveredRoots?.join() === 'incident')).toBe(true);
  // After a page without visible rows, the next page is requested by its offset.
  const offsets = requests.flatMap(({ path, query }) =>
    path === 'table/incident' && query['sysparm_limit'] !== '1' ? [query['sysparm_offset']] : [],
  );
  expect(offsets).toEqual(['0', '0', '200']);
});

test('ServiceNow: reads the attachments after a page whose attachments are all hidden from the account', async () => {
  const attachment = [{ sys_id: sysId(8), table_sys_id: sysId(1) }];
  const scan = { begun: NOW, open: ['incident'], room: 'attachment', after: { id: '', passed: 0 } };
  const { client, requests } = serviceNowWith(
    {},
    { attachment: [[], attachment, []], 'table/incident': [[{ sys_id: sysId(1) }]] },
  );
  const token = serviceNowToken([{ table: 'incident', records: 1, attachments: 1 }], { pass: scan });
  const pages = await readFeedPages((at) => recordChanges.since(client, at), token);
  expect(pages.flatMap(({ deletedPaths = [] }) => deletedPaths)).toEqual([`incident/${sysId(1)}`]);
  expect(requests.filter(({ path }) => path === 'table/incident')[0]!.query['sysparm_query']).toContain(
    `sys_idIN${sysId(1)}`,
  );
});

test('ServiceNow: fewer records or attachments than before are deletions, which end the feed', async () => {
  const tables = [{ table: 'incident', records: 7, attachments: 3 }];
  const since = async (records: number | Fault, attachments: number) => {
    const { client } = serviceNowWith({ incident: records, 'attachment/incident': attachments });
    return recordChanges.since(client, serviceNowToken(tables));
  };
  expect((await since(7, 3)).more).toBe(true);
  for (const stale of [since(6, 3), since(7, 2), since(new Fault('access_denied', 'no'), 3)])
    expect((await faultOf(stale)).kind).toBe('stale_cursor');
});

/** Scripts an account with the groups 12 and 13, whose items are on two pages each. */
const zoteroWith = (hasLibrary: boolean, versionAt: (read: number) => number = () => 9) => {
  let reads = 0;
  return scriptedClient(GRANT, ({ path, query }) => {
    if (path === 'keys/current') return { userID: 1, username: 'ada', access: { user: { library: hasLibrary } } };
    if (path.endsWith('/deleted')) return { collections: [], items: ['DELETED1'] };
    if (path === 'users/1/groups') return { values: [{ id: 12 }, { id: 13 }] };
    if (path.endsWith('/collections')) return { values: [] };
    reads += 1;
    const headers = { 'last-modified-version': String(versionAt(reads)) };
    const key = `${path.replace(/\D/g, '')}PAGE${String(query['start']).padStart(4, '0')}`.slice(-8);
    const next = { link: '<https://a.example/x?start=100>; rel="next"' };
    return { values: [{ key, data: {} }], headers: { ...headers, ...(query['start'] === '0' ? next : {}) } };
  });
};
test('Zotero: reads all pages of each library from its first one, trashed items included, since the version of that library', async () => {
  const { client, requests } = zoteroWith(false);
  const token = JSON.stringify({ at: { 'groups/12': 5, 'groups/13': 7 } });
  const pages = await readFeedPages((at) => zoteroChanges.since(client, at), token);
  expect(JSON.parse(pages.at(-1)!.next)).toEqual({ at: { 'groups/12': 9, 'groups/13': 9 } });
  const items = requests.filter(({ path }) => path.endsWith('/items'));
  expect(items.map(({ path, query }) => [path, query['start'], query['since'], query['includeTrashed']])).toEqual([
    ['groups/12/items', '0', '5', '1'],
    ['groups/12/items', '100', '5', '1'],
    ['groups/13/items', '0', '7', '1'],
    ['groups/13/items', '100', '7', '1'],
  ]);
  // A key without access to its owner's library has the groups only.
  expect(JSON.parse(await zoteroChanges.now(client))).toEqual({ at: { 'groups/12': 9, 'groups/13': 9 } });
  expect((await faultOf(zoteroChanges.since(zoteroWith(true).client, token))).kind).toBe('stale_cursor');
});

test('Zotero: a library that changes between its pages keeps its old version, so that the next sync reads it again', async () => {
  const { client } = zoteroWith(false, (read) => (read === 1 ? 8 : 9));
  const token = JSON.stringify({ at: { 'groups/12': 5, 'groups/13': 7 } });
  const pages = await readFeedPages((at) => zoteroChanges.since(client, at), token);
  expect(JSON.parse(pages.at(-1)!.next)).toEqual({ at: { 'groups/12': 5, 'groups/13': 9 } });
});
