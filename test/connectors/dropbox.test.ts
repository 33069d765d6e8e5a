import { openCursor } from '../../connectors/cursors.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { contentHash } from '../../connectors/dropbox/adapter.js';
import type { Account } from '../../connectors/account.js';
import type { Egress } from '../../egress/types.js';
import { type DropboxEmulator, startDropbox } from '../emulators/dropbox.js';
import { grantedAccount, readListing, loopbackEgress, NEVER } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';

let egress: Egress;
let dropbox: DropboxEmulator;
let account: Account;

beforeAll(async () => {
  egress = loopbackEgress();
  dropbox = await startDropbox();
});
afterAll(async () => {
  await egress.close();
  await dropbox.close();
});
beforeEach(() => {
  dropbox.items.clear();
  Object.assign(dropbox.namespaces, { home: '1001', root: '1001' });
  dropbox.flaw.missing = 0;
  dropbox.reset();
  account = grantedAccount('DROPBOX', dropbox.settings, dropbox.oauth.grant().accessToken, egress);
});

/** Creates nested folders with files in each. */
function fill(): void {
  for (const [id, path, content] of [
    ['id:S', '/Sights'],
    ['id:a', '/Sights/a.md', 'The lighthouse'],
    ['id:D', '/Sights/Deep'],
    ['id:b', '/Sights/Deep/b é.txt', 'b'],
    ['id:c', '/Sights/Deep/c.txt', 'c'],
    ['id:B', '/Boats'],
    ['id:t', '/top.txt', 'top'],
  ] as const)
    dropbox.items.set(id, { path, ...(content === undefined ? {} : { content }) });
}
const descendantsOf = (id: string) => readListing((cursor) => account.listDescendants(id, cursor, NEVER));
const opened = async (id: string) => {
  const content = await account.open(id, NEVER);
  return { ...content, text: Buffer.from(content.bytes).toString() };
};
const feed = () => account.changes!;
/** Reads the change feed from a cursor to its end. Returns the parent of each changed item by id, and deleted paths. */
async function readChanges(from: string) {
  const parents = new Map<string, string | null>();
  const deletedPaths = new Set<string>();
  for (let cursor = from; ;) {
    const page = await feed().since(cursor, NEVER);
    for (const path of page.deletedPaths ?? []) deletedPaths.add(path);
    for (const change of page.changes)
      if ('item' in change) parents.set(change.item.externalId, change.item.parentExternalId);
    cursor = page.next;
    if (!page.more) return { parents, deletedPaths, next: cursor };
  }
}

describe('listing', () => {
  test('identifies the account by the user who consented', async () => {
    expect(await account.identify(NEVER)).toEqual({
      account: 'ada@harbour.example',
      metadata: { email: 'ada@harbour.example', account_id: 'dbid:Ada', user_name: 'Ada' },
    });
  });

  test('lists the items of the root folder as roots, across all pages', async () => {
    fill();
    const { ids, items, pages } = await readListing((cursor) => account.listRoots(cursor, NEVER));
    expect(ids).toEqual(['id:S', 'id:B', 'id:t']);
    expect(pages).toBe(2);
    expect(items[0]).toMatchObject({
      ...{ name: 'Sights', itemType: 'FOLDER', parentExternalId: null, rootExternalId: null, path: '/sights' },
      externalUrl: 'https://www.dropbox.com/home/Sights',
    });
  });

  test('lists a folder recursively with the parent of each item, by id or by path', async () => {
    fill();
    const { items } = await descendantsOf('id:S');
    expect(
      items.map(({ externalId, parentExternalId, rootExternalId }) => [externalId, parentExternalId, rootExternalId]),
    ).toEqual([
      ['id:S', null, null],
      ['id:a', 'id:S', 'id:S'],
      ['id:D', 'id:S', 'id:S'],
      ['id:b', 'id:D', 'id:S'],
      ['id:c', 'id:D', 'id:S'],
    ]);
    expect(items[3]?.externalUrl).toBe('https://www.dropbox.com/home/Sights/Deep?preview=b%20%C3%A9.txt');
    const deep = await descendantsOf('/sights/DEEP/');
    expect(deep.ids).toEqual(['id:D', 'id:b', 'id:c']);
    expect(deep.items[0]).toMatchObject({ parentExternalId: 'id:S', rootExternalId: 'id:S' });
    expect((await descendantsOf('id:c')).ids).toEqual(['id:c']);
    for (const rootPath of ['', '/']) expect((await descendantsOf(rootPath)).ids).toHaveLength(7);
  });

  test('restarts a folder whose cursor has expired', async () => {
    fill();
    const first = await account.listRoots(null, NEVER);
    dropbox.invalidateCursors();
    const remainder = await readListing((cursor) => account.listRoots(cursor ?? first.next, NEVER));
    expect([...new Set([...first.items.map(({ externalId }) => externalId), ...remainder.ids])]).toEqual([
      'id:S',
      'id:B',
      'id:t',
    ]);
  });

  test('sends the root namespace only for a member of a team, and requests it again after it changes', async () => {
    fill();
    await account.listRoots(null, NEVER);
    expect(dropbox.requests.filter((path) => path.startsWith('users/'))).toHaveLength(1);
    Object.assign(dropbox.namespaces, { root: '2002' });
    account = grantedAccount('DROPBOX', dropbox.settings, dropbox.oauth.grant().accessToken, egress);
    const page = await account.listRoots(null, NEVER);
    const { root } = JSON.parse(Buffer.from(openCursor(page.next ?? ''), 'base64url').toString()) as { root: string };
    expect(root).toBe('2002');
    // The root namespace is requested once, and again after Dropbox reports that it has changed.
    await account.listRoots(null, NEVER);
    expect(dropbox.requests.filter((path) => path.startsWith('users/'))).toHaveLength(2);
    Object.assign(dropbox.namespaces, { root: '3003' });
    expect(await faultOf(account.listRoots(null, NEVER))).toMatchObject({ kind: 'server_error', retryable: true });
    expect((await account.listRoots(null, NEVER)).items).toHaveLength(2);
  });

  test.each(['nothing', 'id:', 'id:x y', '//a', '..', '/nowhere', 'id:99', '"', '/a\n'])(
    'rejects %j as not found',
    async (id) => {
      fill();
      expect(await faultOf(account.listDescendants(id, null, NEVER))).toMatchObject({ kind: 'not_found' });
    },
  );

  test('gives a file another version if its bytes or its name change', async () => {
    const put = (path: string, content: string) => dropbox.items.set('id:t', { path, content });
    const version = async () => (await descendantsOf('id:t')).items[0]?.version;
    put('/top.txt', 'one');
    const first = await version();
    expect(await version()).toBe(first);
    put('/top.txt', 'two');
    const second = await version();
    put('/top.md', 'two');
    expect(new Set([first, second, await version()]).size).toBe(3);
  });
});

describe('content', () => {
  test('has the metadata of Dropbox, also for a name outside ASCII', async () => {
    fill();
    expect(await opened('id:b')).toMatchObject({
      ...{ text: 'b', contentType: 'text/plain', format: null, name: 'b é.txt' },
      fileMetadata: {
        ...{ type: 'FILE', is_folder: false, path: '/Sights/Deep/b é.txt' },
        ...{ content_hash: contentHash(Buffer.from('b')), modified_at: '2026-03-03T10:00:00.000Z' },
      },
    });
  });

  test('is hashed in blocks of 4 MiB, as Dropbox documents', () => {
    // An empty file, then one block with and without an additional byte.
    expect(contentHash(Buffer.alloc(0))).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(contentHash(Buffer.alloc(4_194_305))).not.toBe(contentHash(Buffer.alloc(4_194_304)));
  });

  test('fails with a retryable error if it is truncated', async () => {
    fill();
    dropbox.flaw.missing = 1;
    expect(await faultOf(account.open('id:a', NEVER))).toMatchObject({ kind: 'server_error', retryable: true });
    dropbox.flaw.missing = 0;
    expect((await opened('id:a')).text).toBe('The lighthouse');
  });

  test('is an export for documents without a download, Markdown where Dropbox offers it', async () => {
    dropbox.items.set('id:p', { path: '/Plan.paper', exports: { html: '<p>Plan</p>', markdown: '# Plan' } });
    dropbox.items.set('id:g', { path: '/Sheet.gsheet', exports: { xlsx: 'sheet' } });
    dropbox.items.set('id:n', { path: '/Form.cform', exports: {} });
    const { items } = await readListing((cursor) => account.listRoots(cursor, NEVER));
    expect(items.map(({ fileFormat, isSelectable, hasContent }) => [fileFormat, isSelectable, hasContent])).toEqual([
      ['MD', true, true],
      ['XLSX', true, true],
      [null, false, true],
    ]);
    expect(await opened('id:p')).toMatchObject({ text: '# Plan', contentType: 'text/markdown', name: 'Plan.paper' });
    expect(await opened('id:g')).toMatchObject({ text: 'sheet', fileMetadata: { exported_as: 'XLSX' } });
    expect(await faultOf(account.open('id:n', NEVER))).toMatchObject({ kind: 'unsupported_type' });
  });

  test.each([
    ['id:S', 'unsupported_type', /sync the files in it/],
    ['id:99', 'not_found', /no such item/],
  ] as const)('is unavailable for %s: %s', async (id, kind, message) => {
    fill();
    const fault = await faultOf(account.open(id, NEVER));
    expect(fault.kind).toBe(kind);
    expect(fault.message).toMatch(message);
  });
});

describe('changes', () => {
  test('are reported from a cursor once, and not again from the next cursor', async () => {
    fill();
    const start = await feed().now(NEVER);
    const { items } = dropbox;
    items.set('id:n', { path: '/Boats/new.txt', content: 'n' });
    items.set('id:a', { path: '/Sights/a.md', content: 'changed' });
    items.delete('id:c');
    const { parents, deletedPaths, next } = await readChanges(start);
    expect([...parents]).toEqual(
      expect.arrayContaining([
        ['id:n', 'id:B'],
        ['id:a', 'id:S'],
      ]),
    );
    expect(parents.size).toBe(2);
    expect([...deletedPaths].toSorted()).toEqual(['/boats/new.txt', '/sights/a.md', '/sights/deep/c.txt']);
    expect(await readChanges(next)).toMatchObject({ parents: new Map(), deletedPaths: new Set() });
  });

  test('report a moved folder with its contents at the new path', async () => {
    fill();
    const start = await feed().now(NEVER);
    for (const [id, item] of dropbox.items)
      dropbox.items.set(id, { ...item, path: item.path.replace('/Sights/Deep', '/Boats/Deep') });
    const { parents, deletedPaths } = await readChanges(start);
    expect(parents).toEqual(
      new Map([
        ['id:D', 'id:B'],
        ['id:b', 'id:D'],
        ['id:c', 'id:D'],
      ]),
    );
    expect(deletedPaths.has('/sights/deep')).toBe(true);
  });

  test('report a new file at the path of a deleted one', async () => {
    fill();
    const start = await feed().now(NEVER);
    dropbox.items.delete('id:t');
    dropbox.items.set('id:u', { path: '/top.txt', content: 'another' });
    const { parents, deletedPaths } = await readChanges(start);
    expect([...parents]).toEqual([['id:u', null]]);
    expect([...deletedPaths]).toEqual(['/top.txt']);
  });

  test('report the path of a folder that was deleted after its files changed, and these files with parent null', async () => {
    fill();
    const start = await feed().now(NEVER);
    for (const name of ['n', 'm']) dropbox.items.set(`id:${name}`, { path: `/Sights/${name}.txt`, content: name });
    await account.listRoots(null, NEVER);
    // The files are on an earlier page of the feed; their folder no longer exists when the page is read.
    dropbox.items.delete('id:S');
    const { parents, deletedPaths } = await readChanges(start);
    expect(parents).toEqual(
      new Map([
        ['id:n', null],
        ['id:m', null],
      ]),
    );
    // A deleted path includes everything below it.
    expect(deletedPaths.has('/sights')).toBe(true);
  });

  test('have a stale cursor after 50 syncs for a member of a team, so that everything is listed, but not for other accounts', async () => {
    fill();
    for (const [root, kind] of [
      ['1001', null],
      ['2002', 'stale_cursor'],
    ] as const) {
      if (kind !== null) Object.assign(dropbox.namespaces, { root });
      account = grantedAccount('DROPBOX', dropbox.settings, dropbox.oauth.grant().accessToken, egress);
      let cursor = await feed().now(NEVER);
      for (let syncs = 0; syncs < 50; syncs += 1) cursor = (await readChanges(cursor)).next;
      const fault = await feed()
        .since(cursor, NEVER)
        .then(
          () => null,
          (error: { kind: string }) => error.kind,
        );
      expect(fault).toBe(kind);
    }
  });

  test('report an expired or invalid cursor as stale', async () => {
    fill();
    const start = await feed().now(NEVER);
    expect(await faultOf(feed().since('invalid', NEVER))).toMatchObject({ kind: 'stale_cursor' });
    dropbox.invalidateCursors();
    expect(await faultOf(feed().since(start, NEVER))).toMatchObject({ kind: 'stale_cursor' });
  });
});

describe('refusals', () => {
  test.each([
    [{ status: 401, summary: 'expired_access_token' }, 'access_revoked'],
    [{ status: 401, summary: 'missing_scope' }, 'access_denied'],
    [{ status: 403 }, 'access_denied'],
    [{ status: 409, summary: 'path/not_found' }, 'not_found'],
    [{ status: 409, summary: 'path/restricted_content' }, 'access_denied'],
    [{ status: 409, summary: 'unsupported_file' }, 'unsupported_type'],
    [{ status: 409, summary: 'something_new' }, 'bad_response'],
    [{ status: 500 }, 'server_error'],
  ] as const)('reports %j as %s', async (refusal, kind) => {
    fill();
    dropbox.injectFault((path) => (path.startsWith('files/') ? refusal : null));
    expect(await faultOf(account.listDescendants('id:a', null, NEVER))).toMatchObject({ kind });
  });
});

test('never treats a broken response as the end of a list', async () => {
  fill();
  const list = async () => [
    (await readListing((cursor) => account.listRoots(cursor, NEVER))).items,
    (await descendantsOf('id:S')).items,
  ];
  expect(await acceptedBrokenAnswers(dropbox, list)).toEqual([]);
});
