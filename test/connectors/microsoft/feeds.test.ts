/** The joined feeds of an account's drives and mail folders, page by page. */
import { expect, test } from '@jest/globals';

import { joinFeeds, type Feeds, type ListedPlace } from '../../../connectors/microsoft/feeds.js';
import { classify, fetchAll, type GraphPage } from '../../../connectors/microsoft/graph.js';
import { mailChanges } from '../../../connectors/microsoft/outlook/changes.js';
import { allFolders, foldersByName } from '../../../connectors/microsoft/outlook/folders.js';
import { listFolder } from '../../../connectors/microsoft/outlook/messages.js';
import { createContainer } from '../../../connectors/items.js';
import { Fault } from '../../../contract/failures.js';
import { faultOf } from '../../support/faultOf.js';
import { readFeedPages, scriptedClient } from '../scripted.js';

const GRANT = { accessToken: 'token', facts: {} };
const { client } = scriptedClient(GRANT, () => null);
const place = (id: string, name = id): ListedPlace => ({
  ...{ id, root: 'root' },
  item: createContainer({ externalId: id, name, itemType: 'FOLDER' }),
});
/** A page whose only value has the given id, with its next page or the end of the feed. */
const page = (id: string, next: string | null): GraphPage => ({
  values: [{ id }],
  next: next === null ? null : { token: next },
  delta: next === null ? { token: `end of ${id}` } : null,
});
const gone = (): Fault => new Fault('not_found', 'gone');

/** Feeds whose pages are given by place and token; the places can be changed between syncs. */
function feedsOf(places: ListedPlace[], pages: Readonly<Record<string, GraphPage | Fault>>) {
  const read: string[] = [];
  const feeds: Feeds = {
    list: () => Promise.resolve([...places]),
    page(_client, { id }, query) {
      const key = `${id} ${query?.['token'] ?? '-'}`;
      read.push(key);
      const found = pages[key] ?? page(`nothing in ${id}`, null);
      return found instanceof Fault ? Promise.reject(found) : Promise.resolve(found);
    },
    changes: (_client, { values }) => Promise.resolve(values.map(({ id }) => ({ gone: String(id) }))),
    externalIdOf: ({ id }) => `place ${id}`,
    omitsChanges: ({ values }) => values.some(({ id }) => id === 'shared'),
  };
  const feed = joinFeeds(feeds);
  /** Calls `prepare` until the first cursor is complete, and returns this cursor. */
  const begin = async () => {
    let token = await feed.now(client);
    for (let more = true; more;) {
      const next = await feed.prepare!(client, token);
      [token, more] = [next.next, next.more];
    }
    return token;
  };
  const sync = async (token: string) => {
    const synced = await readFeedPages((at) => feed.since(client, at), token);
    const changes = synced.flatMap((one) =>
      one.changes.map((change) => ('gone' in change ? change.gone : `item ${change.item.name}`)),
    );
    return { changes, next: synced.at(-1)!.next };
  };
  return { read, begin, sync, feed };
}

test('the first cursor is read from every page of every place, without a place that is removed meanwhile', async () => {
  const { read, begin, sync } = feedsOf([place('a'), place('b'), place('c')], {
    'a -': page('a1', '2'),
    'a 2': page('a2', null),
    'b -': gone(),
    'c -': page('c1', null),
  });
  const token = await begin();
  expect(read).toEqual(['a -', 'a 2', 'b -', 'c -']);
  read.length = 0;
  // The removed place is new to the next sync.
  await sync(token);
  expect(read).toEqual(['a end of a2', 'b -', 'c end of c1']);
});

test('a sync reads every page of every place, and the next one continues at the end of each feed', async () => {
  const { read, begin, sync } = feedsOf([place('a'), place('b')], {
    'a end of nothing in a': page('a1', '2'),
    'a 2': { ...page('a2', '3'), delta: { token: 'not yet' } },
    'a 3': page('a3', null),
    'b end of nothing in b': page('b1', null),
  });
  const token = await begin();
  read.length = 0;
  const first = await sync(token);
  expect(first.changes).toEqual(['a1', 'a2', 'a3', 'b1']);
  read.length = 0;
  await sync(first.next);
  expect(read).toEqual(['a end of a3', 'b end of b1']);
});

test('a place that disappears during a sync is reported as deleted, and the place after it is read', async () => {
  const { read, begin, sync } = feedsOf([place('a'), place('b'), place('c')], {
    'b end of nothing in b': gone(),
    'c end of nothing in c': page('c1', null),
  });
  const token = await begin();
  read.length = 0;
  expect((await sync(token)).changes).toEqual(['nothing in a', 'place b', 'c1']);
  expect(read).toHaveLength(3);
});

test('new, renamed and removed places are reported once', async () => {
  const places = [place('a'), place('b')];
  const { begin, sync } = feedsOf(places, {});
  const token = await begin();
  places.splice(0, 2, place('b', 'renamed'), place('new'));
  const { changes, next } = await sync(token);
  expect(changes).toEqual(['place a', 'item renamed', 'item new', 'nothing in b', 'nothing in new']);
  expect((await sync(next)).changes).toEqual(['nothing in b', 'nothing in new']);
});

test('a sync fails with stale_cursor if omitsChanges() was true for a page that the first cursor read', async () => {
  const shared = { 'a -': page('shared', '2'), 'a 2': page('a2', null), 'b -': page('b1', null) };
  const { begin, sync } = feedsOf([place('a'), place('b')], shared);
  expect((await faultOf(sync(await begin()))).kind).toBe('stale_cursor');
});

test('an error other than a missing place is not a deletion', async () => {
  for (const kind of ['access_denied', 'server_error'] as const) {
    const { begin, sync } = feedsOf([place('a')], { 'a end of nothing in a': new Fault(kind, 'no') });
    const token = await begin();
    expect((await faultOf(sync(token))).kind).toBe(kind);
    expect((await faultOf(feedsOf([place('a')], { 'a -': new Fault(kind, 'no') }).begin())).kind).toBe(kind);
  }
});

/** Scripts a mailbox with the folders A, B in A, and C in B. @param values the changes in the folder C */
function mailbox(
  values: readonly object[],
  message: object | Fault = {},
  more: (path: string) => unknown = () => undefined,
) {
  const folder = (id: string, childFolderCount = 1) => ({ id, displayName: `Folder ${id}`, childFolderCount });
  return scriptedClient(GRANT, ({ path }) => {
    const own = more(path);
    if (own !== undefined) return own;
    if (path === 'me/mailFolders/deleteditems') return { id: 'BIN' };
    if (path === 'me/mailFolders') return { value: [{ ...folder('BIN'), childFolderCount: 0 }, folder('A')] };
    if (path === 'me/mailFolders/A/childFolders') return { value: [folder('A'), folder('B')] };
    if (path === 'me/mailFolders/B/childFolders') return { value: [folder('C', 0)] };
    if (path.endsWith('/delta'))
      return { value: path.includes('/C/') ? values : [], '@odata.deltaLink': 'https://a.example/x?$deltatoken=1' };
    if (path.startsWith('me/messages/')) return message;
    return gone();
  });
}
const mailSync = async (mail: ReturnType<typeof mailbox>) => {
  const token = await mailChanges.now(mail.client);
  return (await readFeedPages((at) => mailChanges.since(mail.client, at), token)).flatMap(({ changes }) => changes);
};

test('Outlook: a message that a folder no longer contains is deleted, unless it was moved or cannot be read', async () => {
  const removed = [{ id: 'm1', '@removed': { reason: 'deleted' } }];
  expect(await mailSync(mailbox(removed, gone()))).toEqual([{ gone: 'm1' }]);
  expect(await mailSync(mailbox(removed, { id: 'm1', parentFolderId: 'BIN' }))).toEqual([{ gone: 'm1' }]);
  expect(await mailSync(mailbox(removed, { id: 'm1', parentFolderId: 'B', subject: 'Moved' }))).toEqual([
    {
      item: expect.objectContaining({
        ...{ externalId: 'm1', parentExternalId: 'folder:B', rootExternalId: 'folder:A' },
      }),
    },
  ]);
  for (const kind of ['access_denied', 'server_error'] as const)
    expect((await faultOf(mailSync(mailbox(removed, new Fault(kind, 'no'))))).kind).toBe(kind);
});

test('Outlook: a value without a valid id does not hide the changes after it', async () => {
  const changes = await mailSync(mailbox([{ subject: 'x' }, { id: 'a/b' }, { id: 'm2', subject: 'Later' }]));
  expect(changes).toEqual([{ item: expect.objectContaining({ externalId: 'm2' }) }]);
});

test('Outlook: folders at any depth have the outermost folder as their root, also after a repeated folder', async () => {
  const folders = await allFolders(mailbox([]).client);
  expect(folders.map(({ id, parent, root }) => [id, parent, root])).toEqual([
    ['A', null, 'A'],
    ['B', 'A', 'A'],
    ['C', 'B', 'A'],
  ]);
});

test('Outlook: a folder is found by its id before its name, and by its path before a name anywhere', async () => {
  const named = (id: string, displayName: string, childFolderCount = 0) => ({ id, displayName, childFolderCount });
  const { client: mail } = mailbox([], {}, (path) =>
    path === 'me/mailFolders'
      ? { value: [named('A', 'Work', 1), named('B', 'A'), named('D', 'Inbox')] }
      : path === 'me/mailFolders/A/childFolders'
        ? { value: [named('C', 'Work')] }
        : undefined,
  );
  const found = async (word: string) => (await foldersByName(mail, word)).map(({ id }) => id);
  expect(await found(' A ')).toEqual(['A']);
  expect(await found('work')).toEqual(['A']);
  expect(await found('Work/work')).toEqual(['C']);
  expect(await found('a')).toEqual(['B']);
  expect(await found('Inbox')).toEqual(['D']);
  expect(await found('nothing')).toEqual([]);
});

test('Outlook: a mailbox with too many folders fails instead of being listed in part', async () => {
  const folders = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ id: `F${index}`, childFolderCount: 0 }));
  const list = (top: number, inner: number) =>
    allFolders(
      mailbox([], {}, (path) =>
        path === 'me/mailFolders'
          ? { value: [...folders(top), { id: 'A', childFolderCount: 1 }] }
          : path === 'me/mailFolders/A/childFolders'
            ? { value: folders(inner).map(({ id }) => ({ id: `inner${id}` })) }
            : undefined,
      ).client,
    );
  expect(await list(9_998, 1)).toHaveLength(10_000);
  expect((await faultOf(list(9_998, 2))).kind).toBe('too_large');
});

test('Outlook: a listing that loses its position starts the folder again, but not for ever', async () => {
  const stale = new Fault('stale_cursor', 'expired');
  let first = true;
  const { client: mail, requests } = mailbox([], {}, (path) => {
    if (!path.endsWith('/C/messages/delta')) return undefined;
    first = !first;
    return first ? stale : { value: [{ id: 'm1' }], '@odata.nextLink': 'https://a.example/x?$skiptoken=2' };
  });
  const list = async () => {
    for (let cursor: string | null | undefined; cursor !== null;)
      cursor = (await listFolder(mail, 'C', cursor ?? null)).next;
  };
  expect((await faultOf(list())).kind).toBe('stale_cursor');
  expect(requests.filter(({ path }) => path.endsWith('/delta'))).toHaveLength(8);
});

test('Graph: a collection above its maximum fails, and the maximum itself does not', async () => {
  const { client: graph } = scriptedClient(GRANT, ({ query }) => ({
    value: [{ id: 1 }, { id: 2 }],
    ...(query['page'] === undefined ? { '@odata.nextLink': 'https://a.example/x?page=2' } : {}),
  }));
  expect(await fetchAll(graph, ['x'], {}, { maxEntries: 4 })).toHaveLength(4);
  expect((await faultOf(fetchAll(graph, ['x'], {}, { maxEntries: 3 }))).kind).toBe('too_large');
});

test('Graph: a refusal is classified by its code, else by its status', () => {
  const classOf = (status: number, code = '', headers: Readonly<Record<string, string>> = {}) =>
    classify({ status, headers, body: { error: { code } } });
  expect(classOf(410)).toBe('cursor_invalid');
  expect(classOf(410, 'resyncRequired')).toBe('cursor_invalid');
  expect(classOf(423)).toBe('forbidden_item');
  expect(classOf(509)).toBe('rate_limited');
  expect(classOf(503, '', { 'retry-after': '5' })).toBe('rate_limited');
  expect([classOf(503), classOf(404), classOf(400, 'constructor')]).toEqual([null, null, null]);
  // Null: the status decides. 401 means an invalid token, whatever the code.
  expect(classOf(401, 'syncStateNotFound')).toBeNull();
});

test('Outlook: a listing leaves out messages that its feed reports as removed', async () => {
  const { client: mail } = mailbox([
    { id: 'm1', '@removed': { reason: 'deleted' } },
    { id: 'm2', subject: 'Here' },
  ]);
  const first = await listFolder(mail, 'C', null);
  expect((await listFolder(mail, 'C', first.next)).items.map(({ externalId }) => externalId)).toEqual(['m2']);
});

test('Outlook: a message that is deleted meanwhile has no attachments, and refused attachments fail the listing', async () => {
  const list = async (attachments: Fault) => {
    const { client: mail } = mailbox([{ id: 'm1', hasAttachments: true }], attachments);
    return (await listFolder(mail, 'C', (await listFolder(mail, 'C', null)).next)).items.length;
  };
  expect(await list(gone())).toBe(1);
  expect((await faultOf(list(new Fault('access_denied', 'no')))).kind).toBe('access_denied');
});
