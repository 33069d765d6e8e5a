/** What listings leave out, and when they fail instead of ending early. */
import { expect, test } from '@jest/globals';

import { listChildren, searchAll } from '../../connectors/notion/tree.js';
import { listTables, withAttachments } from '../../connectors/serviceNow/records.js';
import { readAll } from '../../connectors/serviceNow/tables.js';
import { itemOfConversation, presentConversation } from '../../connectors/slack/adapter.js';
import { callApi as callSlack } from '../../connectors/slack/api.js';
import { messagesAt } from '../../connectors/slack/history.js';
import { slack } from '../../connectors/slack/index.js';
import { createSourceCache } from '../../connectors/sourceCache.js';
import { attachedIn, contentOfTicket, itemOfSection, itemOfTicket } from '../../connectors/zendesk/adapter.js';
import { fetchAll as fetchZendesk } from '../../connectors/zendesk/api.js';
import { listRoots as zendeskRoots, listSection } from '../../connectors/zendesk/articles.js';
import { attachmentsOf, listTickets } from '../../connectors/zendesk/tickets.js';
import { createTypeSelection } from '../../connectors/helpdesk.js';
import { classify as classifyZotero, listAll as listZotero, ownerOf } from '../../connectors/zotero/api.js';
import { listContainer, listItem, listLibraries } from '../../connectors/zotero/listing.js';
import { parseItemId as parseZoteroId } from '../../connectors/zotero/adapter.js';
import { Fault } from '../../contract/failures.js';
import { everyRow } from '../support/everyRow.js';
import { faultOf } from '../support/faultOf.js';
import { readListing } from './account.js';
import { scriptedClient } from './scripted.js';

const GRANT = { accessToken: 'token', facts: {} };
const denied = (): Fault => new Fault('access_denied', 'no');
const missing = (): Fault => new Fault('not_found', 'no');
const three = [
  { id: 1, sys_id: '1' },
  { id: 2, sys_id: '2' },
  { id: 3, sys_id: '3' },
];

/** Functions that read a complete list of three entries, and fail if it has more than `maxEntries`. */
const SHORT_LISTS: Readonly<Record<string, (maxEntries: number) => Promise<unknown>>> = {
  Zendesk: (max) =>
    fetchZendesk(
      scriptedClient(GRANT, () => ({ comments: three, meta: { has_more: false } })).client,
      ['comments'],
      max,
    ),
  ServiceNow: (max) =>
    readAll(scriptedClient(GRANT, () => ({ values: three })).client, ['attachment'], { query: '' }, max),
  Zotero: (max) => listZotero(scriptedClient(GRANT, () => ({ values: three })).client, ['x'], {}, max),
};
test('a list above its maximum fails: after a truncated list, a sync would delete the other items', () =>
  everyRow(
    Object.entries(SHORT_LISTS),
    ([name]) => name,
    async ([, list]) => {
      await list(3);
      expect((await faultOf(list(2))).kind).toBe('too_large');
    },
  ));

const ALL = createTypeSelection({ syncAttachments: true });
const ticketList = { itemRef: { id: '' }, typeSelection: createTypeSelection({}), externalId: 'tickets' };
test('Zendesk: lists the latest tickets, which the export omits, and stops at the first older ticket', async () => {
  const at = (ageMs: number) => new Date(Date.now() - ageMs).toISOString();
  const { client, requests } = scriptedClient(GRANT, ({ path, query }) =>
    path.startsWith('incremental')
      ? { tickets: [], after_cursor: 'end', end_of_stream: true }
      : {
          tickets: [
            { id: 1, updated_at: at(0) },
            { id: 2, updated_at: at(3_600_000) },
          ],
          meta: { has_more: true, after_cursor: `${String(query['page[after]'])}+` },
        },
  );
  const { ids } = await readListing((cursor) => listTickets(client, ticketList, cursor));
  expect(ids).toEqual(['tickets', 'ticket:1']);
  expect(requests.filter(({ path }) => path === 'tickets.json')).toHaveLength(1);
});

test('Zendesk: an export refused after its first page fails: tickets.json has no archived tickets', async () => {
  const { client } = scriptedClient(GRANT, ({ path, query }) => {
    if (!path.startsWith('incremental')) return { tickets: [], meta: { has_more: false } };
    return query['cursor'] === undefined ? { tickets: [], after_cursor: 'second', end_of_stream: false } : denied();
  });
  const fault = await faultOf(readListing((cursor) => listTickets(client, ticketList, cursor)));
  expect(fault.kind).toBe('access_denied');
});

test('Zendesk: a deleted ticket has no attachments, but a refused request for attachments fails', async () => {
  expect(await attachmentsOf(scriptedClient(GRANT, missing).client, '1', null)).toEqual([]);
  expect((await faultOf(attachmentsOf(scriptedClient(GRANT, denied).client, '1', null))).kind).toBe('access_denied');
});

test('Zendesk: an error after the first page of the category list fails the listing', async () => {
  for (const error of [missing(), denied()]) {
    const { client } = scriptedClient(GRANT, ({ query }) =>
      query['page[after]'] === undefined ? { categories: [], meta: { has_more: true, after_cursor: 'c' } } : error,
    );
    expect((await faultOf(readListing((cursor) => zendeskRoots(client, cursor)))).kind).toBe(error.kind);
  }
});

test('Zendesk: lists sections that contain each other once', async () => {
  const section = (id: number, parent: number) => ({ id, category_id: 9, parent_section_id: parent, name: `S${id}` });
  const { client } = scriptedClient(GRANT, ({ path }) => {
    if (path.endsWith('sections/1.json')) return { section: section(1, 2) };
    if (path.endsWith('articles.json')) return { articles: [], meta: { has_more: false } };
    return { sections: [section(1, 2), section(2, 1), section(3, 2)], meta: { has_more: false } };
  });
  const request = { itemRef: { id: '1' }, typeSelection: ALL, externalId: 'section:1' };
  const { ids, items } = await readListing((cursor) => listSection(client, request, cursor));
  expect(ids).toEqual(['section:1', 'section:2', 'section:3']);
  // The root of every section is its category, also below another section.
  expect(new Set(items.map(({ rootExternalId }) => rootExternalId))).toEqual(new Set(['category:9']));
  expect(itemOfSection(section(4, 3), '9')?.parentExternalId).toBe('section:3');
});

test('Zendesk: deleted and inline attachments are skipped, and comments are read as plain text', () => {
  const file = (id: number, more: object = {}) => ({
    id,
    file_name: 'a.txt',
    content_url: 'https://a.example/1',
    ...more,
  });
  const attachments = [file(1, { deleted: true }), file(2, { inline: true }), { id: 3 }, file(4)];
  expect(attachedIn({ attachments }, '7').map(({ externalId }) => externalId)).toEqual(['ticket:7/4']);
  const ticket = itemOfTicket({ id: 7, subject: 'Pier' }, new Map(), 'https://a.example')!;
  const comments = [
    { plain_body: 'plain', body: '**marked**' },
    { body: 'only body', public: false },
  ];
  const text = Buffer.from(contentOfTicket({ id: 7 }, ticket, comments, new Map()).bytes).toString();
  expect(text).toContain(': plain');
  expect(text).not.toContain('marked');
  expect(text).toContain('(internal note): only body');
});

const id = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const page = (number: number, more: object = {}) => ({
  ...{ object: 'page', id: id(number), properties: { Name: { type: 'title', title: [{ plain_text: `P${number}` }] } } },
  ...{ parent: { type: 'workspace' }, ...more },
});
test('Notion: an item in the trash does not end the search, and a parent of two pages is requested once per listing', async () => {
  const inside = (number: number) => page(number, { parent: { type: 'page_id', page_id: id(9) } });
  const cache = createSourceCache();
  const { client, requests } = scriptedClient(
    GRANT,
    ({ path, query }) => {
      if (path !== 'search') return page(9);
      return query['start_cursor'] === undefined
        ? { results: [page(1, { in_trash: true }), { object: 'x' }, inside(2)], has_more: true, next_cursor: 'c' }
        : { results: [inside(3)], has_more: false };
    },
    cache,
  );
  const list = () => readListing((cursor) => searchAll(client, cursor));
  expect((await list()).items.map(({ externalId, parentExternalId }) => [externalId, parentExternalId])).toEqual([
    [id(2), id(9)],
    [id(3), id(9)],
  ]);
  const parents = () => requests.filter(({ path }) => path === `pages/${id(9)}`).length;
  expect(parents()).toBe(1);
  // A later listing does not use the parents of an earlier one, which may have moved.
  await list();
  expect(parents()).toBe(2);
});

test('Notion: pages in the trash and copies of synced blocks are not listed, but the pages in the blocks after them are', async () => {
  const block = (number: number, type: string, more: object = {}) => ({
    id: id(number),
    type,
    has_children: true,
    ...more,
  });
  const { client, requests } = scriptedClient(GRANT, ({ path }) => {
    const children: Readonly<Record<string, readonly object[]>> = {
      [id(1)]: [
        block(2, 'child_page', { child_page: { title: 'Old' } }),
        block(3, 'synced_block', { synced_block: { synced_from: { block_id: id(8) } } }),
        block(4, 'synced_block', { synced_block: { synced_from: null } }),
        block(5, 'unsupported'),
      ],
      [id(4)]: [block(6, 'child_page')],
    };
    const [kind = '', of = ''] = path.split('/');
    if (kind === 'blocks') return { results: children[of] ?? [], has_more: false };
    return page(Number(of.slice(-2)), of === id(2) ? { in_trash: true } : {});
  });
  const { ids, skipped } = await readListing((cursor) => listChildren(client, { kind: 'page', id: id(1) }, cursor));
  expect(ids).toEqual([id(1), id(6)]);
  expect(skipped).toEqual([expect.objectContaining({ externalId: id(2), name: 'Old' })]);
  const opened = requests.flatMap(({ path }) =>
    path.startsWith('blocks/') ? [Number(path.split('/')[1]!.slice(-2))] : [],
  );
  expect(opened).toEqual([1, 4, 6]);
  const trashed = scriptedClient(GRANT, () => page(1, { archived: true }));
  expect((await faultOf(listChildren(trashed.client, { kind: 'page', id: id(1) }, null))).kind).toBe('not_found');
});

test('Notion: a data source has the parent of its database, and rows in the trash are skipped', async () => {
  const source = {
    ...{ object: 'data_source', id: id(5), title: [{ plain_text: 'Rows' }] },
    ...{ parent: { type: 'database_id', database_id: id(4) }, database_parent: { type: 'page_id', page_id: id(1) } },
  };
  const row = (number: number, more: object = {}) =>
    page(number, { parent: { type: 'data_source_id', data_source_id: id(5) }, ...more });
  const { client, requests } = scriptedClient(GRANT, ({ path }) => {
    if (path.endsWith('/query')) return { results: [row(6, { in_trash: true }), row(7)], has_more: false };
    if (path.startsWith('blocks')) return { results: [], has_more: false };
    return path.startsWith('data_sources') ? source : page(1);
  });
  const { items } = await readListing((cursor) => listChildren(client, { kind: 'database', id: id(5) }, cursor));
  expect(
    items.map(({ externalId, parentExternalId, rootExternalId }) => [externalId, parentExternalId, rootExternalId]),
  ).toEqual([
    [`database:${id(5)}`, id(1), id(1)],
    [`row:${id(7)}`, `database:${id(5)}`, id(1)],
  ]);
  expect(requests.some(({ path }) => path.startsWith('databases/'))).toBe(false);
});

test('ServiceNow: tries its standard tables if the list of tables is empty or refused, but not in the middle of the list', async () => {
  const list = async (first: object, second: object = { values: [] }) => {
    const { client } = scriptedClient(GRANT, ({ path, query }) => {
      if (path === 'table/sys_db_object') return String(query['sysparm_query']).includes('sys_id>') ? second : first;
      return path === 'table/incident' || path === 'table/problem' ? { values: [] } : denied();
    });
    return (await readListing((cursor) => listTables(client, cursor))).ids;
  };
  expect(await list({ values: [] })).toEqual(['incident', 'problem']);
  expect(await list(denied())).toEqual(['incident', 'problem']);
  const link = '<https://a.example/x?sysparm_offset=100>;rel="next"';
  const first = {
    values: [
      { sys_id: '1', name: 'u_boat' },
      { sys_id: '2', name: 'cmdb_ci' },
    ],
    headers: { link },
  };
  expect(await list(first, { values: [{ sys_id: '3', name: 'incident' }] })).toEqual(['u_boat', 'incident']);
  expect((await faultOf(list(first, denied()))).kind).toBe('access_denied');
});

test('ServiceNow: only refused attachments are skipped; any other error in their list fails the listing', async () => {
  const row = { sys_id: '0'.repeat(32), number: 'INC1', sys_updated_on: '2026-01-01 00:00:00', sys_mod_count: '3' };
  const { items, skipped } = await withAttachments(scriptedClient(GRANT, denied).client, 'incident', [row]);
  // sys_mod_count distinguishes two changes within one second.
  expect(items).toEqual([expect.objectContaining({ version: '2026-01-01 00:00:00/3', isExpandable: false })]);
  expect(skipped).toEqual([expect.objectContaining({ externalId: 'incident', typeAtSource: 'ATTACHMENT' })]);
  expect((await faultOf(withAttachments(scriptedClient(GRANT, missing).client, 'incident', [row]))).kind).toBe(
    'not_found',
  );
});

const conversation = (more: object) => ({ id: 'C1', name: 'pier', ...more });
test('Slack: lists each type of conversation that the token may list, archived ones too, and fails if it may list none', async () => {
  const listing = async (refusedTypes: readonly string[]) => {
    const { client, requests } = scriptedClient({ ...GRANT, facts: { team: 'T1' } }, ({ path, query }) => {
      if (path === 'auth.test') return { ok: true, url: 'https://a.slack.com/' };
      if (refusedTypes.includes(String(query['types']))) return denied();
      return { ok: true, channels: [conversation({ id: `C${String(query['types']).length}` })] };
    });
    const pages: boolean[] = [];
    const { ids } = await readListing(async (cursor) => {
      const one = await slack.listRoots(client, cursor);
      pages.push(one.isPartial === true);
      return one;
    });
    return { ids, pages, requests: requests.filter(({ path }) => path === 'conversations.list') };
  };
  const { ids, pages, requests } = await listing(['private_channel', 'im']);
  expect([ids, pages]).toEqual([
    ['C14', 'C4'],
    [false, true, false, true],
  ]);
  expect(requests[0]!.query).toMatchObject({ exclude_archived: 'false', team_id: 'T1', types: 'public_channel' });
  expect((await faultOf(listing(['public_channel', 'private_channel', 'mpim', 'im']))).kind).toBe('access_denied');
});

test('Slack: the direct query for conversations sends types, excludeArchived and cursor of the caller', async () => {
  const { client, requests } = scriptedClient(GRANT, () => ({
    ...{
      ok: true,
      channels: [conversation({ is_group: true, is_mpim: true })],
      response_metadata: { next_cursor: 'n' },
    },
  }));
  const answer = await slack.reads!['conversations']!(client, {
    types: 'mpim,im',
    excludeArchived: false,
    cursor: 'c',
  });
  expect(answer).toMatchObject({ next_cursor: 'n', results: [{ id: 'C1', name: 'pier', is_channel: false }] });
  expect(requests[0]!.query).toMatchObject({ types: 'mpim,im', exclude_archived: 'false', cursor: 'c', limit: '200' });
});

test('Slack: an older private channel is a channel, a group message is not, and an impossible time of creation is null', () => {
  expect(presentConversation(conversation({ is_group: true }), 'pier')).toMatchObject({
    is_channel: true,
    is_mpim: false,
  });
  expect(presentConversation(conversation({ is_group: true, is_mpim: true }), 'x')).toMatchObject({
    is_channel: false,
  });
  const createdAt = (created: unknown) =>
    itemOfConversation(conversation({ created }), { id: 'C1', name: 'x', workspace: '' }).createdAt;
  expect([createdAt(1_700_000_000), createdAt(1e13), createdAt(-1), createdAt('1')]).toEqual([
    ...['2023-11-14T22:13:20.000Z', null, null, null],
  ]);
});

test('Slack: a cursor that Slack repeats ends a list, and a window of more than 20 million characters is not read', async () => {
  const repeated = scriptedClient(GRANT, () => ({ ok: true, response_metadata: { next_cursor: 'c' } }));
  expect((await callSlack(repeated.client, 'x', { cursor: 'c' })).next).toBeNull();
  expect((await callSlack(repeated.client, 'x', { cursor: null })).next).toBe('c');
  const text = 'x'.repeat(10_000_001);
  const long = scriptedClient(GRANT, () => ({
    ...{ ok: true, messages: ['2', '1'].map((n) => ({ ts: `180000000${n}.000100`, user: 'U1', text })) },
  }));
  const window = { conversation: 'C1', kind: 'window', start: 1_800_000_000 } as const;
  expect((await faultOf(messagesAt(long.client, window, null))).kind).toBe('too_large');
});

test('Zotero: only 403 with "Invalid key" means revoked access; 400 with these words means a missing item', () => {
  const classOf = (status: number, body: unknown) => classifyZotero({ status, headers: {}, body });
  expect(classOf(403, 'Invalid key')).toBe('auth_revoked');
  expect(classOf(403, 'Forbidden')).toBeNull();
  expect(classOf(400, "Invalid item key 'x'")).toBe('not_found');
  expect(classOf(400, 'Not found')).toBe('not_found');
  expect(classOf(400, 'Invalid key')).toBe('not_found');
  expect([classOf(400, 'Bad'), classOf(503, ''), classOf(500, '')]).toEqual([null, 'rate_limited', null]);
});

test("Zotero: the owner of a key is cached for this key only, and the owner's library is listed only if the key may read it", async () => {
  const cache = createSourceCache();
  const clientOf = (accessToken: string, userID: number) =>
    scriptedClient(
      { ...GRANT, accessToken },
      () => ({ userID, username: 'x', access: { user: { library: userID === 1 } } }),
      cache,
    );
  const [first, second] = [clientOf('a', 1), clientOf('b', 2)];
  const owners = [await ownerOf(first.client), await ownerOf(second.client), await ownerOf(first.client)];
  expect(owners.map((owner) => owner.id)).toEqual(['1', '2', '1']);
  expect(first.requests).toHaveLength(1);
  const { client } = scriptedClient(GRANT, ({ query }) => ({
    values: [{ id: query['start'] === '0' ? 12 : 13, data: { name: 'Group' } }],
    headers: query['start'] === '0' ? { link: '<https://a.example/x?start=100>; rel="next"' } : {},
  }));
  const librariesOf = async (owner: (typeof owners)[number]) =>
    (await readListing((cursor) => listLibraries(client, owner, cursor))).ids;
  expect(await librariesOf(owners[0]!)).toEqual(['users/1', 'groups/12', 'groups/13']);
  expect(await librariesOf(owners[1]!)).toEqual(['groups/12', 'groups/13']);
});

test('Zotero: a listing restarts three times at most, over all its collections, if the library changes each time', async () => {
  let version = 0;
  const { client, requests } = scriptedClient(GRANT, ({ path, query }) => {
    if (path === 'groups/12/collections/AAAAAAA1') return { key: 'AAAAAAA1' };
    if (path === 'groups/12/collections')
      return {
        values: [
          { key: 'AAAAAAA1', data: {} },
          { key: 'AAAAAAA2', data: { parentCollection: 'AAAAAAA1' } },
        ],
      };
    version += 1;
    const link = query['start'] === '0' ? { link: '<https://a.example/x?start=100>; rel="next"' } : {};
    return { values: [], headers: { 'last-modified-version': String(version), ...link } };
  });
  const itemRef = parseZoteroId('groups/12/collections/AAAAAAA1')!;
  const { ids } = await readListing((cursor) => listContainer(client, itemRef, cursor));
  expect(ids).toEqual(['groups/12/collections/AAAAAAA1', 'groups/12/collections/AAAAAAA2']);
  const reads = requests.filter(({ path }) => path.endsWith('/items'));
  // The first collection is started four times; the second one is not started again.
  expect(reads.map(({ path, query }) => `${path.slice(-7, -6)} ${String(query['start'])}`)).toEqual([
    ...Array(4).fill(['1 0', '1 100']).flat(),
    ...['2 0', '2 100'],
  ]);
});

test('Zotero: the library of another user is not found, and an answer for another group is a server error', async () => {
  const { client } = scriptedClient(GRANT, ({ path }) =>
    path === 'keys/current'
      ? { userID: 1, username: 'ada', access: {} }
      : { id: 99, data: { name: 'Other' }, values: [] },
  );
  const list = (library: string) => listContainer(client, parseZoteroId(library)!, null);
  expect((await faultOf(list('users/2'))).kind).toBe('not_found');
  expect((await faultOf(list('groups/12'))).kind).toBe('server_error');
  expect((await list('groups/99')).items).toHaveLength(1);
});

test('Zotero: an item is listed with its children, which are requested only if numChildren is above 0', async () => {
  const client = (numChildren: number) =>
    scriptedClient(GRANT, ({ path }) =>
      path.endsWith('children')
        ? {
            values: [
              { key: 'AAAAAAA2', data: { itemType: 'annotation' } },
              { key: 'AAAAAAA3', data: { itemType: 'note' } },
            ],
          }
        : { key: 'AAAAAAA1', data: {}, meta: { numChildren } },
    );
  const listed = async (numChildren: number) => {
    const scripted = client(numChildren);
    const { items } = await listItem(scripted.client, { library: 'groups/12', kind: 'item', key: 'AAAAAAA1' });
    return [items.map(({ externalId }) => externalId.slice(-1)).join(''), scripted.requests.length];
  };
  expect([await listed(2), await listed(0)]).toEqual([
    ['13', 2],
    ['1', 1],
  ]);
});
