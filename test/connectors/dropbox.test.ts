import { openCursor } from '../../connectors/cursors.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { contentHash } from '../../connectors/dropbox/adapter.js';
import type { Account } from '../../connectors/account.js';
import type { Egress } from '../../egress/types.js';
import { type DropboxEmulator, startDropbox } from '../emulators/dropbox.js';
import { faultOf, grantedAccount, listed, loopbackEgress, NEVER } from './account.js';
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
  dropbox.things.clear();
  Object.assign(dropbox.roots, { own: '1001', whole: '1001' });
  dropbox.flaw.missing = 0;
  dropbox.mend();
  account = grantedAccount('DROPBOX', dropbox.settings, dropbox.oauth.grant().accessToken, egress);
});

/** Folders in folders, and files in each. */
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
    dropbox.things.set(id, { path, ...(content === undefined ? {} : { content }) });
}
const below = (id: string) => listed((cursor) => account.listDescendants(id, cursor, NEVER));
const opened = async (id: string) => {
  const content = await account.open(id, NEVER);
  return { ...content, text: Buffer.from(content.bytes).toString() };
};
const feed = () => account.changes!;
/** All that happened since a point: what is there by its id and parent, what is gone by its place. */
async function since(point: string) {
  const there = new Map<string, string | null>();
  const gone = new Set<string>();
  for (let at = point; ;) {
    const page = await feed().since(at, NEVER);
    for (const place of page.goneAt ?? []) gone.add(place);
    for (const one of page.changes) if ('item' in one) there.set(one.item.externalId, one.item.parentExternalId);
    at = page.next;
    if (!page.more) return { there, gone, next: at };
  }
}

describe('listing', () => {
  test('the account is that of who consented', async () => {
    expect(await account.identify(NEVER)).toEqual({
      account: 'ada@harbour.example',
      metadata: { email: 'ada@harbour.example', account_id: 'dbid:Ada', user_name: 'Ada' },
    });
  });

  test('what lies in the outermost folder is outermost, over all pages', async () => {
    fill();
    const { ids, items, pages } = await listed((cursor) => account.listRoots(cursor, NEVER));
    expect(ids).toEqual(['id:S', 'id:B', 'id:t']);
    expect(pages).toBe(2);
    expect(items[0]).toMatchObject({
      ...{ name: 'Sights', itemType: 'FOLDER', parentExternalId: null, rootExternalId: null, place: '/sights' },
      externalUrl: 'https://www.dropbox.com/home/Sights',
    });
  });

  test('each is listed to the bottom, in its place, by its id or its path', async () => {
    fill();
    const { items } = await below('id:S');
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
    const deep = await below('/sights/DEEP/');
    expect(deep.ids).toEqual(['id:D', 'id:b', 'id:c']);
    expect(deep.items[0]).toMatchObject({ parentExternalId: 'id:S', rootExternalId: 'id:S' });
    expect((await below('id:c')).ids).toEqual(['id:c']);
    for (const whole of ['', '/']) expect((await below(whole)).ids).toHaveLength(7);
  });

  test('a cursor that is no longer taken begins its folder anew', async () => {
    fill();
    const first = await account.listRoots(null, NEVER);
    dropbox.expire();
    const rest = await listed((cursor) => account.listRoots(cursor ?? first.next, NEVER));
    expect([...new Set([...first.items.map(({ externalId }) => externalId), ...rest.ids])]).toEqual([
      'id:S',
      'id:B',
      'id:t',
    ]);
  });

  test('a member of a team sees its folders, who is of none has no other root', async () => {
    fill();
    await account.listRoots(null, NEVER);
    expect(dropbox.asked.filter((asked) => asked.startsWith('users/'))).toHaveLength(1);
    Object.assign(dropbox.roots, { whole: '2002' });
    account = grantedAccount('DROPBOX', dropbox.settings, dropbox.oauth.grant().accessToken, egress);
    const page = await account.listRoots(null, NEVER);
    const { root } = JSON.parse(Buffer.from(openCursor(page.next ?? ''), 'base64url').toString()) as { root: string };
    expect(root).toBe('2002');
    // Asked for once, and again where Dropbox says that it is another.
    await account.listRoots(null, NEVER);
    expect(dropbox.asked.filter((asked) => asked.startsWith('users/'))).toHaveLength(2);
    Object.assign(dropbox.roots, { whole: '3003' });
    expect(await faultOf(account.listRoots(null, NEVER))).toMatchObject({ kind: 'server_error', retryable: true });
    expect((await account.listRoots(null, NEVER)).items).toHaveLength(2);
  });

  test.each(['nothing', 'id:', 'id:x y', '//a', '..', '/nowhere', 'id:99', '"', '/a\n'])(
    '%j is not there',
    async (id) => {
      fill();
      expect(await faultOf(account.listDescendants(id, null, NEVER))).toMatchObject({ kind: 'not_found' });
    },
  );

  test('a version is another one with the bytes, and with the name', async () => {
    const put = (path: string, content: string) => dropbox.things.set('id:t', { path, content });
    const version = async () => (await below('id:t')).items[0]?.version;
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
  test('comes with what Dropbox says of it, whatever its name is', async () => {
    fill();
    expect(await opened('id:b')).toMatchObject({
      ...{ text: 'b', contentType: 'text/plain', format: null, name: 'b é.txt' },
      facts: {
        ...{ type: 'FILE', is_folder: false, path: '/Sights/Deep/b é.txt' },
        ...{ content_hash: contentHash(Buffer.from('b')), modified_at: '2026-03-03T10:00:00.000Z' },
      },
    });
  });

  test('has the hash that Dropbox publishes for blocks of 4 MiB', () => {
    // Of nothing, and of one block and one byte more.
    expect(contentHash(Buffer.alloc(0))).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(contentHash(Buffer.alloc(4_194_305))).not.toBe(contentHash(Buffer.alloc(4_194_304)));
  });

  test('that comes in part is tried again', async () => {
    fill();
    dropbox.flaw.missing = 1;
    expect(await faultOf(account.open('id:a', NEVER))).toMatchObject({ kind: 'server_error', retryable: true });
    dropbox.flaw.missing = 0;
    expect((await opened('id:a')).text).toBe('The lighthouse');
  });

  test('of documents that can not be downloaded is what Dropbox makes of them: Markdown where it can', async () => {
    dropbox.things.set('id:p', { path: '/Plan.paper', exports: { html: '<p>Plan</p>', markdown: '# Plan' } });
    dropbox.things.set('id:g', { path: '/Sheet.gsheet', exports: { xlsx: 'sheet' } });
    dropbox.things.set('id:n', { path: '/Form.cform', exports: {} });
    const { items } = await listed((cursor) => account.listRoots(cursor, NEVER));
    expect(items.map(({ fileFormat, isSelectable, hasContent }) => [fileFormat, isSelectable, hasContent])).toEqual([
      ['MD', true, true],
      ['XLSX', true, true],
      [null, false, true],
    ]);
    expect(await opened('id:p')).toMatchObject({ text: '# Plan', contentType: 'text/markdown', name: 'Plan.paper' });
    expect(await opened('id:g')).toMatchObject({ text: 'sheet', facts: { exported_as: 'XLSX' } });
    expect(await faultOf(account.open('id:n', NEVER))).toMatchObject({ kind: 'unsupported_type' });
  });

  test.each([
    ['id:S', 'unsupported_type', /sync the files in it/],
    ['id:99', 'not_found', /no such item/],
  ] as const)('%s has none: %s', async (id, kind, message) => {
    fill();
    const fault = await faultOf(account.open(id, NEVER));
    expect(fault.kind).toBe(kind);
    expect(fault.message).toMatch(message);
  });
});

describe('changes', () => {
  test('since a point are told, and none is told again', async () => {
    fill();
    const start = await feed().now(NEVER);
    const { things } = dropbox;
    things.set('id:n', { path: '/Boats/new.txt', content: 'n' });
    things.set('id:a', { path: '/Sights/a.md', content: 'changed' });
    things.delete('id:c');
    const { there, gone, next } = await since(start);
    expect([...there]).toEqual(
      expect.arrayContaining([
        ['id:n', 'id:B'],
        ['id:a', 'id:S'],
      ]),
    );
    expect(there.size).toBe(2);
    expect([...gone].toSorted()).toEqual(['/boats/new.txt', '/sights/a.md', '/sights/deep/c.txt']);
    expect(await since(next)).toMatchObject({ there: new Map(), gone: new Set() });
  });

  test('what is moved is told where it went, with all in it', async () => {
    fill();
    const start = await feed().now(NEVER);
    for (const [id, thing] of dropbox.things)
      dropbox.things.set(id, { ...thing, path: thing.path.replace('/Sights/Deep', '/Boats/Deep') });
    const { there, gone } = await since(start);
    expect(there).toEqual(
      new Map([
        ['id:D', 'id:B'],
        ['id:b', 'id:D'],
        ['id:c', 'id:D'],
      ]),
    );
    expect(gone.has('/sights/deep')).toBe(true);
  });

  test('another thing in the place of one that went takes its place', async () => {
    fill();
    const start = await feed().now(NEVER);
    dropbox.things.delete('id:t');
    dropbox.things.set('id:u', { path: '/top.txt', content: 'another' });
    const { there, gone } = await since(start);
    expect([...there]).toEqual([['id:u', null]]);
    expect([...gone]).toEqual(['/top.txt']);
  });

  test('of a folder that went meanwhile nothing hangs in the air', async () => {
    fill();
    const start = await feed().now(NEVER);
    for (const name of ['n', 'm']) dropbox.things.set(`id:${name}`, { path: `/Sights/${name}.txt`, content: name });
    await account.listRoots(null, NEVER);
    // Told on a page before: by then, their folder is not there any more.
    dropbox.things.delete('id:S');
    const { there, gone } = await since(start);
    expect(there).toEqual(
      new Map([
        ['id:n', null],
        ['id:m', null],
      ]),
    );
    // With all that lies below.
    expect(gone.has('/sights')).toBe(true);
  });

  test('a point that is forgotten, or nobody’s, is stale', async () => {
    fill();
    const start = await feed().now(NEVER);
    expect(await faultOf(feed().since('nobody', NEVER))).toMatchObject({ kind: 'stale_cursor' });
    dropbox.expire();
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
  ] as const)('%j is %s', async (refusal, kind) => {
    fill();
    dropbox.misbehave((asked) => (asked.startsWith('files/') ? refusal : null));
    expect(await faultOf(account.listDescendants('id:a', null, NEVER))).toMatchObject({ kind });
  });
});

test('never takes a broken answer for the end of a list', async () => {
  fill();
  const list = async () => [
    (await listed((cursor) => account.listRoots(cursor, NEVER))).items,
    (await below('id:S')).items,
  ];
  expect(await acceptedBrokenAnswers(dropbox, list)).toEqual([]);
});
