import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { Account } from '../../../connectors/account.js';
import type { Egress } from '../../../egress/types.js';
import { rootOf } from '../../emulators/graph/drives.js';
import { queryOf } from '../../../connectors/microsoft/graph.js';
import { type GraphEmulator, PERSON, startGraph } from '../../emulators/graph/index.js';
import {
  accountOf,
  allPages,
  descendantsOf,
  currentCursor,
  idsOf,
  NEVER,
  openEgress,
  readChanges,
  cursorOf,
} from './graphAccount.js';
import { faultOf } from '../../support/faultOf.js';
import { versionsOf } from '../account.js';
import { acceptedBrokenAnswers } from '../brokenAnswers.js';

let egress: Egress;
let graph: GraphEmulator;
let account: Account;

beforeAll(async () => {
  egress = openEgress();
  graph = await startGraph();
});
afterAll(async () => {
  await egress.close();
  await graph.close();
});
beforeEach(() => {
  graph.drives.all.clear();
  graph.ownDrives.splice(0, Number.POSITIVE_INFINITY, 'b!mine');
  graph.drives.add('b!mine', 'Mine');
  graph.reset();
  graph.downloads.length = 0;
  account = accountOf(graph, 'ONEDRIVE', egress);
});

const put = (path: string, content: string | Buffer = path): string => graph.drives.put('b!mine', path, { content });

describe('listings', () => {
  test('of a drive contain all of its items with their parents, page by page', async () => {
    for (const path of ['a/1.md', 'a/b/2.md', 'a/b/c/3.pdf', '4.docx']) put(path);
    const { items, pages } = await descendantsOf(account, 'b!mine');
    expect(pages).toBeGreaterThan(3);
    const tree = Object.fromEntries(items.map((item) => [item.externalId, item.parentExternalId]));
    expect(tree).toEqual({
      'b!mine': null,
      'b!mine/a': 'b!mine',
      'b!mine/a.1.md': 'b!mine/a',
      'b!mine/a.b': 'b!mine/a',
      'b!mine/a.b.2.md': 'b!mine/a.b',
      'b!mine/a.b.c': 'b!mine/a.b',
      'b!mine/a.b.c.3.pdf': 'b!mine/a.b.c',
      'b!mine/4.docx': 'b!mine',
    });
    expect(items.find(({ name }) => name === '3.pdf')).toMatchObject({
      rootExternalId: 'b!mine',
      itemType: 'FILE',
      fileFormat: 'PDF',
      hasContent: true,
      isExpandable: false,
      externalUrl: 'https://harbour.example/b!mine/a.b.c.3.pdf',
      createdAt: '2026-03-03T10:00:00Z',
      version: expect.stringMatching(/^x\d+$/),
    });
    // The listing uses the delta feed: it sends no request per folder.
    expect(graph.requests.filter((path) => path.includes('/children'))).toEqual([]);
  });

  test('of a folder contain the folder and its descendants only', async () => {
    for (const path of ['a/1.md', 'a/b/2.md', 'a/b/c/3.md', 'a/b/c/4.md', 'a/b/c/5.md', 'd/6.md']) put(path);
    expect(idsOf((await descendantsOf(account, 'b!mine/a.b')).items)).toEqual(
      ['a.b', 'a.b.2.md', 'a.b.c', 'a.b.c.3.md', 'a.b.c.4.md', 'a.b.c.5.md'].map((id) => `b!mine/${id}`),
    );
    expect(idsOf((await descendantsOf(account, 'b!mine/d.6.md')).items)).toEqual(['b!mine/d.6.md']);
    // The root folder of a drive counts as the drive.
    expect((await descendantsOf(account, `b!mine/${rootOf('b!mine')}`)).items).toHaveLength(11);
  });

  test('of an item in a folder whose name ends with root have this folder as its parent', async () => {
    put('wwwroot/a/1.md');
    const { items } = await descendantsOf(account, 'b!mine/wwwroot.a');
    expect(items[0]).toMatchObject({ externalId: 'b!mine/wwwroot.a', parentExternalId: 'b!mine/wwwroot' });
    expect((await descendantsOf(account, 'b!mine/wwwroot')).items[0]).toMatchObject({ parentExternalId: 'b!mine' });
  });

  test('of drives span all pages, and an id without a drive belongs to the first drive', async () => {
    for (const id of ['b!two', 'b!three', 'b!four']) {
      graph.drives.add(id);
      graph.ownDrives.push(id);
    }
    const roots = await allPages((cursor) => account.listRoots(cursor, NEVER));
    expect(roots).toMatchObject({
      pages: 2,
      items: ['b!mine', 'b!two', 'b!three', 'b!four'].map((externalId) => ({ externalId })),
    });
    const id = put('a/1.md');
    expect(idsOf((await descendantsOf(account, id)).items)).toEqual([`b!mine/${id}`]);
  });

  test('include folders shared from other drives once, with ids of their own drive', async () => {
    graph.drives.add('b!theirs');
    graph.drives.put('b!theirs', 'shared/deep/plan.md', { content: 'The plan.' });
    // Each of the two folders links to the other.
    graph.drives.put('b!theirs', 'shared/back', { remote: { drive: 'b!mine', item: 'a' } });
    graph.drives.put('b!mine', 'a/link', { remote: { drive: 'b!theirs', item: 'shared' } });
    const { items } = await descendantsOf(account, 'b!mine');
    const tree = Object.fromEntries(items.map((item) => [item.externalId, item.parentExternalId]));
    expect(tree).toMatchObject({
      'b!theirs/shared': 'b!mine/a',
      'b!theirs/shared.deep': 'b!theirs/shared',
      'b!theirs/shared.deep.plan.md': 'b!theirs/shared.deep',
    });
    expect(items).toHaveLength(6);
    expect(Buffer.from((await account.open('b!theirs/shared.deep.plan.md', NEVER)).bytes).toString()).toBe('The plan.');
    // A shared folder without access does not end the listing.
    put('z.md');
    graph.injectFault((path) => (path.includes('b!theirs') ? { status: 403 } : null));
    expect(idsOf((await descendantsOf(account, 'b!mine')).items)).toContain('b!mine/z.md');
  });

  test('include a shared folder once, even if the delta link expires after the folder was found', async () => {
    graph.drives.add('b!theirs');
    graph.drives.put('b!theirs', 'shared/plan.md', { content: 'The plan.' });
    graph.drives.put('b!mine', 'link', { remote: { drive: 'b!theirs', item: 'shared' } });
    for (const path of ['1.md', '2.md', '3.md', '4.md']) put(path);
    let deltaRequests = 0;
    graph.injectFault((path) => (path.includes('/root/delta') && ++deltaRequests === 2 ? { status: 410 } : null));
    const ids = idsOf((await descendantsOf(account, 'b!mine')).items);
    expect(deltaRequests).toBeGreaterThan(2);
    expect(ids.filter((id) => id === 'b!theirs/shared.plan.md')).toHaveLength(1);
  });

  test('continue after a deleted folder, and restart after an expired delta link', async () => {
    for (const path of ['a/1.md', 'a/b/2.md', 'a/c/3.md']) put(path);
    graph.injectFault((path) => (path.endsWith('/items/a.b/children') ? { status: 404 } : null));
    expect(idsOf((await descendantsOf(account, 'b!mine/a')).items)).toContain('b!mine/a.c.3.md');
    let deltaRequests = 0;
    graph.injectFault((path) => (path.includes('/root/delta') && ++deltaRequests === 2 ? { status: 410 } : null));
    expect(new Set(idsOf((await descendantsOf(account, 'b!mine')).items)).size).toBe(7);
    graph.injectFault((path) => (path.includes('/root/delta') ? { status: 410 } : null));
    expect(await faultOf(descendantsOf(account, 'b!mine'))).toMatchObject({ kind: 'stale_cursor' });
  });

  test.each(['nowhere', 'b!mine/nowhere', 'b!mine/../../me', 'b!mine/a/b', '..', '', 'b!mine/', 'a b', 'ü'])(
    'of %p are not found',
    async (id) => {
      put('a/1.md');
      expect(await faultOf(descendantsOf(account, id))).toMatchObject({ kind: 'not_found' });
      expect(
        graph.requests.filter((path) => !path.startsWith('/v1.0/drives/') && !path.startsWith('/v1.0/me/drive/')),
      ).toEqual([]);
    },
  );

  test('of an id that Graph rejects as malformed are not found', async () => {
    graph.injectFault((path) => (path.includes('/drives/') ? { status: 400 } : null));
    expect(await faultOf(descendantsOf(account, 'b!mine/nowhere'))).toMatchObject({ kind: 'not_found' });
  });

  test('fail instead of being empty if Graph answers 400', async () => {
    put('a/1.md');
    graph.injectFault((path) => (path.includes('/delta') ? { status: 400 } : null));
    expect(await faultOf(descendantsOf(account, 'b!mine'))).toMatchObject({ kind: 'bad_response' });
  });
});

describe('contents', () => {
  test('are downloaded from another host without credentials, with their declared type', async () => {
    const id = graph.drives.put('b!mine', 'a/Über 1.md', { content: 'Grüße', mimeType: 'text/markdown' });
    const content = await account.open(`b!mine/${id}`, NEVER);
    expect(content).toMatchObject({
      contentType: 'text/markdown',
      name: 'Über 1.md',
      url: `https://harbour.example/b!mine/${id}`,
      fileMetadata: { type: 'FILE', is_folder: false, drive_id: 'b!mine', item_id: id },
    });
    expect(Buffer.from(content.bytes).toString()).toBe('Grüße');
    expect(graph.downloads).toEqual([{ path: `/b!mine/${id}`, withCredentials: false }]);
    // The download URL contains a credential, so it must not appear in the result.
    expect(JSON.stringify({ ...content, bytes: null })).not.toContain(graph.downloadToken);
  });

  test('that are unavailable fail with the reason', async () => {
    put('a/1.md');
    graph.drives.put('b!mine', 'notes', { package: true });
    graph.drives.put('b!mine', 'big.md', { content: 'x'.repeat(2_000) });
    const small = accountOf(graph, 'ONEDRIVE', egress, {}, 1_000);
    expect(await faultOf(account.open('b!mine/notes', NEVER))).toMatchObject({
      kind: 'unsupported_type',
      message: expect.stringMatching(/notebook/),
    });
    expect(await faultOf(account.open('b!mine/a', NEVER))).toMatchObject({ kind: 'unsupported_type' });
    expect(await faultOf(small.open('b!mine/big.md', NEVER))).toMatchObject({ kind: 'too_large' });
    for (const id of ['b!mine', 'b!mine/gone', 'b!other/a.1.md'])
      expect(await faultOf(account.open(id, NEVER))).toMatchObject({ kind: 'not_found' });
  });

  test('of a notebook: a listing of its drive has hasContent false, a listing of its own id has true', async () => {
    graph.drives.put('b!mine', 'a/notes', { package: true });
    const notebook = (await descendantsOf(account, 'b!mine')).items.find(({ name }) => name === 'notes');
    expect(notebook).toMatchObject({ hasContent: false, isSelectable: false });
    // If the notebook itself is selected, a sync creates a file for it, whose error states why it cannot be read.
    expect((await descendantsOf(account, 'b!mine/a.notes')).items).toMatchObject([{ hasContent: true }]);
  });
});

describe('the change feed', () => {
  test('reports new, changed and deleted items of all drives since the cursor', async () => {
    for (const path of ['a/1.md', 'a/2.md', 'b/3.md']) put(path);
    graph.drives.add('b!two');
    graph.ownDrives.push('b!two');
    const start = await cursorOf(account);
    let { changed, cursor } = await readChanges(account, start);
    expect(changed).toEqual([]);
    graph.drives.write('b!mine', 'a.1.md', 'new');
    put('b/4.md');
    graph.drives.remove('b!mine', 'a.2.md');
    graph.drives.put('b!two', 'x.md', { content: 'x' });
    ({ changed, cursor } = await readChanges(account, cursor));
    expect(changed.toSorted()).toEqual(['b!mine/a.1.md', 'b!mine/b.4.md', 'b!two/x.md', 'gone b!mine/a.2.md']);
    expect((await readChanges(account, cursor)).changed).toEqual([]);
    // A deleted folder is reported once, without its contents.
    graph.drives.remove('b!mine', 'b');
    expect((await readChanges(account, cursor)).changed).toEqual(['gone b!mine/b']);
    // The same cursor returns the same changes again.
    expect((await readChanges(account, cursor)).changed).toEqual(['gone b!mine/b']);
  });

  test('gives a file the version that listings give it, although the feed omits cTag', async () => {
    put('a/1.md');
    graph.drives.put('b!mine', 'a/2.md', { content: 'x', isUnhashed: true });
    const start = await cursorOf(account);
    // An edit of metadata: the content and its hash stay the same.
    const { items } = graph.drives.all.get('b!mine')!;
    const before = versionsOf((await descendantsOf(account, 'b!mine/a.1.md')).items);
    for (const id of ['a.1.md', 'a.2.md']) items.get(id)!.at = graph.drives.tick();
    const listing = versionsOf((await descendantsOf(account, 'b!mine/a')).items);
    const { changes } = await account.changes!.since(start, NEVER);
    const reported = versionsOf(changes.flatMap((change) => ('item' in change ? [change.item] : [])));
    expect(reported).toEqual({ 'b!mine/a.1.md': listing['b!mine/a.1.md'], 'b!mine/a.2.md': listing['b!mine/a.2.md'] });
    expect(reported).toMatchObject(before);
    expect(Object.values(reported)).not.toContain(null);
  });

  test('prepares its first cursor page by page, so that a large drive needs no long call', async () => {
    for (let index = 0; index < 20; index += 1) put(`${index}.md`);
    graph.requests.length = 0;
    const { pages } = await currentCursor(account);
    const requests = graph.requests.filter((path) => path.includes('/delta'));
    expect([pages > 5, requests.length]).toEqual([true, pages]);
    // `now` itself reads no page of the feed.
    graph.requests.length = 0;
    await account.changes!.now(NEVER);
    expect(graph.requests.filter((path) => path.includes('/delta'))).toEqual([]);
  });

  test('continues to prepare its first cursor after a drive was removed', async () => {
    graph.drives.add('b!two');
    graph.ownDrives.push('b!two');
    for (const path of ['1.md', '2.md', '3.md', '4.md', '5.md']) put(path);
    const first = await account.changes!.prepare!(await account.changes!.now(NEVER), NEVER);
    expect(first.more).toBe(true);
    graph.drives.all.delete('b!mine');
    graph.ownDrives.splice(0, 1);
    let { next, more } = first;
    while (more) ({ next, more } = await account.changes!.prepare!(next, NEVER));
    graph.drives.put('b!two', 'n.md', { content: 'n' });
    expect((await readChanges(account, next)).changed).toEqual(['b!two/n.md']);
  });

  test('reports the drive as the parent of an item in the root folder', async () => {
    const start = await cursorOf(account);
    put('top.md');
    const { changes } = await account.changes!.since(start, NEVER);
    expect(changes).toMatchObject([{ item: { externalId: 'b!mine/top.md', parentExternalId: 'b!mine' } }]);
  });

  test('reads new drives from the beginning, and reports removed drives', async () => {
    put('1.md');
    const start = await cursorOf(account);
    graph.drives.add('b!new');
    graph.drives.put('b!new', 'n.md', { content: 'n' });
    graph.ownDrives.splice(0, Number.POSITIVE_INFINITY, 'b!new');
    const { changed, cursor } = await readChanges(account, start);
    expect(changed).toEqual(['gone b!mine', 'b!new', 'b!new/n.md']);
    graph.drives.write('b!new', 'n.md', 'n2');
    expect((await readChanges(account, cursor)).changed).toEqual(['b!new/n.md']);
  });

  test('reports a stale cursor for a drive with folders of other drives, because Graph does not report their changes', async () => {
    graph.drives.add('b!theirs');
    graph.drives.put('b!theirs', 'shared/plan.md', { content: 'x' });
    const start = await cursorOf(account);
    graph.drives.put('b!mine', 'link', { remote: { drive: 'b!theirs', item: 'shared' } });
    const { changed, cursor } = await readChanges(account, start);
    expect(changed).toEqual(['b!theirs/shared']);
    expect(await faultOf(readChanges(account, cursor))).toMatchObject({ kind: 'stale_cursor' });
    expect(await faultOf(readChanges(account, await cursorOf(account)))).toMatchObject({ kind: 'stale_cursor' });
    graph.drives.remove('b!mine', 'link');
    expect((await readChanges(account, await cursorOf(account))).changed).toEqual([]);
  });

  test('reports a stale cursor also if later pages, or the feed of a later drive, contain no link', async () => {
    graph.drives.add('b!theirs');
    graph.drives.put('b!theirs', 'shared/plan.md', { content: 'x' });
    graph.drives.add('b!two');
    graph.ownDrives.push('b!two');
    const start = await cursorOf(account);
    const isStale = async (cursor: string) =>
      expect(await faultOf(readChanges(account, cursor))).toMatchObject({ kind: 'stale_cursor' });
    graph.drives.put('b!mine', 'link', { remote: { drive: 'b!theirs', item: 'shared' } });
    for (const path of ['1.md', '2.md', '3.md', '4.md', '5.md']) put(path);
    graph.drives.put('b!two', 'x.md', { content: 'x' });
    const { changed, cursor } = await readChanges(account, start);
    expect(changed.filter((id) => id.endsWith('.md'))).toHaveLength(6);
    await isStale(cursor);
    await isStale(await cursorOf(account));
  });

  test('reports a stale cursor for a link to a file too: Graph reports its removal with the id of the link, not of the file', async () => {
    graph.drives.add('b!theirs');
    graph.drives.put('b!theirs', 'plan.md', { content: 'x' });
    graph.drives.put('b!mine', 'link', { remote: { drive: 'b!theirs', item: 'plan.md', isFile: true } });
    expect(await faultOf(readChanges(account, await cursorOf(account)))).toMatchObject({ kind: 'stale_cursor' });
  });

  test.each([
    ['an expired cursor', () => void (graph.drives.all.get('b!mine')!.oldestToken = 1_000)],
    ['an invalid cursor', () => undefined],
  ])('reports %s as stale', async (name, expire) => {
    put('1.md');
    const start = await cursorOf(account);
    expire();
    const cursor = name.includes('invalid') ? 'x' : start;
    expect(await faultOf(account.changes!.since(cursor, NEVER))).toMatchObject({ kind: 'stale_cursor' });
  });
});

describe('responses', () => {
  test.each(["delta(token='a1')", 'delta(token=a1)', 'delta?token=a1'])('reads the token of a link %s', (path) => {
    expect(queryOf(`https://graph.microsoft.com/v1.0/me/drive/root/${path}`)).toEqual({ token: 'a1' });
  });

  test('cannot redirect to another host: only the query of a next link is used', async () => {
    const elsewhere = await startGraph();
    try {
      for (const path of ['1.md', '2.md', '3.md']) put(path);
      graph.injectFault((path) => {
        if (!path.endsWith('/drives')) return null;
        const link = `${elsewhere.origin}/v1.0/me/drives?$skiptoken=2`;
        return { status: 200, body: { value: [{ id: 'b!mine', name: 'Mine' }], '@odata.nextLink': link } };
      });
      const { next } = await account.listRoots(null, NEVER);
      await account.listRoots(next, NEVER);
      expect(elsewhere.requests).toEqual([]);
      expect(graph.requests.at(-1)).toBe('/v1.0/me/drives?%24skiptoken=2');
    } finally {
      await elsewhere.close();
    }
  });

  test.each([
    ['no list', {}],
    ['an invalid list', { value: 'all' }],
    ['an invalid next link', { value: [], '@odata.nextLink': 'next' }],
    ['an invalid escape in the next link', { value: [], '@odata.nextLink': 'https://graph.microsoft.com/100%/x' }],
  ])('with %s are server errors', async (_name, body) => {
    graph.injectFault((path) => (path.endsWith('/drives') ? { status: 200, body } : null));
    expect(await faultOf(account.listRoots(null, NEVER))).toMatchObject({ kind: 'server_error' });
  });

  test('with invalid entries or fields are read without them', async () => {
    const value = [
      null,
      7,
      {},
      { id: 5 },
      { id: '../x' },
      { id: 'b!ok', name: 7, webUrl: null, createdDateTime: 'soon' },
    ];
    graph.injectFault((path) => (path.endsWith('/drives') ? { status: 200, body: { value } } : null));
    expect((await account.listRoots(null, NEVER)).items).toMatchObject([
      { externalId: 'b!ok', name: 'b!ok', externalUrl: null, createdAt: null },
    ]);
  });

  test.each([
    [401, {}, undefined, 'access_revoked'],
    [403, {}, undefined, 'access_denied'],
    [404, {}, undefined, 'not_found'],
    [410, {}, undefined, 'stale_cursor'],
    [423, {}, 'resourceLocked', 'access_denied'],
    [429, { 'retry-after': '3600' }, undefined, 'rate_limited'],
    [503, { 'retry-after': '3600' }, undefined, 'rate_limited'],
    [503, {}, undefined, 'server_error'],
    [509, { 'retry-after': '3600' }, 'bandwidthLimitExceeded', 'rate_limited'],
    [400, {}, 'SyncStateNotFound', 'stale_cursor'],
    [400, {}, 'badRequest', 'bad_response'],
  ])('with status %i, headers %o and code %s are reported as %s', async (status, headers, code, kind) => {
    graph.injectFault(() => ({ status, headers, ...(code === undefined ? {} : { code }) }));
    expect(await faultOf(account.listRoots(null, NEVER))).toMatchObject({ kind });
  });
});

test('identifies the account by the address of its user', async () => {
  expect(await account.identify(NEVER)).toEqual({
    account: 'ada@harbour.example',
    metadata: { user_id: PERSON.id, user_name: PERSON.label },
  });
  graph.provider.expireAll();
  expect(await faultOf(account.identify(NEVER))).toMatchObject({ kind: 'access_revoked' });
});

test('never treats a broken response as the end of a list', async () => {
  for (const path of ['a/1.md', 'a/b/2.md']) put(path);
  const list = async () => [
    (await account.listRoots(null, NEVER)).items,
    (await descendantsOf(account, 'b!mine')).items,
  ];
  expect(await acceptedBrokenAnswers(graph, list)).toEqual([]);
});

test('never treats a broken response as a deletion in the change feed', async () => {
  put('1.md');
  const start = await cursorOf(account);
  put('2.md');
  expect(await acceptedBrokenAnswers(graph, async () => (await readChanges(account, start)).changed)).toEqual([]);
});
