import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { Account } from '../../../connectors/account.js';
import { idOfOutlookQuery, readOutlookFilter } from '../../../contract/sources/outlookQuery.js';
import type { Egress } from '../../../egress/types.js';
import { type GraphEmulator, startGraph } from '../../emulators/graph/index.js';
import type { EmulatedMessage } from '../../emulators/graph/mail.js';
import { acceptedBrokenAnswers } from '../brokenAnswers.js';
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
  graph.mailbox.clear();
  graph.reset();
  const { folders } = graph.mailbox;
  folders.set('INBOX', { name: 'Posteingang', parent: null, wellKnown: 'inbox' });
  folders.set('BIN', { name: 'Deleted Items', parent: null, wellKnown: 'deleteditems' });
  folders.set('SEARCH', { name: 'Unread mail', parent: null, isSearch: true });
  folders.set('WORK', { name: 'Work', parent: null });
  folders.set('CLUTTER', { name: 'Clutter', parent: null, isHidden: true });
  folders.set('SETTINGS', { name: 'Quick Step Settings', parent: 'WORK', isHidden: true });
  folders.set('PLANS', { name: 'Plans', parent: 'WORK' });
  folders.set('OLD', { name: 'Old', parent: 'PLANS' });
  folders.set('OLDER', { name: 'Old', parent: 'INBOX' });
  account = accountOf(graph, 'OUTLOOK', egress);
});

const put = (id: string, folder: string, more: Partial<EmulatedMessage> = {}): void =>
  graph.mailbox.put(id, {
    folder,
    subject: `About ${id}`,
    text: `Text of ${id}.`,
    received: '2026-01-07T09:00:00Z',
    ...more,
  });

describe('listings', () => {
  test('of folders contain their descendants, without Deleted Items, search folders and hidden folders', async () => {
    const roots = await allPages((cursor) => account.listRoots(cursor, NEVER));
    expect(roots.pages).toBe(2);
    expect(roots.items.map(({ externalId, name, itemType }) => [externalId, name, itemType])).toEqual([
      ['folder:INBOX', 'Posteingang', 'FOLDER'],
      ['folder:WORK', 'Work', 'FOLDER'],
    ]);
    for (const [id, folder] of [
      ['m1', 'WORK'],
      ['m2', 'PLANS'],
      ['m3', 'OLD'],
      ['m4', 'OLD'],
      ['m5', 'OLD'],
      ['m6', 'INBOX'],
    ] as const)
      put(id, folder);
    const { items } = await descendantsOf(account, 'folder:WORK');
    expect(Object.fromEntries(items.map((item) => [item.externalId, item.parentExternalId]))).toEqual({
      'folder:WORK': null,
      'folder:PLANS': 'folder:WORK',
      'folder:OLD': 'folder:PLANS',
      m1: 'folder:WORK',
      m2: 'folder:PLANS',
      m3: 'folder:OLD',
      m4: 'folder:OLD',
      m5: 'folder:OLD',
    });
    expect(items.find(({ externalId }) => externalId === 'm3')).toMatchObject({
      rootExternalId: 'folder:WORK',
      name: 'About m3',
      itemType: 'FILE',
      hasContent: true,
      externalUrl: 'https://outlook.example/m3',
      createdAt: '2026-01-07T09:00:00Z',
      version: expect.stringMatching(/^key\d+$/),
    });
    expect(idsOf((await descendantsOf(account, 'folder:OLD')).items)).toEqual(['folder:OLD', 'm3', 'm4', 'm5']);
  });

  test('contain the attachments of a message, with content only if attachments are requested', async () => {
    put('m1', 'INBOX', {
      attachments: {
        plan: { name: 'plan.md', content: 'The plan.' },
        logo: { name: 'logo.png', content: 'x', isInline: true },
        link: { name: 'far.docx', content: '', kind: 'reference' },
      },
    });
    const found = async (id: string) =>
      (await descendantsOf(account, id)).items
        .filter(({ itemType }) => itemType !== 'FOLDER')
        .map((item) => [item.externalId, item.parentExternalId, item.hasContent]);
    // An attachment that links to another host is listed without content.
    const link = ['m1/link', 'm1', false];
    expect(await found('folder:INBOX')).toEqual([['m1', 'folder:INBOX', true], ['m1/plan', 'm1', false], link]);
    expect(await found('m1')).toEqual([['m1', 'folder:INBOX', true], ['m1/plan', 'm1', false], link]);
    expect((await descendantsOf(account, 'm1')).items.at(-1)).toMatchObject({
      isSelectable: false,
      skipReason: expect.stringMatching(/elsewhere/),
    });
    expect(await found('m1/plan')).toEqual([['m1/plan', 'm1', true]]);
    expect(await found(idOfOutlookQuery({ folder: 'INBOX', filter: null, attachments: true })!)).toEqual([
      ['m1', 'folder:INBOX', true],
      ['m1/plan', 'm1', true],
      link,
    ]);
    expect(await found(idOfOutlookQuery({ folder: 'INBOX', filter: null, attachments: false })!)).toEqual([
      ['m1', 'folder:INBOX', true],
    ]);
  });

  test('continue after a deleted folder, and restart after an expired delta link', async () => {
    for (const id of ['m1', 'm2', 'm3']) put(id, 'OLD');
    put('m4', 'PLANS');
    graph.injectFault((path) => (path.includes('/PLANS/messages') ? { status: 404 } : null));
    expect(idsOf((await descendantsOf(account, 'folder:WORK')).items)).toEqual(
      expect.arrayContaining(['m1', 'm2', 'm3']),
    );
    let deltaRequests = 0;
    graph.injectFault((path) =>
      path.includes('/OLD/messages') && ++deltaRequests === 2 ? { status: 410, code: 'SyncStateNotFound' } : null,
    );
    expect(new Set(idsOf((await descendantsOf(account, 'folder:OLD')).items))).toEqual(
      new Set(['folder:OLD', 'm1', 'm2', 'm3']),
    );
  });

  test.each([
    'nowhere',
    'folder:NOWHERE',
    'folder:BIN',
    'folder:../me',
    'm1/../x',
    'm1/a/b',
    'filter:x',
    '',
    'a b',
    'm1/',
  ])('of %p are not found', async (id) => {
    put('m1', 'INBOX');
    expect(await faultOf(descendantsOf(account, id))).toMatchObject({ kind: 'not_found' });
  });

  test('of a query with a path as its folder are not found', async () => {
    const id = idOfOutlookQuery({ folder: '../messages', filter: null, attachments: false })!;
    expect(await faultOf(descendantsOf(account, id))).toMatchObject({ kind: 'not_found' });
    expect(graph.requests).toEqual([]);
  });
});

test.each([
  [{}, ['a', 'b', 'c', 'd']],
  [{ key: 'category', value: "Ada's" }, ['a']],
  [{ key: 'after', value: '2026/01/07' }, ['b', 'c', 'd']],
  [{ key: 'before', value: '2026/01/07' }, ['a']],
  [{ key: 'is', value: 'flagged' }, ['b']],
  [{ key: 'is', value: 'unread' }, ['a', 'b', 'd']],
  [{ key: 'from', value: 'ADA@harbour.example' }, ['d']],
  [
    {
      AND: [
        { key: 'after', value: '2026/01/07' },
        {
          OR: [
            { key: 'is', value: 'flagged' },
            { key: 'is', value: 'read' },
          ],
        },
      ],
    },
    ['b', 'c'],
  ],
])('the query %j matches %j', async (filter, ids) => {
  put('a', 'INBOX', { received: '2026-01-06T23:59:59Z', categories: ["Ada's", 'x'] });
  put('b', 'INBOX', { received: '2026-01-07T00:00:00Z', flagged: true });
  put('c', 'INBOX', { received: '2026-01-08T00:00:00Z', read: true });
  put('d', 'INBOX', { received: '2026-01-09T00:00:00Z', from: 'ada@harbour.example' });
  put('e', 'WORK', { flagged: true });
  const id = idOfOutlookQuery({ folder: 'INBOX', filter: readOutlookFilter(filter), attachments: false })!;
  expect(idsOf((await descendantsOf(account, id)).items)).toEqual(ids);
});

describe('contents', () => {
  test('are the subject and the text, with sender and recipients as metadata', async () => {
    put('m1', 'INBOX', {
      text: 'Dear Ada,\r\n\r\nhigh tide is at noon.',
      to: ['ada@harbour.example', 'bob@harbour.example'],
      cc: ['eve@harbour.example'],
      categories: ['Tides'],
    });
    const { bytes, ...content } = await account.open('m1', NEVER);
    expect(Buffer.from(bytes).toString()).toBe('# About m1\n\nDear Ada,\n\nhigh tide is at noon.');
    expect(content).toEqual({
      contentType: 'text/plain; charset=utf-8',
      format: 'OUTLOOK',
      mimeType: 'text/plain',
      name: 'About m1',
      url: 'https://outlook.example/m1',
      fileMetadata: {
        is_message: true,
        parent_external_file_id: 'INBOX',
        subject: 'About m1',
        from: 'grace <grace@harbour.example>',
        to: ['ada <ada@harbour.example>', 'bob <bob@harbour.example>'],
        cc: ['eve <eve@harbour.example>'],
        sent_at: '2026-01-07T09:00:00Z',
        received_at: '2026-01-07T09:00:00Z',
        message_id: '<m1@harbour.example>',
        conversation_id: 'conversation-m1',
        categories: ['Tides'],
        importance: 'normal',
      },
    });
  });

  test('of attachments are read according to their kind', async () => {
    put('m1', 'INBOX', {
      attachments: {
        plan: { name: 'plan.md', content: 'The plan.', contentType: 'application/octet-stream' },
        mail: { name: 'Re: plan', content: 'Subject: Re: plan\r\n\r\nFine.', kind: 'item' },
        link: { name: 'far.docx', content: '', kind: 'reference' },
        big: { name: 'big.md', content: 'x'.repeat(2_000) },
      },
    });
    expect(await account.open('m1/plan', NEVER)).toMatchObject({
      contentType: 'text/markdown',
      name: 'plan.md',
      fileMetadata: { type: 'ATTACHMENT', parent_external_file_id: 'm1' },
    });
    expect(await account.open('m1/mail', NEVER)).toMatchObject({ contentType: 'message/rfc822', name: 'Re: plan' });
    expect(await faultOf(account.open('m1/link', NEVER))).toMatchObject({ kind: 'unsupported_type' });
    const small = accountOf(graph, 'OUTLOOK', egress, {}, 1_000);
    expect(await faultOf(small.open('m1/big', NEVER))).toMatchObject({ kind: 'too_large' });
    expect(graph.requests.some((path) => path.includes('/attachments/plan/$value'))).toBe(true);
  });

  test('that are unavailable fail with the reason', async () => {
    expect(await faultOf(account.open('folder:INBOX', NEVER))).toMatchObject({ kind: 'unsupported_type' });
    for (const id of ['gone', 'gone/plan', 'filter:x', '../me'])
      expect(await faultOf(account.open(id, NEVER))).toMatchObject({ kind: 'not_found' });
    graph.injectFault((path) =>
      path.includes('/messages/') ? { status: 400, code: 'ErrorInvalidIdMalformed' } : null,
    );
    expect(await faultOf(account.open('malformed', NEVER))).toMatchObject({ kind: 'not_found' });
  });

  test('that arrive as HTML, although text was requested, are HTML', async () => {
    graph.injectFault((path) =>
      path.endsWith('/messages/m1')
        ? { status: 200, body: { id: 'm1', subject: 'A <b>', body: { contentType: 'HTML', content: '<p>x</p>' } } }
        : null,
    );
    const content = await account.open('m1', NEVER);
    expect(content).toMatchObject({ contentType: 'text/html; charset=utf-8', name: 'A <b>' });
    expect(Buffer.from(content.bytes).toString()).toBe('<h1>A &lt;b></h1>\n\n<p>x</p>');
  });
});

describe('folders', () => {
  const idsOfName = async (name: string) =>
    (await account.read('folders', { reference: name }, NEVER)).map(({ id }) => id);

  test.each([
    ['Inbox', ['INBOX']],
    ['inbox', ['INBOX']],
    ['Posteingang', ['INBOX']],
    ['WORK', ['WORK']],
    ['work', ['WORK']],
    ['Work/Plans', ['PLANS']],
    ['Work/Plans/Old', ['OLD']],
    ['OLDER', ['OLDER']],
    ['Old', ['OLD', 'OLDER']],
    ['Deleted Items', []],
    ['Nowhere', []],
    ['../me', []],
  ])('named %p are %j', async (name, ids) => {
    expect((await idsOfName(name)).toSorted()).toEqual(ids);
  });

  test('with a well-known name are found by display name if the mailbox lacks the well-known folder', async () => {
    graph.mailbox.folders.set('KEPT', { name: 'Archive', parent: null });
    expect(await idsOfName('archive')).toEqual(['KEPT']);
    expect(await idsOfName('Outbox')).toEqual([]);
  });

  test('are all listed, each after its parent', async () => {
    put('m1', 'OLD');
    expect(await account.read('folders', {}, NEVER)).toEqual([
      { id: 'INBOX', name: 'Posteingang', parent: null, root: 'INBOX', messages: 0 },
      { id: 'WORK', name: 'Work', parent: null, root: 'WORK', messages: 0 },
      { id: 'OLDER', name: 'Old', parent: 'INBOX', root: 'INBOX', messages: 0 },
      { id: 'PLANS', name: 'Plans', parent: 'WORK', root: 'WORK', messages: 0 },
      { id: 'OLD', name: 'Old', parent: 'PLANS', root: 'WORK', messages: 1 },
    ]);
  });

  test('that contain themselves are listed once', async () => {
    const value = [{ id: 'A', displayName: 'A', childFolderCount: 1 }];
    graph.injectFault((path) => (/mailFolders(\/A|$)/.test(path) ? { status: 200, body: { value } } : null));
    expect(await idsOfName('A')).toEqual(['A']);
  });

  test('are not in the list of categories, which has names and colours', async () => {
    for (const index of [1, 2, 3])
      graph.mailbox.categories.push({ id: `c${index}`, displayName: `Kind ${index}`, color: `preset${index}` });
    const found = await account.read('categories', {}, NEVER);
    expect(found).toHaveLength(3);
    expect(found).toMatchObject([{ id: 'c1', name: 'Kind 1', color: 'preset1' }, {}, {}]);
  });
});

describe('the change feed', () => {
  test('reports new, changed and deleted messages of all folders since the cursor', async () => {
    for (const id of ['m1', 'm2', 'm3']) put(id, 'INBOX');
    put('m4', 'OLD');
    const start = await cursorOf(account);
    let { changed, cursor } = await readChanges(account, start);
    expect(changed).toEqual([]);
    graph.mailbox.write('m1', 'new');
    graph.mailbox.remove('m2');
    put('m5', 'OLD');
    ({ changed, cursor } = await readChanges(account, cursor));
    expect(changed.toSorted()).toEqual(['gone m2', 'm1', 'm5']);
    expect((await readChanges(account, cursor)).changed).toEqual([]);
  });

  test('prepares its first cursor page by page, so that a large mailbox needs no long call', async () => {
    for (let index = 0; index < 20; index += 1) put(`m${index}`, 'INBOX');
    graph.requests.length = 0;
    await account.changes!.now(NEVER);
    expect(graph.requests.filter((path) => path.includes('/delta'))).toEqual([]);
    const { cursor, pages } = await currentCursor(account);
    expect(graph.requests.filter((path) => path.includes('/delta'))).toHaveLength(pages);
    graph.mailbox.remove('m7');
    expect((await readChanges(account, cursor)).changed).toEqual(['gone m7']);
  });

  test('follows a moved message in any order of folders, and reports one in Deleted Items as deleted', async () => {
    put('m1', 'INBOX');
    put('m2', 'OLD');
    put('m3', 'WORK');
    const start = await cursorOf(account);
    graph.mailbox.move('m1', 'OLD');
    graph.mailbox.move('m2', 'INBOX');
    graph.mailbox.move('m3', 'BIN');
    const { changed } = await readChanges(account, start);
    expect([...new Set(changed)].toSorted()).toEqual(['gone m3', 'm1', 'm2']);
  });

  test('reads new folders from the beginning, and reports removed folders', async () => {
    put('m1', 'PLANS');
    const start = await cursorOf(account);
    graph.mailbox.folders.delete('OLDER');
    graph.mailbox.folders.set('NEW', { name: 'New', parent: null });
    put('m2', 'NEW');
    expect((await readChanges(account, start)).changed).toEqual(['gone folder:OLDER', 'folder:NEW', 'm2']);
  });

  test('reports a renamed or moved folder once', async () => {
    const start = await cursorOf(account);
    put('m1', 'INBOX');
    graph.mailbox.folders.set('PLANS', { name: 'Plans of 2027', parent: 'INBOX' });
    const { changed, cursor } = await readChanges(account, start);
    // The root of its subfolder has changed as well.
    expect(changed).toEqual(['folder:PLANS', 'folder:OLD', 'm1']);
    expect((await readChanges(account, cursor)).changed).toEqual([]);
  });

  test('reports an expired cursor as stale', async () => {
    put('m1', 'INBOX');
    const start = await cursorOf(account);
    graph.mailbox.oldestToken = 1_000_000;
    expect(await faultOf(readChanges(account, start))).toMatchObject({ kind: 'stale_cursor' });
  });
});

describe('a broken response', () => {
  const broken = (call: () => Promise<unknown>) => acceptedBrokenAnswers(graph, call);
  const attached = { attachments: { a1: { name: 'a.txt', content: 'A' } } };

  test('never counts as the end of a list', async () => {
    put('m1', 'WORK', attached);
    for (const id of ['m2', 'm3', 'm4']) put(id, 'PLANS');
    expect(await broken(async () => (await allPages((cursor) => account.listRoots(cursor, NEVER))).items)).toEqual([]);
    for (const id of ['folder:WORK', 'm1', 'm1/a1'])
      expect(await broken(async () => (await descendantsOf(account, id)).items)).toEqual([]);
  });

  test('never replaces the content of a message or an attachment', async () => {
    put('m1', 'WORK', attached);
    for (const id of ['m1', 'm1/a1']) {
      const accepted = await broken(() => account.open(id, NEVER));
      // The bytes of an attachment cannot be validated: even the HTML page of a proxy is valid content.
      expect(accepted.filter((line) => !line.includes('/$value)'))).toEqual([]);
    }
  });

  test('never counts as a deletion in the change feed, nor as its end', async () => {
    for (const id of ['m1', 'm2', 'm3']) put(id, 'WORK');
    put('m4', 'BIN');
    const start = await cursorOf(account);
    put('m1', 'INBOX');
    put('m2', 'WORK', attached);
    graph.mailbox.folders.delete('OLDER');
    expect(await broken(async () => (await readChanges(account, start)).changed)).toEqual([]);
    expect(await broken(() => cursorOf(account))).toEqual([]);
  });
});
