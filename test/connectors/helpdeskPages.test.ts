/** Tests of helpdesks, Gong and Guru without emulators: filters, long lists, refused and deleted items. */
import { expect, test } from '@jest/globals';

import { fetchAll } from '../../connectors/freshdesk/api.js';
import { attachedIn, contentOfTicket, itemOfTicket } from '../../connectors/freshdesk/adapter.js';
import { freshdesk } from '../../connectors/freshdesk/index.js';
import { itemOfCall } from '../../connectors/gong/adapter.js';
import { gong } from '../../connectors/gong/index.js';
import { guru } from '../../connectors/guru/index.js';
import { dateOf, idsOf, plainOf, textOfComments } from '../../connectors/helpdesk.js';
import {
  contentOfParts,
  itemOfConversation,
  itemOfTicket as intercomTicket,
} from '../../connectors/intercom/adapter.js';
import { fetchCollections, fetchSearchPage } from '../../connectors/intercom/api.js';
import { threadChanges } from '../../connectors/intercom/changes.js';
import { intercom } from '../../connectors/intercom/index.js';
import { createItem } from '../../connectors/items.js';
import { createSourceCache } from '../../connectors/sourceCache.js';
import { Fault } from '../../contract/failures.js';
import { faultOf } from '../support/faultOf.js';
import { readListing } from './account.js';
import { scriptedClient, type ScriptedRequest } from './scripted.js';

const GRANT = { accessToken: 'token', facts: {} };
const FRESHDESK = { domain: 'Harbour', apiKey: 'k' };
const OPTIONS = { saveAs: null, version: null };
const textIn = ({ bytes }: { readonly bytes: Uint8Array }) => Buffer.from(bytes).toString();
const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1));

test('types that are not selected are not requested, and are reported as excluded', async () => {
  const listed: Record<string, readonly unknown[]> = {};
  const list = async (id: string, type: 'ARTICLE' | 'TICKET') => {
    const filter = { autoSyncedSourceTypes: [type] };
    const answers: Readonly<Record<string, object>> = {
      'help_center/collections': { data: [{ id: '1', name: 'Sea', parent_id: null }], pages: {} },
      'solutions/categories/1': { id: 1, name: 'Sea' },
      'solutions/folders/2': { id: 2, category_id: 1, name: 'Pier' },
    };
    const answer = ({ path }: ScriptedRequest) => answers[path] ?? new Error(`unexpected request of ${path}`);
    const { ids, skipped } = await readListing((cursor) =>
      id.startsWith('harbour/')
        ? freshdesk.listDescendants(scriptedClient(FRESHDESK, answer).client, id, cursor, filter)
        : intercom.listDescendants(scriptedClient(GRANT, answer).client, id, cursor, filter),
    );
    listed[id] = [...ids, ...skipped.map(({ name }) => name)];
  };
  await list('collection:1', 'TICKET');
  await list('articles', 'TICKET');
  await list('conversations', 'TICKET');
  await list('tickets', 'ARTICLE');
  for (const id of ['category:1', 'folder:2']) await list(`harbour/${id}`, 'TICKET');
  await list('harbour/tickets', 'ARTICLE');
  expect(listed).toEqual({
    'collection:1': ['collection:1', 'All of type ARTICLE'],
    articles: ['articles', 'All of type ARTICLE'],
    conversations: ['conversations', 'All of type CONVERSATION'],
    tickets: ['tickets', 'All of type TICKET'],
    'harbour/category:1': ['harbour/category:1', 'All of type ARTICLE'],
    'harbour/folder:2': ['harbour/folder:2', 'All of type ARTICLE'],
    'harbour/tickets': ['harbour/tickets', 'All of type TICKET'],
  });
});

test('Intercom: lists the attachments of all conversations of a long page, except of those deleted meanwhile', async () => {
  const { client } = scriptedClient(GRANT, ({ path }) => {
    const id = path.split('/')[1]!;
    if (id === 'search') return { conversations: numbers(45).map((one) => ({ id: one })), pages: {} };
    if (id === '3') return new Fault('not_found', 'gone');
    return { id, source: { attachments: [{ name: 'a.txt', url: 'https://files.example/a' }] } };
  });
  const filter = { autoSyncedSourceTypes: ['CONVERSATION'], syncAttachments: true } as const;
  const { items } = await readListing((cursor) => intercom.listDescendants(client, 'conversations', cursor, filter));
  const attached = items.filter(({ itemType }) => itemType === 'TICKET_ATTACHMENT');
  expect(attached.map(({ parentExternalId }) => parentExternalId)).toEqual(
    numbers(45).flatMap((id) => (id === '3' ? [] : [`conversation:${id}`])),
  );
});

test('Intercom: names a conversation by its first line, an author by the email address; admin 0 does not count as assignee', async () => {
  const json = {
    id: '7',
    source: { body: '<p>When is high tide?</p><p>Please.</p>', author: { email: 'ben@sea.example' } },
  };
  const item = itemOfConversation(json)!;
  expect(item.name).toBe('When is high tide?');
  expect(textIn(contentOfParts(json, item, 'conversation'))).toContain('ben@sea.example: When is high tide?');
  const people = { admins: new Map([['0', 'zero']]), teams: new Map(), contacts: new Map() };
  const ticket = { id: '8', admin_assignee_id: '0', team_assignee_id: 77, contacts: { contacts: [{ id: 'c1' }] } };
  expect(intercomTicket(ticket, people)!.tags).toEqual({ ticket_assigned_team: '77', ticket_submitter: 'c1' });
});

test('Intercom: reads a ticket whose users the account may not see', async () => {
  const { client } = scriptedClient(GRANT, ({ path }) =>
    path === 'tickets/8'
      ? { id: '8', contacts: { contacts: [{ id: 'c1' }] }, admin_assignee_id: '5' }
      : new Fault(path === 'teams' ? 'not_found' : 'access_denied', 'no'),
  );
  const { items } = await intercom.listDescendants(client, 'ticket:8', null);
  expect(items[0]!.tags).toEqual({ ticket_submitter: 'c1', ticket_assigned_admin: '5' });
});

test('Intercom: continues a search whose next page is an address', async () => {
  const pages = { next: 'https://api.intercom.io/conversations/search?starting_after=second' };
  const { client } = scriptedClient(GRANT, () => ({ conversations: [], pages }));
  expect((await fetchSearchPage(client, 'conversations', null)).next).toBe('second');
  expect((await faultOf(fetchSearchPage(client, 'conversations', 'second'))).kind).toBe('server_error');
});

test('Intercom: the feed covers the kinds that the account may search, and needs at least one', async () => {
  const feedWithout = (...refused: readonly string[]) => {
    const { client } = scriptedClient(GRANT, ({ path }) => {
      const list = path.split('/')[0]!;
      return refused.includes(list) ? new Fault('access_denied', 'no') : { [list]: [], total_count: 5, pages: {} };
    });
    return { client, now: threadChanges.now(client) };
  };
  const { client, now } = feedWithout('tickets');
  expect((await threadChanges.since(client, await now)).coveredRoots).toEqual(['conversations']);
  expect((await faultOf(feedWithout('tickets', 'conversations').now)).kind).toBe('stale_cursor');
  const token = { ...(JSON.parse(await now) as object), passes: 50 };
  expect((await faultOf(threadChanges.since(client, JSON.stringify(token)))).kind).toBe('stale_cursor');
});

test('a Retry-After of Intercom takes precedence over its header with a point in time', () => {
  const waitOf = (headers: Readonly<Record<string, string>>) =>
    intercom.waitMs!({ status: 429, headers, body: null }, 1_000_000);
  expect(waitOf({ 'x-ratelimit-reset': '1060' })).toBe(60_000);
  expect(waitOf({ 'x-ratelimit-reset': '1060', 'retry-after': '5' })).toBeNull();
});

test('a list that exceeds its limit is an error, because a shortened list would delete the rest', async () => {
  const next = { link: '<https://a.example/x>; rel="next"' };
  const folders = scriptedClient(FRESHDESK, ({ query }) => ({
    values: [{ id: 1 }, { id: 2 }],
    headers: query['page'] === '9' ? {} : next,
  }));
  expect((await faultOf(fetchAll(folders.client, ['x'], 3))).kind).toBe('too_large');
  const data = [{ id: '1' }, { id: '2' }];
  const collections = scriptedClient(GRANT, () => ({ data, pages: { total_pages: 9 } }));
  expect((await faultOf(fetchCollections(collections.client, 3))).kind).toBe('too_large');
});

/** Answers of Gong: each requested call exists, with a transcript. */
const gongAnswer = ({ path, query }: ScriptedRequest): object => {
  const ids = (query['filter'] as { callIds: string[] }).callIds;
  return path === 'calls/extensive'
    ? { calls: ids.map((id) => ({ metaData: { id, title: `Call ${id}` } })) }
    : { callTranscripts: ids.map((callId) => ({ callId, transcript: [{ sentences: [{ text: `On ${callId}.` }] }] })) };
};
const batchesIn = (requests: readonly ScriptedRequest[], path = 'calls/extensive') =>
  requests
    .filter((request) => request.path === path)
    .map(({ query }) => (query['filter'] as { callIds: string[] }).callIds);

test('Gong: reads calls that are opened at the same time in batches of 20, each with the token of its caller', async () => {
  const cache = createSourceCache();
  const clientOf = (accessToken: string) => scriptedClient({ accessToken, facts: {} }, gongAnswer, cache);
  const [ada, ben] = [clientOf('ada'), clientOf('ben')];
  const opened = Promise.all(numbers(45).map((id) => gong.open(ada.client, id, OPTIONS)));
  await gong.open(ben.client, '900', OPTIONS);
  expect((await opened).map(({ name }) => name)).toEqual(numbers(45).map((id) => `Call ${id}`));
  const ids = numbers(45);
  expect(batchesIn(ada.requests)).toEqual([ids.slice(0, 20), ids.slice(20, 40), ids.slice(40)]);
  expect(batchesIn(ben.requests)).toEqual([['900']]);
  await gong.open(ada.client, '46', OPTIONS);
  expect(batchesIn(ada.requests).at(-1)).toEqual(['46']);
});

test.each(['rate_limited', 'access_revoked'] as const)(
  'Gong: calls whose common request fails with %s are not requested one by one',
  async (kind) => {
    const { client, requests } = scriptedClient(GRANT, () => new Fault(kind, 'no'));
    const faults = await Promise.all(['1', '2', '3'].map((id) => faultOf(gong.open(client, id, OPTIONS))));
    expect(faults.map((fault) => fault.kind)).toEqual([kind, kind, kind]);
    expect(requests).toHaveLength(1);
  },
);

test('Gong: finds a folder in any workspace, below the workspace if its parent is hidden, and lists calls until tomorrow', async () => {
  const { client, requests } = scriptedClient(GRANT, ({ path, query }) => {
    if (path === 'workspaces')
      return {
        workspaces: [
          { id: '2', name: 'Support' },
          { id: '1', name: 'Sales' },
        ],
      };
    if (path === 'library/folders')
      return { folders: query['workspaceId'] === '1' ? [{ id: '6', name: 'Best', parentFolderId: '5' }] : [] };
    return { calls: [] };
  });
  const { items } = await readListing((cursor) => gong.listDescendants(client, 'folder:6', cursor));
  expect(items).toMatchObject([{ externalId: 'folder:6', parentExternalId: 'workspace:1' }]);
  expect((await gong.identify(client)).account).toBe('workspace:1');
  const named = { ...client, credentials: { ...GRANT, facts: { email: 'Ada@Harbour.example' } } };
  expect((await gong.identify(named)).account).toBe('ada@harbour.example');
  await readListing((cursor) => gong.listDescendants(client, 'workspace:1', cursor));
  const until = String(requests.find(({ path }) => path === 'calls')!.query['toDateTime']);
  expect(Math.abs(Date.parse(until) - Date.now() - 86_400_000)).toBeLessThan(3_600_000);
});

test('Gong: a list of calls whose cursor repeats itself ends', async () => {
  const { client, requests } = scriptedClient(GRANT, ({ path }) =>
    path === 'calls'
      ? { calls: [{ id: '1' }], records: { cursor: 'same' } }
      : { workspaces: [{ id: '1' }], folders: [] },
  );
  await readListing((cursor) => gong.listDescendants(client, 'workspace:1', cursor));
  expect(requests.filter(({ path }) => path === 'calls').map(({ query }) => query['cursor'])).toEqual([
    undefined,
    'same',
  ]);
});

test('Gong: the version of a call does not depend on the fraction of its duration, but on its language', () => {
  const call = { id: '1', started: '2026-01-01T00:00:00Z', duration: 61, language: 'eng' };
  const versionOf = (more: object) => itemOfCall({ ...call, ...more }, null, '1')!.version;
  expect(versionOf({ duration: 61.3 })).toBe(versionOf({}));
  expect(versionOf({ language: 'deu' })).not.toBe(versionOf({}));
});

test('Freshdesk: lists the attachments of all tickets of a long page, except of those deleted meanwhile', async () => {
  const { client } = scriptedClient(FRESHDESK, ({ path, query }) => {
    if (path === 'tickets')
      return {
        values: query['updated_since'] === '2000-01-01T00:00:00Z' ? numbers(25).map((id) => ({ id: Number(id) })) : [],
      };
    const [, id, part] = path.split('/');
    if (part === 'conversations') return { values: [] };
    if (id === '3') return new Fault('not_found', 'gone');
    return { id: Number(id), attachments: [{ id: 1, attachment_url: 'https://files.example/1' }] };
  });
  const filter = { autoSyncedSourceTypes: ['TICKET'], syncAttachments: true } as const;
  const { items } = await readListing((cursor) => freshdesk.listDescendants(client, 'harbour/tickets', cursor, filter));
  const attached = items.filter(({ itemType }) => itemType === 'TICKET_ATTACHMENT');
  expect(attached.map(({ parentExternalId }) => parentExternalId)).toEqual(
    numbers(25).flatMap((id) => (id === '3' ? [] : [`harbour/ticket:${id}`])),
  );
});

test('Freshdesk: continues by page number if the change date of a page is unreadable', async () => {
  const { client, requests } = scriptedClient(FRESHDESK, ({ query }) => ({
    values: [{ id: Number(query['page']), updated_at: 'yesterday' }],
    headers: query['page'] === '1' ? { link: '<https://a.example/x>; rel="next"' } : {},
  }));
  const filter = { autoSyncedSourceTypes: ['TICKET'] } as const;
  const { ids } = await readListing((cursor) => freshdesk.listDescendants(client, 'harbour/tickets', cursor, filter));
  expect(ids).toEqual(['harbour/tickets', 'harbour/ticket:1', 'harbour/ticket:2']);
  expect(requests.map(({ query }) => query['updated_since'])).toEqual(Array(2).fill('2000-01-01T00:00:00Z'));
});

test('Freshdesk: lists the other folders after one was deleted, and fails if a page of categories is refused', async () => {
  const { client } = scriptedClient(FRESHDESK, ({ path, query }) => {
    if (path === 'solutions/categories')
      return query['page'] === '1'
        ? { values: [{ id: 1, name: 'Sea' }], headers: { link: '<https://a.example/x>; rel="next"' } }
        : new Fault('access_denied', 'no');
    if (path === 'solutions/categories/1') return { id: 1, name: 'Sea' };
    if (path === 'solutions/categories/1/folders') return { values: [{ id: 2 }, { id: 3 }] };
    if (path === 'solutions/folders/2/articles') return new Fault('not_found', 'gone');
    return { values: [{ id: 9, folder_id: 3, category_id: 1, status: 2 }] };
  });
  const { ids } = await readListing((cursor) => freshdesk.listDescendants(client, 'harbour/category:1', cursor));
  expect(ids.at(-1)).toBe('harbour/article:9');
  const roots = readListing((cursor) => freshdesk.listRoots(client, cursor));
  expect((await faultOf(roots)).kind).toBe('access_denied');
});

test('Freshdesk: keeps a custom status by its number, names an author by the sender, and gives an attachment the time of its change as version', () => {
  const json = { id: 8, status: 12, priority: 4, attachments: [] };
  const attachment = { id: 5, attachment_url: 'https://files.example/5', updated_at: '2026-03-01T00:00:00Z' };
  const conversations = [
    { body_text: 'Hello.', from_email: 'eve@sea.example', incoming: true, attachments: [attachment] },
    { body_text: 'Hi.', incoming: true },
  ];
  const ticket = { json, item: itemOfTicket(json, 'https://harbour.example')!, conversations };
  const content = contentOfTicket(ticket);
  expect(content.fileMetadata).toMatchObject({ ticket_status: '12', ticket_priority: 'urgent' });
  expect(textIn(content)).toBe('# Ticket 8\n\neve@sea.example: Hello.\n\nRequester: Hi.');
  expect(attachedIn(ticket)).toMatchObject([{ externalId: 'ticket:8/5', version: '2026-03-01T00:00:00Z' }]);
});

test('an account has one name, whatever the case in which it is written', async () => {
  const freshdeskClient = scriptedClient(FRESHDESK, () => ({ id: 1 })).client;
  expect((await freshdesk.identify(freshdeskClient)).account).toBe('harbour');
  const accountOf = async (answer: object) => {
    const { client } = scriptedClient({ username: ' C1 ', accessToken: 't' }, () => answer);
    return (await guru.identify(client)).account;
  };
  expect(await accountOf({ user: { email: 'Ada@Harbour.example' }, email: 'x@y.example' })).toBe('ada@harbour.example');
  expect(await accountOf({ email: 'Ben@Harbour.example' })).toBe('ben@harbour.example');
  expect(await accountOf({})).toBe('c1');
});

test('Guru: collections and folders have a title and a URL, and an opened card its verification state', async () => {
  const answers: Readonly<Record<string, object>> = {
    'collections/c1': { id: 'c1', name: 'Sea', slug: 'c1/Sea', homeBoardSlug: 'h/Home' },
    'folders/h/items': {
      values: [
        { type: 'folder', id: 'f1', title: 'Pier', slug: 'f1/Pier' },
        { type: 'fact', id: 'k1' },
      ],
    },
    'cards/k1/extended': { id: 'k1', preferredPhrase: 'Tide', verificationState: 'TRUSTED', collection: { id: 'c1' } },
  };
  const { client } = scriptedClient({ username: 'ada', accessToken: 't' }, ({ path }) => answers[path]);
  const first = await guru.listDescendants(client, 'collection:c1', null);
  const { items } = await guru.listDescendants(client, 'collection:c1', first.next);
  expect([...first.items, ...items].map(({ name, externalUrl }) => [name, externalUrl])).toEqual([
    ['Sea', 'https://app.getguru.com/collections/c1/Sea'],
    ['Pier', 'https://app.getguru.com/folders/f1/Pier'],
    ['k1', null],
  ]);
  const { fileMetadata } = await guru.open(client, 'k1', OPTIONS);
  expect(fileMetadata).toEqual({ type: 'CARD', collection_id: 'c1', verification_state: 'TRUSTED' });
});

test('the name of an account prefixes all ids of a page: items, parents, roots, paths, refused and skipped ones', () => {
  const item = createItem({
    externalId: 'a',
    parentExternalId: 'b',
    rootExternalId: 'c',
    path: 'p',
    name: 'A',
    itemType: 'TICKET',
  });
  const skipped = [{ externalId: 's', name: 'S', reason: 'No.' }];
  const page = idsOf('Acme').page({ items: [item], next: 'n', refused: ['r'], skipped });
  expect(page).toMatchObject({
    items: [{ externalId: 'acme/a', parentExternalId: 'acme/b', rootExternalId: 'acme/c', path: 'acme/p' }],
    ...{ next: 'n', refused: ['acme/r'], skipped: [{ externalId: 'acme/s' }] },
  });
  expect(idsOf('acme').page({ items: [{ ...item, parentExternalId: null }], next: null }).items).toMatchObject([
    { parentExternalId: null },
  ]);
});

test('texts of conversations keep their lines, omit empty comments, and have a maximum length', async () => {
  expect(plainOf('<p>A &amp;lt; B<br>C</p><div>&nbsp;D</div><ul><li>E</li></ul>')).toBe('A &lt; B\nC\n D\nE');
  const comment = { author: null, at: '2026-03-03T10:00:00.000Z', text: ' one\r\ntwo ' };
  expect(textOfComments(null, [comment, { ...comment, text: ' \n' }]).toString()).toBe(
    'Unknown author, 2026-03-03 10:00: one\ntwo',
  );
  const long = async () => textOfComments('Long', [{ ...comment, text: 'x'.repeat(20_000_000) }]);
  expect((await faultOf(long())).kind).toBe('too_large');
  expect([dateOf(1_772_532_000), dateOf('2026-03-03'), dateOf('no date'), dateOf(null)]).toEqual([
    ...['2026-03-03T10:00:00.000Z', '2026-03-03T00:00:00.000Z'],
    ...[null, null],
  ]);
});
